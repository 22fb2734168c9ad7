// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * gRPC's health check, whether the manager serves: only the leader does.
 * Watchers get an answer when this changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "health.pb-c.h"

#define STATUS(name) \
	GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__##name

typedef Grpc__Health__V1__HealthCheckRequest request;
typedef Grpc__Health__V1__HealthCheckResponse response;

/**
 * struct health_watch - a client that watches
 * @rpc: the stream's callbacks
 * @entry: node among all watches
 * @m: manager
 * @has_service: the service it asks for exists
 * @last_status: last status sent; -1: none
 */
struct health_watch {
	struct rpc_watch		rpc;
	LIST_ENTRY(health_watch)	entry;
	struct manager			*m;
	bool				has_service;
	int				last_status;
};

static bool is_known(const request *req)
{
	return !*req->service || !strcmp(req->service, "rdma_inc.v1.Manager");
}

static void put_status(const struct manager *m, bool known, response *out)
{
	grpc__health__v1__health_check_response__init(out);
	if (!known)
		out->status = STATUS(SERVICE_UNKNOWN);
	else
		out->status = m->state.phase == PHASE_ACTIVE ?
			      STATUS(SERVING) : STATUS(NOT_SERVING);
}

/* Answer Check of grpc.health.v1.Health. */
void answer_health(struct manager *m, const void *msg,
		   struct rpc_stream *stream, struct rpc_answer *a)
{
	const request *req = msg;
	response out;

	if (!is_known(req)) {
		answer_refuse(a, ENOENT, "there is no service \"%.63s\" but rdma_inc.v1.Manager",
			      req->service);
		return;
	}
	put_status(m, true, &out);
	answer_reply(a, &out.base);
}

static void tell_status(struct health_watch *w)
{
	struct rpc_answer a = { .err = 0 };
	response out;

	put_status(w->m, w->has_service, &out);
	if (w->last_status == (int)out.status)
		return;
	answer_reply(&a, &out.base);
	if (!a.data)
		return;
	w->last_status = (int)out.status;
	rpc_stream_send(w->rpc.stream, a.data, a.len);
	free(a.data);
}

static void on_writable(struct rpc_watch *rpc)
{
	tell_status(container_of(rpc, struct health_watch, rpc));
}

static void on_closed(struct rpc_watch *rpc)
{
	struct health_watch *w = container_of(rpc, struct health_watch, rpc);

	LIST_REMOVE(w, entry);
	free(w);
}

/*
 * Answer Watch of grpc.health.v1.Health. An unknown service is no error: it
 * might become known.
 */
void answer_watch_health(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	struct health_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		answer_refuse(a, ENOMEM, "no memory");
		return;
	}
	w->rpc.writable = on_writable;
	w->rpc.closed = on_closed;
	w->m = m;
	w->has_service = is_known(msg);
	w->last_status = -1;
	LIST_INSERT_HEAD(&m->healths, w, entry);
	rpc_stream_watch(stream, &w->rpc);
}

/*
 * Send changes of the status to watchers. A slow reader gets only the latest
 * status once it has read.
 */
void answer_health_turn(struct manager *m)
{
	struct health_watch *w, *next;

	for (w = LIST_FIRST(&m->healths); w; w = next) {
		next = LIST_NEXT(w, entry);
		if (rpc_stream_idle(w->rpc.stream))
			tell_status(w);
	}
}
