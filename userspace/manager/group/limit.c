// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a tenant may have at each switch. Trees are counted before a place is
 * looked for; how many slots a tree has is only known when the switch has made
 * it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "group/group.h"

/* Trees and slots of a tenant at a switch, but those of one group. */
static void count(const struct group *but, const struct sw *sw, uint32_t *trees,
		  uint32_t *slots)
{
	const struct group *g;
	uint32_t i;

	*trees = 0;
	*slots = 0;
	for (g = but->manager->groups; g; g = g->next) {
		if (g == but || g->tenant != but->tenant)
			continue;
		for (i = 0; i < g->nparts; i++)
			if (g->parts[i].sw == sw) {
				(*trees)++;
				*slots += g->parts[i].tree.settings.slots;
			}
	}
}

/**
 * limit_room() - take what the tenant may not use from the switches' room
 * @g: group that is to be placed, after topo_fabric()
 *
 * Return: number of switches where the tenant has all the trees that it may
 * have.
 */
unsigned int limit_room(const struct group *g)
{
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_TREES];
	struct manager *m = g->manager;
	uint32_t trees, slots;
	unsigned int i, n = 0;

	if (most == POLICY_NO_LIMIT)
		return 0;
	for (i = 0; i < m->o.nswitches; i++) {
		count(g, &m->switches[i], &trees, &slots);
		topo_limit(m, &m->switches[i], trees < most ? most - trees : 0);
		n += trees >= most;
	}
	return n;
}

/**
 * limit_says() - check whether a limit is why a group has no place
 * @g: group that could not be placed
 * @why: result: which one, and what is allowed
 * @len: size of @why in bytes
 *
 * Return: true if so.
 */
bool limit_says(const struct group *g, char *why, size_t len)
{
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_TREES];
	char who[IDENTITY_LEN + 16];
	unsigned int n;

	if (g->limited) {
		snprintf(why, len, "%s", g->refused);
		return true;
	}
	n = limit_room(g);
	if (!n)
		return false;
	snprintf(why, len, "%s may have %u trees at each switch, and has as many at %u of %u",
		 tenant_call(g->tenant, who, sizeof(who)), most, n,
		 g->manager->o.nswitches);
	return true;
}

/**
 * limit_slots() - check whether a tenant may have the slots of a tree
 * @part: tree, which was just made
 * @why: result: if not, what is allowed
 * @len: size of @why in bytes
 *
 * Return: true if it may.
 */
bool limit_slots(const struct part *part, char *why, size_t len)
{
	const struct group *g = part->group;
	uint32_t most = g->tenant->limits->max[LIMIT_SWITCH_SLOTS];
	uint32_t own = part->tree.settings.slots, trees, slots;
	char who[IDENTITY_LEN + 16];

	if (most == POLICY_NO_LIMIT)
		return true;
	count(g, part->sw, &trees, &slots);
	if (slots <= most && own <= most - slots)
		return true;
	snprintf(why, len, "%s may have %u slots at each switch, has %u at %s, and this tree needs %u",
		 tenant_call(g->tenant, who, sizeof(who)), most, slots,
		 sw_name(part->sw), own);
	return false;
}
