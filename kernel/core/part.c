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

/* Vectors of a reduction; the lower halves are behind the upper ones. */
enum { DST, LEFT, RIGHT, LO, VECTORS = 2 * LO };

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

/* Reduce @run to what lies at the cursor, which is not at the end. */
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

/* Reduce what lies at the cursors, @len bytes of each. */
static void reduce_run(const struct inc_reduce_ops *ops, bool simd,
		       const struct cursor c[VECTORS], u32 len, u16 ranks)
{
	struct inc_operand dst = { c[DST].at, c[LO + DST].at };
	struct inc_operand left = { c[LEFT].at, c[LO + LEFT].at };
	struct inc_operand right = { c[RIGHT].at, c[LO + RIGHT].at };

	inc_reduce_some(ops, simd, dst, left, right, len / ops->size, ranks);
}

/* The next element, which lies in two pieces of one of the vectors. */
static void reduce_divided(const struct inc_reduce_ops *ops, bool simd,
			   struct cursor c[VECTORS], u16 ranks)
{
	u8 buf[VECTORS][ELEMENT_MAX];
	struct cursor copy[VECTORS];
	int i;

	for (i = 0; i < VECTORS; i++) {
		copy[i] = whole(c[i].at ? buf[i] : NULL);
		if (c[i].at && i % LO != DST)
			copy_on(&c[i], buf[i], NULL, ops->size);
	}
	reduce_run(ops, simd, copy, ops->size, ranks);
	for (i = DST; i < VECTORS; i += LO)
		if (c[i].at)
			copy_on(&c[i], NULL, buf[i], ops->size);
}

static void reduce_pieces(const struct inc_reduce_ops *ops,
			  struct cursor c[VECTORS], u32 len, u16 ranks)
{
	bool simd = inc_reduce_begin(ops, len / ops->size);
	int i, n = ops->wide ? VECTORS : LO;
	u32 run;

	for (; len; len -= run) {
		run = len;
		for (i = 0; i < n; i++)
			run = find_run(&c[i], run);
		if (unlikely(run < ops->size)) {
			run = ops->size;
			reduce_divided(ops, simd, c, ranks);
			continue;
		}
		run -= run % ops->size;
		reduce_run(ops, simd, c, run, ranks);
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
	struct cursor c[VECTORS] = {
		hi, start_of(left), start_of(right),
		lo, start_of(left->lo), start_of(right->lo),
	};

	if (in_pieces(left) || in_pieces(right))
		reduce_pieces(ops, c, left->len, ranks);
	else
		inc_reduce_wide(ops,
				(struct inc_operand){ hi.at, lo.at },
				(struct inc_operand){ c[LEFT].at, c[LO + LEFT].at },
				(struct inc_operand){ c[RIGHT].at, c[LO + RIGHT].at },
				left->len / ops->size, ranks);
}

/* Have parts that are as most are: elements of their own width, in one piece? */
static bool is_plain(const struct inc_reduce_ops *ops, const struct inc_part *left,
		     const struct inc_part *right)
{
	return !ops->wide && !left->pieces && !right->pieces;
}

/**
 * inc_part_merge() - reduce two parts element by element, in the left one's place
 * @ops: type and operation
 * @left: left operand (lower ranks), and the result, or its upper 16 bits
 * @lo: part that the lower 16 bits go to, if @ops is wide: one of those of the
 *	operands, or @right, else NULL
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
