// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See rpc.h. Two threads share each call: h2/ serves connections in one of its
 * own, which sees who calls and takes heartbeats, and the main loop does all
 * else. What one has for the other lies in the stream, under a lock, until that
 * comes by: so neither waits, and nothing that one says can overtake another.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/creds.h"
#include "api/fields.h"
#include "api/message.h"
#include "api/reflect.h"
#include "api/stream.h"
#include "health.pb-c.h"
#include "rdma_inc.pb-c.h"

#define STOP_MS		2000
#define QUEUE_MAX	64	/* messages that wait for a rank, which is then dropped */
#define INBOX_MAX	16	/* messages that wait for the main loop, of a call */
#define FRAME_BYTES	512	/* the frames around a message may have */
#define TELL_MAX	64	/* refusals and cuts that wait for the main loop */

/**
 * struct method - a method of the service
 * @path: gRPC's name of it
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
	[RPC_HEALTH_CHECK]	= { .path = "/grpc.health.v1.Health/Check",
				    .client = true },
	[RPC_HEALTH_WATCH]	= { .path = "/grpc.health.v1.Health/Watch",
				    .watch = true, .client = true },
	[RPC_METHODS]		= { .path = AM_JOIN, .client = true },
	/* They are one, whose name has changed. */
	[RPC_METHODS + 1]	= { .path = REFLECT("v1"), .client = true },
	[RPC_METHODS + 2]	= { .path = REFLECT("v1alpha"), .client = true },
};

/* A rank's stream? */
static bool is_join(const struct rpc_stream *s)
{
	return s->method == RPC_METHODS;
}

/* Questions that the main loop knows nothing of. */
static bool is_reflection(const struct rpc_stream *s)
{
	return s->method > RPC_METHODS;
}

/* --- What the main loop does --------------------------------------------- */

static void answer_stream(struct rpc_stream *s, const struct rpc_inbox *in)
{
	struct rpc_answer a = { .who = &s->who };

	s->rpc->handler->identified(s->rpc->ctx, &s->who);
	s->rpc->handler->call(s->rpc->ctx, (enum rpc_method)s->method, in->data,
			      in->len, s, &a);
	if (!a.err && (a.later || methods[s->method].watch))
		return;
	if (!a.err && stream_adopt(s, a.data, a.len))
		a.err = ENOBUFS;
	else if (a.err)
		free(a.data);
	rpc_stream_end(s, a.err, a.text);
}

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

/* A string with a byte 0 would be taken for another one. */
static bool is_whole(const struct rpc_stream *s, const struct rpc_inbox *in)
{
	const ProtobufCMethodDescriptor *method =
		protobuf_c_service_descriptor_get_method_by_name(
			s->method == RPC_HEALTH_CHECK ||
			s->method == RPC_HEALTH_WATCH ?
			&grpc__health__v1__health__descriptor :
			&rdma_inc__v1__manager__descriptor,
			strrchr(methods[s->method].path, '/') + 1);

	return fields_whole(method->input, in->data, in->len);
}

static void refuse_strings(struct rpc_stream *s)
{
	tell_closed(s);
	rpc_stream_end(s, EINVAL, "a string of the request has a byte 0: names are text without that");
}

/* A client that is @gone wants no answer. */
static void take_inbox(struct rpc_stream *s, struct rpc_inbox *in, bool gone)
{
	struct rpc_inbox *next;

	for (; in; in = next) {
		next = in->next;
		if (!s->finished && !is_whole(s, in))
			refuse_strings(s);
		else if (!s->finished && is_join(s))
			s->rpc->handler->message(s->rpc->ctx, s, in->data,
						 in->len);
		else if (!s->finished && !gone)
			answer_stream(s, in);
		free(in->data);
		free(in);
	}
}

/* Something has come for a stream. */
static void stream_work(struct loop_work *work)
{
	struct rpc_stream *s = container_of(work, struct rpc_stream, work);
	struct rpc *rpc = s->rpc;
	struct rpc_inbox *in;
	bool half, gone;

	pthread_mutex_lock(&rpc->lock);
	s->posted = false;
	in = s->inbox;
	s->inbox = NULL;
	s->inbox_end = &s->inbox;
	s->inbox_len = 0;
	half = s->half_closed;
	gone = s->gone;
	if (in && s->inbox_full)
		stream_call(s);
	pthread_mutex_unlock(&rpc->lock);
	if (!s->opened) {
		s->opened = true;
		rpc->calls++;
		if (is_join(s)) {
			rpc->handler->identified(rpc->ctx, &s->who);
			rpc->handler->opened(rpc->ctx, s);
		}
	}
	take_inbox(s, in, gone);
	/* Once the stream is told to end, its watcher is freed. */
	if (s->watch && !s->finished && !gone && rpc_stream_idle(s) &&
	    s->watch->writable)
		s->watch->writable(s->watch);
	if (gone || (half && is_join(s)))
		tell_closed(s);
	if (!gone) {
		/* A client that will say no more is as good as gone. */
		if (half && is_join(s))
			rpc_stream_end(s, 0, "");
		return;
	}
	rpc->calls--;
	pthread_mutex_lock(&rpc->lock);
	s->released = true;
	stream_call(s);
	pthread_mutex_unlock(&rpc->lock);
}

/* --- What the other thread does ------------------------------------------ */

/* The lock is held. */
static void post_stream(struct rpc_stream *s)
{
	if (s->posted)
		return;
	s->posted = true;
	loop_post(s->rpc->loop, &s->work);
}

/**
 * struct report - somebody was refused, or a connection was cut
 * @work: tells the main loop
 * @rpc: server
 * @fn: the handler's function
 * @peer: whose it was
 * @why: a reason
 */
struct report {
	struct loop_work	work;
	struct rpc	*rpc;
	void		(*fn)(void *ctx, const char *peer, const char *why);
	char		peer[80];
	char		why[256];
};

static void tell_work(struct loop_work *work)
{
	struct report *t = container_of(work, struct report, work);

	t->rpc->reports--;
	t->fn(t->rpc->ctx, t->peer, t->why);
	free(t);
}

/* One event a second is enough: of many, some are not told, of calls first. */
static void tell_handler(struct rpc *rpc, const char *peer, const char *why,
			 void (*fn)(void *ctx, const char *peer,
				    const char *why))
{
	struct report *t;

	if (rpc->reports >= (fn == rpc->handler->cut ? 2 : 1) * TELL_MAX)
		return;
	t = calloc(1, sizeof(*t));
	if (!t)
		return;
	rpc->reports++;
	t->work.fn = tell_work;
	t->rpc = rpc;
	t->fn = fn;
	snprintf(t->peer, sizeof(t->peer), "%s", peer);
	snprintf(t->why, sizeof(t->why), "%s", why);
	loop_post(rpc->loop, &t->work);
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	struct rpc *rpc = ctx;

	tell_handler(rpc, peer, why, rpc->handler->refused);
}

static void on_cut(void *ctx, const char *peer, const char *why)
{
	struct rpc *rpc = ctx;

	tell_handler(rpc, peer, why, rpc->handler->cut);
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

/* May it call? If not, why. Returns a negative errno value. */
static int check_call(struct rpc *rpc, struct h2_call *call, int method,
		      struct identity *who, char *why, size_t len)
{
	int ret = creds_identify(rpc->creds, h2_cert(call), call->token, who,
				 why, len);

	if (!ret && method >= 0 && who->role < ROLE_OPERATOR &&
	    !methods[method].client) {
		ret = -EACCES;
		snprintf(why, len, "%s has the role %s: this is for operators",
			 who->name, role_name(who->role));
	}
	if (!ret && method < 0) {
		snprintf(why, len, "this manager has no such method");
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
	int method = find_method(call->path), ret;
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
	s->work.lane = share_lane(&call->share);
	s->inbox_end = &s->inbox;
	s->out_end = &s->out;
	s->cert = h2_cert(call);
	if (s->cert)
		X509_up_ref(s->cert);
	snprintf(s->peer, sizeof(s->peer), "%s", h2_peer(call));
	call->user = s;
	if (is_join(s) || is_reflection(s))
		h2_begin(call);
	if (!is_join(s))
		return;
	pthread_mutex_lock(&rpc->lock);
	s->handed_over = true;
	post_stream(s);
	pthread_mutex_unlock(&rpc->lock);
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

static bool on_message(struct h2_call *call, uint8_t *data, size_t len)
{
	struct rpc_stream *s = call->user;
	struct rpc *rpc = s->rpc;
	struct rpc_inbox *in;
	bool full;

	if (is_reflection(s)) {
		reflect(call, data, len);
		free(data);
		return false;
	}
	/* The first message says who it is. */
	if (is_join(s) && s->got_message && rpc->handler->is_beat(data, len)) {
		s->beat_at = h2_now(rpc->server);
		free(data);
		return false;
	}
	in = calloc(1, sizeof(*in));
	if (!in || (!is_join(s) && s->handed_over) ||
	    !h2_count(call, 1, len + FRAME_BYTES, too_fast)) {
		if (!is_join(s) && s->handed_over)
			h2_finish(call, WIRE_INTERNAL, "a second request");
		free(in);
		free(data);
		return true;
	}
	in->data = data;
	in->len = len;
	s->got_message = true;
	pthread_mutex_lock(&rpc->lock);
	s->handed_over = true;
	*s->inbox_end = in;
	s->inbox_end = &in->next;
	full = ++s->inbox_len >= INBOX_MAX;
	s->inbox_full = full;
	post_stream(s);
	pthread_mutex_unlock(&rpc->lock);
	return full;
}

static void on_half_close(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	if (is_reflection(s)) {
		h2_finish(call, WIRE_OK, "");
		return;
	}
	if (!s->handed_over) {
		h2_finish(call, WIRE_INTERNAL, "no request");
		return;
	}
	pthread_mutex_lock(&s->rpc->lock);
	s->half_closed = true;
	if (is_join(s))
		post_stream(s);
	pthread_mutex_unlock(&s->rpc->lock);
}

static void on_drained(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	s->drained = s->taken;
	if (!s->handed_over || is_join(s) || !methods[s->method].watch)
		return;
	pthread_mutex_lock(&s->rpc->lock);
	post_stream(s);
	pthread_mutex_unlock(&s->rpc->lock);
}

static void on_gone(struct h2_call *call)
{
	struct rpc_stream *s = call->user;

	call->user = NULL;
	s->call = NULL;
	/* It counts as long as the main loop knows it. */
	share_copy(&s->share, &call->share);
	s->counted = call->counted;
	call->counted = false;
	if (!s->handed_over) {
		stream_free(s);
		return;
	}
	pthread_mutex_lock(&s->rpc->lock);
	s->gone = true;
	s->vanished = h2_vanished(call);
	post_stream(s);
	pthread_mutex_unlock(&s->rpc->lock);
}

/* What the main loop has for a stream. */
static void serve_stream(struct rpc_stream *s, struct h2_chunk *out, bool end)
{
	struct h2_chunk *next;

	for (; out; out = next) {
		next = out->next;
		s->taken++;
		if (s->call && is_join(s) && s->call->queued >= QUEUE_MAX)
			h2_cancel(s->call);
		if (s->call) {
			h2_send(s->call, out);
		} else {
			free(out->data);
			free(out);
		}
	}
	if (s->call && s->call->full)
		h2_release(s->call);
	if (s->call)
		h2_begin(s->call);
	if (s->call && end)
		h2_finish(s->call, s->status, s->text ? s->text : "");
}

static void serve_streams(void *ctx)
{
	struct rpc_stream *s, *next;
	struct rpc *rpc = ctx;
	struct h2_chunk *out;
	bool end, over;

	if (atomic_exchange(&rpc->check_files, false))
		creds_tls(rpc->creds);
	pthread_mutex_lock(&rpc->lock);
	s = rpc->called;
	rpc->called = NULL;
	pthread_mutex_unlock(&rpc->lock);
	for (; s; s = next) {
		pthread_mutex_lock(&rpc->lock);
		next = s->next_called;
		s->is_called = false;
		out = s->out;
		s->out = NULL;
		s->out_end = &s->out;
		end = s->ending;
		over = s->released;
		pthread_mutex_unlock(&rpc->lock);
		serve_stream(s, out, end);
		if (over)
			stream_free(s);
	}
}

/* --- Server -------------------------------------------------------------- */

/**
 * rpc_start() - start the server
 * @loop: main loop
 * @address: "host:port", "[address]:port" or "unix:PATH"; port 0: any
 * @how: who may call
 * @handler: callbacks
 * @ctx: their first argument
 * @port: result: its port
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: the server, or NULL.
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
		.work = serve_streams,
		.refused = on_refused,
		.cut = on_cut,
	};
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (!rpc)
		abort();
	rpc->loop = loop;
	rpc->handler = handler;
	rpc->ctx = ctx;
	pthread_mutex_init(&rpc->lock, NULL);
	rpc->creds = creds_new(how, address, err, err_len);
	if (!rpc->creds)
		goto fail;
	rpc->server = h2_new(&below, rpc);
	if (!rpc->server) {
		snprintf(err, err_len, "no memory");
		goto fail;
	}
	*port = h2_listen(rpc->server, address, err, err_len);
	if (*port > 0 && !h2_start(rpc->server))
		return rpc;
	if (*port > 0)
		snprintf(err, err_len, "no thread for connections");
	h2_free(rpc->server);
fail:
	creds_free(rpc->creds);
	free(rpc);
	return NULL;
}

/**
 * rpc_refresh() - read certificates, tokens and the list of revoked ones again, if
 * they have changed, rather than when they are needed
 * @rpc: server
 */
void rpc_refresh(struct rpc *rpc)
{
	creds_refresh(rpc->creds);
	rpc->check_files = true;
	h2_wake(rpc->server);
}

/**
 * rpc_check_callers() - end the watches of callers whose right to call is gone
 * @rpc: server
 */
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

/**
 * rpc_idle() - check whether all calls are done
 * @rpc: server
 *
 * Return: true if no call or stream is left.
 */
bool rpc_idle(const struct rpc *rpc)
{
	return !rpc->calls;
}

/**
 * rpc_unlisten() - leave nothing in the file system, when the manager does not start
 * @rpc: server
 */
void rpc_unlisten(struct rpc *rpc)
{
	h2_unlisten(rpc->server);
}

/**
 * rpc_stop() - stop the server
 * @rpc: server, which is freed; calls that are left are cancelled
 */
void rpc_stop(struct rpc *rpc)
{
	int64_t until = now_ms() + STOP_MS, soon;

	while ((!h2_stop(rpc->server) || rpc->calls) && now_ms() < until) {
		soon = now_ms() + 10;
		loop_turn(rpc->loop, soon < until ? soon : until);
	}
	h2_join(rpc->server);
	while (loop_turn(rpc->loop, 0))
		;
	/* What the main loop has said since then. */
	serve_streams(rpc);
	h2_free(rpc->server);
	pthread_mutex_destroy(&rpc->lock);
	creds_free(rpc->creds);
	free(rpc);
}
