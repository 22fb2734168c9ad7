// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Statistics for operators: tasks, switches and clients, now and each second,
 * and their last hour.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer/answer.h"
#include "conf/array.h"
#include "group/group.h"
#include "rdma_inc.pb-c.h"
#include "stats/stats.h"

#define WAITS_LEN	128

/**
 * struct row - a task, switch or client
 * @msg: message
 * @waits_text: text of waits_for in @msg
 */
struct row {
	RdmaInc__V1__Task	msg;
	char			waits_text[WAITS_LEN];
};

/**
 * struct table - an answer under construction
 * @kind: kind of the objects
 * @name: name of the requested one; empty: all
 * @tenant: its tenant; empty: anyone's; "-": callers without a tenant
 * @n: number of @rows
 * @rows: rows
 */
struct table {
	enum series_kind	kind;
	const char		*name;
	const char		*tenant;
	size_t			n;
	struct row		**rows;
};

static struct row *add_row(struct table *t, const char *tenant,
			   const char *name, const char *state)
{
	struct row *r;

	if ((t->name[0] && strcmp(t->name, name)) ||
	    !answer_is_of(tenant, t->tenant))
		return NULL;
	r = ARRAY_ROOM(t->rows, t->n) ? calloc(1, sizeof(*r)) : NULL;
	if (!r)
		return NULL;
	rdma_inc__v1__task__init(&r->msg);
	r->msg.kind = (char *)series_kind_name(t->kind);
	r->msg.tenant = (char *)tenant;
	r->msg.name = (char *)name;
	r->msg.state = (char *)state;
	r->msg.waits_for = r->waits_text;
	t->rows[t->n++] = r;
	return r;
}

static void put_counts(const struct manager *m, struct table *t, struct row *r)
{
	const struct series *s = history_find(&m->stats->history, t->kind,
					      r->msg.tenant, r->msg.name);

	if (!s)
		return;
	r->msg.rx_bytes = s->total.rx;
	r->msg.tx_bytes = s->total.tx;
	r->msg.messages = s->total.messages;
	r->msg.trouble = s->total.trouble;
	r->msg.rx_rate = s->last.rx;
	r->msg.tx_rate = s->last.tx;
	r->msg.message_rate = s->last.messages;
	r->msg.history = s->ring != NULL;
}

static void put_tasks(const struct manager *m, struct table *t)
{
	const struct group *g;
	const struct series *s;
	struct row *r;

	for (g = m->groups; g; g = g->next) {
		/* A group that ends shares its successor's counters: skip it. */
		r = g == group_of_tenant(m, g->tenant->name, g->name) ?
		    add_row(t, g->tenant->name, g->name,
			    answer_state(g)) :
		    NULL;
		if (!r)
			continue;
		r->msg.ranks = g->request.ranks;
		r->msg.present = g->core.present;
		r->msg.switches = g->nsubtrees;
		r->msg.levels = group_levels(g);
		if (g->move.job[0])
			move_missing(g, r->waits_text, sizeof(r->waits_text));
		else
			group_awaited(g, r->waits_text, sizeof(r->waits_text));
	}
	LIST_FOREACH(s, &m->stats->history.all, next)
		if (s->kind == SERIES_TASK && s->ended &&
		    !group_of_tenant(m, s->tenant, s->name))
			add_row(t, s->tenant, s->name, "ended");
}

static void put_switches(const struct manager *m, struct table *t)
{
	const struct sw *sw;
	struct row *r;

	for_each_switch(&m->fabric, sw) {
		r = add_row(t, "", sw_name(sw), !sw->up ? "down" :
			    sw_closed(sw) ? answer_drain(sw) : "up");
		if (!r)
			continue;
		r->msg.switches = sw->subtrees;
		if (!sw->up)
			r->msg.why = (char *)sw->why;
	}
}

static void put_clients(const struct manager *m, struct table *t)
{
	const struct series *s;

	LIST_FOREACH(s, &m->stats->history.all, next)
		if (s->kind == SERIES_CLIENT)
			add_row(t, "", s->name,
				s->last.rx + s->last.tx > 0 ? "busy" : "idle");
}

static void fill_table(const struct manager *m, struct table *t)
{
	size_t i;

	if (t->kind == SERIES_TASK)
		put_tasks(m, t);
	else if (t->kind == SERIES_SWITCH)
		put_switches(m, t);
	else
		put_clients(m, t);
	for (i = 0; i < t->n; i++)
		put_counts(m, t, t->rows[i]);
}

static void answer_table(const struct manager *m, enum series_kind kind,
			 const char *name, const char *tenant,
			 struct rpc_answer *a)
{
	struct table t = { .kind = kind, .name = name, .tenant = tenant };
	RdmaInc__V1__Tasks out = RDMA_INC__V1__TASKS__INIT;
	size_t i;

	fill_table(m, &t);
	/* The cast is valid since a row begins with its message. */
	out.n_tasks = t.n;
	out.tasks = (RdmaInc__V1__Task **)t.rows;
	if (t.n || !name[0])
		answer_reply(a, &out.base);
	else
		answer_refuse(a, ENOENT, "there is no %s \"%.63s\"",
			      series_kind_name(kind), name);
	for (i = 0; i < t.n; i++)
		free(t.rows[i]);
	free(t.rows);
}

/* --- Requests ------------------------------------------------------------ */

/* Returns false after an error. */
static bool find_kind(const RdmaInc__V1__TasksRequest *req,
		      enum series_kind *kind, struct rpc_answer *a)
{
	for (*kind = 0; *kind < SERIES_KINDS; (*kind)++)
		if (!req->kind[0] || !strcmp(req->kind, series_kind_name(*kind)))
			return true;
	answer_refuse(a, EINVAL, "kind \"%.32s\": must be task, switch or client",
		      req->kind);
	return false;
}

/* Answer ListTasks. */
void answer_tasks(struct manager *m, const void *msg,
		  struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__TasksRequest *req = msg;
	enum series_kind kind;

	if (find_kind(req, &kind, a))
		answer_table(m, kind, req->name, req->tenant, a);
}

static void put_history(const struct series *s, RdmaInc__V1__History *out,
			double *values)
{
	const struct sample *sample;
	int64_t second;

	out->rx_rate = values;
	out->tx_rate = values + HISTORY_SECONDS;
	out->message_rate = values + 2 * HISTORY_SECONDS;
	out->trouble_rate = values + 3 * HISTORY_SECONDS;
	for (second = s->seconds - HISTORY_SECONDS; second < s->seconds;
	     second++) {
		sample = series_at(s, second);
		if (!sample)
			continue;
		out->rx_rate[out->n_rx_rate++] = sample->rx;
		out->tx_rate[out->n_tx_rate++] = sample->tx;
		out->message_rate[out->n_message_rate++] = sample->messages;
		out->trouble_rate[out->n_trouble_rate++] = sample->trouble;
	}
	/* The history counts seconds of CLOCK_MONOTONIC. */
	out->last = time(NULL) - now_ms() / 1000 + s->seconds - 1;
}

/* Find an object by name; NULL after an error: none, or of several tenants. */
static const struct series *
find_series(const struct manager *m, enum series_kind kind,
	    const RdmaInc__V1__TasksRequest *req, struct rpc_answer *a)
{
	const struct series *s, *found = NULL;

	LIST_FOREACH(s, &m->stats->history.all, next) {
		if (s->kind != kind || strcmp(s->name, req->name) ||
		    !answer_is_of(s->tenant, req->tenant))
			continue;
		if (found) {
			answer_refuse(a, EINVAL, "several tenants have a %s \"%.63s\": say whose",
				      series_kind_name(kind), req->name);
			return NULL;
		}
		found = s;
	}
	if (!found)
		answer_refuse(a, ENOENT, "there is no history of %s \"%.63s\"",
			      series_kind_name(kind), req->name);
	return found;
}

/* Answer GetHistory. */
void answer_history(struct manager *m, const void *msg,
		    struct rpc_stream *stream, struct rpc_answer *a)
{
	RdmaInc__V1__History out = RDMA_INC__V1__HISTORY__INIT;
	const RdmaInc__V1__TasksRequest *req = msg;
	const struct series *s;
	enum series_kind kind;
	double *values;

	if (!find_kind(req, &kind, a))
		return;
	s = find_series(m, kind, req, a);
	values = calloc(4 * HISTORY_SECONDS, sizeof(*values));
	if (s && values) {
		out.name = (char *)s->name;
		out.tenant = (char *)s->tenant;
		put_history(s, &out, values);
		answer_reply(a, &out.base);
	} else if (s) {
		answer_refuse(a, ENOMEM, "no memory");
	}
	free(values);
}

/* --- Streams ------------------------------------------------------------- */

/**
 * struct task_watch - a client that gets an answer each second
 * @rpc: the stream's callbacks
 * @tick: called each second
 * @m: manager
 * @kind: kind of the objects
 * @name: name of one object; empty: all
 * @tenant: its tenant, as of struct table
 */
struct task_watch {
	struct rpc_watch	rpc;
	struct stats_watch	tick;
	struct manager		*m;
	enum series_kind	kind;
	char			name[64];
	char			tenant[64];
};

static void send_table(struct stats_watch *tick)
{
	struct task_watch *w = container_of(tick, struct task_watch, tick);
	struct rpc_answer a = { .err = 0 };

	/* A slow reader misses seconds. */
	if (!rpc_stream_idle(w->rpc.stream))
		return;
	answer_table(w->m, w->kind, w->name, w->tenant, &a);
	if (a.data)
		rpc_stream_send(w->rpc.stream, a.data, a.len);
	free(a.data);
	if (a.err == ENOENT) {
		rpc_stream_end(w->rpc.stream, a.err, a.text);
		stats_ignore(w->m->stats, tick);
		free(w);
	}
}

static void on_closed(struct rpc_watch *rpc)
{
	struct task_watch *w = container_of(rpc, struct task_watch, rpc);

	stats_ignore(w->m->stats, &w->tick);
	free(w);
}

/* Answer WatchTasks. */
void answer_watch_tasks(struct manager *m, const void *msg,
			struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__TasksRequest *req = msg;
	struct rpc_answer first = { .err = 0 };
	enum series_kind kind;
	struct task_watch *w;

	if (!find_kind(req, &kind, a))
		return;
	/* Without a name there is always a table, which may be large. */
	if (req->name[0])
		answer_table(m, kind, req->name, req->tenant, &first);
	free(first.data);
	w = first.err ? NULL : calloc(1, sizeof(*w));
	if (first.err) {
		answer_refuse(a, first.err, "%s", first.text);
	} else if (w) {
		w->rpc.closed = on_closed;
		w->tick.tick = send_table;
		w->m = m;
		w->kind = kind;
		snprintf(w->name, sizeof(w->name), "%s", req->name);
		snprintf(w->tenant, sizeof(w->tenant), "%s", req->tenant);
		stats_watch(m->stats, &w->tick);
		rpc_stream_watch(stream, &w->rpc);
	} else {
		answer_refuse(a, ENOMEM, "no memory");
	}
}
