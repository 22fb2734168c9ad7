// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The gRPC server. One thread waits for completions and hands each to the main
 * loop, which does everything else; so nothing here needs a lock. Only heartbeats
 * it takes itself. A call, or a stream, is freed when none of its batches is left.
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
#include "api/rpc.h"

/* A rank that does not read is dropped when this many messages wait for it. */
#define QUEUE_MAX	64
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

/**
 * struct rpc - the server
 * @loop: main loop
 * @server: gRPC's server
 * @cq: queue of all completions
 * @thread: waits for them
 * @creds: who may call
 * @handler: callbacks
 * @ctx: their first argument
 * @stopping: no more calls are accepted
 * @calls: calls and streams that are not freed
 */
struct rpc {
	struct loop			*loop;
	grpc_server			*server;
	grpc_completion_queue		*cq;
	pthread_t			thread;
	struct creds			*creds;
	const struct rpc_handler	*handler;
	void				*ctx;
	_Atomic bool			stopping;
	unsigned int			calls;
};

/**
 * struct batch - a batch of operations, and the tag of its completion
 * @work: hands the completion to the main loop
 * @call: call
 * @done: what to do then
 * @success: whether the operations succeeded
 */
struct batch {
	struct work		work;
	struct rpc_stream	*call;
	void			(*done)(struct rpc_stream *call, bool success);
	bool			success;
};

struct chunk {
	struct chunk		*next;
	grpc_byte_buffer	*buf;
};

/**
 * struct rpc_stream - a call: a request, a stream, or one of an unknown method
 * @rpc: server
 * @method: RPC_METHODS: a rank's stream; -1: unknown, or none has arrived yet
 * @call: gRPC's call; NULL: none has arrived yet
 * @metadata: the client's headers
 * @details: which method it wants
 * @buf: what was received
 * @cancelled: whether the client was gone at the end
 * @busy: batches that are not done
 * @peer: address of the client, gRPC's string
 * @who: who it is
 * @heard: milliseconds; when the last heartbeat came, 0: none has
 * @user: rpc_stream_set()
 * @watch: if the answer is a stream: who sends it; NULL: nobody, or not yet
 * @queue: messages to send
 * @queued: their number
 * @sending: a batch sends
 * @sends_first: and the first of @queue is in it
 * @begun: the headers were sent
 * @ending: the status is to be sent when @queue is empty
 * @ended: it was sent, or the client is gone
 * @told: the user knows that it has ended
 * @status: status
 * @text: and its text, or NULL: none
 * @arrive: batch: a call arrives
 * @read: batch: a message arrives
 * @write: batch: headers, messages, status
 * @close: batch: the call ends
 */
struct rpc_stream {
	struct rpc		*rpc;
	int			method;
	grpc_call		*call;
	grpc_metadata_array	metadata;
	grpc_call_details	details;
	grpc_byte_buffer	*buf;
	int			cancelled;
	unsigned int		busy;
	char			*peer;
	struct identity		who;
	_Atomic int64_t		heard;
	void			*user;
	struct rpc_watch	*watch;
	struct chunk		*queue;
	unsigned int		queued;
	bool			sending;
	bool			sends_first;
	bool			begun;
	bool			ending;
	bool			ended;
	bool			told;
	int			status;
	char			*text;
	struct batch		arrive;
	struct batch		read;
	struct batch		write;
	struct batch		close;
};

static void accept_call(struct rpc *rpc);

static bool is_stream(const struct rpc_stream *s)
{
	return s->method == RPC_METHODS;
}

/* --- Batches ------------------------------------------------------------- */

static void drop_chunk(struct rpc_stream *s)
{
	struct chunk *c = s->queue;

	s->queue = c->next;
	s->queued--;
	grpc_byte_buffer_destroy(c->buf);
	free(c);
}

static void put(struct rpc_stream *s)
{
	if (s->busy)
		return;
	while (s->queue)
		drop_chunk(s);
	if (s->buf)
		grpc_byte_buffer_destroy(s->buf);
	grpc_metadata_array_destroy(&s->metadata);
	grpc_call_details_destroy(&s->details);
	gpr_free(s->peer);
	free(s->text);
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

static bool start(struct rpc_stream *s, struct batch *b, const grpc_op *ops,
		  size_t n)
{
	if (grpc_call_start_batch(s->call, ops, n, b, NULL) != GRPC_CALL_OK)
		return false;
	s->busy++;
	return true;
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

	if (!b->success || !s || b != &s->read || !is_stream(s) ||
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

/*
 * gRPC 1.51 of Debian looks for each batch that completes among all that do not,
 * one after another. So a stream has no more of them than it needs.
 */
static void await_close(struct rpc_stream *s)
{
	grpc_op op = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER };

	op.data.recv_close_on_server.cancelled = &s->cancelled;
	start(s, &s->close, &op, 1);
}

/* --- Output -------------------------------------------------------------- */

static void step(struct rpc_stream *s);

static void written(struct rpc_stream *s, bool success)
{
	s->sending = false;
	if (s->sends_first)
		drop_chunk(s);
	if (!success)
		s->ended = true;
	if (s->watch && !s->told && !s->queue && !s->ended)
		s->watch->writable(s->watch);
	step(s);
}

/* Send the next message, or the status after the last one. */
static void step(struct rpc_stream *s)
{
	grpc_slice text = grpc_empty_slice();
	grpc_op ops[2], *op = ops;

	if (s->sending || s->ended)
		return;
	memset(ops, 0, sizeof(ops));
	if (!s->begun)
		(op++)->op = GRPC_OP_SEND_INITIAL_METADATA;
	s->sends_first = s->queue;
	if (s->queue) {
		op->op = GRPC_OP_SEND_MESSAGE;
		(op++)->data.send_message.send_message = s->queue->buf;
	} else if (s->ending) {
		text = grpc_slice_from_copied_string(s->text ? s->text : "");
		op->op = GRPC_OP_SEND_STATUS_FROM_SERVER;
		op->data.send_status_from_server.status =
			(grpc_status_code)s->status;
		(op++)->data.send_status_from_server.status_details = &text;
		s->ended = true;
	} else if (s->begun) {
		return;
	}
	s->begun = true;
	s->sending = start(s, &s->write, ops, (size_t)(op - ops));
	if (!s->sending)
		s->ended = true;
	grpc_slice_unref(text);
}

static void append(struct rpc_stream *s, const uint8_t *data, size_t len)
{
	grpc_slice slice =
		grpc_slice_from_copied_buffer((const char *)data, len);
	struct chunk *c = calloc(1, sizeof(*c)), **link = &s->queue;

	if (!c) {
		grpc_slice_unref(slice);
		return;
	}
	c->buf = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	while (*link)
		link = &(*link)->next;
	*link = c;
	s->queued++;
}

/**
 * rpc_stream_send() - send a message to a rank
 * @stream: stream
 * @data: bytes
 * @len: their number
 *
 * Does not wait. A client that does not read is dropped in the end.
 */
void rpc_stream_send(struct rpc_stream *stream, const uint8_t *data, size_t len)
{
	if (stream->ending || stream->ended)
		return;
	if (stream->queued >= QUEUE_MAX) {
		grpc_call_cancel(stream->call, NULL);
		return;
	}
	append(stream, data, len);
	step(stream);
}

/**
 * rpc_stream_watch() - say who sends a stream that answers a request
 * @stream: stream
 * @watch: callbacks; @watch->writable is called soon
 */
void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch)
{
	stream->watch = watch;
	step(stream);
}

/**
 * rpc_stream_idle() - check whether a stream waits for something to send
 * @stream: stream
 *
 * Return: true if all that was sent is on its way.
 */
bool rpc_stream_idle(const struct rpc_stream *stream)
{
	return !stream->sending && !stream->queue;
}

/**
 * rpc_stream_end() - end a stream when its messages are sent
 * @stream: stream, which must not be used any more; or NULL
 * @err: positive errno value; 0: in order
 * @text: if @err: what to do
 */
void rpc_stream_end(struct rpc_stream *stream, int err, const char *text)
{
	if (!stream)
		return;
	stream->told = true;
	if (stream->ending)
		return;
	stream->ending = true;
	stream->status = am_status_of(err);
	stream->text = strdup(text);
	if (is_stream(stream))
		await_close(stream);
	step(stream);
}

/**
 * rpc_stream_revoked() - ask whether a client's certificate was revoked since
 * @stream: stream, or NULL
 *
 * Return: true if so; false if it called with a token.
 */
bool rpc_stream_revoked(const struct rpc_stream *stream)
{
	return stream && creds_revoked(stream->rpc->creds, stream->call);
}

/**
 * rpc_stream_peer() - get the address of a stream's client
 * @stream: stream
 *
 * Return: "ipv4:ADDRESS:PORT", "ipv6:[ADDRESS]:PORT", or else.
 */
const char *rpc_stream_peer(const struct rpc_stream *stream)
{
	return stream->peer;
}

/**
 * rpc_stream_identity() - get who a stream's client is
 * @stream: stream
 *
 * Return: identity, valid as long as the stream.
 */
const struct identity *rpc_stream_identity(const struct rpc_stream *stream)
{
	return &stream->who;
}

/**
 * rpc_stream_heard() - get when a rank's last heartbeat came
 * @stream: stream
 *
 * Return: milliseconds of now_ms(), 0 if none has.
 */
int64_t rpc_stream_heard(const struct rpc_stream *stream)
{
	return stream->heard;
}

/**
 * rpc_stream_set() - attach something to a stream
 * @stream: stream, or NULL
 * @data: what
 */
void rpc_stream_set(struct rpc_stream *stream, void *data)
{
	if (stream)
		stream->user = data;
}

/**
 * rpc_stream_get() - get what was attached to a stream
 * @stream: stream
 *
 * Return: what rpc_stream_set() was given last, or NULL.
 */
void *rpc_stream_get(const struct rpc_stream *stream)
{
	return stream->user;
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

	if (!read_buffer(s, &slice)) {
		rpc_stream_end(s, EINVAL, "no request");
		return;
	}
	s->rpc->handler->call(s->rpc->ctx, (enum rpc_method)s->method,
			      GRPC_SLICE_START_PTR(slice),
			      GRPC_SLICE_LENGTH(slice), s, &a);
	grpc_slice_unref(slice);
	if (!a.err && methods[s->method].watch)
		return;
	if (!a.err)
		append(s, a.data, a.len);
	free(a.data);
	rpc_stream_end(s, a.err, a.text);
}

static void received(struct rpc_stream *s, bool success)
{
	const struct rpc_handler *h = s->rpc->handler;
	grpc_slice slice;

	if (!is_stream(s)) {
		if (success && !s->told)
			answer(s);
		return;
	}
	if (success && read_buffer(s, &slice)) {
		if (!s->told)
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
	else if (is_stream(s))
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
	if (!ret)
		return true;
	rpc->handler->refused(rpc->ctx, s->peer, why);
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
	if (!is_stream(s))
		await_close(s);
	if (!may_call(s))
		return;
	if (s->method < 0) {
		rpc_stream_end(s, EPROTONOSUPPORT, "this manager has no such method");
		return;
	}
	if (is_stream(s)) {
		s->rpc->handler->opened(s->rpc->ctx, s);
		step(s);
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
	init_batch(s, &s->write, written);
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
	*port = listen_at(rpc->server, address, creds);
	grpc_server_credentials_release(creds);
	grpc_server_start(rpc->server);
	if (pthread_create(&rpc->thread, NULL, wait_completions, rpc))
		abort();
	if (!*port) {
		snprintf(err, err_len, "--listen %s: this address cannot be used; is another manager running?",
			 address);
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
	pthread_join(rpc->thread, NULL);
	loop_turn(rpc->loop, 0);
	handshake_watch(NULL, NULL, NULL);
	grpc_server_destroy(rpc->server);
	grpc_completion_queue_destroy(rpc->cq);
	grpc_shutdown();
	creds_free(rpc->creds);
	free(rpc);
}
