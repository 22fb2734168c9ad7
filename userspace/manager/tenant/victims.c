// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See victims.h.
 */
#include <stdlib.h>

#include "tenant/victims.h"

static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->born_ms != y->born_ms)
		return x->born_ms > y->born_ms ? -1 : 1;
	return 0;
}

/**
 * victims_order() - sort groups by who ends first
 * @list: groups
 * @n: their number
 *
 * The lowest priority first, and of groups with the same one the youngest.
 */
void victims_order(struct candidate *list, size_t n)
{
	qsort(list, n, sizeof(*list), by_worth);
}

static void mark_first(bool *ends, size_t first, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		ends[i] = i < first;
}

/**
 * victims_choose() - choose groups that end
 * @ends: result: for each group, in the order of victims_order(), whether it
 *	ends
 * @n: number of groups
 * @fits: tells whether there is room when these have ended; if there is, there
 *	must be room when more have, too
 * @hurry: tells whether to look no longer for groups that can be spared
 * @ctx: for both
 *
 * None of those chosen could go on without another one in its place. A group is
 * chosen only if all those before it would not be enough; then of these as few
 * as possible, by the same rule: @fits is called O(log @n) times for each that
 * is chosen. In a hurry, there is room, but more may end than have to.
 *
 * Return: false if there would be no room when all have ended.
 */
bool victims_choose(bool *ends, size_t n,
		    bool (*fits)(void *ctx, const bool *ends),
		    bool (*hurry)(void *ctx), void *ctx)
{
	size_t low, mid, high, open = n;

	mark_first(ends, n, n);
	if (!fits(ctx, ends))
		return false;
	do {
		/* How many of the open ones, from the first on? */
		low = 0;
		high = open;
		while (low < high && !hurry(ctx)) {
			mid = (low + high) / 2;
			mark_first(ends, mid, open);
			if (fits(ctx, ends))
				high = mid;
			else
				low = mid + 1;
		}
		mark_first(ends, high, open);
		open = high ? high - 1 : 0;
	} while (open && !hurry(ctx));
	return true;
}
