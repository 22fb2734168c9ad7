// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Draining and resuming switches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "group/group.h"

static struct sw *find_switch(struct manager *m, const char *name)
{
	struct sw *sw;

	for_each_switch(&m->fabric, sw)
		if (!strcmp(sw_name(sw), name) || !strcmp(sw->address, name))
			return sw;
	return NULL;
}

/**
 * struct row - a group of the answer
 * @msg: message
 * @why: text for @msg
 */
struct row {
	RdmaInc__V1__SwitchGroup	msg;
	char				why[128];
};

static void fill_row(struct row *r, struct group *g, const struct sw *sw)
{
	rdma_inc__v1__switch_group__init(&r->msg);
	r->msg.name = g->request.job;
	r->msg.tenant = g->tenant->name;
	r->msg.moves = sw_closed(sw) && group_may_move(g, r->why, sizeof(r->why));
	r->msg.stays = r->why;
}

static void reply_groups(struct manager *m, const struct sw *sw,
			 struct rpc_answer *a)
{
	RdmaInc__V1__SwitchGroups out = RDMA_INC__V1__SWITCH_GROUPS__INIT;
	RdmaInc__V1__Switch about;
	struct row *rows = calloc(sw->subtrees + 1, sizeof(*rows));
	struct group *g;

	out.groups = calloc(sw->subtrees + 1, sizeof(*out.groups));
	for (g = m->groups; rows && out.groups && g; g = g->next) {
		if (!group_uses(g, sw))
			continue;
		fill_row(&rows[out.n_groups], g, sw);
		out.groups[out.n_groups] = &rows[out.n_groups].msg;
		out.n_groups++;
	}
	answer_fill_switch(&about, sw);
	out.switch_ = &about;
	if (rows && out.groups)
		answer_reply(a, &out.base);
	else
		answer_refuse(a, ENOMEM, "no memory");
	free(out.groups);
	free(rows);
}

static struct sw *get_switch(struct manager *m, const void *msg,
			     struct rpc_answer *a)
{
	const RdmaInc__V1__SwitchRequest *req = msg;
	struct sw *sw = find_switch(m, req->name);

	if (!sw)
		answer_refuse(a, ENOENT, "there is no switch \"%.63s\"",
			      req->name);
	return sw;
}

/* Answer DrainSwitch. */
void answer_drain_switch(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	struct sw *sw = get_switch(m, msg, a);

	if (sw && drain_add(m, sw, answer_by(a)))
		answer_refuse(a, ENOMEM, "no memory");
	else if (sw)
		reply_groups(m, sw, a);
}

/* Answer ResumeSwitch. */
void answer_resume_switch(struct manager *m, const void *msg,
			  struct rpc_stream *stream, struct rpc_answer *a)
{
	struct sw *sw = get_switch(m, msg, a);

	if (!sw)
		return;
	drain_end(m, sw, answer_by(a));
	reply_groups(m, sw, a);
}
