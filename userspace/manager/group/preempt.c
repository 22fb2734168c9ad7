// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Room for groups of tenants with a priority. If a group with all its ranks
 * does not fit, groups of lower-priority tenants may be ended to make room:
 * they are chosen (tenant/victims.c) by what there would be without them, and
 * end only if that is enough. The group then waits until their trees are gone.
 * Until it has its own, no group is placed whose priority is not higher.
 *
 * Groups that are ending anyway come first, whoever needs room: their ranks know that
 * it is over, and what they still have is of no use to them.
 *
 * A group that has its room from a reservation does not end for another one, nor
 * does what a reservation holds become anyone else's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "place/place.h"
#include "tenant/victims.h"

#define PREEMPT_MS	10000	/* for trees to be dismantled */
#define PREEMPTIONS_MAX	3	/* each may wait for so long */
#define CHOOSE_MS	2000	/* in which nobody else is heard */
#define RETRY_MS	100	/* memory is free a while after its tree */
#define BEHIND_MS	1000

/* The kernel's choice, if a tree has no wishes. */
#define SLOTS		64
#define MSG_SIZE	65536

/**
 * struct room - what trees at a switch take
 * @trees: their number
 * @slots: their slots
 * @bytes: messages in these
 * @members: their members
 * @pairs: slots of members
 *
 * A tree's memory is a sum of parts that each grow with one of these. So there
 * is memory for a tree where others have had no less of each.
 */
struct room {
	uint32_t	trees;
	uint64_t	slots;
	uint64_t	bytes;
	uint64_t	members;
	uint64_t	pairs;
};

/**
 * struct search - groups are chosen
 * @g: group that needs room
 * @rank_switches: for each of its ranks the switch
 * @list: groups that may end, in the order of victims_order()
 * @n: their number
 * @ending: for each switch what groups have there that are ending anyway
 * @some_end: there are such groups
 * @hope: any memory that they free at a switch may be enough
 * @freed: for each switch what these and the chosen groups have there
 * @since: milliseconds; when it began
 */
struct search {
	struct group		*g;
	const uint32_t		*rank_switches;
	struct candidate	*list;
	size_t			n;
	struct room		*ending;
	bool			some_end;
	bool			hope;
	struct room		*freed;
	int64_t			since;
};

static uint32_t priority_of(const struct group *g)
{
	return g->tenant->limits->priority;
}

/* It is placed again then. */
static void place_later(struct group *g, int64_t until)
{
	g->place_at = until;
	group_touch(g);
}

/* --- Would there be room? ------------------------------------------------ */

static void count_tree(struct room *r, const struct tree *t)
{
	const struct inc_rdv_joined *s = &t->settings;
	uint64_t slots = s->slots ? s->slots : SLOTS;

	r->trees++;
	r->slots += slots;
	r->bytes += slots * (s->msg_size ? s->msg_size : MSG_SIZE);
	r->members += t->n;
	r->pairs += slots * t->n;
}

static void put_group(struct room *gone, const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		count_tree(&gone[g->subtrees[i].sw->index],
			   &g->subtrees[i].tree);
}

/* Is there memory for a tree of the group at a switch that has refused one? */
static bool has_memory(const struct search *s, const struct sw *sw,
		       uint32_t members)
{
	const struct room *gone = &s->freed[sw->index];
	struct tree t = { .n = members };
	struct room need = { 0 };

	if (s->hope)
		return gone->trees;
	group_wishes(s->g, &t);
	count_tree(&need, &t);
	/* These are not for all trees together. */
	if (!sw->info || sw->info->max_tree_memory ||
	    (sw->info->max_slots && sw->info->max_slots < need.slots))
		return false;
	return need.slots <= gone->slots && need.bytes <= gone->bytes &&
	       need.members <= gone->members && need.pairs <= gone->pairs;
}

static bool is_avoided(const struct group *g, const struct sw *sw)
{
	uint32_t i;

	for (i = 0; i < g->navoid; i++)
		if (g->avoid[i] == sw)
			return true;
	return false;
}

static bool has_place(const struct search *s)
{
	struct manager *m = s->g->manager;
	struct place_fabric *f = topo_fabric(m);
	const struct sw *sw;
	struct place p;
	uint32_t i;
	bool ok;

	for (i = 0; f && i < m->o.nswitches; i++)
		if (s->freed[i].trees)
			topo_gone(m, &m->switches[i], s->freed[i].trees);
	if (!f)
		return false;
	keep_others(s->g);
	limit_room(s->g, false);
	for (i = 0; i < s->g->navoid; i++)
		if (!has_memory(s, s->g->avoid[i], 1))
			topo_avoid(m, s->g->avoid[i]);
	route_leave_out(s->g, f);
	if (!place_compute(f, s->g->request.ranks, s->rank_switches, &p))
		return false;
	ok = true;
	for (i = 0; i < p.n && ok; i++) {
		sw = &m->switches[p.nodes[i].sw];
		ok = !is_avoided(s->g, sw) ||
		     has_memory(s, sw, p.nodes[i].members);
	}
	place_free(&p);
	return ok;
}

/* @ends: for each candidate; NULL: none does. */
static bool would_fit(void *ctx, const bool *ends)
{
	struct search *s = ctx;
	struct manager *m = s->g->manager;
	struct tenant_amount lack = { 0 }, ended = { 0 };
	const struct group *g;
	size_t i;

	memcpy(s->freed, s->ending, m->o.nswitches * sizeof(*s->freed));
	for (i = 0; i < s->n; i++) {
		if (!ends || !ends[i])
			continue;
		g = s->list[i].ctx;
		put_group(s->freed, g);
		/* The room of an overcommitted group is still that of others. */
		ended.groups += !g->overcommitted;
		ended.ranks += g->overcommitted ? 0 : g->request.ranks;
	}
	if (s->g->overcommitted)
		lack = tenant_lacks(&m->tenants, s->g->request.ranks);
	return lack.groups <= ended.groups && lack.ranks <= ended.ranks &&
	       has_place(s);
}

static bool has_taken_long(void *ctx)
{
	const struct search *s = ctx;

	return now_ms() - s->since >= CHOOSE_MS;
}

/* --- Who ends ------------------------------------------------------------ */

/* A switch that does not answer has no room anyway. */
static bool has_trees(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (g->subtrees[i].sw->up)
			return true;
	return false;
}

/* Has it ended, and is there something that it gives back? */
static bool gives_back(const struct group *g)
{
	return g->state >= GROUP_ENDING && has_trees(g);
}

static bool may_end(const struct group *g, const struct group *for_g)
{
	return g->state < GROUP_ENDING &&
	       (!g->reservation || g->reservation->ended) &&
	       priority_of(g) < priority_of(for_g);
}

static bool list_candidates(struct search *s)
{
	const struct manager *m = s->g->manager;
	struct group *g;

	for (g = m->groups; g; g = g->next)
		s->n += may_end(g, s->g);
	s->list = calloc(s->n + 1, sizeof(*s->list));
	s->ending = calloc(m->o.nswitches + 1, sizeof(*s->ending));
	s->freed = calloc(m->o.nswitches + 1, sizeof(*s->freed));
	if (!s->list || !s->ending || !s->freed)
		return false;
	s->n = 0;
	for (g = m->groups; g; g = g->next)
		if (may_end(g, s->g)) {
			s->list[s->n++] = (struct candidate){
				priority_of(g), g->born_ms, g,
			};
		} else if (gives_back(g)) {
			put_group(s->ending, g);
			s->some_end = true;
		}
	victims_order(s->list, s->n);
	return true;
}

static void end_for(struct group *g, const struct group *for_g)
{
	char who[IDENTITY_LEN + 32], whose[IDENTITY_LEN + 32];

	/* Its ranks are not told of another tenant. */
	group_log(g, EVENT_GROUP_PREEMPTED,
		  "%u ranks of %.60s, priority %u, for group %.40s of %.60s, priority %u",
		  g->request.ranks, tenant_call(g->tenant, who, sizeof(who)),
		  priority_of(g), for_g->request.job,
		  tenant_call(for_g->tenant, whose, sizeof(whose)),
		  priority_of(for_g));
	g->room_wanted = true;
	group_raise_fault(g, GROUP_EV_DISMANTLED, CAUSE_PREEMPTED, ECONNRESET,
			  "a tenant with a higher priority needs its room");
}

/* The ones that are ending anyway. */
static void hurry_ending(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next) {
		if (!gives_back(g))
			continue;
		g->room_wanted = true;
		if (g->state == GROUP_ENDING)
			group_hurry(g);
	}
}

/* It is placed again when they are gone, and those that end for it. */
static void await_room(struct group *g)
{
	g->preempt_until = g->manager->loop.now + PREEMPT_MS;
	g->freed_at = 0;
	g->navoid = 0;
	g->limited = false;
	place_later(g, g->manager->loop.now);
	if (g->overcommitted)
		tenant_end_overcommit(&g->manager->tenants, g->request.ranks);
	g->overcommitted = false;
	hurry_ending(g->manager);
}

/* How much memory they free is only known then, so nobody else ends before that. */
static bool await_ending(struct search *s)
{
	bool found;

	if (s->g->preemptions || !s->some_end)
		return false;
	s->hope = true;
	found = would_fit(s, NULL);
	s->hope = false;
	if (found)
		await_room(s->g);
	return found;
}

static bool choose_groups(struct search *s)
{
	bool *ends = calloc(s->n + 1, sizeof(*ends));
	struct group *g = s->g;
	bool found;
	size_t i;

	found = ends &&
		victims_choose(ends, s->n, would_fit, has_taken_long, s);
	if (found)
		await_room(g);
	for (i = 0; found && i < s->n; i++)
		if (ends[i])
			end_for(s->list[i].ctx, g);
	free(ends);
	return found;
}

/* --- Waiting ------------------------------------------------------------- */

static bool is_dismantling(const struct manager *m)
{
	const struct group *g;

	for (g = m->groups; g; g = g->next)
		if (g->room_wanted && gives_back(g))
			return true;
	return false;
}

/**
 * group_preempts() - have others end for a group that has found no room
 * @g: group, whose ranks are all at a switch
 * @at: for each of them the switch
 *
 * Return: false if that would not help; else it waits, and is placed later.
 */
bool group_preempts(struct group *g, const uint32_t *at)
{
	struct search s = { .g = g, .rank_switches = at, .since = now_ms() };
	bool found = false;

	if (g->preemptions < PREEMPTIONS_MAX && list_candidates(&s) &&
	    (s.n || s.some_end))
		found = await_ending(&s) || choose_groups(&s);
	g->preemptions += found;
	free(s.list);
	free(s.ending);
	free(s.freed);
	return found;
}

static bool is_behind(const struct group *g)
{
	const struct group *o;

	for (o = g->manager->groups; o; o = o->next)
		if (o != g && o->state < GROUP_ENDING && o->preempt_until &&
		    priority_of(o) >= priority_of(g))
			return true;
	return false;
}

/**
 * group_waits() - check whether a group must wait before it is placed
 * @g: group, all ranks of which are present
 *
 * Return: true if it waits for trees that are being dismantled, or others do
 * whose turn it is; or if it has waited too long.
 */
bool group_waits(struct group *g)
{
	int64_t now = g->manager->loop.now;

	if (g->preempt_until && is_dismantling(g->manager)) {
		if (g->preempt_until > now)
			place_later(g, g->preempt_until);
		else
			group_refuse(g, ETIMEDOUT, "groups that were ended for it are still being dismantled after %d s",
				     PREEMPT_MS / 1000);
		return true;
	}
	if (is_behind(g)) {
		place_later(g, now + BEHIND_MS);
		return true;
	}
	g->tried_at = now;
	if (!g->freed_at)
		g->freed_at = now;
	return false;
}

/**
 * group_awaits_memory() - wait if a switch still frees memory
 * @g: group that @g->full_switch had no room for, with no operation on a switch
 *
 * What the switch told before the others' trees were gone, or while it was
 * tried, does not count.
 *
 * Return: true if it waits, and is placed again.
 */
bool group_awaits_memory(struct group *g)
{
	struct sw *sw = &g->manager->switches[g->full_switch->index];
	int64_t now = g->manager->loop.now;
	bool asked;

	if (g->preempt_until <= now || g->limited || !sw->info)
		return false;
	asked = sw->info->asked_at > g->freed_at;
	if (asked && !sw->info->deleting && sw->info->told_at <= g->tried_at)
		return false;
	if (!asked)
		sw_refresh(sw);
	g->full_switch = NULL;
	g->failed = 0;
	g->why[0] = '\0';
	trees_drop(g);
	place_later(g, now + RETRY_MS);
	return true;
}

/**
 * group_yield() - let others be placed that wait for a group
 * @g: group
 */
void group_yield(struct group *g)
{
	if (!g->preempt_until)
		return;
	g->preempt_until = 0;
	group_wake(g->manager);
}

/**
 * group_has_room() - a group has its trees, or gives them up
 * @g: group
 */
void group_has_room(struct group *g)
{
	if (g->overcommitted)
		tenant_end_overcommit(&g->manager->tenants, g->request.ranks);
	g->overcommitted = false;
	g->preemptions = 0;
	keep_release(g);
	group_yield(g);
}

/**
 * group_wake() - look again for groups that wait for others
 * @m: manager
 */
void group_wake(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next)
		if ((g->state == GROUP_PLACING ||
		     g->state == GROUP_REPLACING) && g->place_at) {
			g->place_at = m->loop.now;
			group_touch(g);
		}
}
