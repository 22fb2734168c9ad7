// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks of members: each member stands for the ranks after the previous one's.
 *
 * A block is a node of the balanced binary tree over all ranks of the job (see
 * reduce_tree.c): as many ranks as a power of two, from a multiple of it on; at
 * the end of the job perhaps fewer. Any range of ranks falls into maximal
 * blocks, mostly one or two.
 */
#include <linux/minmax.h>

#include "core/rank_range.h"

static u16 ranks_of(u16 below)
{
	/* 0 is a host. */
	return below ? below : 1;
}

/**
 * inc_rank_range_sum() - count the ranks of all members
 * @below: number of ranks below each member, 0 if it is a host
 * @members: number of members
 *
 * Context: any.
 * Return: number of ranks.
 */
u32 inc_rank_range_sum(const u16 *below, u16 members)
{
	u32 sum = 0;
	u16 i;

	for (i = 0; i < members; i++)
		sum += ranks_of(below[i]);
	return sum;
}

/**
 * inc_rank_block() - find the largest block that a range of ranks begins with
 * @range: ranks, at least one
 * @all: number of ranks of the job
 *
 * Context: any.
 * Return: the block.
 */
struct inc_rank_range inc_rank_block(struct inc_rank_range range, u16 all)
{
	u32 end = range.first + range.n, size = 1;

	while (size < range.n && range.first % (2 * size) == 0 &&
	       min(range.first + 2 * size, all) <= end)
		size *= 2;
	range.n = min(size, range.n);
	return range;
}

/**
 * inc_rank_range_fill() - assign ranks to members
 * @ranges: set to the ranks of each member; NULL to count only
 * @at: set, for each rank from @first on, to the number of blocks before it, if
 *	a member's block begins there; NULL to count only
 * @below: as in inc_rank_range_sum()
 * @members: how many members
 * @first: first rank of the first member
 * @all: number of ranks of the job
 *
 * Context: any.
 * Return: number of blocks of all members.
 */
u16 inc_rank_range_fill(struct inc_rank_range *ranges, u16 *at,
			const u16 *below, u16 members, u16 first, u16 all)
{
	struct inc_rank_range left = { .first = first }, block;
	u16 i, blocks = 0;

	for (i = 0; i < members; i++) {
		left.n = ranks_of(below[i]);
		if (ranges)
			ranges[i] = left;
		for (; left.n; left.n -= block.n) {
			if (at)
				at[left.first - first] = blocks;
			blocks++;
			block = inc_rank_block(left, all);
			left.first += block.n;
		}
	}
	return blocks;
}
