// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts of the result buffer. With n ranks and blocks of b bytes (the
 * header's element count):
 *
 *	Broadcast, Reduce, AllReduce	b	one block
 *	Gather, AllGather, Scatter,
 *	ReduceScatter			n b	a block per rank
 *	AllToAll			n n b	per receiver, a block per sender
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "coll.h"
#include "layout.h"

/**
 * inc_layout_in() - bytes of elements that a rank's request carries
 * @l: layout
 * @rank: rank
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_layout_in(const struct inc_layout *l, u16 rank)
{
	if (l->coll->from == INC_FROM_NONE ||
	    (l->coll->from == INC_FROM_ROOT && rank != l->root))
		return 0;
	return l->coll->blocks ? l->block * l->ranks : l->block;
}

/**
 * inc_layout_len() - bytes of the result buffer
 * @l: layout
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_layout_len(const struct inc_layout *l)
{
	u64 len = inc_layout_in(l, l->root);

	if (l->coll->from == INC_FROM_ALL && !l->coll->reduce)
		len *= l->ranks;
	return len;
}

/**
 * inc_layout_out() - what a rank gets
 * @l: layout, of a message that fits into the buffer
 * @rank: rank
 * @off: takes where it begins in the result buffer
 *
 * Context: any.
 * Return: bytes.
 */
u32 inc_layout_out(const struct inc_layout *l, u16 rank, u32 *off)
{
	u32 len = inc_layout_len(l);

	*off = 0;
	switch (l->coll->to) {
	case INC_TO_ALL:
		return len;
	case INC_TO_ROOT:
		return rank == l->root ? len : 0;
	case INC_TO_OTHERS:
		return rank == l->root ? 0 : len;
	case INC_TO_EACH:
		len /= l->ranks;
		*off = rank * len;
		return len;
	}
	return 0;
}

/**
 * inc_layout_run() - where elements of a request go that is not reduced
 * @l: layout, of a message that fits into the buffer
 * @rank: rank whose request it is
 * @off: offset into its elements
 * @len: bytes, from 1
 * @to: takes the offset into the result buffer
 *
 * Context: any.
 * Return: how many of the bytes lie there side by side.
 */
u32 inc_layout_run(const struct inc_layout *l, u16 rank, u32 off, u32 len,
		   u32 *to)
{
	u32 block = l->block, in = inc_layout_in(l, rank), in_block;

	if (l->coll->from == INC_FROM_ROOT) {
		*to = off;
		return len;
	}
	if (!l->coll->blocks) {
		*to = rank * in + off;
		return len;
	}
	in_block = off % block;
	*to = off / block * in + rank * block + in_block;
	return min(len, block - in_block);
}
