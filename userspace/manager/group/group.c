// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups: what ranks say, until all are present. A message means what the
 * line of this name means to the rendezvous daemon
 * (Documentation/rendezvous.rst).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "rdma_inc_proto.h"

#define FORMING_MAX	256	/* groups that wait for ranks, of a host */
#define FORMING_RANKS_MAX (16 * AM_RANKS_MAX)	/* and the ranks of these */

/**
 * group_tell() - send a message to a rank
 * @r: rank
 * @msg: message
 */
void group_tell(struct rank *r, const struct am_message *msg)
{
	uint8_t *data;
	size_t len;

	if (!r->stream || am_manager_pack(msg, &data, &len))
		return;
	rpc_stream_send(r->stream, data, len);
	free(data);
}

/**
 * group_tell_all() - send a message to all ranks that are present
 * @g: group
 * @msg: message
 */
void group_tell_all(struct group *g, const struct inc_rdv_msg *msg)
{
	struct am_message out = { .rdv = *msg };
	const struct rank *r;
	uint8_t *data;
	uint32_t i;
	size_t len;

	if (am_manager_pack(&out, &data, &len))
		return;
	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		if (r->state == RANK_PRESENT && r->stream)
			rpc_stream_send(r->stream, data, len);
	}
	free(data);
}

/* --- Joining ------------------------------------------------------------- */

static void refuse(struct rpc_stream *stream, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct rpc_stream *stream, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_debug("%s: %s", rpc_stream_peer(stream), text);
	rpc_stream_end(stream, err, text);
}

static struct group *find(const struct manager *m, const struct tenant *tn,
			  const char *name)
{
	struct group *g = group_named(m, name);

	while (g && (g->ending || g->tenant != tn))
		g = group_named_next(g);
	return g;
}

static struct group *group_new(struct manager *m, struct tenant *tn,
			       struct reservation *reserved,
			       const struct inc_rdv_join *join)
{
	struct group *g = calloc(1, sizeof(*g) +
				    join->ranks * sizeof(g->ranks[0]));
	uint32_t i;

	if (!g)
		return NULL;
	g->manager = m;
	g->like = *join;
	if (group_enter(g)) {
		free(g);
		return NULL;
	}
	g->tenant = tn;
	g->reserved = reserved;
	g->born = (uint64_t)unix_ms();
	tenant_enter(&m->tenants, tn, reserved, join->ranks);
	g->until = m->loop.now + m->o.forming_ms;
	for (i = 0; i < join->ranks; i++)
		g->ranks[i].group = g;
	return g;
}

static bool suits(struct rpc_stream *stream, struct group *g,
		  const struct inc_rdv_join *join)
{
	const struct rank *r = &g->ranks[join->rank];

	if (join->ranks != g->like.ranks) {
		refuse(stream, EINVAL, "group \"%s\" has %u ranks, not %u",
		       join->job, g->like.ranks, join->ranks);
		return false;
	}
	if (r->state != RANK_ABSENT) {
		refuse(stream, EEXIST, "group \"%s\": rank %u is taken by %s",
		       join->job, join->rank, r->stream ?
		       rpc_stream_peer(r->stream) : "one that has left");
		return false;
	}
	if (join->rebuild != g->like.rebuild) {
		refuse(stream, EINVAL, "group \"%s\": rank %u wants %s if the tree fails, and other ranks do not: set INC_AM_ON_FAILURE alike",
		       join->job, join->rank, join->rebuild ?
		       "another one" : "the group to end");
		return false;
	}
	if (!inc_rdv_merge(&g->like, join)) {
		refuse(stream, EINVAL, "group \"%s\": rank %u requests another tree than other ranks",
		       join->job, join->rank);
		return false;
	}
	return true;
}

static void add(struct group *g, struct rpc_stream *stream,
		const struct inc_rdv_join *join)
{
	struct rank *r = &g->ranks[join->rank];

	r->state = RANK_PRESENT;
	r->stream = stream;
	r->join = *join;
	r->heard_at = g->manager->loop.now;
	rpc_stream_set(stream, r);
	g->present++;
	log_debug("group \"%s\": rank %u at %s, %u of %u", join->job,
		  join->rank, rpc_stream_peer(stream), g->present,
		  join->ranks);
}

/*
 * A group has memory for all of its ranks when the first one comes; so nobody
 * begins any number of them. Tenants on one host do not take that from each other.
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
		if (g->state != GROUP_GATHERING || g->ending ||
		    g->tenant != tn || !inc_rdv_addr_same(&g->from, from))
			continue;
		n++;
		ranks += g->like.ranks;
	}
	if (n < FORMING_MAX && ranks + join->ranks <= FORMING_RANKS_MAX)
		return true;
	refuse(stream, ENOBUFS, "group \"%s\": %u groups, of %u ranks, that were begun from this host wait for their ranks already (at most %u of %u): start those, or wait for --forming-time",
	       join->job, n, ranks, FORMING_MAX, FORMING_RANKS_MAX);
	return false;
}

/* Make a new group. NULL: the rank was refused. */
static struct group *form(struct manager *m, struct rpc_stream *stream,
			  struct tenant *tn, const struct am_message *msg)
{
	const struct inc_rdv_join *join = &msg->rdv.join;
	struct reservation *r = NULL;
	char why[INC_RDV_TEXT_MAX - 128];
	struct inc_rdv_addr from;
	struct group *g;
	bool claims;

	if (!may_begin(m, stream, tn, join, &from))
		return NULL;
	if (msg->reservation[0]) {
		r = reservation_find(&m->tenants, tn, msg->reservation);
		if (!r) {
			refuse(stream, ENOENT, "group \"%s\": there is no reservation \"%s\" (INC_AM_RESERVATION)",
			       join->job, msg->reservation);
			return NULL;
		}
		if (!reservation_fits(r, join->ranks))
			r = NULL;
	}
	claims = !tenant_admits(&m->tenants, tn, r, join->ranks, why,
				sizeof(why));
	if (claims && !tenant_may_claim(&m->tenants, tn, join->ranks)) {
		tenant_refused(tn, &m->events, join->job, why);
		refuse(stream, ENOBUFS, "group \"%s\": %s", join->job, why);
		return NULL;
	}
	g = group_new(m, tn, r, join);
	if (!g) {
		refuse(stream, ENOBUFS, "no memory for group \"%s\"",
		       join->job);
		return NULL;
	}
	g->from = from;
	g->claims = claims;
	if (claims)
		tenant_claim(&m->tenants, join->ranks);
	return g;
}

/* Find a rank's group, or make it. NULL: the rank was refused. */
static struct group *group_of(struct manager *m, struct rpc_stream *stream,
			      const struct am_message *msg)
{
	const struct identity *who = rpc_stream_identity(stream);
	struct tenant *tn = tenant_get(&m->tenants, who->tenant);
	struct group *g;

	if (!tn) {
		refuse(stream, ENOBUFS, "no memory for group \"%s\"",
		       msg->rdv.join.job);
		return NULL;
	}
	g = find(m, tn, msg->rdv.join.job);
	return g ? g : form(m, stream, tn, msg);
}

static void handle_join(struct manager *m, struct rpc_stream *stream,
			const struct am_message *msg)
{
	const struct inc_rdv_join *join = &msg->rdv.join;
	char err[INC_RDV_TEXT_MAX];
	struct group *g;

	if (!addr_believed(&m->o, rpc_stream_peer(stream), &join->addr, err,
			   sizeof(err))) {
		refuse(stream, EINVAL, "%s", err);
		return;
	}
	g = group_of(m, stream, msg);
	if (!g || restore_join(g, stream, join) || !suits(stream, g, join))
		return;
	add(g, stream, join);
	group_touch(g);
	if (g->present < g->like.ranks)
		return;
	g->began_at = m->loop.now;
	group_place(g);
}

/* --- Members of a group -------------------------------------------------- */

/**
 * group_begin() - let the ranks begin
 * @g: group, which is stored
 */
void group_begin(struct group *g)
{
	if (g->ending)
		return;
	g->ready_at = g->manager->loop.now;
	group_say(g, g->rebuilding ? EVENT_GROUP_REBUILT : EVENT_GROUP_READY,
		  "%u ranks, %u of them by RDMA CM, %u tree%s, %lld ms after the last rank came",
		  g->like.ranks, cm_count(g), g->nparts,
		  g->nparts == 1 ? "" : "s",
		  (long long)(now_ms() - g->began_at));
	g->rebuilding = false;
	g->is_cut = false;
	group_tell_all(g, &(struct inc_rdv_msg){ .type = INC_RDV_READY });
}

/**
 * group_check_ready() - let the ranks begin if all can
 * @g: group
 */
void group_check_ready(struct group *g)
{
	if (g->state != GROUP_JOINED || g->ending || g->rts < g->like.ranks)
		return;
	group_set_state(g, GROUP_READY);
	keep_then(g, group_begin);
}

/*
 * A rank's tree does not work. If it has worked, a switch may be about to say why,
 * and whose fault it is.
 */
static void tree_is_lost(const struct rank *r, const char *text)
{
	struct group *g = r->group;
	uint32_t rank = r->join.rank;

	if (g->state == GROUP_READY)
		group_vague_tree(g, INC_STATUS_PEER_DEAD, "rank %u: %s", rank,
				 text);
	else
		group_fail(g, CAUSE_TREE, (int)rank, INC_STATUS_PEER_DEAD,
			   "rank %u: %s", rank, text);
}

static void handle_rank(struct rank *r, const struct inc_rdv_msg *msg)
{
	struct group *g = r->group;

	switch (msg->type) {
	case INC_RDV_REJOIN:
		if (g->state < GROUP_JOINED && !g->rebuilding)
			group_lost(r, "it said \"rejoin\", and there is no tree that has failed");
		else
			group_rejoin(r, &msg->join);
		return;
	case INC_RDV_RTS:
		/* It may be about a tree that has failed since. */
		if (g->rebuilding && g->state != GROUP_JOINED)
			return;
		if (g->state < GROUP_JOINED) {
			group_lost(r, "it said \"rts\" before it was told \"joined\"");
			return;
		}
		g->rts += !r->rts;
		r->rts = true;
		r->was = (struct rank_qp){ r->join.qpn, r->join.psn };
		group_check_ready(g);
		return;
	case INC_RDV_LEAVE:
		group_leave(r);
		return;
	case INC_RDV_LOST:
		if (g->like.rebuild && g->state >= GROUP_JOINED)
			tree_is_lost(r, msg->text);
		else
			group_lost(r, msg->text);
		return;
	default:
		group_lost(r, "it said \"join\" twice");
	}
}

static void say_stopped(struct rpc_stream *stream)
{
	rpc_stream_end(stream, EHOSTUNREACH, "it is being stopped");
}

/**
 * group_opened() - handle a new stream
 * @ctx: manager
 * @stream: stream
 */
void group_opened(void *ctx, struct rpc_stream *stream)
{
	struct manager *m = ctx;

	log_debug("%s: connected", rpc_stream_peer(stream));
	if (m->stop)
		say_stopped(stream);
}

/**
 * group_message() - handle a message
 * @ctx: manager
 * @stream: stream
 * @data: bytes
 * @len: their number
 */
void group_message(void *ctx, struct rpc_stream *stream, const uint8_t *data,
		   size_t len)
{
	struct rank *r = rpc_stream_get(stream);
	char err[INC_RDV_TEXT_MAX];
	struct manager *m = ctx;
	struct am_message msg;
	int ret;

	ret = am_rank_unpack(data, len, &msg, err, sizeof(err));
	if (r)
		r->heard_at = m->loop.now;
	/* A heartbeat makes nothing due earlier. */
	if (r && (ret || !msg.heartbeat))
		group_touch(r->group);
	if (ret && r)
		group_lost(r, err);
	else if (ret)
		refuse(stream, -ret, "%s", err);
	else if (r && (msg.heartbeat || r->state != RANK_PRESENT))
		return;
	else if (r && msg.failure)
		group_lost(r, msg.rdv.text);
	else if (r)
		handle_rank(r, &msg.rdv);
	else if (m->stop)
		say_stopped(stream);
	else if (msg.resume)
		restore_resume(m, stream, &msg.rdv.join, msg.tree_id);
	else if (msg.rdv.type == INC_RDV_JOIN)
		handle_join(m, stream, &msg);
	else if (msg.rdv.type == INC_RDV_LEAVE)
		rpc_stream_end(stream, 0, "");
	else
		refuse(stream, EPROTO, "the first message must be join");
}

/**
 * group_was_late() - have we stood still, so that ranks look for another manager?
 * @m: manager
 *
 * Return: true if so, a short time ago.
 */
bool group_was_late(const struct manager *m)
{
	return m->loop.late_at && m->loop.now - m->loop.late_at < AM_NOTICE_MS;
}

/**
 * group_closed() - handle the end of a stream
 * @ctx: manager
 * @stream: stream
 */
void group_closed(void *ctx, struct rpc_stream *stream)
{
	struct rank *r = rpc_stream_get(stream);
	struct manager *m = ctx;

	if (r)
		group_touch(r->group);
	if (r && r->group->last == stream) {
		r->group->last = NULL;
	} else if (r && r->state == RANK_PRESENT && state_resume_ms(m) &&
		   (r->group->rebuilding || group_was_late(m))) {
		/*
		 * What has failed may have led to the rank, or the rank may have
		 * taken us for lost: await it.
		 */
		rpc_stream_set(stream, NULL);
		r->stream = NULL;
		r->heard_at = m->loop.now;
	} else if (r) {
		group_lost(r, "connection lost");
	}
}

/* The group may be freed. */
static void check_callers(struct group *g)
{
	const char *why;
	uint32_t i;

	for (i = 0; i < g->like.ranks; i++)
		if (g->ranks[i].state == RANK_PRESENT &&
		    (why = rpc_stream_revoked(g->ranks[i].stream))) {
			/* The others end with the group. */
			group_lost(&g->ranks[i], why);
			return;
		}
}

/**
 * group_check_callers() - let go ranks whose certificates or tokens were revoked
 * @m: manager
 */
void group_check_callers(struct manager *m)
{
	struct group *g, *next;

	for (g = m->groups; g; g = next) {
		next = g->next;
		check_callers(g);
	}
}

/* --- The fabric ---------------------------------------------------------- */

/**
 * group_fabric_changed() - handle news of a switch
 * @m: manager
 *
 * Groups that wait for them are placed when all switches have answered.
 */
void group_fabric_changed(struct manager *m)
{
	struct group *g, *next;
	unsigned int i;
	uint32_t freed;

	if (!m->placing)
		return;
	for (i = 0; i < m->o.nswitches; i++)
		if (sw_awaited(&m->switches[i]))
			return;
	for (g = m->groups; g; g = next) {
		next = g->next;
		if (g->state != GROUP_PLACING || g->ending)
			continue;
		freed = m->freed;
		group_place(g);
		/* Others may have ended for it, the next one too. */
		if (m->freed != freed)
			next = m->groups;
	}
}
