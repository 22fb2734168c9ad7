// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks of members: each member stands for the ranks that follow those of the
 * previous one.
 */
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

/* Does a block of ranks begin at a multiple of the power of two that it fills? */
static bool aligned(u32 pos, u16 n, bool last)
{
	u32 size = 1;

	while (size < n)
		size *= 2;
	return pos % size == 0 && (n == size || last);
}

/**
 * inc_rank_range_fill() - assign ranks to members
 * @ranges: set to the ranks of each member
 * @at: set, for each rank from @first on, to the member whose first rank it is,
 *	or 0
 * @below: as in inc_rank_range_sum()
 * @members: how many members
 * @first: first rank of the first member
 *
 * Context: any.
 * Return: true if all members have aligned blocks of a power of two of ranks,
 * the last one perhaps fewer: then each has a node in the binary tree over
 * ranks.
 */
bool inc_rank_range_fill(struct inc_rank_range *ranges, u16 *at,
			 const u16 *below, u16 members, u16 first)
{
	bool all_aligned = true;
	u32 pos = 0;
	u16 i;

	for (i = 0; i < members; i++) {
		u16 n = ranks_of(below[i]);

		ranges[i].first = first + pos;
		ranges[i].n = n;
		at[pos] = i;
		if (!aligned(pos, n, i == members - 1))
			all_aligned = false;
		pos += n;
	}
	return all_aligned;
}
