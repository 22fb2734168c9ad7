// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts of the result buffer. With n ranks and blocks of b bytes (the
 * header's element count):
 *
 *	Broadcast, Reduce, AllReduce	b	one block
 *	Gather, AllGather, Scatter,
 *	ReduceScatter			n b	a block per rank
 *	AllToAll			n n b	per receiver, a block per sender
 *
 * The request of a switch with a parent has the data of its own ranks, in the same
 * order: for Gather and AllGather the blocks of its ranks, for AllToAll its ranks'
 * blocks for each receiver. The result has the data that its ranks need: for
 * Scatter, ReduceScatter and AllToAll their part of the result.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "core/collective.h"
#include "core/layout.h"

static bool range_has(struct inc_rank_range range, u16 rank)
{
	return rank >= range.first && rank - range.first < range.n;
}

/**
 * inc_layout_in() - compute the bytes of elements that a request carries
 * @l: layout
 * @from: ranks that the sender stands for
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_layout_in(const struct inc_layout *l, struct inc_rank_range from)
{
	u64 len = l->coll->blocks ? l->block * l->all : l->block;

	switch (l->coll->from) {
	case INC_FROM_ROOT:
		return range_has(from, l->root) ? len : 0;
	case INC_FROM_ALL:
		return l->coll->reduce ? len : len * from.n;
	}
	return 0;
}

/**
 * inc_layout_len() - compute the length of the whole result
 * @l: layout
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_layout_len(const struct inc_layout *l)
{
	return inc_layout_in(l, (struct inc_rank_range) { .n = l->all });
}

/**
 * inc_layout_out() - locate a receiver's share of the result
 * @l: layout, of a message that fits into the buffer
 * @within: ranks whose part of the result is in the buffer
 * @to: ranks that the receiver stands for, some of @within
 * @off: set to the offset of the share in the buffer
 *
 * Context: any.
 * Return: bytes.
 */
u32 inc_layout_out(const struct inc_layout *l, struct inc_rank_range within,
		   struct inc_rank_range to, u32 *off)
{
	u32 len = inc_layout_len(l);

	*off = 0;
	switch (l->coll->to) {
	case INC_TO_ALL:
		return len;
	case INC_TO_ROOT:
		return range_has(to, l->root) ? len : 0;
	case INC_TO_OTHERS:
		return to.n == 1 && to.first == l->root ? 0 : len;
	case INC_TO_EACH:
		len /= l->all;
		*off = (to.first - within.first) * len;
		return to.n * len;
	}
	return 0;
}

/**
 * inc_layout_run() - locate elements of a request that is not reduced
 * @l: layout, of a message that fits into the buffer
 * @from: ranks that the sender stands for, some of @l->own
 * @off: offset into its elements
 * @len: bytes, from 1
 * @to: set to their offset in the gathered data
 *
 * Context: any.
 * Return: number of the bytes that are contiguous there.
 */
u32 inc_layout_run(const struct inc_layout *l, struct inc_rank_range from,
		   u32 off, u32 len, u32 *to)
{
	u32 row = l->block * from.n, whole = l->block * l->own.n, in_row;

	if (l->coll->from == INC_FROM_ROOT) {
		*to = off;
		return len;
	}
	/* One row, or one row per receiver. */
	in_row = off % row;
	*to = off / row * whole + (from.first - l->own.first) * (u32)l->block +
	      in_row;
	return min(len, row - in_row);
}
