/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The counters of members that an agent has told, of which nothing is believed: the
 * agent may be anybody's.
 */
#ifndef INC_MANAGER_COUNTED_H
#define INC_MANAGER_COUNTED_H

#include "stats/history.h"

/* All that a kernel may have; what is beyond is not looked at. */
#define COUNTED_MOST	131072

/**
 * struct stats_member - the counters of a member
 * @tree: tree ID
 * @rank: its place there
 * @counts: counters
 */
struct stats_member {
	uint32_t	tree;
	uint32_t	rank;
	struct counts	counts;
};

/**
 * struct counted - those of a switch's members
 * @n: their number
 * @list: by tree and rank, once counted_sort() was called; or NULL
 */
struct counted {
	unsigned int		n;
	struct stats_member	*list;
};

void counted_add(struct counted *c, uint32_t tree, const char *text);
void counted_sort(struct counted *c);
const struct stats_member *counted_find(const struct counted *c,
					const struct stats_member *who);
void counted_free(struct counted *c);

#endif /* INC_MANAGER_COUNTED_H */
