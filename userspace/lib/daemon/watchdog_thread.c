// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The thread that watches over all communicators of a process, see watchdog.h.
 * It polls a socket of each, and the asynchronous events of their devices.
 *
 * Time during which this process could not run, because it or its machine was
 * stopped, does not count: results may have arrived meanwhile.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "conf/thread.h"
#include "watchdog.h"

/*
 * life: held while starting or stopping the thread; taken before lock.
 * lock: guards the list and the poll array; held while the thread runs checks.
 */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inc_watchdog *watches;
static struct pollfd *pfds;
static unsigned int npfds, room;
static pthread_t thread;
static int wake_fd = -1, counters_fd = -1;
static unsigned int holds;	/* guarded by life */
static bool stop;

static void make_room(unsigned int n)
{
	struct pollfd *more;

	if (n <= room)
		return;
	more = realloc(pfds, 2 * n * sizeof(*more));
	if (!more)
		return;
	pfds = more;
	room = 2 * n;
}

/* Returns the index in the poll array; 0: no room, check @fd in each turn. */
static unsigned int add_fd(int fd)
{
	if (npfds == room)
		return 0;
	pfds[npfds] = (struct pollfd) { .fd = fd, .events = POLLIN };
	return npfds++;
}

/* Fill the poll array. Returns milliseconds to poll for; -1: forever. */
static int prepare_poll(void)
{
	struct inc_watchdog *w;
	unsigned int n = 1;
	int wait = -1, ms;

	/* Each watch has a socket, and perhaps a device. */
	for (w = watches; w; w = w->next)
		n += 2;
	make_room(n);
	npfds = 0;
	add_fd(wake_fd);
	for (w = watches; w; w = w->next) {
		ms = inc_watchdog_patience(w);
		if (ms >= 0 && (wait < 0 || ms < wait))
			wait = ms;
		w->at = add_fd(ms >= 0 &&
			       !atomic_load(&w->hung_up) ? w->conn.fd : -1);
		w->hca->at = 0;
	}
	for (w = watches; w; w = w->next)
		if (!w->hca->at)
			w->hca->at = add_fd(w->hca->ctx->async_fd);
	return wait;
}

/* Is an event about this watch? */
static bool event_concerns(const struct inc_watchdog *w,
			   const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		return w->qp == ev->element.qp;
	case IBV_EVENT_CQ_ERR:
		return w->qp && (w->qp->send_cq == ev->element.cq ||
				 w->qp->recv_cq == ev->element.cq);
	case IBV_EVENT_DEVICE_FATAL:
		return true;
	default:
		return false;
	}
}

static void note_port(struct inc_watchdog *w, const struct inc_hca *hca,
		      const struct ibv_async_event *ev)
{
	bool up = ev->event_type == IBV_EVENT_PORT_ACTIVE;

	if (w->hca == hca && (up || ev->event_type == IBV_EVENT_PORT_ERR) &&
	    w->counters.port == (unsigned int)ev->element.port_num)
		inc_watchdog_port(w, up);
}

/*
 * Handle the events of a device. A port that went down may come up again in
 * time: act on it only with two rails.
 */
static void take_events(struct inc_hca *hca)
{
	struct ibv_async_event ev;
	struct inc_watchdog *w;
	char text[128];
	bool is;

	while (!ibv_get_async_event(hca->ctx, &ev)) {
		snprintf(text, sizeof(text), "%s: %s",
			 ibv_get_device_name(hca->ctx->device),
			 ibv_event_type_str(ev.event_type));
		if (ev.event_type == IBV_EVENT_PORT_ERR)
			inc_warn(NULL, "%s", text);
		else
			inc_info(NULL, "%s", text);
		for (w = watches; w; w = w->next) {
			pthread_mutex_lock(&w->lock);
			is = w->hca == hca && event_concerns(w, &ev);
			pthread_mutex_unlock(&w->lock);
			if (is)
				inc_watchdog_fire(w, -EIO, text);
			note_port(w, hca, &ev);
		}
		ibv_ack_async_event(&ev);
	}
}

/* Get the tester's CPU time since the last turn, in milliseconds. */
static int64_t spun_ms(struct inc_watchdog *w)
{
	clockid_t tester = atomic_load_explicit(&w->tester, memory_order_relaxed);
	struct inc_watchdog_seen *s = &w->seen;
	bool same = tester == s->tester;
	int64_t before = s->tester_ms;
	struct timespec t;

	/* A thread that has ended has no clock. */
	if (!tester || clock_gettime(tester, &t))
		return 0;
	s->tester = tester;
	s->tester_ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
	return same ? s->tester_ms - before : 0;
}

static void ring_bell(int fd)
{
	const uint64_t one = 1;

	if (fd >= 0 && write(fd, &one, sizeof(one)) != sizeof(one))
		inc_warn(NULL, "a thread can not be woken: %s",
			 strerror(errno));
}

static void ring_all(void)
{
	struct inc_watchdog *w;

	for (w = watches; w; w = w->next)
		ring_bell(w->bell);
}

/* @waited: requested time of the poll; @ms: actual time. */
static void check_watches(int waited, int64_t ms)
{
	struct inc_watchdog *w;
	bool told = false;
	int64_t counts;

	for (w = watches; w; w = w->next) {
		if (w->hca->at && pfds[w->hca->at].revents) {
			pfds[w->hca->at].revents = 0;
			take_events(w->hca);
		}
		/* Also handle lines left in the buffer when the watch began. */
		counts = inc_watchdog_counts(waited, ms, spun_ms(w));
		inc_watchdog_turn(w, counts, waited >= 0 && counts < ms,
				  !w->at || pfds[w->at].revents);
		told |= w->seen.told;
		w->seen.told = false;
	}
	if (told)
		ring_all();
}

static void *watcher_main(void *arg)
{
	int64_t now = inc_now_ms(), before;
	unsigned int n;
	uint64_t count;
	int wait;

	pthread_mutex_lock(&lock);
	while (!stop) {
		wait = prepare_poll();
		n = npfds;
		pthread_mutex_unlock(&lock);
		poll(pfds, n, wait);
		pthread_mutex_lock(&lock);
		before = now;
		now = inc_now_ms();
		if (pfds[0].revents && read(wake_fd, &count, sizeof(count)) < 0)
			inc_dbg(NULL, "watcher: %s", strerror(errno));
		check_watches(wait, now - before);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void close_fds(void)
{
	if (wake_fd >= 0)
		close(wake_fd);
	if (counters_fd >= 0)
		close(counters_fd);
	wake_fd = -1;
	counters_fd = -1;
}

static int start_thread(void)
{
	int ret;

	make_room(1);
	if (!room)
		return -ENOMEM;
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return -errno;
	counters_fd = inc_hw_counters_socket();
	stop = false;
	ret = -thread_create(&thread, watcher_main, NULL);
	if (ret)
		close_fds();
	return ret;
}

static void stop_thread(void)
{
	pthread_mutex_lock(&lock);
	stop = true;
	pthread_mutex_unlock(&lock);
	ring_bell(wake_fd);
	pthread_join(thread, NULL);
	close_fds();
	free(pfds);
	pfds = NULL;
	room = 0;
}

/*
 * Start the watch.
 * @watch: @conn, @timeout_ms and @lock are initialized, the rest is 0, or it
 *	ran before
 */
int inc_watchdog_start(struct inc_watchdog *watch, struct ibv_qp *qp,
		       struct inc_hca *hca, unsigned int port)
{
	int ret = 0;

	pthread_mutex_lock(&life);
	if (wake_fd < 0)
		ret = start_thread();
	if (!ret) {
		pthread_mutex_lock(&lock);
		watch->qp = qp;
		watch->hca = hca;
		/* A watch that ran before has indices of an old array. */
		watch->at = 0;
		hca->at = 0;
		inc_hw_counters_open(&watch->counters, counters_fd,
				     ibv_get_device_index(hca->ctx->device),
				     port);
		/* Time limits count from here. */
		inc_hw_counters_read(&watch->counters);
		watch->next = watches;
		watches = watch;
		watch->running = true;
		pthread_mutex_unlock(&lock);
		ring_bell(wake_fd);
	}
	pthread_mutex_unlock(&life);
	return ret;
}

/* Keep the thread, even without watches: making another one might fail. */
void inc_watchdog_hold(void)
{
	pthread_mutex_lock(&life);
	holds++;
	pthread_mutex_unlock(&life);
}

/* Called with life held. */
static void stop_idle_thread(void)
{
	bool idle;

	pthread_mutex_lock(&lock);
	idle = !watches && !holds && wake_fd >= 0;
	pthread_mutex_unlock(&lock);
	if (idle)
		stop_thread();
}

/* Undo inc_watchdog_hold(). */
void inc_watchdog_release(void)
{
	pthread_mutex_lock(&life);
	holds--;
	stop_idle_thread();
	pthread_mutex_unlock(&life);
}

/* Stop the watch. The connection belongs to the caller again. */
void inc_watchdog_stop(struct inc_watchdog *watch)
{
	struct inc_watchdog **link;

	if (!watch->running)
		return;
	pthread_mutex_lock(&life);
	pthread_mutex_lock(&lock);
	for (link = &watches; *link != watch; link = &(*link)->next)
		;
	*link = watch->next;
	watch->running = false;
	pthread_mutex_unlock(&lock);
	stop_idle_thread();
	pthread_mutex_unlock(&life);
}

/*
 * Restart a watch, from now on for time limits only, and clear its state.
 * @watch: watch that runs; its queue pair is destroyed
 */
void inc_watchdog_restart(struct inc_watchdog *watch)
{
	inc_watchdog_hold();
	inc_watchdog_stop(watch);
	atomic_store(&watch->hung_up, true);
	atomic_store(&watch->err, 0);
	watch->seen.verdict = 0;
	watch->seen.down_at = 0;
	/* Cannot fail: the thread exists. */
	inc_watchdog_start(watch, NULL, watch->hca, watch->counters.port);
	inc_watchdog_release();
}

/* Wake all sleeping callers: there is something to do that no completion tells. */
void inc_watchdog_ring(void)
{
	pthread_mutex_lock(&lock);
	ring_all();
	pthread_mutex_unlock(&lock);
}

/* Reset the state in a child of fork(): no thread. */
void inc_watchdog_forked(void)
{
	life = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	watches = NULL;
	holds = 0;
	close_fds();
	pfds = NULL;
	npfds = 0;
	room = 0;
}
