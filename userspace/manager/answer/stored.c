// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Answers to requests that change records: they wait until these are stored, since the
 * next manager must know each change that a client was promised. Records are written
 * one after another, so a tenant may have only a limited number of them in progress.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/answer.h"

#define STORING_MAX	64	/* waiting answers of a tenant */

/**
 * struct stored - an answer that waits
 * @wait: wait for the store
 * @rpc: stream for the answer; NULL once the client is gone
 * @tenant: the client's tenant, or NULL
 * @data: bytes of the answer
 * @len: number of @data
 */
struct stored {
	struct state_wait	wait;
	struct rpc_watch	rpc;
	struct tenant		*tenant;
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
	if (s->tenant)
		s->tenant->storing--;
	free(s->data);
	free(s);
}

static void on_closed(struct rpc_watch *rpc)
{
	rpc->stream = NULL;
}

/* Returns NULL if the tenant is not known yet. */
static struct tenant *tenant_of(const struct manager *m, const struct rpc_answer *a)
{
	return tenant_known(&m->tenants, a->who ? a->who->tenant : "");
}

/*
 * Check whether a request may be written. Returns false after an error: too
 * many of its tenant's are in progress, and others would wait.
 */
bool answer_may_store(const struct manager *m, struct rpc_answer *a)
{
	const struct tenant *tn = tenant_of(m, a);

	if (tn && tn->storing >= STORING_MAX)
		answer_refuse(a, ENOBUFS, "%u requests of your tenant are being stored: try again",
			      tn->storing);
	return !a->err;
}

/*
 * Delay an answer until the changes of its request are stored.
 * @a: answer; sent at once if it is an error, or nothing was written
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
	s->tenant = tenant_of(m, a);
	if (s->tenant)
		s->tenant->storing++;
	s->rpc.closed = on_closed;
	s->data = a->data;
	s->len = a->len;
	*a = (struct rpc_answer) { .later = true, .who = a->who };
	rpc_stream_watch(stream, &s->rpc);
	state_wait(m, &s->wait, since);
}
