// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups leave drained switches: a group that asked to be rebuilt gets another
 * tree, if there is room for one elsewhere. Groups move one after the other, since
 * each takes room that the next one then lacks, and a group that is moved without
 * room would end. A group whose ranks do not come back at once is not waited for:
 * a rank that is computing answers only at its next call of libinc. If all other
 * switches refuse the tree, the group returns, and its ranks see no error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conf/array.h"
#include "group/group.h"

#define MOVE_MS	200	/* between looks while groups move */
#define BACK_MS	1000	/* how long others wait for a group's ranks */
#define LOOK_MS	2000	/* while no group can move: others may end */
#define SHARE	10	/* of the time at most, as a fraction */

/*
 * Check whether a group can have another tree. Returns true if it can, now or
 * as soon as all of its ranks are ready.
 * @g: group with a tree on a drained switch
 * @len: size of @why in bytes
 */
bool group_may_move(struct group *g, char *why, size_t len)
{
	if (g->state >= GROUP_ENDING)
		snprintf(why, len, "it is about to end");
	else if (!g->request.rebuild)
		snprintf(why, len, "it did not ask to be rebuilt (INC_AM_ON_FAILURE=rebuild)");
	else if (group_fits(g))
		return true;
	else if (g->where.naparts)
		snprintf(why, len, "no other switch can serve it: %s",
			 g->where.refusal);
	else
		snprintf(why, len, "no other switch has the capability and room");
	return false;
}

static const struct sw *drained_of(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (sw_closed(g->subtrees[i].sw))
			return g->subtrees[i].sw;
	return NULL;
}

static void leave_switch(struct group *g, struct sw *sw)
{
	uint32_t i;

	for (i = 0; i < g->drain.nleft; i++)
		if (g->drain.left[i] == sw)
			return;
	if (!ARRAY_ROOM(g->drain.left, g->drain.nleft))
		return;
	g->drain.left[g->drain.nleft++] = sw;
	sw->returning++;
}

/*
 * Note the drained switches that a group leaves, so it can go back there if all
 * others refuse its tree.
 * @g: group that is about to get another tree
 */
void group_note_left(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (sw_closed(g->subtrees[i].sw))
			leave_switch(g, g->subtrees[i].sw);
}

/*
 * Forget the switches that group_note_left() noted.
 * @g: group that has another tree, or does not need one
 */
void group_forget_left(struct group *g)
{
	while (g->drain.nleft)
		g->drain.left[--g->drain.nleft]->returning--;
	g->drain.goes_back = false;
}

/* Returns true if the group gets another tree. */
static bool leave_drained(struct group *g)
{
	const struct sw *sw = drained_of(g);
	char why[128];

	if (!sw || g->state != GROUP_READY || !group_may_rebuild(g) ||
	    !group_may_move(g, why, sizeof(why)))
		return false;
	snprintf(why, sizeof(why), "switch %s is %s", sw_name(sw),
		 sw->leaving ? "not named any more" : "drained");
	group_raise_fault(g, GROUP_EV_MOVED, CAUSE_SWITCH, 0, "%s", why);
	return true;
}

/* Ranks may be computing: waiting for them would hold up all other groups. */
static bool waits_for_ranks(const struct group *g)
{
	return g->state == GROUP_REJOINED || (g->state == GROUP_REJOINING &&
					      g->rebuild.rejoined < g->request.ranks);
}

/* Does the group take room now, or soon? */
static bool is_moving(const struct group *g)
{
	return g->state < GROUP_ENDING && group_is_rebuilding(g) &&
	       (!waits_for_ranks(g) ||
		g->manager->loop.now - g->rebuild.asked_at < BACK_MS);
}

/* Returns true if a group is moving. */
static bool move_one(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next)
		if (is_moving(g))
			return true;
	for (g = m->groups; g; g = g->next)
		if (leave_drained(g))
			return true;
	return false;
}

static void let_go(struct manager *m, struct sw *sw)
{
	event_log(&m->events, EVENT_SWITCH_GONE, sw_name(sw),
		  "it is not among --switch any more");
	sw_retire(sw);
	topo_leave(m->fabric.topo, sw);
}

/* Report drained switches whose trees are all gone. */
static void tell_empty(struct manager *m)
{
	struct sw *sw;

	for_each_switch(&m->fabric, sw) {
		if (sw->subtrees || sw->returning) {
			continue;
		} else if (sw->leaving) {
			let_go(m, sw);
		} else if (sw->drain && !sw->drain->reported_empty) {
			sw->drain->reported_empty = true;
			event_log(&m->events, EVENT_SWITCH_DRAINED, sw_name(sw),
				  "no group has a tree there any more");
		}
	}
}

/*
 * Get the time when group_drain_turn() must be called. Returns milliseconds;
 * INT64_MAX: no switch is drained, or being removed.
 */
int64_t group_drain_deadline(const struct manager *m)
{
	const struct sw *sw = m->fabric.switches;
	unsigned int i;

	if (m->state.phase != PHASE_ACTIVE)
		return INT64_MAX;
	for (i = 0; !m->drains && i < m->fabric.n; i++)
		if (sw[i].leaving && !sw[i].gone)
			return m->drain_at;
	return m->drains ? m->drain_at : INT64_MAX;
}

/* Move a group away from the switches that are drained. */
void group_drain_turn(struct manager *m)
{
	int64_t begin = now_ms(), took;

	if (m->stop || group_drain_deadline(m) > begin)
		return;
	m->drain_at = begin + (move_one(m) ? MOVE_MS : LOOK_MS);
	tell_empty(m);
	took = now_ms() - begin;
	if (m->drain_at < begin + SHARE * took)
		m->drain_at = begin + SHARE * took;
}
