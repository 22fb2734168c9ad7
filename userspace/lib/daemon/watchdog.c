// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The checks in one turn of the watch, see watchdog.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "inc.h"
#include "watchdog.h"

#define TICKS		16	/* per time limit */
#define TICK_MIN_MS	2
#define TICK_MAX_MS	500
/* How often to read the loss counters while results arrive. */
#define LOSS_MS		100
/*
 * Limit and interval of reports of a lossy path to the daemon: repeated because
 * the ranks may have failed to change to UC.
 */
#define LOSSY_MAX	3
#define LOSSY_MS	60000

/*
 * The switch also reports the end of a tree to its ranks, in order with the
 * results. It has this much time before the daemon's report takes effect. So a
 * rank whose last result is still in flight when another rank leaves gets it.
 */
#define GRACE_MS	400
/* A talkative daemon must not hold up the checks of all watches. */
#define TURN_MESSAGES	64
/* A port that comes up again within this time has only lost some packets. */
#define DOWN_MS		100

/*
 * A process that was stopped, or stalled with its machine, first handles what
 * has arrived in the meantime. This is a few turns of the scheduler.
 */
#define RESUME_MS	500
/* A machine so busy that each turn is late does not keep a limit from expiring. */
#define RESUME_MAX_MS	2000
/* How late a turn may be on a busy machine. */
#define SLACK_MS	100

/* End a communicator. */
void inc_watchdog_fire(struct inc_watchdog *w, int err, const char *text)
{
	if (inc_watchdog_error(w))
		return;
	inc_err(w->who, "%s", text);
	pthread_mutex_lock(&w->lock);
	snprintf(w->text, sizeof(w->text), "%s", text);
	atomic_store_explicit(&w->err, err, memory_order_release);
	if (w->qp)
		inc_qp_to_err(w->qp);
	pthread_mutex_unlock(&w->lock);
}

/* Record the state of the device's port. */
void inc_watchdog_port(struct inc_watchdog *w, bool up)
{
	w->seen.down_at = up ? 0 : w->seen.now + 1;
}

static void set_verdict(struct inc_watchdog *w, struct inc_watchdog_seen *s,
			int err, const char *text)
{
	if (s->verdict)
		return;
	s->verdict = err;
	s->verdict_at = s->now + GRACE_MS;
	snprintf(s->text, sizeof(s->text), "%s", text);
	inc_info(w->who, "%s", text);
	pthread_mutex_lock(&w->lock);
	snprintf(w->said, sizeof(w->said), "%s", text);
	w->said_err = err;
	pthread_mutex_unlock(&w->lock);
}

/* Remember which rank's request made a message fail; its status can't tell. */
static void note_wrong(struct inc_watchdog *w, const struct inc_rdv_msg *msg)
{
	inc_err(w->who, "%s", msg->text);
	pthread_mutex_lock(&w->lock);
	w->wrong_id = msg->msg_id;
	snprintf(w->wrong, sizeof(w->wrong), "%s", msg->text);
	pthread_mutex_unlock(&w->lock);
}

/*
 * Record the manager's messages about another tree. The caller's thread does
 * the rest; moving the queue pair to ERROR wakes it.
 * @msg: "rebuild", or "joined" or "ready" after that
 */
void inc_watchdog_note_tree(struct inc_watchdog *w,
			    const struct inc_rdv_msg *msg)
{
	pthread_mutex_lock(&w->lock);
	switch (msg->type) {
	case INC_RDV_REBUILD:
		/* The manager repeats "rebuild" to a rank that has resumed. */
		if (w->rebuild.round == msg->msg_id)
			break;
		inc_warn(w->who, "%s: another tree is made", msg->text);
		w->rebuild.round = msg->msg_id;
		w->rebuild.joined = false;
		w->rebuild.ready = false;
		if (w->qp)
			inc_qp_to_err(w->qp);
		break;
	case INC_RDV_JOINED:
		w->rebuild.tree = msg->joined;
		w->rebuild.joined = true;
		break;
	default:
		w->rebuild.ready = true;
	}
	pthread_mutex_unlock(&w->lock);
}

static void close_conn(struct inc_watchdog *w)
{
	pthread_mutex_lock(&w->lock);
	inc_conn_close(&w->conn);
	pthread_mutex_unlock(&w->lock);
}

_Atomic unsigned int inc_watchdog_changes;

/* Record only the first "change": others are for ranks whose change failed. */
static void note_change(struct inc_watchdog *w, const struct inc_rdv_msg *msg)
{
	if (atomic_load(&w->change))
		return;
	snprintf(w->change_job, sizeof(w->change_job), "%.*s", INC_RDV_JOB_MAX,
		 msg->text);
	w->change_keeps = msg->keep;
	atomic_store(&w->change, true);
	atomic_fetch_add(&inc_watchdog_changes, 1);
}

/* Handle one message of the daemon. Returns false if there is none. */
static bool hear_message(struct inc_watchdog *w, struct inc_watchdog_seen *s)
{
	char text[INC_RDV_TEXT_MAX];
	struct inc_rdv_msg msg;
	int ret;

	ret = inc_conn_recv(&w->conn, &msg, 0, text, sizeof(text));
	if (ret == -ETIMEDOUT)
		return false;
	if (ret) {
		set_verdict(w, s, ret == -ENOTCONN ? ret : -EPROTO, text);
		close_conn(w);
		return false;
	}
	switch (msg.type) {
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
	case INC_RDV_WRONG:
		note_wrong(w, &msg);
		break;
	case INC_RDV_REBUILD:
	case INC_RDV_JOINED:
	case INC_RDV_READY:
		inc_watchdog_note_tree(w, &msg);
		s->told = true;
		break;
	case INC_RDV_CHANGE:
		note_change(w, &msg);
		s->told = true;
		break;
	case INC_RDV_ALIVE:	/* of an older daemon */
	case INC_RDV_LOSSY:
	case INC_RDV_JOIN:
	case INC_RDV_REJOIN:
	case INC_RDV_RTS:
	case INC_RDV_LEAVE:
	case INC_RDV_LOST:
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

/* Is the port down, with another tree to go on over? */
static bool is_down(struct inc_watchdog *w,
		    const struct inc_watchdog_seen *s)
{
	return s->down_at &&
	       atomic_load_explicit(&w->spare, memory_order_relaxed);
}

static int tick_ms(unsigned int timeout_ms)
{
	unsigned int tick = timeout_ms / TICKS;

	return tick < TICK_MIN_MS ? TICK_MIN_MS :
	       tick > TICK_MAX_MS ? TICK_MAX_MS : (int)tick;
}

/*
 * A blocking call that was first seen a tick ago may be two ticks old, so fail
 * it one tick before the limit.
 */
static bool call_is_late(struct inc_watchdog *w, struct inc_watchdog_seen *s,
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
 * Has the caller polled (inc_request_test(), inc_request_wait_for()) for too
 * long without a result? Time between calls does not count.
 */
static bool tests_are_late(struct inc_watchdog *w, struct inc_watchdog_seen *s,
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

static void check_watch(struct inc_watchdog *w, struct inc_watchdog_seen *s,
			int tick)
{
	unsigned int timeout_ms = atomic_load_explicit(&w->timeout_ms,
						       memory_order_relaxed);
	char text[64];
	bool late;

	if (s->verdict && s->now >= s->verdict_at) {
		inc_watchdog_fire(w, s->verdict, s->text);
		return;
	}
	if (is_down(w, s) && s->now >= s->down_at + DOWN_MS) {
		inc_watchdog_fire(w, -ENETDOWN, "the device's port is down");
		return;
	}
	late = call_is_late(w, s, timeout_ms, tick);
	late |= tests_are_late(w, s, timeout_ms);
	if (!late)
		s->not_late = s->now;
	if (late && (s->now >= s->not_before ||
		     s->now - s->not_late >= RESUME_MAX_MS)) {
		snprintf(text, sizeof(text), "nothing done within %u ms",
			 timeout_ms);
		inc_watchdog_fire(w, -ETIMEDOUT, text);
	}
}

/* Report a path on which UC is faster; the daemon tells all ranks. */
static void report_lossy(struct inc_watchdog *w, struct inc_watchdog_seen *s)
{
	const struct inc_rdv_msg msg = { .type = INC_RDV_LOSSY };

	if (!inc_loss_add(&s->loss, w->counters.new_lost,
			  w->counters.new_packets) ||
	    !atomic_load_explicit(&w->may_change, memory_order_relaxed) ||
	    s->lossy == LOSSY_MAX || s->now < s->lossy_at)
		return;
	inc_info(w->who, "of %llu packets, %llu were lost: UC is faster",
		 (unsigned long long)s->loss.packets,
		 (unsigned long long)s->loss.lost);
	s->lossy++;
	s->lossy_at = s->now + LOSSY_MS;
	inc_watchdog_say(w, &msg);
}

/* Read the loss counters, but only while results arrive. */
static void look_for_losses(struct inc_watchdog *w, struct inc_watchdog_seen *s)
{
	unsigned int now = atomic_load_explicit(&w->progress,
						memory_order_relaxed);

	if (s->now - s->loss_at < LOSS_MS)
		return;
	s->loss_at = s->now;
	s->busy = now != s->loss_progress;
	s->loss_progress = now;
	if (!s->busy)
		return;
	atomic_store_explicit(&w->flight, inc_hw_counters_read(&w->counters),
			      memory_order_relaxed);
	report_lossy(w, s);
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Compute the time until a watch needs its next turn. Returns milliseconds,
 * -1: forever.
 */
int inc_watchdog_patience(struct inc_watchdog *w)
{
	const struct inc_watchdog_seen *s = &w->seen;
	int wait;

	if (inc_watchdog_error(w))
		return -1;
	wait = tick_ms(atomic_load_explicit(&w->timeout_ms,
					    memory_order_relaxed));
	if (s->verdict)
		wait = min_int(wait, GRACE_MS / 8);
	if (is_down(w, s))
		wait = min_int(wait, DOWN_MS / 2);
	if (s->busy)
		wait = min_int(wait, LOSS_MS);
	return wait;
}

/*
 * Compute how much time counts for limits: none while the process, or its
 * machine, stands still. A spinning caller can keep the watch from its CPU, but
 * does run itself, so its CPU time counts. Other threads' CPU time does not:
 * many of them may use @waited of it in an instant. Returns milliseconds during
 * which the process could run.
 * @waited: milliseconds that the watch wanted to sleep; -1: until something
 *	happens
 * @ms: milliseconds that it did sleep
 * @ran: milliseconds of CPU time that a caller of inc_request_test() used
 *	meanwhile
 */
int64_t inc_watchdog_counts(int waited, int64_t ms, int64_t ran)
{
	if (waited < 0)
		return 0;
	if (ran < waited)
		ran = waited;
	return ms > ran + SLACK_MS ? ran : ms;
}

/*
 * Run all checks of a watch.
 * @ms: milliseconds since the last turn during which this process could run
 * @stood: this process could not run for some of that time
 */
void inc_watchdog_turn(struct inc_watchdog *w, int64_t ms, bool stood,
		       bool readable)
{
	struct inc_watchdog_seen *s = &w->seen;
	unsigned int n;
	int tick;

	s->now += ms;
	if (stood)
		s->not_before = s->now + RESUME_MS;
	if (inc_watchdog_error(w))
		return;
	/* A message that came together with "ready" is invisible to poll(). */
	if (!readable && w->conn.fd >= 0)
		readable = inc_conn_more(&w->conn);
	for (n = 0; readable && n < TURN_MESSAGES && !atomic_load(&w->hung_up);
	     n++)
		if (w->conn.fd < 0 || !hear_message(w, s))
			break;
	/* Other watches may need turns more often. */
	tick = tick_ms(atomic_load_explicit(&w->timeout_ms,
					    memory_order_relaxed));
	if (s->verdict || is_down(w, s) ||
	    s->now - s->before >= tick / 2) {
		check_watch(w, s, tick);
		s->before = s->now;
	}
	look_for_losses(w, s);
}

/* Send a message to the daemon or the manager. */
int inc_watchdog_say(struct inc_watchdog *watch, const struct inc_rdv_msg *msg)
{
	int ret = -ENOTCONN;

	pthread_mutex_lock(&watch->lock);
	if (watch->conn.fd >= 0)
		ret = inc_conn_send(&watch->conn, msg);
	pthread_mutex_unlock(&watch->lock);
	return ret;
}

/* Shut down the connection to the daemon. */
void inc_watchdog_hang_up(struct inc_watchdog *watch, const char *why)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LOST };

	snprintf(msg.text, sizeof(msg.text), "%s", why);
	pthread_mutex_lock(&watch->lock);
	atomic_store(&watch->hung_up, true);
	if (watch->conn.fd >= 0) {
		if (watch->lost && inc_conn_send(&watch->conn, &msg))
			inc_warn(watch->who, "the daemon can not be told that this rank fails");
		inc_conn_hang_up(&watch->conn);
	}
	pthread_mutex_unlock(&watch->lock);
}
