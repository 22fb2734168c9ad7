/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The main loop: all of the manager's state belongs to one thread. Threads that
 * wait, for clients or for a switch, hand it work.
 */
#ifndef INC_MANAGER_LOOP_H
#define INC_MANAGER_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/timer.h"
#include "conf/clock.h"
#include "conf/log.h"

/**
 * struct loop_work - something for the main loop to do
 * @next: next in the queue
 * @lane: whose it is, NULL: the manager's own
 * @fn: called once by the main loop; may free the work
 */
struct loop_work {
	struct loop_work	*next;
	struct lane	*lane;
	void		(*fn)(struct loop_work *work);
};

/**
 * struct lane - work of one client; zeroed it is empty
 * @entry: among the lanes that have some
 * @head: first, NULL: none
 * @tail: last
 */
struct lane {
	STAILQ_ENTRY(lane)	entry;
	struct loop_work	*head, *tail;
};

STAILQ_HEAD(lanes, lane);

/**
 * struct loop - the queue, and timers
 * @lock: guards @head, @tail and @lanes
 * @wake: there is work
 * @head: first one of the manager's own, NULL: none
 * @tail: where the next one is appended
 * @lanes: those that have work: the first one's turn is next
 * @now: milliseconds of CLOCK_MONOTONIC, of the main loop's thread
 * @late_at: of these, when it last went on after it had stood still; 0: never
 * @busy_since: of these, for other threads: when its turn began; 0: it waits
 * @timers: what is to be done at a time; the main loop's
 */
struct loop {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	struct loop_work	*head;
	struct loop_work	**tail;
	struct lanes	lanes;
	int64_t		now;
	int64_t		late_at;
	_Atomic int64_t	busy_since;
	struct timers	timers;
};

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

void loop_init(struct loop *loop);
void loop_post(struct loop *loop, struct loop_work *work);
bool loop_turn(struct loop *loop, int64_t until);
int64_t loop_busy_since(const struct loop *loop);

#endif /* INC_MANAGER_LOOP_H */
