// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is sent to a call's client.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "rpc/stream.h"

#define QUEUE_MAX	64	/* messages that a rank has not read, at most */

/* Have a stream's user told what has happened. */
void stream_post(struct rpc_stream *s)
{
	if (!s->work.queued)
		loop_post(s->rpc->loop, &s->work);
}

/*
 * Send a message. Returns 0 or -ENOMEM.
 * @data: bytes, which are freed
 */
int stream_adopt(struct rpc_stream *s, uint8_t *data, size_t len)
{
	struct h2_chunk *c = s->call ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		free(data);
		return s->call ? -ENOMEM : 0;
	}
	c->data = data;
	c->len = len;
	h2_send(s->call, c);
	return 0;
}

/*
 * Send a message to a rank. Does not wait. A client that does not read is
 * dropped in the end.
 */
void rpc_stream_send(struct rpc_stream *stream, const uint8_t *data, size_t len)
{
	uint8_t *copy;

	if (!stream->call)
		return;
	if (!stream->watch && stream->call->out.n >= QUEUE_MAX) {
		h2_cancel(stream->call);
		return;
	}
	copy = malloc(len + 1);
	if (copy)
		memcpy(copy, data, len);
	if (!copy || stream_adopt(stream, copy, len))
		rpc_stream_end(stream, ENOBUFS, "no memory");
}

/* Note that the user ends a stream, or knows its end. */
void stream_mark_finished(struct rpc_stream *s)
{
	if (s->watch && !s->finished)
		LIST_REMOVE(s, watched);
	s->finished = true;
}

/*
 * Say who sends a stream that answers a request.
 * @watch: callbacks; @watch->writable, if there is one, is called soon
 */
void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch)
{
	stream->watch = watch;
	watch->stream = stream;
	LIST_INSERT_HEAD(&stream->rpc->watched, stream, watched);
	if (stream->call)
		h2_begin(stream->call);
	stream_post(stream);
}

/*
 * Check whether a stream waits for something to send. Returns true if all that
 * was sent is on its way.
 */
bool rpc_stream_idle(const struct rpc_stream *stream)
{
	return !stream->call || !stream->call->out.n;
}

/*
 * End a stream when its messages are sent.
 * @stream: stream, which must not be used afterwards; or NULL
 * @err: positive errno value; 0: in order
 */
void rpc_stream_end(struct rpc_stream *stream, int err, const char *text)
{
	if (!stream)
		return;
	stream_mark_finished(stream);
	if (stream->call)
		h2_finish(stream->call, am_status_of(err), text);
}

/*
 * Ask whether a client has lost its right to call. Returns what was revoked
 * since; NULL: nothing.
 */
const char *rpc_stream_revoked(const struct rpc_stream *stream)
{
	if (!stream)
		return NULL;
	if (stream->cert && creds_revoked(stream->rpc->creds, stream->cert))
		return "the caller's certificate has been revoked";
	return creds_dropped(stream->rpc->creds, &stream->who) ?
	       "the caller's token has been revoked" : NULL;
}

/* Get the socket of a stream that has not ended, for its addresses and options. */
int rpc_stream_fd(const struct rpc_stream *stream)
{
	return stream->call ? h2_fd(stream->call) : -1;
}

/*
 * Get the address of a stream's client. Returns "ipv4:ADDRESS:PORT",
 * "ipv6:[ADDRESS]:PORT", or else.
 */
const char *rpc_stream_peer(const struct rpc_stream *stream)
{
	return stream->peer;
}

/*
 * Get who a stream's client is. Returns the identity, valid as long as the
 * stream.
 */
const struct identity *rpc_stream_identity(const struct rpc_stream *stream)
{
	return &stream->who;
}

/*
 * Ask how a stream has ended. Returns false: the client has closed the stream
 * or the connection, or was killed, which its kernel says; true: the
 * connection is lost, or the client gives it up and may call again.
 */
bool rpc_stream_vanished(const struct rpc_stream *stream)
{
	return stream->vanished;
}

/*
 * Get when a rank's last heartbeat came. Returns milliseconds of now_ms(), 0
 * if none has.
 */
int64_t rpc_stream_beat_at(const struct rpc_stream *stream)
{
	return stream->beat_at;
}

/* Attach something to a stream. */
void rpc_stream_set(struct rpc_stream *stream, void *data)
{
	if (stream)
		stream->user = data;
}

/*
 * Get what was attached to a stream. Returns what rpc_stream_set() was given
 * last, or NULL.
 */
void *rpc_stream_get(const struct rpc_stream *stream)
{
	return stream->user;
}
