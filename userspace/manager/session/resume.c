// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Ranks that come back after they have lost their connection, or their manager.
 * If queue pairs were not ready, each rank reports again whether its own is,
 * and ranks that have not heard of their tree join again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/peer.h"
#include "rdma_inc_proto.h"
#include "session/session.h"

/*
 * Check whether this manager has stalled: ranks then look for another one.
 * Returns true if so, a short time ago.
 */
bool session_was_late(const struct manager *m)
{
	return m->loop.late_at && m->loop.now - m->loop.late_at < AM_NOTICE_MS;
}

static bool has_qp(const struct rank *r, const struct inc_rdv_join *join)
{
	return (r->join.qpn == join->qpn && r->join.psn == join->psn) ||
	       (group_is_rebuilding(r->group) && r->old_qp.qpn == join->qpn &&
		r->old_qp.psn == join->psn);
}

static bool is_it(const struct rank *r, const struct inc_rdv_join *join,
		  uint32_t tree_id)
{
	const struct subtree *subtree = rank_subtree(r);

	/* During a rebuild there is no tree to compare. */
	return ((subtree && subtree->tree.id == tree_id) ||
		group_is_rebuilding(r->group)) &&
	       inc_rdv_addr_same(&r->join.addr, &join->addr) &&
	       has_qp(r, join);
}

static struct rank *find_rank(const struct manager *m, const char *tenant,
			      const struct inc_rdv_join *join, uint32_t tree_id)
{
	struct group *g;

	for (g = group_first(m, join->job); g; g = group_next(g))
		if (g->state != GROUP_OVER && !strcmp(g->tenant->name, tenant) &&
		    !strcmp(g->request.job, join->job) &&
		    g->request.ranks == join->ranks &&
		    is_it(&g->ranks[join->rank], join, tree_id))
			return &g->ranks[join->rank];
	return NULL;
}

/* Find why a group is gone, without showing another tenant's events. Operators' names. */
static const char *why_ended(const struct manager *m, const char *tenant,
			     const char *name)
{
	const struct event *ev;

	TAILQ_FOREACH_REVERSE(ev, &m->events.list, event_list, by_seq)
		if ((!strcmp(ev->kind, EVENT_GROUP_LOST) ||
		     !strcmp(ev->kind, EVENT_GROUP_ENDED)) &&
		    !strcmp(ev->tenant, tenant) &&
		    !strncmp(ev->subject, name, sizeof(ev->subject) - 1))
			return ev->text;
	return "this manager does not know it: it may have ended before this manager began";
}

/* Does a group with this name and tenant still run? */
static bool goes_on(const struct manager *m, const char *tenant, const char *name)
{
	const struct group *g = group_of_tenant(m, tenant, name);

	return g && g->state < GROUP_ENDING;
}

static void set_stream(struct rank *r, struct rpc_stream *stream)
{
	if (r->stream) {
		/* The end of the old connection has not been noticed yet. */
		rpc_stream_set(r->stream, NULL);
		rpc_stream_end(r->stream, ECONNRESET, "the rank has resumed over another connection");
	}
	group_touch(r->group);
	r->joined_sent = false;
	r->stream = stream;
	r->until = 0;
	r->heard_at = r->group->manager->loop.now;
	rpc_stream_set(stream, r);
}

/* Repeat the loss that the other ranks heard of while this one was cut off. */
static void tell_loss(struct rank *r)
{
	struct am_message msg = { .rdv = {
		.type	= INC_RDV_FAILED,
		.rank	= -1,
		.status	= INC_STATUS_MEMBER_LEFT,
	} };

	snprintf(msg.rdv.text, sizeof(msg.rdv.text), "%s", r->group->end.cause);
	group_tell(r, &msg);
}

static void take_stream(struct rank *r, struct rpc_stream *stream)
{
	struct group *g = r->group;
	struct am_message msg = {
		.resumed	= true,
		.heartbeat_ms	= group_beat_ms(g->manager),
		.resume_ms	= group_resume_ms(g->manager),
		.brief		= true,
	};

	set_stream(r, stream);
	msg.rdv.type = g->state == GROUP_READY ? INC_RDV_READY : INC_RDV_ALIVE;
	group_tell(r, &msg);
	if (g->state == GROUP_REJOINING && !r->rejoined)
		group_tell_rebuild(r, "the tree has failed");
	move_tell_again(r);
	if (g->end.loss_sent)
		tell_loss(r);
}

/*
 * Handle "join" of a rank that is awaited. The manager that made its tree was
 * killed before the rank got "joined", and the tree may have failed since; or
 * the rank took this manager for lost while its group was forming. Returns
 * false in all other cases.
 */
bool session_rejoin(struct group *g, struct rpc_stream *stream,
		  const struct inc_rdv_join *join)
{
	struct rank *r;

	if (join->ranks != g->request.ranks)
		return false;
	r = &g->ranks[join->rank];
	if (r->core.state != RANK_PRESENT || r->core.rts ||
	    !inc_rdv_addr_same(&r->join.addr, &join->addr) ||
	    r->join.qpn != join->qpn || r->join.psn != join->psn)
		return false;
	if (group_is_forming(g)) {
		/* After a stall, the old stream's end may still be unread. */
		if (r->stream && !session_was_late(g->manager))
			return false;
		set_stream(r, stream);
		return true;
	}
	if (!group_is_joined(g->state)) {
		group_join_again(r);
		take_stream(r, stream);
		return true;
	}
	/* The switch's agent has not answered this manager yet. */
	if (!cm_reached(r)) {
		rpc_stream_end(stream, EHOSTUNREACH, AM_STARTING ": try again");
		return true;
	}
	log_debug("group \"%s\": rank %u is told of its tree again",
		  g->request.job, join->rank);
	set_stream(r, stream);
	group_tell_joined(r);
	return true;
}

/*
 * Handle "resume".
 * @join: the rank's original request to join
 */
void session_resume(struct manager *m, struct rpc_stream *stream,
		    const struct inc_rdv_join *join, uint32_t tree_id)
{
	const char *tenant = rpc_stream_identity(stream)->tenant;
	char text[INC_RDV_TEXT_MAX], name[INC_RDV_JOB_MAX + 1];
	struct rank *r;

	snprintf(name, sizeof(name), "%.*s", (int)inc_job_first(join->job),
		 join->job);
	if (!addr_believed(m->o.allow, rpc_stream_peer(stream), &join->addr, text,
			   sizeof(text))) {
		rpc_stream_end(stream, EINVAL, text);
		return;
	}
	r = find_rank(m, tenant, join, tree_id);
	if (r && !inc_job_key_fits(&r->group->request, join)) {
		snprintf(text, sizeof(text), "group \"%s\": rank %u has another key (INC_JOB_KEY)",
			 join->job, join->rank);
		violation_call(m, rpc_stream_peer(stream), text);
		rpc_stream_end(stream, EACCES, text);
		return;
	}
	if (r && r->core.state == RANK_PRESENT) {
		r->old_qp = (struct rank_qp){ join->qpn, join->psn };
		take_stream(r, stream);
		return;
	}
	if (r && r->core.state == RANK_LEFT) {
		/* The answer to the rank's "leave" was lost. */
		r->stream = stream;
		group_tell(r, &(struct am_message){
			.rdv = { .type = INC_RDV_BYE } });
		r->stream = NULL;
		rpc_stream_end(stream, 0, "");
		return;
	}
	if (!r && goes_on(m, tenant, name)) {
		snprintf(text, sizeof(text), "group \"%s\" goes on, and has no rank %u of %u with this address, QPN, PSN and tree: if it is another one with the name, start the job again",
			 join->job, join->rank, join->ranks);
		rpc_stream_end(stream, ENOENT, text);
		return;
	}
	snprintf(text, sizeof(text), "group \"%s\" does not go on: %.400s: start the job again",
		 join->job, r ? r->group->end.cause : why_ended(m, tenant, name));
	rpc_stream_end(stream, ECONNRESET, text);
}
