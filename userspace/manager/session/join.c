// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages of ranks: a stream becomes a rank of a group, or is refused.
 * Messages have the meaning of the rendezvous daemon's lines of the same names
 * (Documentation/rendezvous.rst). All events that a message raises are settled
 * before the next message is handled.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/peer.h"
#include "rpc/peer.h"
#include "session/session.h"
#include "rdma_inc_proto.h"

#define FORMING_MAX	256	/* waiting groups of a host */
#define FORMING_RANKS_MAX (16 * AM_RANKS_MAX)	/* ranks of these groups */

/* Time to resume for ranks that have ended their streams during a rebuild. */
#define BACK_MS		4000

/* --- Joining ------------------------------------------------------------- */

static void refuse_rank(struct rpc_stream *stream, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse_rank(struct rpc_stream *stream, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_debug("%s: %s", rpc_stream_peer(stream), text);
	rpc_stream_end(stream, err, text);
}

static struct group *find_group(const struct manager *m, const struct tenant *tn,
			  const char *name)
{
	struct group *g = group_first(m, name);

	while (g && (g->state >= GROUP_ENDING || g->tenant != tn ||
		     strcmp(g->request.job, name)))
		g = group_next(g);
	return g;
}

/*
 * Check whether a rank has the key of a group, whose ranks it does not harm otherwise.
 * Returns false if it was refused.
 * @first: the group's request
 */
static bool check_key(struct manager *m, struct rpc_stream *stream,
		      const struct inc_rdv_join *first,
		      const struct inc_rdv_join *join)
{
	char why[160];

	if (inc_job_key_fits(first, join))
		return true;
	snprintf(why, sizeof(why), "group \"%s\": rank %u has %s (INC_JOB_KEY)",
		 join->job, join->rank, inc_job_key_why(first, join));
	violation_call(m, rpc_stream_peer(stream), why);
	refuse_rank(stream, EACCES, "%s", why);
	return false;
}

static bool check_join(struct rpc_stream *stream, struct group *g,
		       const struct inc_rdv_join *join)
{
	const struct rank *r = &g->ranks[join->rank];

	if (join->ranks != g->request.ranks) {
		refuse_rank(stream, EINVAL, "group \"%s\" has %u ranks, not %u",
		       join->job, g->request.ranks, join->ranks);
		return false;
	}
	if (g->move.from && !move_allows(g->move.from, join)) {
		refuse_rank(stream, EINVAL, "group \"%s\": rank %u has another address in the group that moves there",
			    join->job, join->rank);
		return false;
	}
	if (r->core.state != RANK_ABSENT) {
		refuse_rank(stream, EEXIST, "group \"%s\": rank %u is taken by %s",
		       join->job, join->rank, r->stream ?
		       rpc_stream_peer(r->stream) : "one that has left");
		return false;
	}
	if (join->rebuild != g->request.rebuild) {
		refuse_rank(stream, EINVAL, "group \"%s\": rank %u wants %s if the tree fails, and other ranks do not: set INC_AM_ON_FAILURE alike",
		       join->job, join->rank, join->rebuild ?
		       "another one" : "the group to end");
		return false;
	}
	if (!inc_job_merge(&g->request, join)) {
		refuse_rank(stream, EINVAL, "group \"%s\": rank %u requests another tree than other ranks",
		       join->job, join->rank);
		return false;
	}
	return true;
}

static void add_rank(struct group *g, struct rpc_stream *stream,
		     const struct inc_rdv_join *join)
{
	struct rank *r = &g->ranks[join->rank];

	inc_job_set(&g->core, &r->core, RANK_PRESENT);
	r->stream = stream;
	r->join = *join;
	r->join.addr.vlan = g->request.addr.vlan;
	r->heard_at = g->manager->loop.now;
	rpc_stream_set(stream, r);
	log_debug("group \"%s\": rank %u at %s, %u of %u", join->job,
		  join->rank, rpc_stream_peer(stream), g->core.present,
		  join->ranks);
}

/*
 * Limit the waiting groups of a host: the first rank of a group makes the
 * manager allocate memory for all. Each tenant on a host has the whole limit.
 */
static bool may_begin(const struct manager *m, struct rpc_stream *stream,
		      const struct tenant *tn, const struct inc_rdv_join *join,
		      struct inc_rdv_addr *from)
{
	const struct group *g;
	uint32_t n = 0, ranks = 0;

	if (!addr_of_peer(rpc_stream_peer(stream), from))
		*from = join->addr;
	for (g = m->groups; g; g = g->next) {
		if (g->state != GROUP_GATHERING || g->tenant != tn ||
		    !inc_rdv_addr_same(&g->first_addr, from))
			continue;
		n++;
		ranks += g->request.ranks;
	}
	if (n < FORMING_MAX && ranks + join->ranks <= FORMING_RANKS_MAX)
		return true;
	refuse_rank(stream, ENOBUFS, "group \"%s\": %u groups, of %u ranks, that were begun from this host wait for their ranks already (at most %u of %u): start those, or wait for --forming-time",
	       join->job, n, ranks, FORMING_MAX, FORMING_RANKS_MAX);
	return false;
}

/*
 * Check whether a tenant may have one more group. A group that others move to counts,
 * but is not refused: it is there for a moment only. Returns false if the rank was
 * refused.
 * @reserved: result: reservation that the group's room is from, or NULL
 */
static bool is_admitted(struct manager *m, struct rpc_stream *stream,
			struct tenant *tn, const struct am_message *msg,
			struct reservation **reserved)
{
	const struct inc_rdv_join *join = &msg->rdv.join;
	char why[INC_RDV_TEXT_MAX - 128];
	struct reservation *r = NULL;

	*reserved = NULL;
	if (tn->limits->require_key && !join->has_key) {
		violation_call(m, rpc_stream_peer(stream), "a group without a key");
		refuse_rank(stream, EACCES, "group \"%s\": the groups of this tenant need a key: set INC_JOB_KEY alike for all ranks, or start them with mpirun-inc",
			    join->job);
		return false;
	}
	if (msg->reservation[0]) {
		r = reservation_find(&m->tenants, tn, msg->reservation);
		if (!r) {
			refuse_rank(stream, ENOENT, "group \"%s\": there is no reservation \"%s\" (INC_AM_RESERVATION)",
			       join->job, msg->reservation);
			return false;
		}
		if (!reservation_fits(r, join->ranks))
			r = NULL;
	}
	*reserved = r;
	if (tenant_admits(&m->tenants, tn, r, join->ranks, why, sizeof(why)))
		return true;
	tenant_refused(tn, &m->events, join->job, why);
	refuse_rank(stream, ENOBUFS, "group \"%s\": %s", join->job, why);
	return false;
}

/* A group that has moved has the name still, although its ranks use another one. */
static bool is_taken(const struct manager *m, const struct tenant *tn,
		     const char *name)
{
	const struct group *g = group_of_tenant(m, tn->name, name);

	return g && g->state < GROUP_ENDING && strcmp(g->request.job, name);
}

/* Make a new group. Returns NULL if the rank was refused. */
static struct group *form_group(struct manager *m, struct rpc_stream *stream,
				struct tenant *tn, const struct am_message *msg)
{
	const struct inc_rdv_join *join = &msg->rdv.join;
	struct group *g, *old = move_find(m, tn, join->job);
	struct reservation *r = NULL;
	struct inc_rdv_addr from;

	if (old && !check_key(m, stream, &old->request, join))
		return NULL;
	if (old && !move_allows(old, join)) {
		refuse_rank(stream, EINVAL, "group \"%s\": rank %u of %u is none of the group that moves there",
			    join->job, join->rank, join->ranks);
		return NULL;
	}
	if (old ? !!old->move.to : inc_job_is_other(join->job)) {
		refuse_rank(stream, ECONNRESET, "group \"%s\": %s", join->job,
			    old ? "other ranks have given up this move" :
			    "no group moves there; names with this end are the manager's");
		return NULL;
	}
	if (is_taken(m, tn, join->job)) {
		refuse_rank(stream, EEXIST, "group \"%s\": rank %u is taken: it runs, and has moved to another tree",
			    join->job, join->rank);
		return NULL;
	}
	if (!may_begin(m, stream, tn, join, &from) ||
	    (!old && !is_admitted(m, stream, tn, msg, &r)))
		return NULL;
	g = group_new(m, tn, r, join);
	if (!g) {
		refuse_rank(stream, ENOBUFS, "no memory for group \"%s\"",
		       join->job);
		return NULL;
	}
	if (old)
		move_take(old, g);
	limit_ending(g);
	g->first_addr = from;
	return g;
}

/* Find or make a rank's group. Returns NULL if the rank was refused. */
static struct group *get_group(struct manager *m, struct rpc_stream *stream,
			       const struct am_message *msg)
{
	const struct identity *who = rpc_stream_identity(stream);
	struct tenant *tn = tenant_get(&m->tenants, who->tenant);
	struct group *g;

	if (!tn) {
		refuse_rank(stream, ENOBUFS, "no memory for group \"%s\"",
		       msg->rdv.join.job);
		return NULL;
	}
	g = find_group(m, tn, msg->rdv.join.job);
	if (!g)
		return form_group(m, stream, tn, msg);
	return check_key(m, stream, &g->request, &msg->rdv.join) ? g : NULL;
}

static void handle_join(struct manager *m, struct rpc_stream *stream,
			const struct am_message *msg)
{
	const struct inc_rdv_join *join = &msg->rdv.join;
	char err[INC_RDV_TEXT_MAX];
	struct group *g;

	if (!addr_believed(m->o.allow, rpc_stream_peer(stream), &join->addr, err,
			   sizeof(err))) {
		refuse_rank(stream, EINVAL, "%s", err);
		return;
	}
	g = get_group(m, stream, msg);
	if (!g || session_rejoin(g, stream, join) ||
	    !check_join(stream, g, join))
		return;
	add_rank(g, stream, join);
	group_touch(g);
	if (g->core.present < g->request.ranks)
		return;
	g->making.began_at = m->loop.now;
	group_raise(g, GROUP_EV_FULL);
}

/* --- Members of a group -------------------------------------------------- */

/*
 * Handle a rank's report that its tree does not work. If the tree was ready, a
 * switch may be about to report the cause.
 */
static void tree_is_lost(const struct rank *r, const char *text)
{
	struct group *g = r->group;
	uint32_t rank = r->join.rank;

	if (g->state == GROUP_READY)
		group_undetermined_tree(g, INC_STATUS_PEER_DEAD, "rank %u: %s",
					rank, text);
	else
		group_fail(g, CAUSE_TREE, (int)rank, INC_STATUS_PEER_DEAD,
			   "rank %u: %s", rank, text);
}

static void handle_rts(struct rank *r)
{
	struct group *g = r->group;

	if (group_is_forming(g)) {
		rank_lost(r, "it said \"rts\" before it was told \"joined\"");
		return;
	}
	/* A late "rts" may belong to a tree that has failed since. */
	if (!group_is_joined(g->state))
		return;
	inc_job_set_rts(&g->core, &r->core, true);
	r->old_qp = (struct rank_qp){ r->join.qpn, r->join.psn };
	group_raise(g, GROUP_EV_RTS);
}

static void handle_rank(struct rank *r, const struct inc_rdv_msg *msg)
{
	const struct group *g = r->group;
	enum group_state phase = group_phase(g);

	switch (msg->type) {
	case INC_RDV_REJOIN:
		if (group_is_forming(g))
			rank_lost(r, "it said \"rejoin\", and there is no tree that has failed");
		else
			group_rejoin(r, &msg->join);
		return;
	case INC_RDV_RTS:
		handle_rts(r);
		return;
	case INC_RDV_LEAVE:
		rank_leave(r);
		return;
	case INC_RDV_LOSSY:
		move_to_uc(r->group);
		return;
	case INC_RDV_LOST:
		if (g->request.rebuild && (group_is_joined(phase) ||
					   phase == GROUP_REJOINING))
			tree_is_lost(r, msg->text);
		else
			rank_lost(r, msg->text);
		return;
	default:
		rank_lost(r, "it said \"join\" twice");
	}
}

static void say_stopped(struct rpc_stream *stream)
{
	rpc_stream_end(stream, EHOSTUNREACH, "it is being stopped");
}

/* Handle a new stream. */
void session_opened(void *ctx, struct rpc_stream *stream)
{
	struct manager *m = ctx;
	char text[256];

	if (state_refuses(m, text, sizeof(text))) {
		rpc_stream_end(stream, EHOSTUNREACH, text);
		return;
	}
	log_debug("%s: connected", rpc_stream_peer(stream));
	if (m->stop)
		say_stopped(stream);
}

/* Handle the first message of a stream. */
static void handle_stranger(struct manager *m, struct rpc_stream *stream,
			    const struct am_message *msg)
{
	if (m->stop)
		say_stopped(stream);
	else if (msg->heartbeat)
		refuse_rank(stream, EPROTO, "the first message must be join");
	else if (msg->resume)
		session_resume(m, stream, &msg->rdv.join, msg->tree_id);
	else if (msg->rdv.type == INC_RDV_JOIN)
		handle_join(m, stream, msg);
	else if (msg->rdv.type == INC_RDV_LEAVE)
		rpc_stream_end(stream, 0, "");
	else
		refuse_rank(stream, EPROTO, "the first message must be join");
}

static void handle_member(struct rank *r, const struct am_message *msg)
{
	/* Heartbeats only move deadlines later. */
	if (msg->heartbeat)
		return;
	group_touch(r->group);
	if (r->core.state != RANK_PRESENT)
		return;
	if (msg->failure)
		rank_lost(r, msg->rdv.text);
	else if (msg->resume)
		rank_lost(r, "it said \"resume\" on a stream that is a rank's already");
	else
		handle_rank(r, &msg->rdv);
}

/* Handle a message of a rank. */
void session_message(void *ctx, struct rpc_stream *stream, const uint8_t *data,
		     size_t len)
{
	struct manager *m = ctx;
	char err[INC_RDV_TEXT_MAX];
	struct am_message msg;
	struct rank *r;
	int ret;

	group_settle(m);
	ret = am_rank_unpack(data, len, &msg, err, sizeof(err));
	r = rpc_stream_get(stream);
	if (r)
		r->heard_at = m->loop.now;
	if (ret && r)
		rank_lost(r, err);
	else if (ret)
		refuse_rank(stream, -ret, "%s", err);
	else if (r)
		handle_member(r, &msg);
	else
		handle_stranger(m, stream, &msg);
	group_settle(m);
}

/*
 * Await a rank whose stream has ended, if it may come back: it may be cut off,
 * or take this manager for lost. The time counts from its last message. A
 * killed process is not awaited: its kernel has closed the stream; but during a
 * rebuild, a rank may have closed it to connect anew.
 */
static bool await_rank(struct rank *r, const struct rpc_stream *stream)
{
	struct manager *m = r->group->manager;
	bool late = session_was_late(m), vanished = rpc_stream_vanished(stream);

	if (r->group->state >= GROUP_ENDING || !group_resume_ms(m) ||
	    (!late && !vanished && !group_is_rebuilding(r->group)))
		return false;
	/* Ranks of a group that is forming send no heartbeats. */
	r->heard_at = late || !m->o.heartbeat_ms || group_is_forming(r->group) ?
		      m->loop.now : rank_heard_at(r);
	r->stream = NULL;
	r->until = late || vanished ? 0 : m->loop.now + BACK_MS;
	return true;
}

/* Handle the end of a stream. */
void session_closed(void *ctx, struct rpc_stream *stream)
{
	struct manager *m = ctx;
	struct rank *r;

	group_settle(m);
	r = rpc_stream_get(stream);
	if (!r)
		return;
	group_touch(r->group);
	if (r->group->end.last_stream == stream)
		r->group->end.last_stream = NULL;
	else if (r->core.state == RANK_PRESENT && await_rank(r, stream))
		rpc_stream_set(stream, NULL);
	else
		rank_lost(r, "connection lost");
	group_settle(m);
}

static void check_callers(struct group *g)
{
	const char *why;
	struct rank *r;

	inc_job_for_each(&g->core, r, RANK_PRESENT) {
		why = rpc_stream_revoked(r->stream);
		if (!why)
			continue;
		/* The loss of one rank ends the group, and with it the others. */
		rank_lost(r, why);
		return;
	}
}

/* Drop ranks whose certificates or tokens were revoked. */
void session_check_callers(struct manager *m)
{
	struct group *g;

	for (g = m->groups; g; g = g->next)
		check_callers(g);
	group_settle(m);
}
