// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events for operators: past ones, and a stream of new ones. The stream reads
 * from the list whenever its client can take more, so a slow reader misses
 * events, but takes no memory.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "answer/answer.h"
#include "rdma_inc.pb-c.h"

#define AT_ONCE		32	/* events in one message of a stream */

/**
 * struct batch - a message of events
 * @msg: message
 * @list: pointers of @msg
 * @events: events that @list points to
 */
struct batch {
	RdmaInc__V1__Events	msg;
	RdmaInc__V1__Event	*list[EVENT_MAX];
	RdmaInc__V1__Event	events[EVENT_MAX];
};

/**
 * struct event_watch - a client that follows the events
 * @rpc: the stream's callbacks
 * @listener: hears of new events
 * @m: manager
 * @next: number of the event to send next
 */
struct event_watch {
	struct rpc_watch	rpc;
	struct event_listener	listener;
	struct manager		*m;
	uint64_t		next;
};

/*
 * Fill an event of a message.
 * @out: result, valid as long as @ev
 */
void answer_fill_event(RdmaInc__V1__Event *out, const struct event *ev)
{
	rdma_inc__v1__event__init(out);
	out->seq = ev->seq;
	out->time = ev->time;
	out->kind = (char *)ev->kind;
	out->subject = (char *)ev->subject;
	out->text = (char *)ev->text;
	out->tenant = (char *)ev->tenant;
}

/* Collect events, without forgotten ones. Returns the next one's number. */
static uint64_t collect_events(const struct events *e, uint64_t from,
			       size_t max, struct batch *b)
{
	const struct event *ev = event_from(e, from);
	RdmaInc__V1__Event *out;

	rdma_inc__v1__events__init(&b->msg);
	b->msg.events = b->list;
	for (; ev && b->msg.n_events < max; ev = TAILQ_NEXT(ev, by_seq)) {
		out = &b->events[b->msg.n_events];
		answer_fill_event(out, ev);
		b->list[b->msg.n_events++] = out;
	}
	return ev ? ev->seq : e->last + 1;
}

/* Answer ListEvents. */
void answer_events(struct manager *m, const void *msg,
		   struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__EventsRequest *req = msg;
	struct batch *b = malloc(sizeof(*b));

	if (!b) {
		answer_refuse(a, ENOMEM, "no memory");
		return;
	}
	collect_events(&m->events, req->from, EVENT_MAX, b);
	answer_reply(a, &b->msg.base);
	free(b);
}

static void send_events(struct event_watch *w)
{
	struct rpc_answer out = { .err = 0 };
	struct batch *b;

	if (w->next > w->m->events.last)
		return;
	b = malloc(sizeof(*b));
	if (!b)
		return;
	w->next = collect_events(&w->m->events, w->next, AT_ONCE, b);
	answer_reply(&out, &b->msg.base);
	free(b);
	if (out.data)
		rpc_stream_send(w->rpc.stream, out.data, out.len);
	free(out.data);
}

static void on_writable(struct rpc_watch *rpc)
{
	send_events(container_of(rpc, struct event_watch, rpc));
}

static void on_event(struct event_listener *l, const struct event *ev)
{
	struct event_watch *w = container_of(l, struct event_watch, listener);

	if (rpc_stream_idle(w->rpc.stream))
		send_events(w);
}

static void on_closed(struct rpc_watch *rpc)
{
	struct event_watch *w = container_of(rpc, struct event_watch, rpc);

	event_ignore(&w->m->events, &w->listener);
	free(w);
}

/* Answer WatchEvents. */
void answer_watch_events(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__EventsRequest *req = msg;
	struct event_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		answer_refuse(a, ENOMEM, "no memory");
		return;
	}
	w->rpc.writable = on_writable;
	w->rpc.closed = on_closed;
	w->listener.on_event = on_event;
	w->m = m;
	w->next = req->from;
	event_listen(&m->events, &w->listener);
	rpc_stream_watch(stream, &w->rpc);
}
