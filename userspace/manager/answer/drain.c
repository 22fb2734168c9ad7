// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Moving groups, and draining and resuming switches. */
#include <errno.h>
#include <stdio.h>
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
 * @waits: text for @msg
 */
struct row {
	RdmaInc__V1__SwitchGroup	msg;
	char				why[256];
	char				waits[128];
};

static void fill_row(struct row *r, struct group *g, const struct sw *sw)
{
	rdma_inc__v1__switch_group__init(&r->msg);
	r->msg.name = g->name;
	r->msg.tenant = g->tenant->name;
	r->msg.moves = sw_closed(sw) && move_fits(g, NULL, r->why, sizeof(r->why));
	r->msg.stays = r->why;
	if (g->move.job[0])
		move_missing(g, r->waits, sizeof(r->waits));
	r->msg.waits_for = r->waits;
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
		/* A group that moves to @sw has its row where it is. */
		if (!group_uses(g, sw) || (group_is_hidden(g) && g->move.from &&
					   group_uses(g->move.from, sw)))
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

/* Find a switch by its name, or its agent's address. Returns NULL after an error. */
struct sw *answer_switch(struct manager *m, const char *name, struct rpc_answer *a)
{
	struct sw *sw = find_switch(m, name);

	if (!sw)
		answer_refuse(a, ENOENT, "there is no switch \"%.63s\"", name);
	return sw;
}

/* Answer MoveGroup. */
void answer_move(struct manager *m, const void *msg, struct rpc_stream *stream,
		 struct rpc_answer *a)
{
	RdmaInc__V1__MoveGroupResponse out =
		RDMA_INC__V1__MOVE_GROUP_RESPONSE__INIT;
	RdmaInc__V1__GetGroupRequest which =
		RDMA_INC__V1__GET_GROUP_REQUEST__INIT;
	const RdmaInc__V1__MoveGroupRequest *req = msg;
	struct group_wish wish = { .by_hand = true };
	char why[256];
	struct sw *sw = NULL;
	struct group *g;

	which.name = req->name;
	which.tenant = req->tenant;
	g = answer_group(m, &which, a);
	if (g && req->switch_[0])
		sw = answer_switch(m, req->switch_, a);
	if (!g || (req->switch_[0] && !sw))
		return;
	if (sw)
		snprintf(wish.place, sizeof(wish.place), "%s", sw_name(sw));
	g->move.refused[0] = '\0';
	g->move.not_before = 0;
	if (sw && sw_closed(sw))
		answer_refuse(a, EBUSY, "switch \"%.63s\" is %s: it gets no trees",
			      req->switch_, answer_drain(sw));
	else if (g->move.job[0])
		answer_refuse(a, EBUSY, "group \"%.63s\" is moving already", g->name);
	else if (!move_fits(g, sw, why, sizeof(why)))
		answer_refuse(a, EBUSY, "group \"%.63s\" stays: %s", g->name, why);
	else if (!move_begin(g, &wish, "an operator wishes so"))
		answer_refuse(a, EBUSY, "group \"%.63s\" is %s: try again when it is ready",
			      g->name, answer_state(g));
	else
		answer_reply(a, &out.base);
}

/* Answer DrainSwitch. */
void answer_drain_switch(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__SwitchRequest *req = msg;
	struct sw *sw = answer_switch(m, req->name, a);

	if (sw && drain_add(m, sw, answer_by(a)))
		answer_refuse(a, ENOMEM, "no memory");
	else if (sw)
		reply_groups(m, sw, a);
}

/* Answer ResumeSwitch. */
void answer_resume_switch(struct manager *m, const void *msg,
			  struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__SwitchRequest *req = msg;
	struct sw *sw = answer_switch(m, req->name, a);

	if (!sw)
		return;
	drain_end(m, sw, answer_by(a));
	reply_groups(m, sw, a);
}
