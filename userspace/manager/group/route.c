// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Routes that switches lack. Agents do not report routes: a switch refuses a
 * member, or a parent, to which it has no route. The group's tree is then
 * computed again, without this pair of a node and its member.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/array.h"
#include "group/group.h"
#include "place/place.h"

/* Each pair costs an attempt: without a limit, some fabrics would take forever. */
#define PAIRS_MAX	256

static bool add_pair(struct group *g, const struct place_apart *pair)
{
	uint32_t i;

	for (i = 0; i < g->where.naparts; i++)
		if (g->where.apart[i].sw == pair->sw &&
		    g->where.apart[i].below == pair->below &&
		    g->where.apart[i].hosts == pair->hosts)
			return false;
	if (g->where.naparts == PAIRS_MAX)
		return false;
	if (!ARRAY_ROOM(g->where.apart, g->where.naparts))
		return false;
	g->where.apart[g->where.naparts++] = *pair;
	return true;
}

/* Note that the switch of one subtree has no route to that of another. */
static bool note_switch(const struct subtree *from, const struct subtree *to,
			const struct inc_rdv_addr *addr)
{
	struct group *g = from->group;
	char text[INET6_ADDRSTRLEN];

	if (!g->making.err)
		snprintf(g->making.why, sizeof(g->making.why), "switch %s has no route to %s of switch %s",
			 sw_name(from->sw),
			 inc_rdv_addr_str(addr, text, sizeof(text)),
			 sw_name(to->sw));
	return add_pair(g, &(struct place_apart){
		.sw = from->sw->index, .below = to->sw->index });
}

static bool note_rank(const struct subtree *from, const struct rank *r)
{
	struct group *g = from->group;
	const struct sw_if *itf;
	char text[INET6_ADDRSTRLEN];
	const struct sw *sw = topo_find(&g->manager->fabric, &r->join.addr, &itf);

	if (!g->making.err)
		snprintf(g->making.why, sizeof(g->making.why), "switch %s has no route to %s of rank %u",
			 sw_name(from->sw),
			 inc_rdv_addr_str(&r->join.addr, text, sizeof(text)),
			 r->join.rank);
	if (!sw)
		sw = topo_near(&g->manager->fabric, &r->join.addr);
	return sw && add_pair(g, &(struct place_apart){
		.sw = from->sw->index, .below = sw->index, .hosts = true });
}

static const struct subtree *find_child(const struct subtree *parent,
					uint32_t member)
{
	const struct group *g = parent->group;
	uint32_t i;

	for (i = 1; i < g->nsubtrees; i++)
		if (g->subtrees[i].parent == parent &&
		    g->subtrees[i].place == member)
			return &g->subtrees[i];
	return NULL;
}

/*
 * Note that a switch has refused a tree for lack of a route. Sets the group's
 * reason, unless another error came before, and @unrouted if another attempt is
 * worth it.
 * @up: no route to the parent; else to the member that the tree names
 */
void route_missing(const struct subtree *subtree, bool up)
{
	const struct tree *t = &subtree->tree;
	struct group *g = subtree->group;
	const struct subtree *child;
	const struct rank *r;

	if (up && subtree->parent) {
		g->where.unrouted |= note_switch(subtree, subtree->parent,
					   &t->parent.addr);
		return;
	}
	if (up || t->unrouted < 0)
		return;
	child = find_child(subtree, (uint32_t)t->unrouted);
	r = child ? NULL : subtree_rank(subtree, (uint32_t)t->unrouted);
	if (child)
		g->where.unrouted |= note_switch(subtree, child,
					   &t->members[t->unrouted].peer.addr);
	else if (r)
		g->where.unrouted |= note_rank(subtree, r);
}

/* Exclude pairs without a route from the computation. */
void route_leave_out(const struct group *g, struct place_fabric *f)
{
	f->apart = g->where.apart;
	f->naparts = g->where.naparts;
}
