/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The main loop: all of a coordinator's state belongs to one thread, which also
 * serves its sockets. Threads that wait for a switch or a disk hand it work.
 */
#ifndef INC_LOOP_LOOP_H
#define INC_LOOP_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "loop/timer.h"
#include "conf/clock.h"
#include "conf/log.h"

/**
 * struct loop_work - something for the main loop to do
 * @entry: links in its queue
 * @queued: it is in a queue
 * @lane: lane of its client; NULL: the coordinator's own work
 * @fn: called once by the main loop; may free the work
 */
struct loop_work {
	TAILQ_ENTRY(loop_work)	entry;
	bool			queued;
	struct lane		*lane;
	void			(*fn)(struct loop_work *work);
};

TAILQ_HEAD(loop_queue, loop_work);

/**
 * struct lane - work of one client
 * @entry: among the lanes with work
 * @queue: its work, the oldest first
 * @debt_us: microseconds that its turns have taken beyond those of others
 */
struct lane {
	TAILQ_ENTRY(lane)	entry;
	struct loop_queue	queue;
	double			debt_us;
};

TAILQ_HEAD(lanes, lane);

/**
 * struct loop_fd - a descriptor that the main loop waits for
 * @fn: called with the events of epoll that have happened
 *
 * The struct must stay until the end of the turn in which it is closed.
 */
struct loop_fd {
	void	(*fn)(struct loop_fd *fd, uint32_t events);
};

/**
 * struct loop - descriptors, the queue, and timers
 * @wake_fd: handler of @wake
 * @ep: epoll's descriptor
 * @wake: eventfd by which other threads wake the loop
 * @lock: guards @queue, @n_own and @lanes
 * @queue: the coordinator's own work
 * @n_own: length of @queue
 * @lanes: lanes with work; the first one's turn is next
 * @after: called at the end of each turn, or NULL
 * @after_ctx: argument of @after
 * @now: milliseconds of CLOCK_MONOTONIC when the turn began
 * @late_at: milliseconds; when it last went on after a standstill; 0: never
 * @busy_since: as @now, for other threads; 0: the loop waits
 * @thread: runs the loop: work that it posts wakes nobody
 * @timers: timers, used by the main loop's thread only
 */
struct loop {
	struct loop_fd		wake_fd;
	int			ep, wake;
	pthread_mutex_t		lock;
	struct loop_queue	queue;
	size_t			n_own;
	struct lanes		lanes;
	void			(*after)(void *ctx);
	void			*after_ctx;
	int64_t			now;
	int64_t			late_at;
	_Atomic int64_t		busy_since;
	_Atomic pthread_t	thread;
	struct timers		timers;
};

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

int loop_init(struct loop *loop);
void loop_free(struct loop *loop);
void loop_post(struct loop *loop, struct loop_work *work);
void loop_cancel(struct loop *loop, struct loop_work *work);
bool loop_turn(struct loop *loop, int64_t until);
void lane_charge(struct lane *lane, double us);
int64_t loop_busy_since(const struct loop *loop);

static inline void lane_init(struct lane *lane)
{
	TAILQ_INIT(&lane->queue);
	lane->debt_us = 0;
}

#endif /* INC_LOOP_LOOP_H */
