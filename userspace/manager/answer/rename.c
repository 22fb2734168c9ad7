// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Renaming switches: the agent keeps the name. Groups and links know a switch by its
 * name, so it must have no trees, and gets none meanwhile. The answer waits until the
 * agent has told its name again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "fabric/tree.h"
#include "group/group.h"

/**
 * struct rename - a switch that gets another name
 * @op: operation on it
 * @rpc: stream for the answer; NULL once the client is gone
 * @m: manager
 * @id: the name
 * @by: who wishes so
 */
struct rename {
	struct sw_op		op;
	struct rpc_watch	rpc;
	struct manager		*m;
	char			id[SWITCH_ID_MAX + 1];
	char			by[IDENTITY_LEN];
};

static int run_rename(struct sw_op *op, struct sw_session *n)
{
	return tree_name_switch(container_of(op, struct rename, op)->id, n,
				op->err);
}

static int run_nothing(struct sw_op *op, struct sw_session *n)
{
	return 0;
}

/* Answer, if the client is still there. */
static void finish(struct rename *r, int err, const char *why)
{
	RdmaInc__V1__RenameSwitchResponse out =
		RDMA_INC__V1__RENAME_SWITCH_RESPONSE__INIT;
	struct rpc_stream *stream = r->rpc.stream;
	struct rpc_answer a = { .data = NULL };

	r->op.sw->renaming = NULL;
	if (stream && !err)
		answer_reply(&a, &out.base);
	if (stream && a.data)
		rpc_stream_send(stream, a.data, a.len);
	if (stream)
		rpc_stream_end(stream, err ? err : a.err, err ? why : a.text);
	free(a.data);
	free(r);
}

static void told(struct sw_op *op)
{
	finish(container_of(op, struct rename, op), 0, "");
}

static void renamed(struct sw_op *op)
{
	struct rename *r = container_of(op, struct rename, op);
	struct sw *sw = op->sw;
	char why[512];

	if (op->ret) {
		snprintf(why, sizeof(why), "switch \"%s\": %.400s", sw_name(sw),
			 op->err);
		finish(r, -op->ret, why);
		return;
	}
	event_log(&r->m->events, EVENT_SWITCH_RENAMED, sw_name(sw),
		  "it is %s from now on: by %s", r->id, r->by);
	/* Operations are done one after another. */
	sw_refresh(sw);
	op->run = run_nothing;
	op->done = told;
	op->reads = true;
	sw_submit(sw, op);
}

static void on_closed(struct rpc_watch *rpc)
{
	rpc->stream = NULL;
}

/* Does another switch have this name, has it answered by it, or is it getting it? */
static const struct sw *find_other(const struct manager *m, const struct sw *sw,
				   const char *id)
{
	const struct sw *other;

	for_each_switch(&m->fabric, other)
		if (other != sw && (!strcmp(sw_name(other), id) ||
				    !strcmp(other->address, id) ||
				    (other->renaming && !strcmp(other->renaming, id)) ||
				    (!other->info && !strcmp(other->named, id))))
			return other;
	return NULL;
}

static bool is_linked(const struct manager *m, const char *id)
{
	const struct topo_cable *c = m->fabric.cables;
	unsigned int i;

	for (i = 0; i < m->fabric.ncables; i++)
		if (!strcmp(c[i].sw[0], id) || !strcmp(c[i].sw[1], id))
			return true;
	return false;
}

/* Commands would take some names for something else. */
static bool may_be_name(const char *id)
{
	static const char *const words[] = { "drain", "rename", "resume" };
	const char *p;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(id, words[i]))
			return false;
	for (p = id; *p > ' ' && *p <= '~' && *p != ':'; p++)
		;
	return !*p && *id && p - id <= SWITCH_ID_MAX;
}

/* Returns false after an error. */
static bool check(const struct manager *m, const struct sw *sw, const char *id,
		  struct rpc_answer *a)
{
	const struct sw *other = find_other(m, sw, id);

	if (!may_be_name(id))
		answer_refuse(a, EINVAL, "a switch's name has 1 to %d printable ASCII characters, without spaces and colons, and is not drain, rename or resume",
			      SWITCH_ID_MAX);
	else if (other)
		answer_refuse(a, EEXIST, "the switch at %s has this name",
			      other->address);
	else if (!sw->up)
		answer_refuse(a, EBUSY, "switch \"%s\" is down: %.300s",
			      sw_name(sw), sw->why);
	else if (sw->renaming)
		answer_refuse(a, EBUSY, "switch \"%s\" is getting another name already",
			      sw_name(sw));
	else if (sw->subtrees || sw->info->ntrees)
		answer_refuse(a, EBUSY, "switch \"%s\" has trees, whose groups know it by its name: \"inc-amctl switch %s drain\" has them move away",
			      sw_name(sw), sw_name(sw));
	else if (is_linked(m, sw->info->id))
		answer_refuse(a, EBUSY, "--link has \"%s\": take that out first, and have it read again (SIGHUP)",
			      sw->info->id);
	return !a->err;
}

/* Answer RenameSwitch. */
void answer_rename_switch(struct manager *m, const void *msg,
			  struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__RenameSwitchRequest *req = msg;
	struct sw *sw = answer_switch(m, req->name, a);
	struct rename *r;

	if (!sw || !check(m, sw, req->id, a))
		return;
	r = calloc(1, sizeof(*r));
	if (!r) {
		answer_refuse(a, ENOMEM, "no memory");
		return;
	}
	r->m = m;
	snprintf(r->id, sizeof(r->id), "%s", req->id);
	snprintf(r->by, sizeof(r->by), "%s", answer_by(a));
	r->op.run = run_rename;
	r->op.done = renamed;
	r->rpc.closed = on_closed;
	sw->renaming = r->id;
	a->later = true;
	rpc_stream_watch(stream, &r->rpc);
	sw_submit(sw, &r->op);
}
