// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How a caller sleeps until results arrive.
 *
 * A call that has to sleep costs four system calls: ibv_post_send(), one to arm the
 * completion queue, a poll(), and a read() of the completion channel. The watch ends
 * that sleep when necessary, and rings the communicator's bell when it has heard what
 * no completion tells. Only a caller with its own time limit reads the clock. While
 * the ranks agree on a change to another tree, the new tree's results wake it, too.
 *
 * Before it sleeps, the caller yields. Where ranks, or soft-RoCE's own threads,
 * share a CPU, a thread that is ready to run often produces the result, which
 * saves the latter three calls. On a CPU of its own, yielding costs nearly
 * nothing.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

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
/* Two rails, and for each the tree that it changes to. */
#define AWAITED_MAX		4

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

/**
 * struct awaited - the communicators whose results let a call go on
 * @comms: both rails, and those with the trees that they change to
 * @n: how many
 */
struct awaited {
	struct inc_comm	*comms[AWAITED_MAX];
	unsigned int	n;
};

static struct awaited list_awaited(struct inc_comm *comm)
{
	struct inc_comm *rails[] = { comm, comm->rails.other }, *next;
	struct awaited a = {};
	int i;

	for (i = 0; i < 2 && rails[i]; i++) {
		a.comms[a.n++] = rails[i];
		next = inc_comm_next(rails[i]);
		if (next)
			a.comms[a.n++] = next;
	}
	return a;
}

/* Has one of them no queue pair to sleep on, as another tree is made? */
static bool is_rebuilt(const struct awaited *a)
{
	unsigned int i;

	for (i = 0; i < a->n; i++)
		if (a->comms[i]->rebuild.state)
			return true;
	return false;
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
}

static void arm_all(const struct awaited *a)
{
	unsigned int i;

	for (i = 0; i < a->n; i++)
		arm_cqs(a->comms[i]);
}

static bool are_armed(const struct awaited *a)
{
	const struct inc_comm *comm;
	unsigned int i;

	for (i = 0; i < a->n; i++) {
		comm = a->comms[i];
		if (!comm->rq.armed || (comm->sq.full && !comm->sq.armed))
			return false;
	}
	return true;
}

static void take_event(struct inc_comm *comm)
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
 * Sleep until there is an event, the bell rings, or for @ms milliseconds. RC: if there
 * is no time limit, the watch flushes the receive queue when it is time. The second
 * rail is watched even when idle: if it fails, other ranks wait for this one to replace
 * it, too. Returns 0, or a negative errno value.
 */
static int sleep_for_event(struct inc_comm *comm, const struct awaited *a,
			   int ms)
{
	struct pollfd fds[AWAITED_MAX + 1];
	unsigned int i, n = a->n;
	uint64_t rings;
	int ret;

	comm->info.sleeps++;
	for (i = 0; i < n; i++) {
		fds[i] = (struct pollfd) {
			.fd = a->comms[i]->chan->fd, .events = POLLIN,
		};
		if (a->comms[i]->uc)
			ms = inc_uc_patience(a->comms[i], ms);
	}
	fds[n] = (struct pollfd) {
		.fd = comm->watchdog.bell, .events = POLLIN,
	};
	ret = poll(fds, n + 1, ms);
	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < n; i++) {
		if (!ret && a->comms[i]->uc)
			inc_uc_woke(a->comms[i]);
		if (fds[i].revents)
			take_event(a->comms[i]);
	}
	if (fds[n].revents && read(fds[n].fd, &rings, sizeof(rings)) < 0)
		return -errno;
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
	struct inc_comm *comm = req->comm;
	struct limit limit = { .ms = ms };
	struct awaited awaited;
	bool checked = false;
	int ret = 0, again_ms;

	for (;;) {
		inc_comm_progress(comm);
		if (inc_request_over(req))
			break;
		again_ms = inc_others_progress(comm);
		awaited = list_awaited(comm);
		if (is_rebuilt(&awaited)) {
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
		} else if (!checked || !are_armed(&awaited)) {
			arm_all(&awaited);
			checked = true;
		} else {
			ms = left_ms(&limit);
			if (!ms)
				break;
			ret = sleep_for_event(comm, &awaited,
					      inc_shorter(ms, again_ms));
			checked = false;
		}
		if (ret)
			inc_comm_fail(comm, ret, "poll: %s", strerror(-ret));
	}
	reap_sends(comm);
	if (comm->rails.other)
		reap_sends(comm->rails.other);
	return inc_request_over(req);
}
