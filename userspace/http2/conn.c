// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A connection's state: its time limits, and the queue in which it stands.
 */
#include <sys/epoll.h>

#include "http2/conn.h"

#define FIRST_MS	10000	/* for the first bytes, and for the handshake */
#define WAIT_MS		20000	/* to begin a handshake, or while barred */
#define IDLE_MS		60000	/* without a call */
#define STUCK_MS	30000	/* with output that the client does not read */
#define LINGER_MS	1000	/* after the end, for the last bytes */
#define CUT_MS		200

/* Have a connection's pending output sent at the end of the turn. */
void conn_mark(struct h2_conn *c)
{
	if (c->dirty)
		return;
	c->dirty = true;
	c->next_dirty = c->server->dirty;
	c->server->dirty = c;
}

/* Have a connection cut at the end of the turn. */
void conn_cut(struct h2_conn *c, const char *why)
{
	if (!c->cut_reason)
		c->cut_reason = why;
	conn_mark(c);
}

/* Cut a connection that sends what nobody understands. */
void conn_cut_malformed(struct h2_conn *c, const char *why)
{
	c->is_malformed = !c->cut_reason;
	conn_cut(c, why);
}

/*
 * Count frames that carry no call. Returns false if there were too many.
 * @n: their number; negative: so many more are allowed
 * @why: reason to cut the connection, constant
 */
bool conn_junk(struct h2_conn *c, int64_t n, const char *why)
{
	if (allowance_take(&c->junk, conn_now(c), n, JUNK, JUNK_S))
		return true;
	conn_cut(c, why);
	return false;
}

/*
 * Choose the events that epoll reports of a connection, once.
 * @c: connection; while it waits for its turn, nothing changes
 */
void conn_wait(struct h2_conn *c, uint32_t events)
{
	struct epoll_event e = {
		.events = events | EPOLLONESHOT, .data.ptr = &c->io,
	};

	if (c->work.queued || events == c->events)
		return;
	epoll_ctl(c->server->loop->ep, EPOLL_CTL_MOD, c->fd, &e);
	c->events = events;
}

/* Set a connection's timer. */
void conn_arm(struct h2_conn *c)
{
	int64_t ms = -1, since = c->since;

	switch (c->state) {
	case CONN_QUIET:
	case CONN_SHAKES:
		ms = FIRST_MS;
		break;
	case CONN_WAITS:
		ms = WAIT_MS;
		break;
	case CONN_OPEN:
		if (c->out_len) {
			ms = STUCK_MS;
		} else if (c->idle || !c->calls) {
			ms = IDLE_MS;
			since = c->idle_at;
		}
		break;
	case CONN_LINGERS:
		ms = c->cut_reason ? CUT_MS : LINGER_MS;
		break;
	case CONN_DEAD:
		break;
	}
	timer_set(&c->server->loop->timers, &c->timer,
		  ms < 0 ? TIMER_NEVER : since + ms);
}

/*
 * Find the queue of a connection's host. Returns the queue.
 * @kind: state of the queue's connections
 */
struct hostq *conn_hostq(struct h2_conn *c, enum hostq_kind kind)
{
	struct share *host = c->share.by_kind[SHARE_HOST];

	return host ? &host->queues[kind] : &c->server->hostless[kind];
}

/*
 * If one host has thousands waiting, the oldest will have given up when their
 * turn comes: the newest come first.
 */
static void enqueue_conn(struct h2_conn *c)
{
	struct hostq_set *queues = c->server->queues;

	if (c->state == CONN_SHAKES)
		hostq_append(&queues[HOSTQ_SHAKES], conn_hostq(c, HOSTQ_SHAKES),
			     &c->shake_node);
	else if (c->state == CONN_WAITS)
		hostq_push(&queues[HOSTQ_WAITS], conn_hostq(c, HOSTQ_WAITS),
			   &c->shake_node);
}

static void step_out(struct h2_conn *c)
{
	struct hostq_set *queues = c->server->queues;

	hostq_remove(&queues[c->state == CONN_SHAKES ? HOSTQ_SHAKES : HOSTQ_WAITS],
		     &c->shake_node);
}

/* Change a connection's state. */
void conn_enter(struct h2_conn *c, enum conn_state state)
{
	if (c->state == CONN_SHAKES)
		share_give(&c->share, SHARE_HANDSHAKES, 1);
	step_out(c);
	c->state = state;
	enqueue_conn(c);
	c->since = conn_now(c);
	if (state == CONN_OPEN)
		c->idle_at = c->since;
	conn_arm(c);
}

/* Note whether a connection has calls. */
void conn_idle(struct h2_conn *c, bool idle)
{
	struct hostq_set *set = &c->server->queues[HOSTQ_IDLE];
	char why[160];

	if (c->idle == idle)
		return;
	hostq_remove(set, &c->idle_node);
	if (!idle)
		share_give(&c->share, SHARE_IDLE, 1);
	/* Without room there, conn_arm() limits its time nevertheless. */
	else if (share_take(&c->share, SHARE_IDLE, 1, why, sizeof(why)) >= 0)
		idle = false;
	if (idle)
		hostq_append(set, conn_hostq(c, HOSTQ_IDLE), &c->idle_node);
	c->idle = idle;
	c->idle_at = conn_now(c);
	conn_arm(c);
}
