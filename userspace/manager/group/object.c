// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups, their trees and ranks as objects: how they are found, and which parts
 * they have. All groups of the manager are in the order of their creation, and
 * by name. Groups that end or move, and other tenants' groups, may have the same name.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

/* Groups that others move to are found by the first name of both. */
static uint64_t hash_name(const char *name)
{
	char first[INC_RDV_JOB_MAX + 1];

	snprintf(first, sizeof(first), "%.*s", (int)inc_job_first(name), name);
	return index_hash_text(0, first);
}

/*
 * Have a group's timer set anew before the main loop waits. Times that move
 * later need no call: the timer then goes off early, and is set again.
 * @g: group for which something may become due earlier
 */
void group_touch(struct group *g)
{
	if (g->due.is_touched)
		return;
	g->due.is_touched = true;
	g->due.next_touched = g->manager->touched;
	g->manager->touched = g;
}

/*
 * Shorten a group's end, since others need its room.
 * @g: group that is ending; ranks that have not left get an error
 */
void group_hurry(struct group *g)
{
	inc_job_hurry(&g->core, g->manager->loop.now);
	group_touch(g);
}

/*
 * Raise an event of a group.
 * @g: group; its state does not change before group_settle()
 */
void group_raise(struct group *g, enum group_event event)
{
	g->raised.events |= 1U << event;
	group_touch(g);
	if (g->raised.queued)
		return;
	g->raised.queued = true;
	STAILQ_INSERT_TAIL(&g->manager->raised, g, raised.next);
}

static void be_due(struct timer *timer)
{
	group_raise(container_of(timer, struct group, due.timer), GROUP_EV_DUE);
}

/* Add a group to the manager's. Returns 0 or -ENOMEM. */
int group_enter(struct group *g)
{
	struct manager *m = g->manager;
	int ret = timer_add(&m->loop.timers, &g->due.timer, be_due);

	if (ret)
		return ret;
	if (!m->groups) {
		m->groups_end = &m->groups;
		STAILQ_INIT(&m->raised);
	}
	g->next = NULL;
	*m->groups_end = g;
	m->groups_end = &g->next;
	index_add(&m->by_name, &g->by_name, hash_name(g->request.job));
	group_touch(g);
	return 0;
}

/* Map a group's state to its ranks' phase. */
static enum inc_job_phase phase_of(enum group_state state)
{
	return state == GROUP_GATHERING ? INC_JOB_OPEN :
	       state == GROUP_READY ? INC_JOB_READY :
	       state == GROUP_ENDING ? INC_JOB_ENDING :
	       state == GROUP_OVER ? INC_JOB_OVER : INC_JOB_FORMING;
}

static bool is_placing(enum group_state state)
{
	return state == GROUP_PLACING || state == GROUP_REPLACING;
}

/*
 * Set the state of one of the manager's groups. For step.c and its callees, and
 * for state/, which makes groups from the store. Groups that wait for news of
 * switches are counted, since such news come more often than groups wait.
 */
void group_set_state(struct group *g, enum group_state state)
{
	struct manager *m = g->manager;

	m->placing += is_placing(state);
	m->placing -= is_placing(g->state);
	g->state = state;
	g->core.phase = phase_of(state);
}

/* Undo group_enter(). */
void group_take_out(struct group *g)
{
	struct group **link = &g->manager->groups;
	struct manager *m = g->manager;

	group_set_state(g, GROUP_GATHERING);
	while (*link != g)
		link = &(*link)->next;
	*link = g->next;
	if (m->groups_end == &g->next)
		m->groups_end = link;
	for (link = &m->touched; g->due.is_touched && *link != g;)
		link = &(*link)->due.next_touched;
	if (g->due.is_touched)
		*link = g->due.next_touched;
	index_remove(&g->by_name);
	timer_remove(&m->loop.timers, &g->due.timer);
}

/*
 * Make a group. Returns the group, one of the manager's, without ranks; NULL:
 * no memory.
 * @reserved: reservation that its room is taken from, or NULL
 */
struct group *group_new(struct manager *m, struct tenant *tn,
			struct reservation *reserved,
			const struct inc_rdv_join *join)
{
	struct group *g = calloc(1, sizeof(*g) +
				    join->ranks * sizeof(g->ranks[0]));
	uint32_t i;

	if (!g)
		return NULL;
	g->manager = m;
	g->request = *join;
	g->request.addr.vlan = tn->limits->vlan;
	memcpy(g->name, join->job, sizeof(g->name));
	if (group_enter(g)) {
		free(g);
		return NULL;
	}
	g->tenant = tn;
	g->reservation = reserved;
	g->born_ms = (uint64_t)unix_ms();
	tenant_enter(&m->tenants, tn, reserved, join->ranks);
	inc_job_init(&g->core, g->ranks, sizeof(g->ranks[0]), join->ranks);
	g->core.deadline = m->loop.now + m->o.forming_ms;
	for (i = 0; i < join->ranks; i++)
		g->ranks[i].group = g;
	return g;
}

static struct group *group_at_node(struct index_node *node)
{
	return node ? container_of(node, struct group, by_name) : NULL;
}

/*
 * Find groups that have, or may have had, a name. Returns the first; NULL: none. The
 * caller compares names: @name of struct group for operators, @request.job for ranks.
 */
struct group *group_first(const struct manager *m, const char *name)
{
	return group_at_node(index_first(&m->by_name, hash_name(name)));
}

/* Find the next group as group_first() does. Returns the group, or NULL. */
struct group *group_next(const struct group *g)
{
	return group_at_node(index_next(&g->by_name));
}

/*
 * Compare a group with another one of the same name. Returns true if operators are to
 * see the first.
 * @than: other one, or NULL
 */
bool group_is_better(const struct group *g, const struct group *than)
{
	return !than || than->state >= GROUP_ENDING ||
	       (g->state < GROUP_ENDING && group_is_hidden(than));
}

/*
 * Find the group that operators see with a tenant and a name. Returns the group, or
 * NULL. A group that is ending is only returned if there is no other.
 */
struct group *group_of_tenant(const struct manager *m, const char *tenant,
			      const char *name)
{
	struct group *g, *found = NULL;

	for (g = group_first(m, name); g; g = group_next(g))
		if (!strcmp(g->name, name) && !strcmp(g->tenant->name, tenant) &&
		    group_is_better(g, found))
			found = g;
	return found;
}

/* --- Trees and ranks ----------------------------------------------------- */

static uint64_t hash_id(uint32_t id)
{
	return index_hash(0, &id, sizeof(id));
}

/* Let a subtree be found by its tree. */
void subtree_enter(struct subtree *subtree)
{
	index_add(&subtree->group->manager->by_tree, &subtree->by_tree,
		  hash_id(subtree->tree.id));
}

/*
 * Find the group that owns a tree. Returns the subtree, or NULL if no group
 * does.
 */
struct subtree *group_find_subtree(const struct manager *m, const struct sw *sw,
				   uint32_t id)
{
	struct index_node *node = index_first(&m->by_tree, hash_id(id));
	struct subtree *subtree;

	for (; node; node = index_next(node)) {
		subtree = container_of(node, struct subtree, by_tree);
		if (subtree->sw == sw && subtree->tree.id == id)
			return subtree;
	}
	return NULL;
}

/*
 * Check whether a tree ID is in use. Returns true if a group has such a tree,
 * on any switch.
 */
bool group_has_tree(const struct manager *m, uint32_t id)
{
	struct index_node *node = index_first(&m->by_tree, hash_id(id));

	while (node &&
	       container_of(node, struct subtree, by_tree)->tree.id != id)
		node = index_next(node);
	return node;
}

/*
 * Find the rank that is a member of a tree. Returns the rank, or NULL: the
 * member is a switch, or does not exist.
 */
struct rank *subtree_rank(const struct subtree *subtree, uint32_t member)
{
	struct group *g = subtree->group;
	struct rank *r;

	if (member >= subtree->tree.n ||
	    subtree->tree.members[member].rank >= g->request.ranks)
		return NULL;
	r = &g->ranks[subtree->tree.members[member].rank];
	return r->subtree == subtree && r->member == member ? r : NULL;
}

/*
 * Get the tree that "joined" names, or will name, to a rank. Returns its
 * subtree; NULL: no tree has been made yet.
 */
struct subtree *rank_subtree(const struct rank *r)
{
	const struct group *g = r->group;

	return group_is_joined(group_phase(g)) ? r->subtree : NULL;
}

/*
 * Count the levels of switches in a group's tree. Returns their number; 0
 * if it has no tree.
 */
unsigned int group_levels(const struct group *g)
{
	const struct subtree *p;
	unsigned int most = 0, n;
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++) {
		n = 0;
		for (p = &g->subtrees[i]; p; p = p->parent)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

/* Check whether a group has a tree on a switch. Returns true if so. */
bool group_uses(const struct group *g, const struct sw *sw)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (g->subtrees[i].sw == sw)
			return true;
	return false;
}

static bool is_awaited(const struct rank *r)
{
	const struct group *g = r->group;

	if (g->state == GROUP_REJOINING)
		return !r->rejoined;
	return inc_job_misses(&g->core, &r->core, group_is_joined(g->state));
}

/*
 * Name the ranks that have not come, or come back, or are not ready.
 * @but: rank to leave out; or NULL
 * @text: result, as "ranks 1, 3-4 ..."; empty: no rank is awaited
 * @len: its size in bytes, more than 32
 */
void group_missing(const struct group *g, const struct rank *but, char *text,
		   size_t len)
{
	uint32_t i, end, n = g->request.ranks;
	size_t room = len - strlen(" ...");

	text[0] = '\0';
	for (i = 0; i < n; i = end + 1) {
		for (end = i; end < n && &g->ranks[end] != but &&
		     is_awaited(&g->ranks[end]); end++)
			;
		if (end > i && !inc_job_name_ranks(text, room, i, end - 1)) {
			strcat(text, " ...");
			break;
		}
	}
}

/* Is a switch still to answer for the group to go on? */
static bool awaits_switch(const struct group *g, const struct sw *sw)
{
	switch (g->state) {
	case GROUP_PLACING:
	case GROUP_REPLACING:
		return sw_awaited(sw);
	case GROUP_MAKING:
	case GROUP_REMAKING:
		return g->making.ops && sw->queue.pending && group_uses(g, sw);
	default:
		return false;
	}
}

/*
 * Name the ranks that a group waits for, as group_missing(), or else the switches, as
 * "switch l0, l1".
 * @len: size of @text in bytes, more than 32
 */
void group_awaited(const struct group *g, char *text, size_t len)
{
	const struct sw *sw;
	size_t at = 0;

	group_missing(g, NULL, text, len);
	if (text[0])
		return;
	for_each_switch(&g->manager->fabric, sw)
		if (at < len && awaits_switch(g, sw))
			at += (size_t)snprintf(text + at, len - at, "%s%s",
					       at ? ", " : "switch ", sw_name(sw));
}

/* Forget which interfaces a group needs. */
void group_forget_links(struct group *g)
{
	struct group_at *at;

	for (at = g->links.switches; at < g->links.switches + g->links.nswitches; at++)
		LIST_REMOVE(at, by_sw);
	free(g->links.switches);
	free(g->links.links);
	g->links.switches = NULL;
	g->links.nswitches = 0;
	g->links.links = NULL;
	g->links.n = 0;
	g->manager->nlinks_missing -= g->links.missing;
	g->links.missing = false;
}
