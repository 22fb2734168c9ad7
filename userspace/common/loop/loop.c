// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A turn of the main loop: events are noted, then the coordinator's own work is
 * done, then the clients' work, one lane after the other, then timers.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop/loop.h"

#define TURN_MS	10	/* longest clients' work per turn */
#define SHARE_US	1000	/* time of a lane per round of all lanes */
#define DEBT_US	50000	/* largest debt of a lane */
#define LATE_MS	3000	/* gap that means that the process stood still */
#define EVENTS	256	/* events that epoll returns at a time */
#define ROUNDS	256	/* calls of epoll per turn: all descriptors */

static void drain_wake(struct loop_fd *fd, uint32_t events)
{
	struct loop *loop = container_of(fd, struct loop, wake_fd);
	uint64_t n;

	(void)!read(loop->wake, &n, sizeof(n));
}

/* Make an empty loop. */
int loop_init(struct loop *loop)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &loop->wake_fd };

	*loop = (struct loop){
		.wake_fd.fn = drain_wake,
		.ep = epoll_create1(EPOLL_CLOEXEC),
		.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.now = now_ms(),
	};
	pthread_mutex_init(&loop->lock, NULL);
	TAILQ_INIT(&loop->queue);
	TAILQ_INIT(&loop->lanes);
	if (loop->ep < 0 || loop->wake < 0 ||
	    epoll_ctl(loop->ep, EPOLL_CTL_ADD, loop->wake, &e))
		return -errno;
	return 0;
}

/* Close a loop's own descriptors, and forget its timers. */
void loop_free(struct loop *loop)
{
	timers_free(&loop->timers);
	close(loop->ep);
	close(loop->wake);
	pthread_mutex_destroy(&loop->lock);
}

/* Called with the lock held. */
static bool has_work(const struct loop *loop)
{
	return !TAILQ_EMPTY(&loop->queue) || !TAILQ_EMPTY(&loop->lanes);
}

static bool is_own_thread(struct loop *loop)
{
	return pthread_equal(atomic_load(&loop->thread), pthread_self());
}

/*
 * Hand the main loop some work. Context: any thread.
 * @work: work, owned by the loop until @work->fn is called, as is its lane
 */
void loop_post(struct loop *loop, struct loop_work *work)
{
	struct lane *lane = work->lane;
	const uint64_t one = 1;
	bool wake = !is_own_thread(loop);

	pthread_mutex_lock(&loop->lock);
	/* A loop with work is awake: only the first entry has to wake it. */
	wake &= !has_work(loop);
	work->queued = true;
	if (lane && TAILQ_EMPTY(&lane->queue))
		TAILQ_INSERT_TAIL(&loop->lanes, lane, entry);
	TAILQ_INSERT_TAIL(lane ? &lane->queue : &loop->queue, work, entry);
	loop->n_own += !lane;
	pthread_mutex_unlock(&loop->lock);
	if (wake)
		(void)!write(loop->wake, &one, sizeof(one));
}

/* Called with the lock held. */
static void take_out(struct loop *loop, struct loop_work *work)
{
	struct lane *lane = work->lane;

	TAILQ_REMOVE(lane ? &lane->queue : &loop->queue, work, entry);
	work->queued = false;
	loop->n_own -= !lane;
	if (lane && TAILQ_EMPTY(&lane->queue))
		TAILQ_REMOVE(&loop->lanes, lane, entry);
}

/*
 * Take work back. Context: the main loop's thread.
 * @work: work, which may have been done, or never posted
 */
void loop_cancel(struct loop *loop, struct loop_work *work)
{
	pthread_mutex_lock(&loop->lock);
	if (work->queued)
		take_out(loop, work);
	pthread_mutex_unlock(&loop->lock);
}

/* Take the first piece of the coordinator's own work, or NULL. */
static struct loop_work *take_own(struct loop *loop)
{
	struct loop_work *work;

	pthread_mutex_lock(&loop->lock);
	work = TAILQ_FIRST(&loop->queue);
	if (work)
		take_out(loop, work);
	pthread_mutex_unlock(&loop->lock);
	return work;
}

/*
 * Find the lane whose turn it is. A lane whose last turn was long is passed
 * over until the others have had as much time. Called with the lock held.
 */
static struct lane *next_lane(struct loop *loop)
{
	struct lane *lane;

	while ((lane = TAILQ_FIRST(&loop->lanes))) {
		TAILQ_REMOVE(&loop->lanes, lane, entry);
		TAILQ_INSERT_TAIL(&loop->lanes, lane, entry);
		if (lane->debt_us < SHARE_US)
			break;
		lane->debt_us -= SHARE_US;
	}
	return lane;
}

/* Do work of the client whose turn it is. Returns false if there is none. */
static bool serve_client(struct loop *loop)
{
	struct loop_work *work = NULL;
	struct lane *lane;

	pthread_mutex_lock(&loop->lock);
	lane = next_lane(loop);
	if (lane) {
		work = TAILQ_FIRST(&lane->queue);
		take_out(loop, work);
	}
	pthread_mutex_unlock(&loop->lock);
	if (work)
		work->fn(work);
	return work;
}

static int wait_ms(struct loop *loop, int64_t until)
{
	bool work;

	pthread_mutex_lock(&loop->lock);
	work = has_work(loop);
	pthread_mutex_unlock(&loop->lock);
	if (work)
		return 0;
	if (until == INT64_MAX)
		return -1;
	return ms_until(until);
}

/*
 * Note the events of all descriptors: a client with thousands of them must not
 * hide another client's.
 */
static void take_events(struct loop *loop, int64_t until)
{
	struct epoll_event list[EVENTS];
	int i, n, round = 0, ms = wait_ms(loop, until);

	do {
		n = epoll_wait(loop->ep, list, EVENTS, ms);
		if (!round) {
			loop->now = now_ms();
			atomic_store(&loop->busy_since, loop->now);
		}
		for (i = 0; i < n; i++)
			((struct loop_fd *)list[i].data.ptr)->fn(
				list[i].data.ptr, list[i].events);
		ms = 0;
	} while (n == EVENTS && ++round < ROUNDS);
}

/*
 * Wait for work, and do it. Clients choose how much there is, and how long it
 * takes: they take turns, and none keeps the coordinator from its own work, or
 * from its timers. Returns true if clients have to wait for the next turn.
 * @until: milliseconds of CLOCK_MONOTONIC; when to return without work;
 *	INT64_MAX: never
 */
bool loop_turn(struct loop *loop, int64_t until)
{
	int64_t due = timers_next(&loop->timers);
	int64_t before = loop->now;
	struct loop_work *work;
	bool full = false;
	size_t n;

	if (!is_own_thread(loop))
		atomic_store(&loop->thread, pthread_self());
	atomic_store(&loop->busy_since, 0);
	take_events(loop, due < until ? due : until);
	/* The coordinator has something to do at least once a second. */
	if (loop->now - before > LATE_MS)
		loop->late_at = loop->now;
	/* Work that is posted meanwhile is for the next turn. */
	pthread_mutex_lock(&loop->lock);
	n = loop->n_own;
	pthread_mutex_unlock(&loop->lock);
	while (n-- && (work = take_own(loop)))
		work->fn(work);
	if (serve_client(loop)) {
		until = now_ms() + TURN_MS;
		while (!full && serve_client(loop))
			full = now_ms() >= until;
	}
	timers_run(&loop->timers, loop->now);
	if (loop->after)
		loop->after(loop->after_ctx);
	return full;
}

/*
 * Note how long a lane's turn was.
 * @lane: lane, which may be passed over because of it
 */
void lane_charge(struct lane *lane, double us)
{
	lane->debt_us += us;
	if (lane->debt_us > DEBT_US)
		lane->debt_us = DEBT_US;
}

/*
 * Ask since when the main loop has been busy. Work between two turns counts as
 * the first one's. Context: any thread. Returns milliseconds of now_ms(): when
 * the turn began; 0: the loop waits for work.
 */
int64_t loop_busy_since(const struct loop *loop)
{
	return atomic_load(&loop->busy_since);
}
