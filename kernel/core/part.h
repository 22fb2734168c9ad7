/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A part: the payload of one packet, or the reduction of several. It may lie in
 * several pieces, as a driver has received it.
 */
#ifndef _INC_PART_H
#define _INC_PART_H

#include <linux/types.h>

struct inc_reduce_ops;

/**
 * struct inc_piece - piece of a part
 * @at: its first byte
 * @len: bytes
 */
struct inc_piece {
	u8	*at;
	u32	len;
};

/**
 * struct inc_part - payload of one packet, or the reduction of several
 * @data: the elements, or the upper 16 bits of their sums; may be written to
 * @piece: instead, the pieces in which they lie, if @pieces
 * @lo: part with the lower 16 bits of the sums, if they are wide (see struct
 *	inc_operand), else NULL; belongs to this part
 * @next: instead, the next part of a message, before its slot has them
 * @len: bytes
 * @level: its height in the binary tree; it covers the ranks first ... first +
 *	2^level - 1, as many of them as exist; in order of arrival, number of
 *	other ranks added to it
 * @pieces: it is in pieces
 */
struct inc_part {
	union {
		void			*data;
		struct inc_piece	*piece;
	};
	union {
		struct inc_part	*lo;
		struct inc_part	*next;
	};
	u16		len;
	u16		level;
	bool		pieces;
};

/**
 * inc_part_free() - free a part; supplied by the owner of parts
 * @part: the part
 */
void inc_part_free(struct inc_part *part);

/* Free a part and the lower halves that belong to it. */
static inline void inc_part_drop(struct inc_part *part)
{
	if (part->lo)
		inc_part_free(part->lo);
	inc_part_free(part);
}

void inc_part_skip(struct inc_part *part, u32 bytes);
void inc_part_copy(const struct inc_part *part, u32 off, void *to, u32 len);
void inc_part_merge(const struct inc_reduce_ops *ops, struct inc_part *left,
		    struct inc_part *lo, const struct inc_part *right, u16 ranks);
void inc_part_finish(const struct inc_reduce_ops *ops, void *hi, void *lo,
		     const struct inc_part *left, const struct inc_part *right,
		     u16 ranks);
void inc_part_merge_block(const struct inc_reduce_ops *ops,
			  struct inc_part *const part[]);
void inc_part_finish_block(const struct inc_reduce_ops *ops, void *to,
			   struct inc_part *const part[], u16 ranks);

#endif /* _INC_PART_H */
