// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How a caller sleeps until results arrive.
 *
 * A call that has to sleep costs three system calls: ibv_post_send(), one to
 * arm the completion queue, and the sleep itself, a read() of the completion
 * channel without a time limit. The watch ends that sleep when necessary. Only
 * a caller with its own time limit reads the clock and polls.
 *
 * Before it sleeps, the caller yields. Where ranks, or soft-RoCE's own threads,
 * share a CPU, a thread that is ready to run often produces the result, which
 * saves the latter two calls. On a CPU of its own, yielding costs nearly
 * nothing.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "wait.h"
#include "end.h"
#include "fail.h"
#include "progress.h"
#include "sq.h"
#include "uc.h"

#define EVENTS_UNACKED_MAX	64
/* Measured with 2 ... 8 ranks on one CPU: more gains nothing. */
#define YIELDS_BEFORE_SLEEP	2
/* While another tree is made there is no queue pair to sleep on. */
#define REBUILD_NAP_MS		1

/**
 * struct limit - the caller's own time limit
 * @ms: milliseconds, INC_FOREVER: none
 * @end: when it expires, in the time of inc_now_ms(); 0: not started yet
 */
struct limit {
	int	ms;
	int64_t	end;
};

/* Milliseconds left; the first call starts the limit. */
static int left_ms(struct limit *limit)
{
	int64_t now;

	if (limit->ms == INC_FOREVER)
		return INC_FOREVER;
	now = inc_now_ms();
	if (!limit->end)
		limit->end = now + limit->ms;
	return limit->end > now ? (int)(limit->end - now) : 0;
}

static void arm_cqs(struct inc_comm *comm)
{
	int ret = 0;

	if (!comm->rq.armed)
		ret = ibv_req_notify_cq(comm->rq.cq, 0);
	comm->rq.armed = true;
	if (!ret && comm->sq.full && !comm->sq.armed) {
		ret = ibv_req_notify_cq(comm->sq.cq, 0);
		comm->sq.armed = true;
	}
	if (ret)
		inc_fail_device(comm, -ret, "completion queue: %s",
				strerror(ret));
	else if (comm->rails.other)
		arm_cqs(comm->rails.other);
}

static bool is_armed(const struct inc_comm *comm)
{
	return comm->rq.armed && (!comm->sq.full || comm->sq.armed) &&
	       (!comm->rails.other || is_armed(comm->rails.other));
}

/*
 * Returns 1: there is an event; 0: there may be none; or a negative errno
 * value.
 */
static int poll_events(struct inc_comm *comm, int ms)
{
	struct pollfd pfd = { .fd = comm->chan->fd, .events = POLLIN };
	int ret = poll(&pfd, 1, ms);

	return ret < 0 ? (errno == EINTR ? 0 : -errno) : ret;
}

static inline void take_event(struct inc_comm *comm)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(comm->chan, &cq, &context)) {
		if (errno != EINTR)
			inc_fail_device(comm, -errno, "completion channel: %s",
					strerror(errno));
		return;
	}
	if (cq == comm->rq.cq) {
		comm->rq.armed = false;
		if (++comm->rq.events == EVENTS_UNACKED_MAX) {
			ibv_ack_cq_events(cq, comm->rq.events);
			comm->rq.events = 0;
		}
	} else {
		comm->sq.armed = false;
		comm->sq.events++;
		inc_sq_reap(comm);
	}
}

/*
 * As sleep_for_event(), for the events of two rails. The second one is watched even
 * when idle: if it fails, other ranks wait for this one to replace it, too.
 */
static int sleep_for_both(struct inc_comm *comm, int ms)
{
	struct inc_comm *rails[] = { comm, comm->rails.other };
	struct pollfd pfd[2];
	int i, n;

	for (i = 0; i < 2; i++) {
		pfd[i] = (struct pollfd) {
			.fd = rails[i]->chan->fd, .events = POLLIN,
		};
		if (rails[i]->uc)
			ms = inc_uc_patience(rails[i], ms);
	}
	n = poll(pfd, 2, ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < 2; i++) {
		if (!n && rails[i]->uc)
			inc_uc_woke(rails[i]);
		if (pfd[i].revents)
			take_event(rails[i]);
	}
	return 0;
}

/*
 * Sleeps until there is an event, or for @ms milliseconds. RC: if there is no
 * time limit, the watch flushes the receive queue when it is time.
 */
static int sleep_for_event(struct inc_comm *comm, int ms)
{
	int ret;

	comm->info.sleeps++;
	if (comm->rails.other)
		return sleep_for_both(comm, ms);
	if (comm->uc)
		ms = inc_uc_patience(comm, ms);
	if (ms != INC_FOREVER) {
		ret = poll_events(comm, ms);
		if (!ret && comm->uc)
			inc_uc_woke(comm);
		if (ret <= 0)
			return ret;
	}
	take_event(comm);
	return 0;
}

static void reap_sends(struct inc_comm *comm)
{
	if (comm->mem.zombies && !inc_comm_stopped(comm))
		inc_sq_reap(comm);
}

/*
 * Work and sleep until an operation is done. Returns true if it is done; false
 * if the time has expired.
 * @ms: maximum milliseconds to sleep, not 0; INC_FOREVER: unlimited
 */
bool inc_request_sleep(struct inc_request *req, int ms)
{
	unsigned int yields = YIELDS_BEFORE_SLEEP;
	struct inc_comm *comm = req->comm, *second = comm->rails.other;
	struct limit limit = { .ms = ms };
	bool checked = false;
	int ret = 0, again_ms;

	for (;;) {
		inc_comm_progress(comm);
		if (inc_request_over(req))
			break;
		again_ms = inc_others_progress(comm);
		if (inc_comm_agrees(comm) ||
		    (second && inc_comm_agrees(second))) {
			if (!left_ms(&limit))
				break;
			poll(NULL, 0, REBUILD_NAP_MS);
			checked = false;
		} else if (yields) {
			sched_yield();
			yields--;
		} else if (comm->uc && !comm->sq.full && left_ms(&limit) &&
			   inc_uc_nap(comm)) {
			checked = false;
		} else if (!checked || !is_armed(comm)) {
			arm_cqs(comm);
			checked = true;
		} else {
			ms = left_ms(&limit);
			if (!ms)
				break;
			ret = sleep_for_event(comm, inc_shorter(ms, again_ms));
			checked = comm->rq.armed &&
				  (!second || second->rq.armed);
		}
		if (ret)
			inc_comm_fail(comm, ret, "poll: %s", strerror(-ret));
	}
	reap_sends(comm);
	if (second)
		reap_sends(second);
	return inc_request_over(req);
}
