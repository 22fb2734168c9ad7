// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Collects the agents' counters, for tasks, switches and clients. Traffic
 * between switches does not count: a task's data count once, where its hosts
 * send and receive them.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "stats/stats.h"

#define TICK_MS	1000

/**
 * struct ask - a request to an agent
 * @op: operation
 * @st: statistics
 * @counts: its answer
 */
struct ask {
	struct sw_op	op;
	struct stats	*st;
	struct member_counts	counts;
};

/* --- Threads ------------------------------------------------------------- */

static void add_tree(void *ctx, uint32_t tree, const char *text)
{
	member_counts_add(ctx, tree, text);
}

static int ask_run(struct sw_op *op, struct sw_session *s)
{
	struct ask *a = container_of(op, struct ask, op);
	int ret = sw_session_counters(s, add_tree, &a->counts, op->err);

	if (!ret)
		member_counts_sort(&a->counts);
	return ret;
}

/* --- The main loop ------------------------------------------------------- */

/* Find the rank that is a member; NULL: a switch, or of no group. */
static const struct rank *find_owner(const struct manager *m,
				     const struct sw *sw,
				     const struct stats_member *who)
{
	const struct subtree *subtree = group_find_subtree(m, sw, who->tree);

	return subtree ? subtree_rank(subtree, who->rank) : NULL;
}

static struct series *get_series(struct stats *st, enum series_kind kind,
				 const char *tenant, const char *name)
{
	return history_get(&st->history, kind, tenant, name,
			   st->m->loop.now / 1000);
}

static void count_delta(struct stats *st, struct series *s,
			const struct counts *delta)
{
	if (s)
		history_add(s, delta, st->m->loop.now / 1000);
}

/**
 * struct tally - objects for which a switch's members are counted
 * @st: statistics
 * @sw: switch
 * @series: object of the switch, NULL: none yet
 * @group: the last member's group: usually the next one's, too
 * @task: object of @group
 */
struct tally {
	struct stats		*st;
	const struct sw		*sw;
	struct series		*series;
	const struct group	*group;
	struct series		*task;
};

static void count_member(struct tally *t, const struct stats_member *now)
{
	const struct rank *r = find_owner(t->st->m, t->sw, now);
	const struct stats_member *before;
	struct counts d = now->counts;
	char text[64];

	if (!r)
		return;
	before = member_counts_find(&t->st->switches[t->sw->index].previous,
				    now);
	/* A counter that went back belongs to another member. */
	if (before && before->counts.rx <= d.rx && before->counts.tx <= d.tx) {
		d.rx -= before->counts.rx;
		d.tx -= before->counts.tx;
		d.messages -= before->counts.messages;
		d.trouble -= before->counts.trouble;
	}
	if (!t->series)
		t->series = get_series(t->st, SERIES_SWITCH, "",
				       sw_name(t->sw));
	if (t->group != r->group)
		t->task = get_series(t->st, SERIES_TASK, r->group->tenant->name,
				     r->group->name);
	t->group = r->group;
	count_delta(t->st, t->task, &d);
	count_delta(t->st, t->series, &d);
	inc_rdv_addr_str(&r->join.addr, text, sizeof(text));
	count_delta(t->st, get_series(t->st, SERIES_CLIENT, "", text), &d);
}

static void ask_done(struct sw_op *op)
{
	struct ask *a = container_of(op, struct ask, op);
	struct stats_switch *s = &a->st->switches[op->sw->index];
	struct tally t = { .st = a->st, .sw = op->sw };
	unsigned int i;

	s->asks--;
	if (!op->ret) {
		for (i = 0; i < a->counts.n; i++)
			count_member(&t, &a->counts.list[i]);
		member_counts_free(&s->previous);
		s->previous = a->counts;
	}
	free(a);
}

static void ask_switch(struct stats *st, struct sw *sw)
{
	struct stats_switch *s = &st->switches[sw->index];
	struct ask *a;

	if (!sw->up || !sw->subtrees)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	a->st = st;
	a->op.run = ask_run;
	a->op.done = ask_done;
	s->asks++;
	sw_submit(sw, &a->op);
}

/*
 * Forget the counters of a switch that is over.
 * @sw: switch, whose place another one will take
 */
void stats_forget_switch(struct stats *st, const struct sw *sw)
{
	struct stats_switch *s = &st->switches[sw->index];

	member_counts_free(&s->previous);
	s->asks = 0;
}

/*
 * Count a group's activity since the last second.
 * @g: group, before its trees are deleted
 */
void stats_group_ends(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (g->subtrees[i].exists)
			ask_switch(g->manager->stats, g->subtrees[i].sw);
}

/* Take samples if a second is over, and ask for new ones. */
void stats_expire(struct stats *st)
{
	struct manager *m = st->m;
	struct stats_watch *w, *next;
	unsigned int i;

	if (m->loop.now < st->sample_at)
		return;
	history_tick(&st->history, m->loop.now / 1000,
		     (double)(m->loop.now - st->sampled_at) / 1000);
	st->sampled_at = m->loop.now;
	st->sample_at = m->loop.now + TICK_MS;
	for (i = 0; i < m->fabric.n; i++)
		if (!st->switches[i].asks)
			ask_switch(st, &m->fabric.switches[i]);
	expiry_turn(&st->expiry);
	for (w = LIST_FIRST(&st->watches); w; w = next) {
		next = LIST_NEXT(w, entry);
		w->tick(w);
	}
}

/* Note a caller. */
void stats_caller(void *ctx, const struct identity *who)
{
	struct manager *m = ctx;

	expiry_client(&m->stats->expiry, who);
}

/*
 * Note that a file of certificates or tokens has changed.
 * @why: why it cannot be used; empty: it was read
 */
void stats_creds(void *ctx, enum creds_file file, const char *why)
{
	struct manager *m = ctx;

	stale_note(&m->stats->stale, m, file, why);
}

/* --- Groups -------------------------------------------------------------- */

static void observe_value(struct stats_histogram *h, double value)
{
	unsigned int i = 0;

	while (i < h->n && value > h->bound[i])
		i++;
	h->count[i]++;
	h->sum += value;
}

/* Find the group of an event, unless it is ending. */
static const struct group *live_group(const struct stats *st,
				      const struct event *ev)
{
	const struct group *g = group_of_tenant(st->m, ev->tenant, ev->subject);

	return g && g->state < GROUP_ENDING ? g : NULL;
}

static void became_ready(struct stats *st, const struct event *ev)
{
	const struct group *g = live_group(st, ev);
	int64_t now = now_ms();
	struct series *s;

	if (!g)
		return;
	observe_value(&st->size, g->request.ranks);
	observe_value(&st->levels, group_levels(g));
	observe_value(&st->ready, (double)(now - g->making.began_at) / 1000);
	s = history_get(&st->history, SERIES_TASK, ev->tenant, ev->subject,
			now / 1000);
	if (s)
		history_end(&st->history, s, false);
}

static void on_event(struct event_listener *l, const struct event *ev)
{
	struct stats *st = container_of(l, struct stats, listener);
	struct series *s;

	if (!strcmp(ev->kind, EVENT_GROUP_READY))
		became_ready(st, ev);
	else if (!strcmp(ev->kind, EVENT_GROUP_REFUSED))
		st->refused++;
	else if (!strcmp(ev->kind, EVENT_RANK_LOST))
		st->lost++;
	/* While a group ended, another one with its name may have begun. */
	if (strcmp(ev->kind, EVENT_GROUP_ENDED) || live_group(st, ev))
		return;
	s = history_find(&st->history, SERIES_TASK, ev->tenant, ev->subject);
	if (s)
		history_end(&st->history, s, true);
}

/* --- Start and stop ------------------------------------------------------ */

/* Register for a call each second. */
void stats_watch(struct stats *st, struct stats_watch *w)
{
	LIST_INSERT_HEAD(&st->watches, w, entry);
}

/*
 * Unregister from calls each second.
 * @w: registration; may be being called
 */
void stats_ignore(struct stats *st, struct stats_watch *w)
{
	LIST_REMOVE(w, entry);
}

/* Begin to collect statistics. Returns the statistics, or NULL: no memory. */
struct stats *stats_start(struct manager *m)
{
	struct stats *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->switches = calloc(m->fabric.most, sizeof(*st->switches));
	if (!st->switches) {
		free(st);
		return NULL;
	}
	history_init(&st->history);
	st->m = m;
	st->expiry.m = m;
	st->sampled_at = m->loop.now;
	st->sample_at = m->loop.now + TICK_MS;
	st->size = (struct stats_histogram){
		9, { 2, 4, 8, 16, 32, 64, 128, 256, 1024 }, { 0 }, 0 };
	st->levels = (struct stats_histogram){
		4, { 1, 2, 3, 4 }, { 0 }, 0 };
	st->ready = (struct stats_histogram){
		8, { .05, .1, .2, .5, 1, 2, 5, 10 }, { 0 }, 0 };
	st->listener.on_event = on_event;
	event_listen(&m->events, &st->listener);
	return st;
}

/*
 * Free all statistics.
 * @st: statistics, after the last answer of a switch
 */
void stats_stop(struct stats *st)
{
	unsigned int i;

	event_ignore(&st->m->events, &st->listener);
	for (i = 0; i < st->m->fabric.n; i++)
		member_counts_free(&st->switches[i].previous);
	free(st->switches);
	history_free(&st->history);
	expiry_free(&st->expiry);
	free(st);
}
