// SPDX-License-Identifier: GPL-2.0
/*
 * Copy and reduce parts where they lie. Where several are in pieces, all go on to
 * the next end of a piece of any of them. An element that such an end divides is
 * reduced by itself, in a copy.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/part.h"
#include "core/reduce/reduce.h"

/* Bytes of the largest element. */
#define ELEMENT_MAX	16

/* Vectors of a reduction: the result's upper and lower halves, ... */
enum { HI, LO, SRC };

/* ... and operands: two with the lower halves that they may have, or eight. */
enum { LEFT = SRC, RIGHT, LEFT_LO, RIGHT_LO, PAIR, BLOCK = SRC + INC_REDUCE_BLOCK };

/**
 * struct cursor - a place in a vector
 * @at: the place, NULL if there is no such vector
 * @left: bytes there
 * @next: piece that follows
 */
struct cursor {
	u8			*at;
	u32			left;
	const struct inc_piece	*next;
};

static struct cursor whole(void *data)
{
	return (struct cursor){ .at = data, .left = U32_MAX };
}

static struct cursor start_of(const struct inc_part *part)
{
	if (!part)
		return whole(NULL);
	if (!part->pieces)
		return whole(part->data);
	return (struct cursor) {
		.at = part->piece->at,
		.left = part->piece->len,
		.next = part->piece + 1,
	};
}

/* Limit @run to the bytes at the cursor, which is not at the end. */
static u32 find_run(struct cursor *c, u32 run)
{
	while (unlikely(!c->left)) {
		c->at = c->next->at;
		c->left = c->next->len;
		c->next++;
	}
	return min(run, c->left);
}

static void advance(struct cursor *c, u32 bytes)
{
	if (!c->at)
		return;
	c->at += bytes;
	c->left -= bytes;
}

/* Copy the next bytes from the cursor to @to, or the other way round. */
static void copy_on(struct cursor *c, u8 *to, const u8 *from, u32 len)
{
	u32 done, run;

	for (done = 0; done < len; done += run) {
		run = find_run(c, len - done);
		if (to)
			memcpy(to + done, c->at, run);
		else
			memcpy(c->at, from + done, run);
		advance(c, run);
	}
}

/**
 * inc_part_skip() - leave out the first bytes of a part
 * @part: part; its @len stays
 * @bytes: number of bytes, less than it has
 *
 * Context: any.
 */
void inc_part_skip(struct inc_part *part, u32 bytes)
{
	if (!part->pieces) {
		part->data += bytes;
		return;
	}
	for (; bytes >= part->piece->len; part->piece++)
		bytes -= part->piece->len;
	part->piece->at += bytes;
	part->piece->len -= bytes;
}

/**
 * inc_part_copy() - copy bytes of a part
 * @part: the part
 * @off: offset of the first one
 * @to: destination
 * @len: number of bytes, not beyond its end
 *
 * Context: any.
 */
void inc_part_copy(const struct inc_part *part, u32 off, void *to, u32 len)
{
	struct cursor c = start_of(part);
	u32 run;

	for (; off; off -= run) {
		run = find_run(&c, off);
		advance(&c, run);
	}
	copy_on(&c, to, NULL, len);
}

/* Reduce @len bytes at each of @n cursors. */
static void reduce_run(const struct inc_reduce_ops *ops, bool simd,
		       const struct cursor c[], int n, u32 len, u16 ranks)
{
	struct inc_operand dst = { c[HI].at, c[LO].at };
	void *src[INC_REDUCE_BLOCK];
	int i;

	if (n == PAIR) {
		inc_reduce_some(ops, simd, dst,
				(struct inc_operand){ c[LEFT].at, c[LEFT_LO].at },
				(struct inc_operand){ c[RIGHT].at, c[RIGHT_LO].at },
				len / ops->size, ranks);
		return;
	}
	for (i = 0; i < INC_REDUCE_BLOCK; i++)
		src[i] = c[SRC + i].at;
	inc_reduce_block(ops, simd, dst, src, len / ops->size, ranks);
}

/* The next element, which lies in two pieces of one of the vectors. */
static void reduce_divided(const struct inc_reduce_ops *ops, bool simd,
			   struct cursor c[], int n, u16 ranks)
{
	u8 buf[BLOCK][ELEMENT_MAX];
	struct cursor copy[BLOCK];
	int i;

	for (i = 0; i < n; i++) {
		copy[i] = whole(c[i].at ? buf[i] : NULL);
		if (c[i].at && i >= SRC)
			copy_on(&c[i], buf[i], NULL, ops->size);
	}
	reduce_run(ops, simd, copy, n, ops->size, ranks);
	for (i = 0; i < SRC; i++)
		if (c[i].at)
			copy_on(&c[i], NULL, buf[i], ops->size);
}

static void reduce_pieces(const struct inc_reduce_ops *ops, struct cursor c[],
			  int n, u32 len, u16 ranks)
{
	bool simd = inc_reduce_begin(ops, len / ops->size);
	u32 run;
	int i;

	for (; len; len -= run) {
		run = len;
		for (i = 0; i < n; i++)
			run = find_run(&c[i], run);
		if (unlikely(run < ops->size)) {
			run = ops->size;
			reduce_divided(ops, simd, c, n, ranks);
			continue;
		}
		run -= run % ops->size;
		reduce_run(ops, simd, c, n, run, ranks);
		for (i = 0; i < n; i++)
			advance(&c[i], run);
	}
	inc_reduce_end(simd);
}

static bool in_pieces(const struct inc_part *part)
{
	return part->pieces || (part->lo && part->lo->pieces);
}

static void reduce_parts(const struct inc_reduce_ops *ops, struct cursor hi,
			 struct cursor lo, const struct inc_part *left,
			 const struct inc_part *right, u16 ranks)
{
	struct cursor c[PAIR] = {
		hi, lo, start_of(left), start_of(right),
		start_of(left->lo), start_of(right->lo),
	};

	if (in_pieces(left) || in_pieces(right))
		reduce_pieces(ops, c, PAIR, left->len, ranks);
	else
		inc_reduce_wide(ops,
				(struct inc_operand){ hi.at, lo.at },
				(struct inc_operand){ c[LEFT].at, c[LEFT_LO].at },
				(struct inc_operand){ c[RIGHT].at, c[RIGHT_LO].at },
				left->len / ops->size, ranks);
}

/* Have the parts elements of their own width, in one piece, as most have? */
static bool is_plain(const struct inc_reduce_ops *ops, const struct inc_part *left,
		     const struct inc_part *right)
{
	return !ops->wide && !left->pieces && !right->pieces;
}

/**
 * inc_part_merge() - reduce two parts element by element, in the left one's place
 * @ops: type and operation
 * @left: left operand (lower ranks), and the result, or its upper 16 bits
 * @lo: part that the lower 16 bits go to, if @ops is wide: an operand's own, or
 *	@right, else NULL
 * @right: right operand, as long
 * @ranks: as for inc_reduce_wide()
 *
 * Context: any that may touch the parts; does not sleep.
 */
void inc_part_merge(const struct inc_reduce_ops *ops, struct inc_part *left,
		    struct inc_part *lo, const struct inc_part *right, u16 ranks)
{
	if (likely(is_plain(ops, left, right)))
		inc_reduce(ops, left->data, left->data, right->data,
			   left->len / ops->size);
	else
		reduce_parts(ops, start_of(left), start_of(lo), left, right,
			     ranks);
}

/**
 * inc_part_finish() - reduce two parts element by element, to somewhere else
 * @ops: type and operation
 * @hi: memory for the result, or its upper 16 bits
 * @lo: memory for the lower 16 bits, or NULL if there are none
 * @left: left operand (lower ranks)
 * @right: right operand, as long
 * @ranks: as for inc_reduce_wide()
 *
 * Context: any that may touch the parts; does not sleep.
 */
void inc_part_finish(const struct inc_reduce_ops *ops, void *hi, void *lo,
		     const struct inc_part *left, const struct inc_part *right,
		     u16 ranks)
{
	if (likely(is_plain(ops, left, right)))
		inc_reduce(ops, hi, left->data, right->data,
			   left->len / ops->size);
	else
		reduce_parts(ops, whole(hi), whole(lo), left, right, ranks);
}

static void reduce_block(const struct inc_reduce_ops *ops, struct cursor hi,
			 struct cursor lo, struct inc_part *const part[], u16 ranks)
{
	struct cursor c[BLOCK] = { hi, lo };
	int i;

	for (i = 0; i < INC_REDUCE_BLOCK; i++)
		c[SRC + i] = start_of(part[i]);
	reduce_pieces(ops, c, BLOCK, part[0]->len, ranks);
}

/**
 * inc_part_merge_block() - reduce eight parts element by element, in the first one's
 *	place
 * @ops: type and operation, a row whose @block is set
 * @part: operands in the order of their ranks, none of them with lower halves; the
 *	first one, if @ops is wide with the second one, has the result, the others are
 *	undefined
 *
 * Context: any that may touch the parts; does not sleep.
 */
void inc_part_merge_block(const struct inc_reduce_ops *ops,
			  struct inc_part *const part[])
{
	reduce_block(ops, start_of(part[0]), start_of(ops->wide ? part[1] : NULL),
		     part, 1);
}

/**
 * inc_part_finish_block() - reduce eight parts element by element, to somewhere else
 * @ops: as for inc_part_merge_block()
 * @to: memory for the result
 * @part: as for inc_part_merge_block(); all are undefined afterwards
 * @ranks: as for inc_reduce_wide()
 *
 * Context: any that may touch the parts; does not sleep.
 */
void inc_part_finish_block(const struct inc_reduce_ops *ops, void *to,
			   struct inc_part *const part[], u16 ranks)
{
	reduce_block(ops, whole(to), whole(NULL), part, ranks);
}
