// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Passes messages from ranks, child switches and the parent to their handlers.
 */
#include "nl/common.h"

#include "job.h"
#include "rpc/message.h"
#include "rpc/peer.h"

static void handle_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_join fits = *join;
	uint32_t pmtu = addr_pmtu(c);

	if (c->peer == PEER_CHILD) {
		client_error(c, EBUSY, "this connection belongs to a child switch: a rank needs its own");
		return;
	}
	if (c->job) {
		client_error(c, EBUSY, "this connection is rank %u of a job already: each rank needs its own connection",
			     gather_of(c) ? c->join.rank : c->rank);
		return;
	}
	if (!addr_believed(c, &join->addr) || !join_key_fits(c, join))
		return;
	/* The default path MTU must fit the paths of all ranks. */
	if (pmtu && pmtu < fits.mtu)
		fits.mtu = pmtu;
	c->peer = PEER_RANK;
	if (gather_wants(c->server, join))
		gather_join(c, &fits);
	else
		job_join(c, &fits);
}

static void handle_gather(struct client *c, const struct inc_rdv_join *join)
{
	if (c->peer == PEER_RANK) {
		client_error(c, EBUSY, "this connection belongs to a rank: a child switch needs its own for each job");
		return;
	}
	if (job_of(c)) {
		client_error(c, EBUSY, "this connection's job has all its ranks: another job needs another connection");
		return;
	}
	c->peer = PEER_CHILD;
	if (join_key_fits(c, join))
		gather_join(c, join);
}

static void handle_link(struct client *c, const struct inc_rdv_join *join)
{
	if (c->peer != PEER_CHILD || !job_of(c))
		client_error(c, EPROTO, "\"link\" before \"placed\": a child switch says \"gather\" for its ranks, and waits for the answer");
	else if (addr_believed(c, &join->addr))
		level_link(c, join);
}

/*
 * Handle a message of the parent's daemon. The switch itself reports failures.
 * INC_RDV_ERROR: the stream has ended.
 */
void dispatch_up(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_PLACED:
		if (gather_of(c))
			gather_placed(c->job, &msg->placed);
		break;
	case INC_RDV_LINKED:
		if (job_of(c) && level_linked(c->job, &msg->joined))
			client_end(c);
		break;
	case INC_RDV_READY:
		if (job_of(c))
			level_ready(c->job);
		break;
	case INC_RDV_CHANGE:
		if (job_of(c))
			job_change(c->job, msg);
		break;
	case INC_RDV_ERROR:
		if (gather_of(c))
			job_refuse(c->job, msg->err, "the parent's daemon: %s",
				   msg->text);
		client_close(c, msg->text);
		break;
	default:
		break;
	}
}

static void handle_msg(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_GATHER:
		handle_gather(c, &msg->join);
		return;
	case INC_RDV_RETRACT:
		if (gather_of(c) && c->peer == PEER_CHILD)
			gather_retract(c, &msg->join);
		/*
		 * Ignore one that crosses "placed": the child closes the
		 * connection then.
		 */
		else if (!job_of(c) || c->peer != PEER_CHILD)
			client_error(c, EPROTO, "\"retract\" without \"gather\": a rank says \"leave\"");
		return;
	case INC_RDV_LINK:
		handle_link(c, &msg->join);
		return;
	case INC_RDV_JOIN:
		handle_join(c, &msg->join);
		return;
	case INC_RDV_RTS:
		if (job_of(c))
			job_rts(c, msg->rails);
		else
			client_error(c, EPROTO, "\"rts\" before \"joined\": join, and wait for the answer");
		return;
	case INC_RDV_LEAVE:
		if (job_of(c))
			job_leave(c);
		else
			client_bye(c, "");
		return;
	case INC_RDV_LOST:
		if (!job_of(c)) {
			client_error(c, EPROTO, "\"lost\" before \"joined\": join, and wait for the answer");
			return;
		}
		job_lost(c, *msg->text ? msg->text :
			 "the switch does not answer it");
		client_end(c);
		return;
	case INC_RDV_LOSSY:
		if (job_of(c))
			job_lossy(c);
		else
			client_error(c, EPROTO, "\"lossy\" before \"joined\": join, and wait for the answer");
		return;
	default:
		client_error(c, EPROTO, "only the daemon sends that: a rank sends join, rts, leave, lost or lossy");
	}
}

/* Refuse messages for managers only: a daemon's trees end with it. */
static bool is_other_kind(struct client *c, const struct am_message *msg)
{
	if (msg->resume)
		client_error(c, ECONNRESET, "job \"%s\": this daemon keeps no jobs that ranks could resume",
			     msg->rdv.join.job);
	else if (msg->rdv.type == INC_RDV_REJOIN)
		client_error(c, ECONNRESET, "this daemon makes no other trees that ranks could rejoin");
	return c->closing;
}

/* --- Called by gRPC -------------------------------------------------------- */

/* Enforce limits; over the total, drop an idle client of the busiest host. */
static const char *lacks_room(struct client *c, char *text, size_t len)
{
	const struct server *s = c->server;
	struct client *other, *idle = NULL;

	if (c->host->clients > s->max.host_clients) {
		snprintf(text, len, "this daemon accepts at most %u connections from one host: try later, or raise --max-host-clients",
			 s->max.host_clients);
		return text;
	}
	if (s->nclients <= s->max.clients)
		return NULL;
	/* The list begins with the newest, @c; skip it. */
	for (other = c->next; other; other = other->next)
		if (!other->closing && other->peer == PEER_NEW && !other->job &&
		    other->host &&
		    (!idle || other->host->clients >= idle->host->clients))
			idle = other;
	if (idle) {
		client_error(idle, ENOSPC, "it gives way to a new connection");
		return NULL;
	}
	snprintf(text, len, "this daemon accepts at most %u connections: try later, or raise --max-clients",
		 s->max.clients);
	return text;
}

static void on_opened(void *ctx, struct rpc_stream *stream)
{
	char host[INET6_ADDRSTRLEN], text[256];
	const char *peer = rpc_stream_peer(stream);
	struct client *c = client_new(ctx);
	const char *why;

	if (!c) {
		rpc_stream_end(stream, ENOMEM, "no memory");
		return;
	}
	c->stream = stream;
	rpc_stream_set(stream, c);
	addr_of_peer(peer, &c->addr);
	snprintf(c->name, sizeof(c->name), "%s port %s",
		 inc_rdv_addr_str(&c->addr, host, sizeof(host)),
		 strrchr(peer, ':') + 1);
	c->host = host_get(c->server, &c->addr);
	client_wait_join(c);
	why = c->host ? lacks_room(c, text, sizeof(text)) : "no memory";
	if (why)
		client_error(c, c->host ? ENOSPC : ENOMEM, "%s", why);
}

static void on_message(void *ctx, struct rpc_stream *stream,
		       const uint8_t *data, size_t len)
{
	struct client *c = rpc_stream_get(stream);
	struct am_message msg = { .heartbeat = false };
	char err[INC_RDV_TEXT_MAX];
	int ret = am_rank_unpack(data, len, &msg, err, sizeof(err));

	if (ret)
		client_error(c, -ret, "%s", err);
	else if (msg.heartbeat && c->peer == PEER_NEW)
		client_error(c, EPROTO, "the first message must be join");
	else if (!msg.heartbeat && !is_other_kind(c, &msg))
		handle_msg(c, &msg.rdv);
}

static void on_closed(void *ctx, struct rpc_stream *stream)
{
	struct client *c = rpc_stream_get(stream);

	c->stream = NULL;
	client_close(c, "connection lost");
}

static void on_identified(void *ctx, const struct identity *who)
{
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	client_refuse(ctx, peer, why);
}

const struct rpc_handler dispatch_handler = {
	.opened		= on_opened,
	.is_beat	= am_rank_is_beat,
	.message	= on_message,
	.closed		= on_closed,
	.identified	= on_identified,
	.refused	= on_refused,
	.cut		= on_refused,
};
