// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Ranks that leave or are lost: events are raised here, and settled in step.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "group/group.h"
#include "rdma_inc_proto.h"

#define LOST_SAID	16	/* events of lost ranks for a group */

/* End the streams of all ranks present. */
void group_dismiss(struct group *g, int err, const char *why)
{
	struct rank *r;

	inc_job_for_each(&g->core, r, RANK_PRESENT) {
		inc_job_set(&g->core, &r->core, RANK_GONE);
		rpc_stream_end(r->stream, err, why);
		r->stream = NULL;
	}
}

/* While a group gathers, another process may join as the same rank. */
static bool is_end(const struct group *g)
{
	return g->state != GROUP_GATHERING || g->core.present == 1;
}

/* Detach the stream from the rank. */
static void detach_stream(struct rank *r, enum rank_state state)
{
	struct inc_job *core = &r->group->core;

	r->stream = NULL;
	inc_job_set(core, &r->core, state);
	if (core->phase != INC_JOB_OPEN)
		return;
	/* The rank has no member yet, and may join again. */
	inc_job_vacate(core, &r->core);
	r->core.arrived = false;
}

/* Handle "leave". The last rank is answered when the trees are deleted. */
void rank_leave(struct rank *r)
{
	struct am_message bye = { .rdv = { .type = INC_RDV_BYE } };
	struct rpc_stream *stream = r->stream;
	struct group *g = r->group;

	log_debug("group \"%s\": rank %u leaves", g->request.job, r->join.rank);
	group_missing(g, r, bye.rdv.text, sizeof(bye.rdv.text));
	if (is_end(g))
		group_blame(g, CAUSE_LEFT, "rank %u", r->join.rank);
	detach_stream(r, RANK_LEFT);
	group_raise(g, GROUP_EV_LEFT);
	if (!g->core.present && g->state != GROUP_GATHERING) {
		g->end.last_stream = stream;
		return;
	}
	r->stream = stream;
	group_tell(r, &bye);
	r->stream = NULL;
	rpc_stream_end(stream, 0, "");
}

/* A failing switch may show first in the loss of its ranks. */
static void append_down_switch(const struct group *g, char *text,
			       size_t len)
{
	size_t used = strlen(text);
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++) {
		if (g->subtrees[i].sw->up)
			continue;
		snprintf(text + used, len - used, "; switch %.63s is down: %.128s",
			 sw_name(g->subtrees[i].sw), g->subtrees[i].sw->why);
		return;
	}
}

/* Report only the first loss to the other ranks: it ends the group for them. */
static void tell_lost(const struct rank *r, const char *why)
{
	struct group *g = r->group;

	if (!g->end.loss_sent)
		group_tell_failed(g, (int)r->join.rank, INC_STATUS_MEMBER_LEFT,
				  "rank %u: %s", r->join.rank, why);
	g->end.loss_sent = true;
}

/*
 * Handle the loss of a rank.
 * @r: rank; ignored if it has left, or the group is over
 */
void rank_lost(struct rank *r, const char *reason)
{
	struct rpc_stream *stream = r->stream;
	struct group *g = r->group;
	uint32_t rank = r->join.rank;
	char why[INC_RDV_TEXT_MAX];

	if (r->core.state != RANK_PRESENT)
		return;
	snprintf(why, sizeof(why), "%s", reason);
	append_down_switch(g, why, sizeof(why));
	/* All ranks of a host may be lost at once, and would flood the log. */
	g->end.nlost++;
	if (g->end.nlost <= LOST_SAID)
		group_log(g, EVENT_RANK_LOST, "rank %u: %s%s%s", rank, why,
			  g->end.loss_sent && stream ? ", after it was told of another's loss" : "",
			  g->end.nlost < LOST_SAID ? "" :
			  "; no further losses of this group are logged");
	if (is_end(g))
		group_blame(g, CAUSE_CLIENT, "rank %u: %s", rank, why);
	if (stream) {
		rpc_stream_set(stream, NULL);
		rpc_stream_end(stream, ECONNRESET, why);
	}
	detach_stream(r, RANK_GONE);
	if (g->state != GROUP_GATHERING) {
		tell_lost(r, why);
		if (g->core.present && g->end.nlost <= LOST_SAID)
			trees_del_member(r);
	}
	group_raise(g, GROUP_EV_LOST);
}

/*
 * Delete the members of ranks that have left a while ago, and tell the ranks
 * that have stayed.
 */
void group_delete_left(struct group *g)
{
	struct rank *r;

	g->core.leave_at = 0;
	inc_job_for_each(&g->core, r, RANK_LEFT) {
		inc_job_vacate(&g->core, &r->core);
		trees_del_member(r);
		group_tell_all(g, &(struct inc_rdv_msg){
			.type = INC_RDV_LEFT, .rank = (int)r->join.rank });
	}
}
