// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The gRPC server. Some threads wait for completions and hand each to the main
 * loop, which does everything else; so nothing here needs a lock. Only heartbeats
 * they take themselves. A call, or a stream, is freed when none of its batches is
 * left.
 */
#include <errno.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/creds.h"
#include "api/gate.h"
#include "api/handshake.h"
#include "api/listen.h"
#include "api/message.h"
#include "api/stream.h"

#define STOP_MS		1000
/* Calls that gRPC can hand over at once; others that come wait within it. */
#define CALLS		64

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

static const struct method methods[RPC_METHODS + 1] = {
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
	[RPC_METHODS]		= { .path = AM_JOIN, .client = true },
};

static void accept_call(struct rpc *rpc);

/* --- Batches ------------------------------------------------------------- */

static void put(struct rpc_stream *s)
{
	if (s->busy)
		return;
	while (s->queue)
		stream_drop_chunk(s);
	if (s->buf)
		grpc_byte_buffer_destroy(s->buf);
	grpc_metadata_array_destroy(&s->metadata);
	grpc_call_details_destroy(&s->details);
	gpr_free(s->peer);
	free(s->text);
	if (s->timer.fn)
		timer_remove(&s->rpc->loop->timers, &s->timer);
	share_leave(&s->share);
	if (s->call)
		grpc_call_unref(s->call);
	s->rpc->calls--;
	free(s);
}

static void completed(struct work *work)
{
	struct batch *b = container_of(work, struct batch, work);
	struct rpc_stream *s = b->call;

	/* It may start other batches, and is not freed before it returns. */
	b->done(s, b->success);
	s->busy--;
	put(s);
}

static void init_batch(struct rpc_stream *s, struct batch *b,
		       void (*done)(struct rpc_stream *s, bool success))
{
	b->work.fn = completed;
	b->call = s;
	b->done = done;
}

static bool is_beat(const struct rpc_stream *s)
{
	const struct rpc_handler *h = s->rpc->handler;
	grpc_byte_buffer_reader reader;
	grpc_slice *slice;
	bool beat;

	if (s->buf && !grpc_byte_buffer_length(s->buf))
		return h->is_beat(NULL, 0);
	if (!s->buf || !grpc_byte_buffer_reader_init(&reader, s->buf))
		return false;
	/* A message in several pieces is left to the main loop, too. */
	beat = grpc_byte_buffer_reader_peek(&reader, &slice) &&
	       GRPC_SLICE_LENGTH(*slice) == grpc_byte_buffer_length(s->buf) &&
	       h->is_beat(GRPC_SLICE_START_PTR(*slice),
			  GRPC_SLICE_LENGTH(*slice));
	grpc_byte_buffer_reader_destroy(&reader);
	return beat;
}

static bool await_message(struct rpc_stream *s)
{
	grpc_op op = { .op = GRPC_OP_RECV_MESSAGE };

	op.data.recv_message.recv_message = &s->buf;
	return grpc_call_start_batch(s->call, &op, 1, &s->read, NULL) ==
	       GRPC_CALL_OK;
}

/*
 * Heartbeats are most of what comes, and say only that the client is alive. To
 * hand each to the main loop, and to start the next batch there, takes more than
 * all else. So this thread does it, and the batch stays busy. Returns whether it
 * has.
 */
static bool take_beat(struct batch *b)
{
	struct rpc_stream *s = b->call;

	if (!b->success || !s || b != &s->read || !is_join(s) ||
	    s->rpc->stopping || !is_beat(s))
		return false;
	s->heard = now_ms();
	grpc_byte_buffer_destroy(s->buf);
	s->buf = NULL;
	return await_message(s);
}

static void *wait_completions(void *arg)
{
	struct rpc *rpc = arg;
	struct batch *b;
	grpc_event ev;

	for (;;) {
		ev = grpc_completion_queue_next(rpc->cq,
						gpr_inf_future(GPR_CLOCK_REALTIME),
						NULL);
		if (ev.type == GRPC_QUEUE_SHUTDOWN)
			return NULL;
		b = ev.tag;
		b->success = ev.success;
		if (!take_beat(b))
			loop_post(rpc->loop, &b->work);
	}
}

/* --- Input --------------------------------------------------------------- */

static bool read_buffer(struct rpc_stream *s, grpc_slice *slice)
{
	grpc_byte_buffer_reader reader;

	if (!s->buf || !grpc_byte_buffer_reader_init(&reader, s->buf))
		return false;
	*slice = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	grpc_byte_buffer_destroy(s->buf);
	s->buf = NULL;
	return true;
}

static void read_next(struct rpc_stream *s)
{
	s->busy += await_message(s);
}

static void answer(struct rpc_stream *s)
{
	struct rpc_answer a = { .who = &s->who };
	grpc_slice slice;

	stream_spoke(s);
	if (!read_buffer(s, &slice)) {
		rpc_stream_end(s, EINVAL, "no request");
		return;
	}
	meter_take(s->share.meter, 1 + GRPC_SLICE_LENGTH(slice));
	s->rpc->handler->call(s->rpc->ctx, (enum rpc_method)s->method,
			      GRPC_SLICE_START_PTR(slice),
			      GRPC_SLICE_LENGTH(slice), s, &a);
	grpc_slice_unref(slice);
	if (!a.err && methods[s->method].watch)
		return;
	if (!a.err && !stream_append(s, a.data, a.len)) {
		a.err = ENOBUFS;
		snprintf(a.text, sizeof(a.text), "too many answers wait to be read");
	}
	free(a.data);
	rpc_stream_end(s, a.err, a.text);
}

static void received(struct rpc_stream *s, bool success)
{
	const struct rpc_handler *h = s->rpc->handler;
	grpc_slice slice;

	if (!is_join(s)) {
		if (success && !s->told)
			answer(s);
		return;
	}
	if (success && read_buffer(s, &slice)) {
		if (meter_take(s->share.meter, 1 + GRPC_SLICE_LENGTH(slice)) &&
		    !s->told)
			h->message(s->rpc->ctx, s, GRPC_SLICE_START_PTR(slice),
				   GRPC_SLICE_LENGTH(slice));
		grpc_slice_unref(slice);
		read_next(s);
	} else if (!s->told) {
		/* A client that will say no more is as good as gone. */
		s->told = true;
		h->closed(s->rpc->ctx, s);
		rpc_stream_end(s, 0, "");
	}
}

/* The status has been sent, or the client is gone. */
static void closed(struct rpc_stream *s, bool success)
{
	bool gone = !success || s->cancelled;

	if (gone)
		s->ended = true;
	if (!gone || s->told)
		return;
	/* Its request may still come, and nobody is to answer that. */
	s->told = true;
	if (s->watch)
		s->watch->closed(s->watch);
	else if (is_join(s))
		s->rpc->handler->closed(s->rpc->ctx, s);
}

/* May it call? If not, it is told why. */
static bool may_call(struct rpc_stream *s)
{
	const struct rpc *rpc = s->rpc;
	char why[256];
	int ret;

	ret = creds_identify(rpc->creds, s->call, &s->metadata, &s->who, why,
			     sizeof(why));
	if (!ret && s->method >= 0 && s->who.role < ROLE_OPERATOR &&
	    !methods[s->method].client) {
		ret = -EACCES;
		snprintf(why, sizeof(why), "%s has the role %s: this is for operators",
			 s->who.name, role_name(s->who.role));
	}
	if (!ret) {
		rpc->handler->identified(rpc->ctx, &s->who);
		return true;
	}
	meter_refuse(s->peer);
	rpc->handler->refused(rpc->ctx, s->peer, why);
	rpc_stream_end(s, -ret, why);
	return false;
}

/* Is there room for it? */
static bool admit(struct rpc_stream *s)
{
	char why[256];
	int ret = stream_admit(s, why, sizeof(why));

	if (!ret)
		return true;
	s->rpc->handler->refused(s->rpc->ctx, s->peer, why);
	rpc_stream_end(s, -ret, why);
	return false;
}

static int find_method(const grpc_slice *path)
{
	int i;

	for (i = 0; i <= RPC_METHODS; i++)
		if (!grpc_slice_str_cmp(*path, methods[i].path))
			return i;
	return -1;
}

/* A call has arrived; or, without success, none will. */
static void arrived(struct rpc_stream *s, bool success)
{
	if (!success)
		return;
	if (!s->rpc->stopping)
		accept_call(s->rpc);
	s->method = find_method(&s->details.method);
	s->peer = grpc_call_get_peer(s->call);
	/* Of a rank's stream, a message is always awaited until it ends. */
	if (!is_join(s))
		stream_await_close(s);
	if (!may_call(s) || !admit(s))
		return;
	if (s->method < 0) {
		rpc_stream_end(s, EPROTONOSUPPORT, "this manager has no such method");
		return;
	}
	if (is_join(s)) {
		s->rpc->handler->opened(s->rpc->ctx, s);
		stream_step(s);
	}
	read_next(s);
}

/*
 * gRPC could be told the methods, and would keep a table of them for each
 * connection.
 */
static void accept_call(struct rpc *rpc)
{
	struct rpc_stream *s = calloc(1, sizeof(*s));
	grpc_call_error ret;

	if (!s)
		return;
	s->rpc = rpc;
	s->method = -1;
	s->busy = 1;
	rpc->calls++;
	grpc_metadata_array_init(&s->metadata);
	grpc_call_details_init(&s->details);
	init_batch(s, &s->arrive, arrived);
	init_batch(s, &s->read, received);
	init_batch(s, &s->write, stream_written);
	init_batch(s, &s->close, closed);
	ret = grpc_server_request_call(rpc->server, &s->call, &s->details,
				       &s->metadata, rpc->cq, rpc->cq,
				       &s->arrive);
	if (ret == GRPC_CALL_OK)
		return;
	log_say("gRPC does not accept calls: %s",
		grpc_call_error_to_string(ret));
	s->busy = 0;
	put(s);
}

/* --- Server -------------------------------------------------------------- */

/**
 * rpc_prepare() - tell gRPC what it reads from the environment
 *
 * A buffer of 8 KiB for each connection is half of what it takes; without
 * "tcp_read_chunks", gRPC 1.51 obeys what listen_new() says.
 *
 * Context: Before there are threads, and before gRPC is used.
 */
void rpc_prepare(void)
{
	setenv("GRPC_EXPERIMENTS", "-tcp_read_chunks", 0);
}

/**
 * struct told_cut - a connection was cut
 * @work: tells the main loop
 * @rpc: server
 * @why: a reason
 * @peer: whose it was
 */
struct told_cut {
	struct work	work;
	struct rpc	*rpc;
	char		why[128];
	char		peer[];
};

static void was_cut(struct work *work)
{
	struct told_cut *t = container_of(work, struct told_cut, work);

	t->rpc->handler->cut(t->rpc->ctx, t->peer, t->why);
	free(t);
}

static void tell_cut(void *ctx, const char *peer, const char *why)
{
	struct told_cut *t = malloc(sizeof(*t) + strlen(peer) + 1);
	struct rpc *rpc = ctx;

	if (!t)
		return;
	t->work.fn = was_cut;
	t->rpc = rpc;
	snprintf(t->why, sizeof(t->why), "%s", why);
	memcpy(t->peer, peer, strlen(peer) + 1);
	loop_post(rpc->loop, &t->work);
}

static void start_threads(struct rpc *rpc)
{
	int i;

	for (i = 0; i < RPC_THREADS; i++)
		if (pthread_create(&rpc->threads[i], NULL, wait_completions,
				   rpc))
			abort();
}

/**
 * rpc_start() - start the server
 * @loop: main loop
 * @address: "host:port" or "[address]:port"; port 0: any
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
	grpc_server_credentials *creds;
	struct rpc *rpc = calloc(1, sizeof(*rpc));
	const char *why;
	int i;

	if (!rpc)
		abort();
	rpc->creds = creds_new(how, address, err, err_len);
	if (!rpc->creds) {
		free(rpc);
		return NULL;
	}
	grpc_init();
	rpc->loop = loop;
	rpc->handler = handler;
	rpc->ctx = ctx;
	rpc->cq = grpc_completion_queue_create_for_next(NULL);
	rpc->server = listen_new(rpc->cq);
	handshake_watch(loop, handler->refused, ctx);
	creds = creds_server(rpc->creds);
	why = listen_why(address);
	*port = why ? 0 : listen_at(rpc->server, address, creds, tell_cut, rpc);
	grpc_server_credentials_release(creds);
	grpc_server_start(rpc->server);
	start_threads(rpc);
	if (!*port) {
		snprintf(err, err_len, "--listen %s: %s", address,
			 why ?: "this address cannot be used");
		rpc_stop(rpc);
		return NULL;
	}
	for (i = 0; i < CALLS; i++)
		accept_call(rpc);
	return rpc;
}

static void stopped(struct work *work)
{
	free(work);
}

/**
 * rpc_idle() - check whether all calls are done
 * @rpc: server
 *
 * Return: true if no call or stream is left but those waited for.
 */
bool rpc_idle(const struct rpc *rpc)
{
	return rpc->calls <= CALLS;
}

/**
 * rpc_stop() - stop the server
 * @rpc: server, which is freed; calls that are left are cancelled
 */
void rpc_stop(struct rpc *rpc)
{
	struct batch *b = calloc(1, sizeof(*b));
	int64_t until = now_ms() + STOP_MS;
	int i;

	if (!b)
		abort();
	b->work.fn = stopped;
	rpc->stopping = true;
	gate_stop();
	grpc_server_shutdown_and_notify(rpc->server, rpc->cq, b);
	grpc_server_cancel_all_calls(rpc->server);
	while (rpc->calls && now_ms() < until)
		loop_turn(rpc->loop, until);
	grpc_completion_queue_shutdown(rpc->cq);
	for (i = 0; i < RPC_THREADS; i++)
		pthread_join(rpc->threads[i], NULL);
	loop_turn(rpc->loop, 0);
	handshake_watch(NULL, NULL, NULL);
	grpc_server_destroy(rpc->server);
	grpc_completion_queue_destroy(rpc->cq);
	grpc_shutdown();
	creds_free(rpc->creds);
	free(rpc);
}
