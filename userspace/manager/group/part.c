// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The trees that groups have on switches.
 */
#include "group/group.h"

/**
 * group_find_part() - find the group that a tree is of
 * @m: manager
 * @sw: switch
 * @id: tree
 *
 * Return: the part, or NULL if the tree is no group's.
 */
struct part *group_find_part(const struct manager *m, const struct sw *sw,
			     uint32_t id)
{
	struct group *g;
	uint32_t i;

	for (g = m->groups; g; g = g->next)
		for (i = 0; i < g->nparts; i++)
			if (g->parts[i].sw == sw && g->parts[i].tree.id == id)
				return &g->parts[i];
	return NULL;
}

/**
 * group_levels() - count the levels of switches in a group's tree
 * @g: group
 *
 * Return: their number; 0 if it has no tree.
 */
unsigned int group_levels(const struct group *g)
{
	const struct part *p;
	unsigned int most = 0, n;
	uint32_t i;

	for (i = 0; i < g->nparts; i++) {
		n = 0;
		for (p = &g->parts[i]; p; p = p->parent)
			n++;
		most = n > most ? n : most;
	}
	return most;
}
