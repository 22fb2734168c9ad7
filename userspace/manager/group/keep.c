// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Places of groups that are being rebuilt. Between the old tree and the next
 * one a group has none; no other group may take the room that it needs to go
 * on. Trees are kept, but not memory, which only the switch can count. The
 * store keeps places, too, for the next manager. They are kept by the switch's
 * name: a switch may be removed, and come back as another struct sw.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/array.h"
#include "group/group.h"

/*
 * Find a switch that may have been removed and come back. Returns the switch,
 * or NULL: it is not the manager's now.
 * @address: address of its agent, which may not have answered yet
 */
struct sw *keep_find(const struct manager *m, const char *id, const char *address)
{
	struct sw *sw, *found = NULL;

	for_each_switch(&m->fabric, sw) {
		if (sw->info && !strcmp(sw->info->id, id))
			return sw;
		if (!sw->info && !strcmp(sw->address, address))
			found = sw;
	}
	return found;
}

/* Keep a place for a group. Without memory for it, others may take the place. */
void keep_place(struct group *g, const char *id, const char *address)
{
	struct kept_place k = { strdup(id), strdup(address) };

	if (k.id && k.address && ARRAY_ROOM(g->kept.places, g->kept.n)) {
		g->kept.places[g->kept.n++] = k;
		return;
	}
	free(k.id);
	free(k.address);
}

/*
 * Keep a group's places at its switches until keep_release(). They count
 * whenever the group has no trees.
 * @g: group whose trees are to be replaced; without trees, it keeps the places
 *	that it has
 */
void keep_places(struct group *g)
{
	const struct sw *sw;
	uint32_t i;

	if (g->nsubtrees)
		keep_release(g);
	for (i = 0; i < g->nsubtrees; i++) {
		sw = g->subtrees[i].sw;
		keep_place(g, sw_name(sw), sw->address);
	}
}

/*
 * Let others have a group's places.
 * @g: group that has other trees, or ends
 */
void keep_release(struct group *g)
{
	while (g->kept.n) {
		g->kept.n--;
		free(g->kept.places[g->kept.n].id);
		free(g->kept.places[g->kept.n].address);
	}
	free(g->kept.places);
	g->kept.places = NULL;
}

static bool keeps(const struct group *o, const struct group *g)
{
	return o != g && !o->nsubtrees && o->kept.n;
}

/*
 * Subtract the places of other groups from the switches' room.
 * @g: group that is to be placed, after topo_fabric()
 */
void keep_others(const struct group *g)
{
	const struct manager *m = g->manager;
	const struct group *o;
	struct sw *sw;
	uint32_t i;

	for (o = m->groups; o; o = o->next)
		for (i = 0; keeps(o, g) && i < o->kept.n; i++) {
			sw = keep_find(m, o->kept.places[i].id, o->kept.places[i].address);
			if (sw)
				topo_take(&g->manager->fabric, sw);
		}
}

/* Check whether any other group keeps places. Returns true if so. */
bool keep_any(const struct group *g)
{
	const struct group *o;

	for (o = g->manager->groups; o; o = o->next)
		if (keeps(o, g))
			return true;
	return false;
}
