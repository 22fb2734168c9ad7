// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A tenant's limits at each switch. Trees are counted before a place is looked
 * for; slots only afterwards, since the switch reports them once it has made
 * the tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "group/group.h"

/* Count a tenant's slots at a switch, without one group's. */
static uint32_t count_slots(const struct group *but, const struct sw *sw)
{
	const struct group *g;
	uint32_t slots = 0, i;

	for (g = but->manager->groups; g; g = g->next) {
		if (g == but || g->tenant != but->tenant)
			continue;
		for (i = 0; i < g->nsubtrees; i++)
			if (g->subtrees[i].sw == sw)
				slots += g->subtrees[i].tree.settings.slots;
	}
	return slots;
}

/* Count a tenant's trees at each switch, without one group's. */
static void count_trees(const struct group *but, bool ending, uint32_t *trees)
{
	const struct group *g;
	uint32_t i;

	for (g = but->manager->groups; g; g = g->next)
		if (g != but && g->tenant == but->tenant &&
		    (ending || g->state < GROUP_ENDING))
			for (i = 0; i < g->nsubtrees; i++)
				trees[g->subtrees[i].sw->index]++;
}

/*
 * Limit the switches' room to the share that the tenant may still use. Returns
 * the number of switches where the tenant has all the trees that it may have.
 * @g: group that is to be placed, after topo_fabric()
 * @ending: count groups that are ending
 */
unsigned int limit_room(const struct group *g, bool ending)
{
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_TREES];
	struct manager *m = g->manager;
	unsigned int i, n = 0;
	uint32_t *trees, has;

	if (most == POLICY_NO_LIMIT)
		return 0;
	trees = calloc(m->fabric.n, sizeof(*trees));
	if (trees)
		count_trees(g, ending, trees);
	for (i = 0; i < m->fabric.n; i++) {
		/* Without memory to count, nothing is allowed. */
		has = trees ? trees[i] : most;
		topo_limit(&m->fabric, &m->fabric.switches[i], has < most ? most - has : 0);
		n += has >= most;
	}
	free(trees);
	return n;
}

/*
 * Check whether a tenant has all the trees at a switch that it may have, without one
 * group's. Returns true if so.
 */
bool limit_is_reached(const struct group *g, const struct sw *sw)
{
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_TREES], n = 0;
	const struct group *other;

	for (other = g->manager->groups; other; other = other->next)
		n += other != g && other->tenant == g->tenant && group_uses(other, sw);
	return most != POLICY_NO_LIMIT && n >= most;
}

/*
 * Check whether a limit is why a group has no place. Returns true if so.
 * @why: result: the limit, and its value
 * @len: size of @why in bytes
 */
bool limit_says(const struct group *g, char *why, size_t len)
{
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_TREES];
	char who[IDENTITY_LEN + 16];
	unsigned int n;

	if (g->room.limited) {
		snprintf(why, len, "%s", g->where.refusal);
		return true;
	}
	n = limit_room(g, true);
	if (!n)
		return false;
	snprintf(why, len, "%s may have %u trees at each switch, and has as many at %u of %u",
		 tenant_call(g->tenant, who, sizeof(who)), most, n,
		 g->manager->fabric.n);
	return true;
}

/*
 * Check whether a tenant may have the slots of a tree. Returns true if it may.
 * @len: size of @why in bytes
 */
bool limit_slots(const struct subtree *subtree, char *why, size_t len)
{
	const struct group *g = subtree->group;
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_SLOTS];
	uint32_t own = subtree->tree.settings.slots, slots;
	char who[IDENTITY_LEN + 16];

	if (most == POLICY_NO_LIMIT)
		return true;
	slots = count_slots(g, subtree->sw);
	if (slots <= most && own <= most - slots)
		return true;
	snprintf(why, len, "%s may have %u slots at each switch, has %u at %s, and this tree needs %u",
		 tenant_call(g->tenant, who, sizeof(who)), most, slots,
		 sw_name(subtree->sw), own);
	return false;
}

/* Is the group ending, but not over? */
static bool is_ending(const struct group *g, const struct tenant *tn)
{
	return g->state == GROUP_ENDING && g->tenant == tn;
}

/*
 * Have ending groups of a tenant be over soon if there are too many. A job may
 * begin while ranks of the job before it are still there, so groups that are
 * ending do not count against the limits of groups and ranks. But if all groups
 * together exceed a limit, the oldest ending groups are over soon.
 */
void limit_ending(const struct group *new)
{
	const struct tenant *tn = new->tenant;
	const uint32_t *max = tn->limits->max;
	uint64_t groups = tn->use.groups, ranks = tn->use.ranks;
	struct group *g;

	for (g = new->manager->groups; g; g = g->next)
		if (is_ending(g, tn)) {
			groups++;
			ranks += g->request.ranks;
		}
	for (g = new->manager->groups; g; g = g->next) {
		if (groups <= max[LIMIT_GROUPS] && ranks <= max[LIMIT_RANKS])
			return;
		if (!is_ending(g, tn))
			continue;
		group_hurry(g);
		groups--;
		ranks -= g->request.ranks;
	}
}
