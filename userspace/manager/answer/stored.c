// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Answers to what changes records: they wait until these are stored, so that a
 * client is not promised what the next manager would know nothing of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/answer.h"

/**
 * struct stored - an answer that waits
 * @wait: for the store
 * @rpc: where it goes; its stream is NULL once the client is gone
 * @data: its bytes
 * @len: their number
 */
struct stored {
	struct state_wait	wait;
	struct rpc_watch	rpc;
	uint8_t			*data;
	size_t			len;
};

static void on_stored(struct state_wait *wait, const char *err)
{
	struct stored *s = container_of(wait, struct stored, wait);
	struct rpc_stream *stream = s->rpc.stream;
	char text[512] = "";

	if (stream && err)
		snprintf(text, sizeof(text), "it is done, but not stored: %.300s. That is tried again; if this manager ends before, the next one does not know of it",
			 err);
	else if (stream)
		rpc_stream_send(stream, s->data, s->len);
	if (stream)
		rpc_stream_end(stream, err ? EIO : 0, text);
	free(s->data);
	free(s);
}

static void on_closed(struct rpc_watch *rpc)
{
	rpc->stream = NULL;
}

/**
 * answer_stored() - let an answer wait until what its request has written is stored
 * @m: manager
 * @stream: where it goes
 * @a: answer; it goes at once if it is an error, or nothing was written
 * @since: state_writes() before the request
 */
void answer_stored(struct manager *m, struct rpc_stream *stream,
		   struct rpc_answer *a, uint64_t since)
{
	struct stored *s;

	if (a->err || state_writes(m) == since)
		return;
	s = calloc(1, sizeof(*s));
	if (!s) {
		answer_refuse(a, ENOMEM, "it is done, but there is no memory to say when it is stored");
		return;
	}
	s->wait.done = on_stored;
	s->rpc.closed = on_closed;
	s->data = a->data;
	s->len = a->len;
	*a = (struct rpc_answer) { .later = true, .who = a->who };
	rpc_stream_watch(stream, &s->rpc);
	state_wait(m, &s->wait, since);
}
