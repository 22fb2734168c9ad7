// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See rpc.h. Requests and messages are handled as they arrive, inside nghttp2's
 * callbacks: answers are queued there, and sent at the end of the turn. The end
 * of a call, or room for more messages, is reported later, by work of the main
 * loop: no user is called back from within its own calls.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/creds.h"
#include "rpc/fields.h"
#include "rpc/message.h"
#include "rpc/reflect.h"
#include "rpc/stream.h"
#include "health.pb-c.h"
#include "rdma_inc.pb-c.h"

#define STOP_MS		2000
#define FRAME_BYTES	512	/* allowance for the frames of a message */

/**
 * struct method - a method of the service
 * @path: path in gRPC
 * @watch: its answer is a stream
 * @client: clients may call it; the others are for operators
 */
struct method {
	const char	*path;
	bool		watch;
	bool		client;
};

#define PATH(name)	"/rdma_inc.v1.Manager/" name
#define REFLECT(name)	"/grpc.reflection." name ".ServerReflection/ServerReflectionInfo"

static const struct method methods[] = {
	[RPC_GET_TOPOLOGY]	= { .path = PATH("GetTopology"), .client = true },
	[RPC_LIST_GROUPS]	= { .path = PATH("ListGroups"), .client = true },
	[RPC_GET_GROUP]		= { .path = PATH("GetGroup"), .client = true },
	[RPC_DELETE_GROUP]	= { .path = PATH("DeleteGroup") },
	[RPC_MOVE_GROUP]	= { .path = PATH("MoveGroup") },
	[RPC_LIST_EVENTS]	= { .path = PATH("ListEvents") },
	[RPC_WATCH_EVENTS]	= { .path = PATH("WatchEvents"), .watch = true },
	[RPC_WHY_GROUP]		= { .path = PATH("WhyGroup"), .client = true },
	[RPC_LIST_TASKS]	= { .path = PATH("ListTasks") },
	[RPC_WATCH_TASKS]	= { .path = PATH("WatchTasks"), .watch = true },
	[RPC_GET_HISTORY]	= { .path = PATH("GetHistory") },
	[RPC_LIST_QUOTAS]	= { .path = PATH("ListQuotas"), .client = true },
	[RPC_ADD_RESERVATION]	= { .path = PATH("AddReservation"),
				    .client = true },
	[RPC_DELETE_RESERVATION] = { .path = PATH("DeleteReservation"),
				     .client = true },
	[RPC_LIST_RESERVATIONS]	= { .path = PATH("ListReservations"),
				    .client = true },
	[RPC_DRAIN_SWITCH]	= { .path = PATH("DrainSwitch") },
	[RPC_RESUME_SWITCH]	= { .path = PATH("ResumeSwitch") },
	[RPC_RENAME_SWITCH]	= { .path = PATH("RenameSwitch") },
	[RPC_HEALTH_CHECK]	= { .path = "/grpc.health.v1.Health/Check",
				    .client = true },
	[RPC_HEALTH_WATCH]	= { .path = "/grpc.health.v1.Health/Watch",
				    .watch = true, .client = true },
	[RPC_METHODS]		= { .path = AM_JOIN, .client = true },
	/* The service has two names: it was renamed. */
	[RPC_METHODS + 1]	= { .path = REFLECT("v1"), .client = true },
	[RPC_METHODS + 2]	= { .path = REFLECT("v1alpha"), .client = true },
};

/* A rank's stream? */
static bool is_join(const struct rpc_stream *s)
{
	return s->method == RPC_METHODS;
}

/* Reflection is answered here, without the main loop's handler. */
static bool is_reflection(const struct rpc_stream *s)
{
	return s->method > RPC_METHODS;
}

/* --- The end of a call ---------------------------------------------------- */

static void tell_closed(struct rpc_stream *s)
{
	if (s->finished)
		return;
	stream_mark_finished(s);
	if (s->watch)
		s->watch->closed(s->watch);
	else if (is_join(s))
		s->rpc->handler->closed(s->rpc->ctx, s);
}

static void free_stream(struct rpc_stream *s)
{
	s->rpc->calls--;
	X509_free(s->cert);
	free(s);
}

/* Report the end of a call, or room for more messages. */
static void stream_work(struct loop_work *work)
{
	struct rpc_stream *s = container_of(work, struct rpc_stream, work);

	/* The watcher of a finished stream is freed. */
	if (s->watch && !s->finished && s->call && rpc_stream_idle(s) &&
	    s->watch->writable)
		s->watch->writable(s->watch);
	if (!s->call) {
		tell_closed(s);
		free_stream(s);
	} else if (s->half_closed && is_join(s)) {
		/* A rank that will send no more is as good as gone. */
		tell_closed(s);
		rpc_stream_end(s, 0, "");
	}
}

/* --- Input ---------------------------------------------------------------- */

static void on_refused(void *ctx, const char *peer, const char *why)
{
	const struct rpc *rpc = ctx;

	rpc->handler->refused(rpc->ctx, peer, why);
}

static void on_cut(void *ctx, const char *peer, const char *why)
{
	const struct rpc *rpc = ctx;

	rpc->handler->cut(rpc->ctx, peer, why);
}

static SSL_CTX *get_tls(void *ctx)
{
	const struct rpc *rpc = ctx;

	return creds_tls(rpc->creds);
}

static int find_method(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(path, methods[i].path))
			return (int)i;
	return -1;
}

/* May a client call? Returns 0, or a negative errno value and the reason. */
static int check_call(struct rpc *rpc, struct h2_call *call, int method,
		      struct identity *who, char *why, size_t len)
{
	int ret = creds_identify(rpc->creds, h2_cert(call), call->in.token, who,
				 why, len);

	if (!ret && method >= 0 && who->role < ROLE_OPERATOR &&
	    !methods[method].client) {
		ret = -EACCES;
		snprintf(why, len, "%s has the role %s: this is for operators",
			 who->name, role_name(who->role));
	}
	if (!ret && (method < 0 || (method < RPC_METHODS && !rpc->handler->call))) {
		snprintf(why, len, "this %s has no such method",
			 rpc->self);
		return -EPROTONOSUPPORT;
	}
	if (!ret && !h2_admit(call, who->tenant, why, len))
		ret = -ENOBUFS;
	if (ret)
		on_refused(rpc, h2_peer(call), why);
	return ret;
}

static void on_call(void *ctx, struct h2_call *call)
{
	int method = find_method(call->in.path), ret;
	struct rpc_stream *s;
	struct rpc *rpc = ctx;
	struct identity who;
	char why[256];

	ret = check_call(rpc, call, method, &who, why, sizeof(why));
	s = ret ? NULL : calloc(1, sizeof(*s));
	if (!s) {
		h2_finish(call, am_status_of(ret ? -ret : ENOBUFS),
			  ret ? why : "no memory");
		return;
	}
	s->rpc = rpc;
	s->method = method;
	s->who = who;
	s->call = call;
	s->work.fn = stream_work;
	s->cert = h2_cert(call);
	if (s->cert)
		X509_up_ref(s->cert);
	snprintf(s->peer, sizeof(s->peer), "%s", h2_peer(call));
	call->user = s;
	call->in.single = method < RPC_METHODS;
	rpc->calls++;
	if (is_join(s) || is_reflection(s))
		h2_begin(call);
	if (!is_join(s))
		return;
	rpc->handler->identified(rpc->ctx, &s->who);
	rpc->handler->opened(rpc->ctx, s);
}

static const char too_fast[] =
	"calls and messages come faster than one client needs";

static void reflect(struct h2_call *call, const uint8_t *data, size_t len)
{
	struct h2_chunk *c;
	int ret;

	if (!h2_count(call, 1, len + FRAME_BYTES, too_fast))
		return;
	c = calloc(1, sizeof(*c));
	ret = c ? reflect_answer(data, len, &c->data, &c->len) : -ENOMEM;
	if (!ret) {
		h2_send(call, c);
		return;
	}
	free(c);
	h2_finish(call, am_status_of(-ret), ret == -EINVAL ?
		  "the message is no ServerReflectionRequest" : "no memory");
}

/* A string with a zero byte would be taken for another one. */
static bool is_whole(const struct rpc_stream *s, const uint8_t *data, size_t len)
{
	const ProtobufCMethodDescriptor *method =
		protobuf_c_service_descriptor_get_method_by_name(
			s->method == RPC_HEALTH_CHECK ||
			s->method == RPC_HEALTH_WATCH ?
			&grpc__health__v1__health__descriptor :
			&rdma_inc__v1__manager__descriptor,
			strrchr(methods[s->method].path, '/') + 1);

	return fields_whole(method->input, data, len);
}

static void answer_stream(struct rpc_stream *s, const uint8_t *data, size_t len)
{
	struct rpc_answer a = { .who = &s->who };

	s->rpc->handler->identified(s->rpc->ctx, &s->who);
	s->rpc->handler->call(s->rpc->ctx, (enum rpc_method)s->method, data,
			      len, s, &a);
	if (!a.err && (a.later || methods[s->method].watch))
		return;
	if (!a.err && stream_adopt(s, a.data, a.len))
		a.err = ENOBUFS;
	else if (a.err)
		free(a.data);
	rpc_stream_end(s, a.err, a.text);
}

static void take_message(struct rpc_stream *s, const uint8_t *data, size_t len)
{
	struct rpc *rpc = s->rpc;
	/* A rank's first message says who it is: no heartbeat. */
	bool first = !s->got_message;

	s->got_message = true;
	if (is_join(s) && !first && rpc->handler->is_beat(data, len)) {
		s->beat_at = rpc->loop->now;
	} else if (!is_join(s) && !first) {
		h2_finish(s->call, WIRE_INTERNAL, "a second request");
	} else if (!h2_count(s->call, 1, len + FRAME_BYTES, too_fast)) {
		return;
	} else if (!is_whole(s, data, len)) {
		tell_closed(s);
		rpc_stream_end(s, EINVAL, "a string of the request has a byte 0: names are text without that");
	} else if (is_join(s)) {
		rpc->handler->message(rpc->ctx, s, data, len);
	} else {
		answer_stream(s, data, len);
	}
}

static void on_message(struct h2_call *call, const uint8_t *data, size_t len)
{
	struct rpc_stream *s = call->user;

	if (is_reflection(s))
		reflect(call, data, len);
	else if (!s->finished)
		take_message(s, data, len);
}

static void on_half_close(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	if (is_reflection(s)) {
		h2_finish(call, WIRE_OK, "");
	} else if (is_join(s)) {
		s->half_closed = true;
		stream_post(s);
	} else if (!s->got_message) {
		h2_finish(call, WIRE_INTERNAL, "no request");
	}
}

static void on_drained(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	if (s->watch)
		stream_post(s);
}

static void on_gone(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	s->vanished = h2_vanished(call);
	s->call = NULL;
	stream_post(s);
}

/* --- Server -------------------------------------------------------------- */

/*
 * Start the server. Returns the server, or NULL.
 * @address: "host:port", "[address]:port" or "unix:PATH"; port 0: any
 * @err_len: size of @err in bytes
 */
struct rpc *rpc_start(struct loop *loop, const char *address,
		      const struct rpc_security *how,
		      const struct rpc_handler *handler, void *ctx,
		      int *port, char *err, size_t err_len)
{
	static const struct h2_handler below = {
		.tls = get_tls,
		.arrived = on_call,
		.message = on_message,
		.half_closed = on_half_close,
		.drained = on_drained,
		.gone = on_gone,
		.refused = on_refused,
		.cut = on_cut,
	};
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (!rpc)
		abort();
	rpc->loop = loop;
	rpc->self = how->self;
	rpc->handler = handler;
	rpc->ctx = ctx;
	rpc->creds = creds_new(how, address, err, err_len);
	if (!rpc->creds)
		goto fail;
	rpc->server = h2_new(loop, how->self, &below, rpc);
	if (!rpc->server) {
		snprintf(err, err_len, "no memory");
		goto fail;
	}
	*port = h2_listen(rpc->server, address, err, err_len);
	if (*port > 0)
		return rpc;
	h2_free(rpc->server);
fail:
	creds_free(rpc->creds);
	free(rpc);
	return NULL;
}

/*
 * Read changed certificates, tokens and revocations again now, not only when
 * they are needed.
 */
void rpc_refresh(struct rpc *rpc)
{
	creds_refresh(rpc->creds);
}

/*
 * Get the server's certificate and key, as it uses them for new connections. They are
 * others once files have changed. Returns OpenSSL's SSL_CTX, or NULL. Context: the
 * main loop.
 */
struct ssl_ctx_st *rpc_tls(struct rpc *rpc)
{
	return creds_tls(rpc->creds);
}

/*
 * Ask whether a token is an operator's. Returns true if so. Context: any thread.
 * @token: token, also with "Bearer " before it
 */
bool rpc_is_operator(struct rpc *rpc, const char *token)
{
	struct identity who;
	char why[160];

	return !creds_identify(rpc->creds, NULL, token, &who, why, sizeof(why)) &&
	       who.role >= ROLE_OPERATOR;
}

/* End the watches of callers that have lost their right to call. */
void rpc_check_callers(struct rpc *rpc)
{
	struct rpc_stream *s, *next;
	const char *why;

	for (s = LIST_FIRST(&rpc->watched); s; s = next) {
		next = LIST_NEXT(s, watched);
		why = rpc_stream_revoked(s);
		if (!why)
			continue;
		tell_closed(s);
		rpc_stream_end(s, EACCES, why);
	}
}

/* Check whether all calls are over. Returns true if none is left. */
bool rpc_idle(const struct rpc *rpc)
{
	return !rpc->calls;
}

/* Remove the UNIX socket's file if the manager does not start. */
void rpc_unlisten(struct rpc *rpc)
{
	h2_unlisten(rpc->server);
}

/*
 * Stop the server.
 * @rpc: server, which is freed; the remaining calls are cancelled
 */
void rpc_stop(struct rpc *rpc)
{
	int64_t until = now_ms() + STOP_MS, soon;

	while ((!h2_stop(rpc->server) || rpc->calls) && now_ms() < until) {
		soon = now_ms() + 10;
		loop_turn(rpc->loop, soon < until ? soon : until);
	}
	h2_close(rpc->server);
	while (loop_turn(rpc->loop, 0) || rpc->calls)
		;
	h2_free(rpc->server);
	creds_free(rpc->creds);
	free(rpc);
}
