// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The main loop's queue, and the log.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/loop.h"
#include "conf/thread.h"

#define TURN_MS	50	/* of clients' work, at most */
#define LATE_MS	3000	/* the process was stopped, or its machine */

/**
 * loop_init() - make an empty queue
 * @loop: queue
 */
void loop_init(struct loop *loop)
{
	pthread_cond_init(&loop->wake, NULL);
	pthread_mutex_init(&loop->lock, NULL);
	loop->head = NULL;
	loop->tail = &loop->head;
	STAILQ_INIT(&loop->lanes);
	loop->now = now_ms();
	loop->late_at = 0;
	loop->busy_since = 0;
	loop->timers = (struct timers){ .n = 0 };
}

/* The lock is held. */
static bool has_work(const struct loop *loop)
{
	return loop->head || !STAILQ_EMPTY(&loop->lanes);
}

/**
 * loop_post() - hand the main loop some work
 * @loop: queue
 * @work: what to do; belongs to the loop until @work->fn is called, and so does
 *	its lane
 *
 * Context: Any thread.
 */
void loop_post(struct loop *loop, struct loop_work *work)
{
	struct lane *lane = work->lane;

	work->next = NULL;
	pthread_mutex_lock(&loop->lock);
	/*
	 * A thread that has work is awake, so wake it for the first entry only.
	 */
	if (!has_work(loop))
		pthread_cond_signal(&loop->wake);
	if (!lane) {
		*loop->tail = work;
		loop->tail = &work->next;
	} else if (lane->head) {
		lane->tail->next = work;
		lane->tail = work;
	} else {
		lane->head = lane->tail = work;
		STAILQ_INSERT_TAIL(&loop->lanes, lane, entry);
	}
	pthread_mutex_unlock(&loop->lock);
}

/* Wait for work, and take all of the manager's own. */
static struct loop_work *take_own(struct loop *loop, int64_t until)
{
	struct loop_work *list;
	int ret = 0;

	pthread_mutex_lock(&loop->lock);
	while (!has_work(loop) && !ret)
		ret = cond_wait(&loop->wake, &loop->lock, until);
	list = loop->head;
	loop->head = NULL;
	loop->tail = &loop->head;
	pthread_mutex_unlock(&loop->lock);
	return list;
}

/* Take one of the client whose turn it is, which may be free after it. */
static struct loop_work *take_turn(struct loop *loop)
{
	struct loop_work *work = NULL;
	struct lane *lane;

	pthread_mutex_lock(&loop->lock);
	lane = STAILQ_FIRST(&loop->lanes);
	if (lane) {
		STAILQ_REMOVE_HEAD(&loop->lanes, entry);
		work = lane->head;
		lane->head = work->next;
		if (lane->head)
			STAILQ_INSERT_TAIL(&loop->lanes, lane, entry);
	}
	pthread_mutex_unlock(&loop->lock);
	return work;
}

/**
 * loop_turn() - wait for work or a timer, and do what there is to do
 * @loop: queue
 * @until: milliseconds of CLOCK_MONOTONIC; when to return without any;
 *	INT64_MAX: never
 *
 * Clients choose how much there is, and what it costs: one after the other has
 * its turn, and none keeps the manager from its own work, or from its timers.
 *
 * Return: true if clients have to wait for the next turn.
 */
bool loop_turn(struct loop *loop, int64_t until)
{
	int64_t due = timers_next(&loop->timers);
	int64_t before = loop->now;
	struct loop_work *work, *next;
	bool full = false;

	atomic_store(&loop->busy_since, 0);
	work = take_own(loop, due < until ? due : until);
	loop->now = now_ms();
	atomic_store(&loop->busy_since, loop->now);
	/* The manager always has something to do within a second. */
	if (loop->now - before > LATE_MS)
		loop->late_at = loop->now;
	for (; work; work = next) {
		next = work->next;
		work->fn(work);
	}
	until = now_ms() + TURN_MS;
	while (!full && (work = take_turn(loop))) {
		work->fn(work);
		full = now_ms() >= until;
	}
	timers_run(&loop->timers, loop->now);
	return full;
}

/**
 * loop_busy_since() - ask whether the main loop gets on
 * @loop: queue
 *
 * A turn lasts until the next one begins: what is done between two counts.
 *
 * Context: Any thread.
 * Return: milliseconds of now_ms(); when its turn began. 0: it waits for work.
 */
int64_t loop_busy_since(const struct loop *loop)
{
	return atomic_load(&loop->busy_since);
}
