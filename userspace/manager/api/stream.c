// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the main loop says to a call's client.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"
#include "api/stream.h"

/**
 * stream_call() - have the other thread take what there is for a stream
 * @s: stream
 *
 * Context: The lock is held.
 */
void stream_call(struct rpc_stream *s)
{
	if (s->is_called)
		return;
	s->is_called = true;
	s->next_called = s->rpc->called;
	/*
	 * The consumer takes the whole list, so wake it for the first entry
	 * only.
	 */
	if (!s->next_called)
		h2_wake(s->rpc->server);
	s->rpc->called = s;
}

/**
 * stream_free() - free a stream that both threads have let go of
 * @s: stream
 *
 * Context: The thread that serves connections.
 */
void stream_free(struct rpc_stream *s)
{
	if (s->counted)
		share_give(&s->share, SHARE_CALLS, 1);
	share_leave(&s->share);
	X509_free(s->cert);
	free(s->text);
	free(s);
}

/**
 * stream_adopt() - send a message
 * @s: stream
 * @data: bytes, which are freed
 * @len: their number
 *
 * Return: 0 or -ENOMEM.
 */
int stream_adopt(struct rpc_stream *s, uint8_t *data, size_t len)
{
	struct h2_chunk *c = calloc(1, sizeof(*c));

	if (!c) {
		free(data);
		return -ENOMEM;
	}
	c->data = data;
	c->len = len;
	s->sent++;
	pthread_mutex_lock(&s->rpc->lock);
	*s->out_end = c;
	s->out_end = &c->next;
	stream_call(s);
	pthread_mutex_unlock(&s->rpc->lock);
	return 0;
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
	uint8_t *copy;

	if (stream->ending)
		return;
	copy = malloc(len + 1);
	if (copy)
		memcpy(copy, data, len);
	if (!copy || stream_adopt(stream, copy, len))
		rpc_stream_end(stream, ENOBUFS, "no memory");
}

/**
 * stream_mark_finished() - note that the user ends a stream, or knows its end
 * @s: stream
 */
void stream_mark_finished(struct rpc_stream *s)
{
	if (s->watch && !s->finished)
		LIST_REMOVE(s, watched);
	s->finished = true;
}

/**
 * rpc_stream_watch() - say who sends a stream that answers a request
 * @stream: stream
 * @watch: callbacks; @watch->writable, if there is one, is called soon
 */
void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch)
{
	stream->watch = watch;
	watch->stream = stream;
	LIST_INSERT_HEAD(&stream->rpc->watched, stream, watched);
	pthread_mutex_lock(&stream->rpc->lock);
	stream_call(stream);
	pthread_mutex_unlock(&stream->rpc->lock);
}

/**
 * rpc_stream_idle() - check whether a stream waits for something to send
 * @stream: stream
 *
 * Return: true if all that was sent is on its way.
 */
bool rpc_stream_idle(const struct rpc_stream *stream)
{
	return stream->drained == stream->sent;
}

/**
 * rpc_stream_end() - end a stream when its messages are sent
 * @stream: stream, which must not be used afterwards; or NULL
 * @err: positive errno value; 0: in order
 * @text: if @err: what to do
 */
void rpc_stream_end(struct rpc_stream *stream, int err, const char *text)
{
	if (!stream)
		return;
	stream_mark_finished(stream);
	pthread_mutex_lock(&stream->rpc->lock);
	if (!stream->ending) {
		stream->ending = true;
		stream->status = am_status_of(err);
		stream->text = strdup(text);
		stream_call(stream);
	}
	pthread_mutex_unlock(&stream->rpc->lock);
}

/**
 * rpc_stream_revoked() - ask whether a client has lost its right to call
 * @stream: stream, or NULL
 *
 * Return: what was revoked since; NULL: nothing.
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
 * rpc_stream_vanished() - ask how a stream has ended
 * @stream: stream that has
 *
 * Return: false: the client has closed the stream or the connection, or was killed,
 * which its kernel says; true: the connection is lost, or the stream was reset.
 */
bool rpc_stream_vanished(const struct rpc_stream *stream)
{
	bool vanished;

	pthread_mutex_lock(&stream->rpc->lock);
	vanished = stream->vanished;
	pthread_mutex_unlock(&stream->rpc->lock);
	return vanished;
}

/**
 * rpc_stream_beat_at() - get when a rank's last heartbeat came
 * @stream: stream
 *
 * Return: milliseconds of now_ms(), 0 if none has.
 */
int64_t rpc_stream_beat_at(const struct rpc_stream *stream)
{
	return stream->beat_at;
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
