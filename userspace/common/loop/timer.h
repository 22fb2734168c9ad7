/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Timers, the earliest first, in a heap: setting one takes O(log n).
 * timer_add() allocates the memory, so nothing fails later.
 */
#ifndef INC_LOOP_TIMER_H
#define INC_LOOP_TIMER_H

#include <stddef.h>
#include <stdint.h>

#define TIMER_NEVER	INT64_MAX

/**
 * struct timer - a timer
 * @expires: milliseconds of CLOCK_MONOTONIC; TIMER_NEVER: not set
 * @fn: called at that time; the timer is unset, and may be set again, or freed
 * @place: index in the heap, from 1; 0: not set
 */
struct timer {
	int64_t	expires;
	void	(*fn)(struct timer *timer);
	size_t	place;
};

/**
 * struct timers - timers
 * @heap: timers that are set, from 1; the one at n is not later than the ones
 *	at 2n and 2n + 1
 * @n_set: number of timers that are set
 * @n: number of all timers
 * @room: number of entries allocated for @heap
 */
struct timers {
	struct timer	**heap;
	size_t		n_set;
	size_t		n;
	size_t		room;
};

int timer_add(struct timers *ts, struct timer *t,
	      void (*fn)(struct timer *timer));
void timer_remove(struct timers *ts, struct timer *t);
void timer_set(struct timers *ts, struct timer *t, int64_t at);
int64_t timers_next(const struct timers *ts);
void timers_run(struct timers *ts, int64_t now);
void timers_free(struct timers *ts);

#endif /* INC_LOOP_TIMER_H */
