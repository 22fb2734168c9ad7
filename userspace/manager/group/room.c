// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups without room wait for groups that are ending: the latter's ranks know
 * that the group is over, and have no more use for its trees. Several groups that
 * wait are placed by their tenants' priorities. No group is ended for another one.
 */
#include <errno.h>
#include <stdlib.h>

#include "group/group.h"
#include "place/place.h"

#define ROOM_MS		10000	/* time for trees to be dismantled */
#define WAITS_MAX	3	/* waits of ROOM_MS each */
#define RETRY_MS	100	/* memory is free a while after its tree */
#define BEHIND_MS	1000

static uint32_t priority_of(const struct group *g)
{
	return g->tenant->limits->priority;
}

/* Have a group be placed at a later time. */
static void place_later(struct group *g, int64_t until)
{
	g->where.place_at = until;
	group_touch(g);
}

/* Trees on a switch that does not answer do not count: its room has no use. */
static bool has_trees(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (g->subtrees[i].sw->up)
			return true;
	return false;
}

/* Has the group ended, and does it still hold room? */
static bool holds_room(const struct group *g)
{
	return g->state >= GROUP_ENDING && has_trees(g);
}

/* Count the trees of ending groups at each switch. Returns true if any exist. */
static bool count_ending(const struct manager *m, unsigned int *trees)
{
	const struct group *g;
	bool some = false;
	uint32_t i;

	for (g = m->groups; g; g = g->next) {
		if (!holds_room(g))
			continue;
		some = true;
		for (i = 0; i < g->nsubtrees; i++)
			trees[g->subtrees[i].sw->index]++;
	}
	return some;
}

/*
 * Would a group fit without these trees? A switch that has refused a tree for
 * lack of memory may have enough when one of them is gone.
 */
static bool would_fit(const struct group *g, const uint32_t *rank_switches,
		      const unsigned int *trees)
{
	struct manager *m = g->manager;
	struct place_fabric *f = topo_fabric(&m->fabric);
	struct place p;
	uint32_t i;

	if (!f)
		return false;
	for (i = 0; i < m->fabric.n; i++)
		if (trees[i])
			topo_gone(&m->fabric, &m->fabric.switches[i], trees[i]);
	keep_others(g);
	limit_room(g, false);
	for (i = 0; i < g->where.navoid; i++)
		if (!trees[g->where.avoid[i]->index])
			topo_avoid(&m->fabric, g->where.avoid[i]);
	route_leave_out(g, f);
	if (!place_compute(f, g->request.ranks, rank_switches, &p))
		return false;
	place_free(&p);
	return true;
}

/* Have the trees of ending groups deleted at once. */
static void hurry_ending(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next) {
		if (!holds_room(g))
			continue;
		g->room.wanted = true;
		if (g->state == GROUP_ENDING)
			group_hurry(g);
	}
}

/*
 * Have a group without room wait for ending groups. Returns false if waiting
 * would not help; else the group is placed again later.
 * @at: for each of its ranks the switch
 */
bool group_awaits_room(struct group *g, const uint32_t *at)
{
	struct manager *m = g->manager;
	unsigned int *trees;
	bool found;

	if (g->room.waits >= WAITS_MAX)
		return false;
	trees = calloc(m->fabric.n + 1, sizeof(*trees));
	found = trees && count_ending(m, trees) && would_fit(g, at, trees);
	free(trees);
	if (!found)
		return false;
	g->room.waits++;
	g->room.until = m->loop.now + ROOM_MS;
	g->room.freed_at = 0;
	g->where.navoid = 0;
	g->room.limited = false;
	place_later(g, m->loop.now);
	hurry_ending(m);
	return true;
}

/* --- Waiting ------------------------------------------------------------- */

static bool is_dismantling(const struct manager *m)
{
	const struct group *g;

	for (g = m->groups; g; g = g->next)
		if (g->room.wanted && holds_room(g))
			return true;
	return false;
}

static bool is_behind(const struct group *g)
{
	const struct group *o;

	for (o = g->manager->groups; o; o = o->next)
		if (o != g && o->state < GROUP_ENDING && o->room.until &&
		    priority_of(o) >= priority_of(g))
			return true;
	return false;
}

/*
 * Check whether a group must wait before it is placed. Returns true if it waits
 * for trees that are being dismantled, or for groups of the same or a higher
 * priority; or if it has waited too long.
 * @g: group, all ranks of which are present
 */
bool group_waits(struct group *g)
{
	int64_t now = g->manager->loop.now;

	if (g->room.until && is_dismantling(g->manager)) {
		if (g->room.until > now)
			place_later(g, g->room.until);
		else
			group_refuse(g, ETIMEDOUT, "groups that have ended are still being dismantled after %d s",
				     ROOM_MS / 1000);
		return true;
	}
	if (is_behind(g)) {
		place_later(g, now + BEHIND_MS);
		return true;
	}
	g->room.tried_at = now;
	if (!g->room.freed_at)
		g->room.freed_at = now;
	return false;
}

/*
 * Wait if a switch still frees memory. Answers that a switch gave before the
 * ending groups' trees were gone, or before it refused the tree, do not count.
 * Returns true if the group waits, and is placed again.
 * @g: group refused by @g->where.full_switch for lack of room, without pending
 *	operations
 */
bool group_awaits_memory(struct group *g)
{
	struct sw *sw = &g->manager->fabric.switches[g->where.full_switch->index];
	int64_t now = g->manager->loop.now;
	bool asked;

	if (g->room.until <= now || g->room.limited || !sw->info)
		return false;
	asked = sw->info->asked_at > g->room.freed_at;
	if (asked && !sw->info->deleting && sw->info->told_at <= g->room.tried_at)
		return false;
	if (!asked)
		sw_refresh(sw);
	g->where.full_switch = NULL;
	g->making.err = 0;
	g->making.why[0] = '\0';
	trees_drop(g);
	place_later(g, now + RETRY_MS);
	return true;
}

/* Let groups be placed that wait for this one. */
void group_yield(struct group *g)
{
	if (!g->room.until)
		return;
	g->room.until = 0;
	group_wake(g->manager);
}

/* End a group's wait for room: it has its trees, or gives up. */
void group_has_room(struct group *g)
{
	g->room.waits = 0;
	keep_release(g);
	group_yield(g);
}

/* Have all groups that wait be placed again. */
void group_wake(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next)
		if ((g->state == GROUP_PLACING ||
		     g->state == GROUP_REPLACING) && g->where.place_at) {
			g->where.place_at = m->loop.now;
			group_touch(g);
		}
}
