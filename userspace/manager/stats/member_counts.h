/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of members, as an agent reports them. All input is checked: anybody
 * may run an agent.
 */
#ifndef INC_MANAGER_MEMBER_COUNTS_H
#define INC_MANAGER_MEMBER_COUNTS_H

#include "stats/history.h"

/* Limit of the kernel; further members are ignored. */
#define MEMBER_COUNTS_MOST	131072

/**
 * struct stats_member - the counters of a member
 * @tree: tree ID
 * @rank: its place in the tree
 * @counts: counters
 */
struct stats_member {
	uint32_t	tree;
	uint32_t	rank;
	struct counts	counts;
};

/**
 * struct member_counts - counters of all members of a switch
 * @n: number of members
 * @list: by tree and rank, once member_counts_sort() was called; or NULL
 */
struct member_counts {
	unsigned int		n;
	struct stats_member	*list;
};

void member_counts_add(struct member_counts *c, uint32_t tree, const char *text);
void member_counts_sort(struct member_counts *c);
const struct stats_member *member_counts_find(const struct member_counts *c,
					      const struct stats_member *who);
void member_counts_free(struct member_counts *c);

#endif /* INC_MANAGER_MEMBER_COUNTS_H */
