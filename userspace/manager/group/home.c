// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Hosts that move to another switch while their group runs: a cable is plugged
 * in elsewhere, or a virtual machine is migrated. Its packets still reach the
 * tree, but no longer by the shortest path: the group moves, if possible.
 */
#include <stdio.h>

#include "group/group.h"

#define CERTAIN_MS	1000	/* a bridge may have been wrong for a moment */
#define AGAIN_MS	30000	/* until there may be room elsewhere */

static void note_home(struct rank *r, const struct sw *sw)
{
	r->home_switch = sw;
	r->home_at = r->group->manager->loop.now;
}

/*
 * Record where the hosts of a group's ranks are.
 * @g: group, whose tree is made for these places, with its links
 */
void home_note(struct group *g)
{
	const struct group_link *link;
	uint32_t i;

	g->move.host_at = 0;
	for (i = 0; i < g->request.ranks; i++)
		g->ranks[i].home_switch = NULL;
	for (link = g->links.links; link < g->links.links + g->links.n; link++)
		if (link->rank >= 0)
			note_home(&g->ranks[link->rank], link->sw);
}

/*
 * A host's old place is only known if its present switch could already report
 * hosts then. A manager that has just started sees hosts behind the links to
 * switches that have not answered yet.
 */
static bool was_guessed(const struct rank *r, const struct sw *now)
{
	return !r->home_switch || now->refresh.known_at > r->home_at;
}

/* Find the first link of a rank whose host has moved. */
static const struct group_link *find_moved(struct group *g)
{
	const struct group_link *link;
	struct rank *r;

	for (link = g->links.links; link < g->links.links + g->links.n; link++) {
		r = link->rank < 0 ? NULL : &g->ranks[link->rank];
		if (r && was_guessed(r, link->sw))
			note_home(r, link->sw);
		if (r && r->home_switch != link->sw)
			return link;
	}
	return NULL;
}

/*
 * Check whether a host has moved.
 * @g: group, whose links have been noted again
 */
void home_look(struct group *g)
{
	if (!g->request.move)
		return;
	if (!find_moved(g)) {
		g->move.host_at = 0;
	} else if (!g->move.host_at) {
		g->move.host_at = g->manager->loop.now + CERTAIN_MS;
		group_touch(g);
	}
}

/*
 * Get the time when home_due() must be called. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t home_at(const struct group *g)
{
	return g->move.host_at && g->state == GROUP_READY ? g->move.host_at :
							    INT64_MAX;
}

/* Move a group with a host that has moved. */
void home_due(struct group *g)
{
	const struct group_link *link = find_moved(g);
	char why[128];

	g->move.host_at = link ? g->manager->loop.now + AGAIN_MS : 0;
	if (!link || !move_can_begin(g))
		return;
	snprintf(why, sizeof(why), "the host of rank %d is at switch %s now",
		 link->rank, sw_name(link->sw));
	move_begin(g, NULL, why);
}
