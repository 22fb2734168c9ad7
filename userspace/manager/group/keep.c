// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Places of groups that are being rebuilt. Between a tree that has failed, or is
 * moved, and the next one a group has none; no other group gets what it needs to go
 * on, unless its tenant has a higher priority, for which it would end anyway. What
 * is kept are trees: how much memory there must be is known to the switch only. The
 * store has them, too: a manager that comes after this one keeps them.
 */
#include <stdlib.h>

#include "group/group.h"

/**
 * keep_places() - keep a group's places at its switches
 * @g: group whose tree is to be replaced, and is still known
 *
 * Until keep_release(), and whenever the group has no trees. Without memory, others
 * may take them.
 */
void keep_places(struct group *g)
{
	uint32_t i;

	keep_release(g);
	g->kept = calloc(g->nsubtrees + 1, sizeof(*g->kept));
	for (i = 0; g->kept && i < g->nsubtrees; i++)
		g->kept[g->nkept++] = g->subtrees[i].sw;
}

/**
 * keep_release() - let others have them
 * @g: group that has other trees, or ends
 */
void keep_release(struct group *g)
{
	free(g->kept);
	g->kept = NULL;
	g->nkept = 0;
}

static bool keeps(const struct group *o, const struct group *g)
{
	return o != g && !o->nsubtrees && o->nkept &&
	       o->tenant->limits->priority >= g->tenant->limits->priority;
}

/**
 * keep_others() - take what others keep from the switches' room
 * @g: group that is to be placed, after topo_fabric()
 */
void keep_others(const struct group *g)
{
	const struct group *o;
	uint32_t i;

	for (o = g->manager->groups; o; o = o->next)
		for (i = 0; keeps(o, g) && i < o->nkept; i++)
			topo_take(g->manager, o->kept[i]);
}

/**
 * keep_any() - check whether others keep places
 * @g: group that could not be placed
 *
 * Return: true if one does.
 */
bool keep_any(const struct group *g)
{
	const struct group *o;

	for (o = g->manager->groups; o; o = o->next)
		if (keeps(o, g))
			return true;
	return false;
}
