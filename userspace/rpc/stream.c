// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages and statuses sent to a call's client.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "rpc/stream.h"

#define QUEUE_MAX	64	/* unread messages of a rank, at most */

/* Have a stream's user called by stream_work() in the main loop. */
void stream_post(struct rpc_stream *s)
{
	if (!s->work.queued)
		loop_post(s->rpc->loop, &s->work);
}

/*
 * Send a message. Returns 0 or -ENOMEM.
 * @data: bytes, which are freed in any case
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
 * Send a message to a rank. Does not wait. Cancels the call of a client that
 * does not read.
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

/* Note that the user ends a stream, or knows of its end. */
void stream_mark_finished(struct rpc_stream *s)
{
	if (s->watch && !s->finished)
		LIST_REMOVE(s, watched);
	s->finished = true;
}

/*
 * Set the callbacks of a stream that answers a request.
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
 * Check whether a stream may be sent more. Returns true if all messages are on
 * their way.
 */
bool rpc_stream_idle(const struct rpc_stream *stream)
{
	return !stream->call || !stream->call->out.n;
}

/*
 * End a stream after its messages.
 * @stream: stream, which must not be used afterwards; or NULL
 * @err: positive errno value; 0: success
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
 * Ask whether a client has lost its right to call. Returns text that names the
 * revoked credential; NULL: none.
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

/* Get a stream's socket, for its addresses and options; -1: it has ended. */
int rpc_stream_fd(const struct rpc_stream *stream)
{
	return stream->call ? h2_fd(stream->call) : -1;
}

/*
 * Get the address of a stream's client. Returns "ipv4:ADDRESS:PORT",
 * "ipv6:[ADDRESS]:PORT" or "unix:".
 */
const char *rpc_stream_peer(const struct rpc_stream *stream)
{
	return stream->peer;
}

/*
 * Get the identity of a stream's client. Returns the identity, valid as long as
 * the stream.
 */
const struct identity *rpc_stream_identity(const struct rpc_stream *stream)
{
	return &stream->who;
}

/*
 * Ask how a stream has ended. Returns false: the client has closed the stream
 * or the connection, or its kernel has after a kill; true: the connection is
 * lost, or the client gives it up and may call again.
 */
bool rpc_stream_vanished(const struct rpc_stream *stream)
{
	return stream->vanished;
}

/*
 * Get the time of a rank's last heartbeat. Returns milliseconds of now_ms(); 0:
 * none yet.
 */
int64_t rpc_stream_beat_at(const struct rpc_stream *stream)
{
	return stream->beat_at;
}

/* Attach user data to a stream. */
void rpc_stream_set(struct rpc_stream *stream, void *data)
{
	if (stream)
		stream->user = data;
}

/*
 * Get the user data of a stream. Returns the last data given to
 * rpc_stream_set(), or NULL.
 */
void *rpc_stream_get(const struct rpc_stream *stream)
{
	return stream->user;
}
