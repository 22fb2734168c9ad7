// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The watch, see watch.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "inc.h"
#include "log.h"
#include "watch.h"

#define TICKS		16	/* per time limit */
#define TICK_MIN_MS	2
#define TICK_MAX_MS	500
/* How often losses are looked at while results come. */
#define LOSS_MS		100

/*
 * The switch tells the ranks of a tree's end too, in order with the results:
 * it is given so much time to do so before the daemon's word counts. So a rank
 * whose last result is still under way when another rank has left gets it.
 */
#define GRACE_MS	400
#define TELL_MS		100	/* to tell the daemon something */

/* What the watch alone knows. */
struct state {
	int64_t		now;
	int64_t		before;		/* @now of the tick before */
	unsigned int	calls;		/* as last seen */
	int64_t		calls_since;
	unsigned int	tests;
	unsigned int	progress;
	int64_t		fruitless_ms;	/* of inc_test() and inc_wait_for() */
	bool		alive;		/* the daemon says that it lives */
	unsigned int	missed;		/* times that it should have, and has not */
	int64_t		heard_at;	/* or missed */
	int		verdict;	/* of the daemon, -errno */
	int64_t		verdict_at;
	char		text[INC_RDV_TEXT_MAX];
};

static void fire(struct inc_watch *w, int err, const char *text)
{
	inc_err(w->who, "%s", text);
	pthread_mutex_lock(&w->lock);
	snprintf(w->text, sizeof(w->text), "%s", text);
	atomic_store_explicit(&w->err, err, memory_order_release);
	if (w->qp)
		inc_qp_to_err(w->qp);
	pthread_mutex_unlock(&w->lock);
}

static void set_verdict(const struct inc_watch *w, struct state *s, int err,
			const char *text)
{
	if (s->verdict)
		return;
	s->verdict = err;
	s->verdict_at = s->now + GRACE_MS;
	snprintf(s->text, sizeof(s->text), "%s", text);
	inc_info(w->who, "%s", text);
}

/* One line of the daemon. Returns false if there is none. */
static bool hear(struct inc_watch *w, struct state *s)
{
	char text[INC_RDV_TEXT_MAX];
	struct inc_rdv_msg msg;
	int ret;

	ret = inc_conn_recv(&w->conn, &msg, 0, text, sizeof(text));
	if (ret == -ETIMEDOUT)
		return false;
	if (ret) {
		set_verdict(w, s, ret == -ENOTCONN ? ret : -EPROTO, text);
		inc_conn_close(&w->conn);
		return false;
	}
	s->missed = 0;
	s->heard_at = s->now;
	switch (msg.type) {
	case INC_RDV_ALIVE:
		s->alive = w->beat_ms;
		break;
	case INC_RDV_LEFT:
		snprintf(text, sizeof(text), "rank %d has left", msg.rank);
		set_verdict(w, s, -ECONNRESET, text);
		break;
	case INC_RDV_FAILED:
		set_verdict(w, s, inc_status_errno(msg.status), msg.text);
		break;
	case INC_RDV_ERROR:
		set_verdict(w, s, -msg.err, msg.text);
		break;
	case INC_RDV_JOIN:
	case INC_RDV_LEAVE:
	case INC_RDV_LOST:
	case INC_RDV_JOINED:
	case INC_RDV_READY:
	case INC_RDV_BYE:
	case INC_RDV_GATHER:
	case INC_RDV_RETRACT:
	case INC_RDV_LINK:
	case INC_RDV_PLACED:
	case INC_RDV_LINKED:
		break;
	}
	return true;
}

static void tell_lost(struct inc_watch *w, const struct state *s)
{
	const struct inc_rdv_msg msg = { .type = INC_RDV_LOST };

	if (!atomic_exchange_explicit(&w->lost, false, memory_order_relaxed) ||
	    w->conn.fd < 0)
		return;
	if (inc_conn_send(&w->conn, &msg, s->now + TELL_MS))
		inc_warn(w->who, "the daemon can not be told that the switch does not answer");
}

static int tick_ms(unsigned int timeout_ms)
{
	unsigned int tick = timeout_ms / TICKS;

	return tick < TICK_MIN_MS ? TICK_MIN_MS :
	       tick > TICK_MAX_MS ? TICK_MAX_MS : (int)tick;
}

/*
 * A blocking call that was first seen a tick ago may be two ticks old: one tick
 * less than the limit keeps the promise.
 */
static bool call_is_late(struct inc_watch *w, struct state *s,
			 unsigned int timeout_ms, int tick)
{
	unsigned int calls = atomic_load_explicit(&w->calls,
						  memory_order_relaxed);

	if (calls != s->calls) {
		s->calls = calls;
		s->calls_since = s->now;
		return false;
	}
	return (calls & 1) &&
	       s->now - s->calls_since >= (int64_t)timeout_ms - tick;
}

/*
 * Somebody calls inc_test() or inc_wait_for() again and again, and nothing comes
 * any more. Time in which they are not called does not count: without calls is
 * no progress.
 */
static bool tests_are_late(struct inc_watch *w, struct state *s,
			   unsigned int timeout_ms)
{
	unsigned int progress = atomic_load_explicit(&w->progress,
						     memory_order_relaxed);
	unsigned int tests = atomic_load_explicit(&w->tests,
						  memory_order_relaxed);
	bool called = tests != s->tests ||
		      atomic_load_explicit(&w->waits, memory_order_relaxed);

	s->tests = tests;
	if (progress != s->progress) {
		s->progress = progress;
		s->fruitless_ms = 0;
	} else if (called) {
		s->fruitless_ms += s->now - s->before;
	}
	return called && s->fruitless_ms >= (int64_t)timeout_ms;
}

/*
 * Nothing comes from the daemon any more, which is at the switch. Turns are
 * counted, not time: who was asleep himself looks at what has come first.
 */
static void look_for_daemon(struct inc_watch *w, struct state *s)
{
	if (!s->alive || s->verdict || w->conn.fd < 0 ||
	    s->now - s->heard_at < (int64_t)w->beat_ms)
		return;
	s->heard_at = s->now;
	if (++s->missed <= INC_RDV_BEATS_MISSED)
		return;
	set_verdict(w, s, -EHOSTUNREACH,
		    "the switch's rendezvous daemon is not heard of any more");
	/* The switch can not tell either, and nobody hears that we leave. */
	s->verdict_at = s->now;
	inc_conn_close(&w->conn);
}

static void look(struct inc_watch *w, struct state *s, int tick)
{
	unsigned int timeout_ms = atomic_load_explicit(&w->timeout_ms,
						       memory_order_relaxed);
	char text[64];

	if (s->verdict && s->now >= s->verdict_at) {
		fire(w, s->verdict, s->text);
		return;
	}
	if (call_is_late(w, s, timeout_ms, tick) ||
	    tests_are_late(w, s, timeout_ms)) {
		snprintf(text, sizeof(text), "nothing done within %u ms",
			 timeout_ms);
		fire(w, -ETIMEDOUT, text);
	}
}

/* Losses matter while there is traffic. Returns whether there is. */
static bool look_for_losses(struct inc_watch *w, unsigned int *progress)
{
	unsigned int now = atomic_load_explicit(&w->progress,
						memory_order_relaxed);

	if (now == *progress)
		return false;
	*progress = now;
	atomic_store_explicit(&w->flight, inc_loss_look(&w->loss),
			      memory_order_relaxed);
	return true;
}

static void *watch_main(void *arg)
{
	struct inc_watch *w = arg;
	struct state s = { .now = inc_now_ms() };
	unsigned int progress = 0;
	struct pollfd pfd[2];
	bool busy = true;
	int tick, wait;

	for (;;) {
		tick = tick_ms(atomic_load_explicit(&w->timeout_ms,
						    memory_order_relaxed));
		wait = inc_watch_error(w) ? -1 : tick;
		if (s.verdict && wait > GRACE_MS / 8)
			wait = GRACE_MS / 8;
		if (busy && wait > LOSS_MS)
			wait = LOSS_MS;
		if (s.alive && wait > (int)w->beat_ms)
			wait = (int)w->beat_ms;
		pfd[0] = (struct pollfd){ .fd = w->stop_fd, .events = POLLIN };
		pfd[1] = (struct pollfd){ .fd = w->conn.fd, .events = POLLIN };
		poll(pfd, wait < 0 ? 1 : 2, wait);
		if (pfd[0].revents)
			return NULL;
		s.before = s.now;
		s.now = inc_now_ms();
		if (wait < 0)
			continue;
		if (pfd[1].revents)
			while (hear(w, &s))
				;
		tell_lost(w, &s);
		look_for_daemon(w, &s);
		look(w, &s, tick);
		busy = look_for_losses(w, &progress);
	}
}

/**
 * inc_watch_start() - start the watch
 * @watch: @conn, @timeout_ms, @beat_ms and @lock are initialized, all else is 0
 * @qp: queue pair to watch over
 * @port: its port
 *
 * Return: 0 or a negative errno value.
 */
int inc_watch_start(struct inc_watch *watch, struct ibv_qp *qp,
		    unsigned int port)
{
	sigset_t all, old;
	int ret;

	watch->qp = qp;
	watch->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->stop_fd < 0)
		return -errno;
	inc_loss_open(&watch->loss, ibv_get_device_index(qp->context->device),
		      port);
	/* From here on it counts. */
	inc_loss_look(&watch->loss);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&watch->thread, NULL, watch_main, watch);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		inc_loss_close(&watch->loss);
		close(watch->stop_fd);
	} else {
		watch->running = true;
	}
	return ret;
}

/**
 * inc_watch_stop() - end the watch
 * @watch: watch, running or not
 *
 * The connection belongs to the caller again.
 */
void inc_watch_stop(struct inc_watch *watch)
{
	const uint64_t one = 1;

	if (!watch->running)
		return;
	if (write(watch->stop_fd, &one, sizeof(one)) != sizeof(one))
		inc_warn(watch->who, "watch can not be stopped: %s", strerror(errno));
	pthread_join(watch->thread, NULL);
	inc_loss_close(&watch->loss);
	close(watch->stop_fd);
	watch->running = false;
}
