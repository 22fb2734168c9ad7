// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups leave drained switches: they move (move.c), if there is room elsewhere. A few at
 * a time, since each has two trees meanwhile; groups whose ranks do not take part at once
 * are not waited for: a rank that is computing does at its next call of libinc.
 */
#include <stdio.h>

#include "group/group.h"

#define MOVING_MS	20	/* between looks while groups move */
#define LOOK_MS		2000	/* while no group can move: others may end */
#define AT_ONCE		16	/* groups that are moving */
#define BACK_MS		1000	/* how long others wait for a group's ranks */
#define SHARE		10	/* of the time at most, as a fraction */

static const struct sw *drained_of(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (sw_closed(g->subtrees[i].sw))
			return g->subtrees[i].sw;
	return NULL;
}

/* Does the group take room now, or soon? */
static bool is_moving(const struct group *g)
{
	return g->move.job[0] && g->state < GROUP_ENDING &&
	       (g->move.to ? g->move.to->state < GROUP_READY &&
			     g->move.to->state > GROUP_GATHERING :
			     !g->move.asked_at ||
			     g->manager->loop.now - g->move.asked_at < BACK_MS);
}

/* Returns true if the group begins to move. */
static bool leave_drained(struct group *g)
{
	const struct sw *sw = drained_of(g);
	char why[128];

	if (!sw || !move_can_begin(g))
		return false;
	snprintf(why, sizeof(why), "switch %s is %s", sw_name(sw),
		 sw->leaving ? "not named any more" : "drained");
	return move_begin(g, NULL, why);
}

/* Returns true if groups are moving. */
static bool move_some(struct manager *m)
{
	struct group *g;
	unsigned int n = 0;

	for (g = m->groups; g; g = g->next)
		n += is_moving(g);
	for (g = m->groups; g && n < AT_ONCE; g = g->next)
		n += leave_drained(g);
	return n;
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
		if (sw->subtrees) {
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

/* Move groups away from the switches that are drained. */
void group_drain_turn(struct manager *m)
{
	int64_t begin = now_ms(), took;

	if (m->stop || group_drain_deadline(m) > begin)
		return;
	m->drain_at = begin + (move_some(m) ? MOVING_MS : LOOK_MS);
	tell_empty(m);
	took = now_ms() - begin;
	if (m->drain_at < begin + SHARE * took)
		m->drain_at = begin + SHARE * took;
}
