// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The server as rpc.h promises it, and its clients. What may come next comes in
 * any order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "http2/h2.h"
#include "tests/fake.h"

/**
 * struct rpc - the server
 * @loop: main loop
 * @handler: callbacks
 * @ctx: their first argument
 */
struct rpc {
	struct loop			*loop;
	const struct rpc_handler	*handler;
	void				*ctx;
};

static const char *const paths[RPC_METHODS + 1] = {
#define PATH(name)	"/rdma_inc.v1.Manager/" name
	[RPC_GET_TOPOLOGY] = PATH("GetTopology"),
	[RPC_LIST_GROUPS] = PATH("ListGroups"),
	[RPC_GET_GROUP] = PATH("GetGroup"),
	[RPC_DELETE_GROUP] = PATH("DeleteGroup"),
	[RPC_MOVE_GROUP] = PATH("MoveGroup"),
	[RPC_LIST_EVENTS] = PATH("ListEvents"),
	[RPC_WATCH_EVENTS] = PATH("WatchEvents"),
	[RPC_WHY_GROUP] = PATH("WhyGroup"),
	[RPC_LIST_TASKS] = PATH("ListTasks"),
	[RPC_WATCH_TASKS] = PATH("WatchTasks"),
	[RPC_GET_HISTORY] = PATH("GetHistory"),
	[RPC_LIST_QUOTAS] = PATH("ListQuotas"),
	[RPC_ADD_RESERVATION] = PATH("AddReservation"),
	[RPC_DELETE_RESERVATION] = PATH("DeleteReservation"),
	[RPC_LIST_RESERVATIONS] = PATH("ListReservations"),
	[RPC_DRAIN_SWITCH] = PATH("DrainSwitch"),
	[RPC_RENAME_SWITCH] = PATH("RenameSwitch"),
	[RPC_RESUME_SWITCH] = PATH("ResumeSwitch"),
	[RPC_HEALTH_CHECK] = "/grpc.health.v1.Health/Check",
	[RPC_HEALTH_WATCH] = "/grpc.health.v1.Health/Watch",
	[RPC_METHODS] = AM_JOIN,
#undef PATH
};

static struct rpc server;
static struct rpc_stream *calls;

/* --- The clients --------------------------------------------------------- */

static int find_method(const char *path)
{
	int i;

	for (i = 0; i <= RPC_METHODS; i++)
		if (!strcmp(path, paths[i]))
			return i;
	return -1;
}

/**
 * fake_call() - have a client call
 * @path: method
 * @who: who it is
 * @from: its address
 *
 * Return: the call, which may be freed by fake_complete().
 */
struct rpc_stream *fake_call(const char *path, const struct identity *who,
			     const struct inc_rdv_addr *from)
{
	struct rpc_stream *call = calloc(1, sizeof(*call));
	char text[64];

	if (!call)
		abort();
	call->path = path;
	call->method = find_method(path);
	call->who = *who;
	snprintf(call->peer, sizeof(call->peer), "ipv4:%s:%u",
		 inc_rdv_addr_str(from, text, sizeof(text)),
		 1024 + fuzz_any(60000));
	call->next = calls;
	calls = call;
	return call;
}

/**
 * fake_calls() - get the calls that the server has
 *
 * Return: the first one, or NULL.
 */
struct rpc_stream *fake_calls(void)
{
	return calls;
}

/**
 * fake_send() - have a client send a message
 * @call: call
 * @data: bytes
 * @len: their number
 *
 * Return: false if it cannot.
 */
bool fake_send(struct rpc_stream *call, const void *data, size_t len)
{
	struct fake_message *m = &call->inbox[call->n];

	if (call->half_closed || call->n == FAKE_INBOX)
		return false;
	m->data = malloc(len + !len);
	if (!m->data)
		abort();
	memcpy(m->data, data, len);
	m->len = len;
	call->n++;
	return true;
}

/* What a rank learns. */
static void hear(struct rpc_stream *call, const uint8_t *data, size_t len)
{
	struct am_message msg = { 0 };

	if (call->method != RPC_METHODS || am_manager_unpack(data, len, &msg))
		return;
	if (msg.rdv.type == INC_RDV_JOINED)
		call->tree_id = msg.rdv.joined.tree_id;
	else if (msg.rdv.type == INC_RDV_REBUILD)
		call->round = msg.rdv.msg_id;
}

/* --- What comes next ----------------------------------------------------- */

static void free_call(struct rpc_stream *call)
{
	struct rpc_stream **link = &calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	while (call->n)
		free(call->inbox[--call->n].data);
	free(call);
}

static void open_call(struct rpc_stream *call)
{
	const struct rpc_handler *h = server.handler;

	call->known = true;
	if (call->who.role == ROLE_NONE || call->method < 0) {
		h->refused(server.ctx, call->peer, "nobody");
		call->finished = call->refused = true;
		return;
	}
	h->identified(server.ctx, &call->who);
	if (call->method == RPC_METHODS)
		h->opened(server.ctx, call);
}

static void answer(struct rpc_stream *call, const struct fake_message *m)
{
	struct rpc_answer a = { .who = &call->who };

	call->asked = true;
	server.handler->call(server.ctx, (enum rpc_method)call->method, m->data,
			     m->len, call, &a);
	if (!a.err && (a.later || call->method == RPC_WATCH_EVENTS ||
		       call->method == RPC_WATCH_TASKS))
		return;
	free(a.data);
	rpc_stream_end(call, a.err, a.text);
}

static void take_message(struct rpc_stream *call)
{
	const struct rpc_handler *h = server.handler;
	struct fake_message m = call->inbox[0];

	memmove(call->inbox, call->inbox + 1, --call->n * sizeof(m));
	if (call->method == RPC_METHODS && h->is_beat(m.data, m.len))
		call->beat_at = now_ms();
	else if (!call->finished && call->method == RPC_METHODS)
		h->message(server.ctx, call, m.data, m.len);
	else if (!call->finished && !call->asked)
		answer(call, &m);
	free(m.data);
}

static void tell_closed(struct rpc_stream *call)
{
	if (call->finished || !call->known)
		return;
	call->finished = true;
	if (call->watch)
		call->watch->closed(call->watch);
	else if (call->method == RPC_METHODS)
		server.handler->closed(server.ctx, call);
}

static void take_half(struct rpc_stream *call)
{
	if (call->method != RPC_METHODS && call->asked)
		return;
	tell_closed(call);
	rpc_stream_end(call, 0, "");
}

static void drain(struct rpc_stream *call)
{
	call->sent = 0;
	call->fresh = false;
	if (call->watch && !call->finished && call->watch->writable)
		call->watch->writable(call->watch);
}

/* What may come for a call: as bits, since one of them is chosen. */
static unsigned int may_come(const struct rpc_stream *call)
{
	if (call->cancelled || call->refused)
		return 1;
	if (!call->known)
		return 2;
	return (call->n ? 4 : 0) |
	       (call->half_closed && !call->n && !call->half_known ? 8 : 0) |
	       ((call->sent || call->fresh) && !call->not_reading ? 16 : 0) |
	       (call->ending && !call->not_reading ? 1 : 0);
}

static void come(struct rpc_stream *call, unsigned int what)
{
	switch (what) {
	case 1:
		tell_closed(call);
		free_call(call);
		break;
	case 2:
		open_call(call);
		break;
	case 4:
		take_message(call);
		break;
	case 8:
		call->half_known = true;
		take_half(call);
		break;
	default:
		drain(call);
	}
}

/**
 * fake_complete() - let something come, whatever may
 *
 * Return: false if nothing may.
 */
bool fake_complete(void)
{
	struct rpc_stream *call;
	unsigned int what;
	uint32_t n = 0;

	for (call = calls; call; call = call->next)
		n += !!may_come(call);
	if (!n)
		return false;
	n = fuzz_any(n);
	for (call = calls; !may_come(call) || n--; call = call->next)
		;
	what = may_come(call);
	for (n = fuzz_any((uint32_t)__builtin_popcount(what)); n; n--)
		what &= what - 1;
	come(call, what & -what);
	return true;
}

/* --- rpc.h --------------------------------------------------------------- */

struct rpc *rpc_start(struct loop *loop, const char *address,
		      const struct rpc_security *how,
		      const struct rpc_handler *handler, void *ctx,
		      int *port, char *err, size_t err_len)
{
	(void)address;
	(void)how;
	(void)err;
	(void)err_len;
	server = (struct rpc){ loop, handler, ctx };
	*port = 1;
	return &server;
}

bool rpc_idle(const struct rpc *rpc)
{
	(void)rpc;
	return !calls;
}

void rpc_stop(struct rpc *rpc)
{
	while (calls) {
		tell_closed(calls);
		free_call(calls);
	}
	loop_turn(rpc->loop, 0);
}

static void check_use(const struct rpc_stream *stream)
{
	if (stream->finished)
		fuzz_wrong("a stream is used after its end");
}

void rpc_stream_send(struct rpc_stream *stream, const uint8_t *data, size_t len)
{
	check_use(stream);
	stream->sent++;
	hear(stream, data, len);
}

void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch)
{
	check_use(stream);
	stream->watch = watch;
	watch->stream = stream;
	stream->fresh = true;
}

bool rpc_stream_idle(const struct rpc_stream *stream)
{
	return !stream->sent;
}

void rpc_stream_end(struct rpc_stream *stream, int err, const char *text)
{
	(void)err;
	(void)text;
	if (!stream)
		return;
	stream->finished = true;
	stream->ending = true;
}

const struct identity *rpc_stream_identity(const struct rpc_stream *stream)
{
	return &stream->who;
}

const char *rpc_stream_revoked(const struct rpc_stream *stream)
{
	return stream && !fuzz_any(2) ? "the caller's token has been revoked" : NULL;
}

bool rpc_stream_vanished(const struct rpc_stream *stream)
{
	return !stream->cancelled && !fuzz_any(2);
}

int64_t rpc_stream_beat_at(const struct rpc_stream *stream)
{
	return stream->beat_at;
}

const char *rpc_stream_peer(const struct rpc_stream *stream)
{
	return stream->peer;
}

void rpc_stream_set(struct rpc_stream *stream, void *data)
{
	if (stream)
		stream->user = data;
}

void *rpc_stream_get(const struct rpc_stream *stream)
{
	return stream->user;
}

uint64_t h2_cuts(void)
{
	return 0;
}

uint64_t h2_drops(void)
{
	return 0;
}
