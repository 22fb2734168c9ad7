// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a call sends, and how long it waits for its client. All of it is the main
 * loop's.
 */
#include <errno.h>
#include <grpc/byte_buffer.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"
#include "api/stream.h"

/* A rank that does not read is dropped when this many messages wait for it. */
#define QUEUE_MAX	64
#define STUCK_MS	30000	/* for a client to read what it was sent */
#define SILENT_MS	10000	/* and to say what it wants */

/**
 * stream_drop_chunk() - free the first message that is to be sent
 * @s: stream, with one
 */
void stream_drop_chunk(struct rpc_stream *s)
{
	struct chunk *c = s->queue;

	s->queue = c->next;
	s->queued--;
	share_unqueue(&s->share, grpc_byte_buffer_length(c->buf));
	grpc_byte_buffer_destroy(c->buf);
	free(c);
}

/**
 * stream_start() - start a batch of operations
 * @s: stream
 * @b: batch
 * @ops: operations
 * @n: their number
 *
 * Return: false if gRPC does not.
 */
bool stream_start(struct rpc_stream *s, struct batch *b, const grpc_op *ops,
		  size_t n)
{
	if (grpc_call_start_batch(s->call, ops, n, b, NULL) != GRPC_CALL_OK)
		return false;
	s->busy++;
	return true;
}

/**
 * stream_await_close() - wait until a stream ends
 * @s: stream
 *
 * gRPC 1.51 of Debian looks for each batch that completes among all that do not,
 * one after another. So a stream has no more of them than it needs.
 */
void stream_await_close(struct rpc_stream *s)
{
	grpc_op op = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER };

	op.data.recv_close_on_server.cancelled = &s->cancelled;
	stream_start(s, &s->close, &op, 1);
}

/* --- Times --------------------------------------------------------------- */

static bool says_nothing(const struct rpc_stream *s)
{
	return s->share.silent && !s->told;
}

static void arm(struct rpc_stream *s)
{
	int64_t at = s->sending ? s->since + STUCK_MS :
		     says_nothing(s) ? s->since + SILENT_MS : TIMER_NEVER;

	if (s->timer.fn)
		timer_set(&s->rpc->loop->timers, &s->timer, at);
}

/* The client does not read, or says nothing: give it up. */
static void due(struct timer *timer)
{
	struct rpc_stream *s = container_of(timer, struct rpc_stream, timer);

	if (s->sending)
		grpc_call_cancel(s->call, NULL);
	else if (says_nothing(s))
		rpc_stream_end(s, ETIMEDOUT, "the first message did not come within 10 s");
}

/**
 * stream_admit() - take note of a call of somebody who may call
 * @s: stream, with @s->peer and @s->who
 * @why: result: why it is refused
 * @len: size of @why in bytes
 *
 * Return: 0, or a negative errno value.
 */
int stream_admit(struct rpc_stream *s, char *why, size_t len)
{
	int ret = share_enter(&s->share, s->peer, &s->who, why, len);

	if (!ret && timer_add(&s->rpc->loop->timers, &s->timer, due)) {
		s->timer.fn = NULL;
		snprintf(why, len, "no memory");
		ret = -ENOBUFS;
	}
	if (ret)
		return ret;
	s->since = s->rpc->loop->now;
	arm(s);
	return 0;
}

/**
 * stream_spoke() - a client has said what it wants
 * @s: stream
 */
void stream_spoke(struct rpc_stream *s)
{
	share_speak(&s->share);
	arm(s);
}

/* --- Output -------------------------------------------------------------- */

/**
 * stream_written() - go on when a batch was sent
 * @s: stream
 * @success: it was
 */
void stream_written(struct rpc_stream *s, bool success)
{
	s->sending = false;
	if (s->sends_first)
		stream_drop_chunk(s);
	if (!success)
		s->ended = true;
	if (s->watch && !s->told && !s->queue && !s->ended)
		s->watch->writable(s->watch);
	stream_step(s);
	arm(s);
}

/**
 * stream_step() - send the next message, or the status after the last one
 * @s: stream
 */
void stream_step(struct rpc_stream *s)
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
	s->sending = stream_start(s, &s->write, ops, (size_t)(op - ops));
	if (!s->sending)
		s->ended = true;
	s->since = s->rpc->loop->now;
	arm(s);
	grpc_slice_unref(text);
}

/**
 * stream_append() - have a message sent after the others
 * @s: stream
 * @data: bytes
 * @len: their number
 *
 * Return: false if too many wait to be read, or there is no memory.
 */
bool stream_append(struct rpc_stream *s, const uint8_t *data, size_t len)
{
	struct chunk *c = calloc(1, sizeof(*c)), **link = &s->queue;
	grpc_slice slice;

	if (!c || !share_queue(&s->share, len)) {
		free(c);
		return false;
	}
	slice = grpc_slice_from_copied_buffer((const char *)data, len);
	c->buf = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	while (*link)
		link = &(*link)->next;
	*link = c;
	s->queued++;
	return true;
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
	if (stream->queued >= QUEUE_MAX || !stream_append(stream, data, len)) {
		grpc_call_cancel(stream->call, NULL);
		return;
	}
	stream_step(stream);
}

/**
 * rpc_stream_watch() - say who sends a stream that answers a request
 * @stream: stream
 * @watch: callbacks; @watch->writable is called soon
 */
void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch)
{
	stream->watch = watch;
	stream_step(stream);
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
	if (is_join(stream))
		stream_await_close(stream);
	stream_step(stream);
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
	if (!stream)
		return;
	stream->user = data;
	if (data)
		stream_spoke(stream);
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
