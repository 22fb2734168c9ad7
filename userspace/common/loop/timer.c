// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See timer.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "loop/timer.h"

/*
 * Make a timer, which is not set yet. Returns 0 or -ENOMEM.
 * @t: timer; it must be removed before it is freed
 */
int timer_add(struct timers *ts, struct timer *t,
	      void (*fn)(struct timer *timer))
{
	size_t room = ts->room ? 2 * ts->room : 64;
	struct timer **heap;

	if (ts->n + 1 >= ts->room) {
		heap = realloc(ts->heap, room * sizeof(struct timer *));
		if (!heap)
			return -ENOMEM;
		ts->heap = heap;
		ts->room = room;
	}
	ts->n++;
	t->expires = TIMER_NEVER;
	t->fn = fn;
	t->place = 0;
	return 0;
}

static void put_timer(struct timers *ts, size_t place, struct timer *t)
{
	ts->heap[place] = t;
	t->place = place;
}

/* Find the place for a timer, starting from an empty one. */
static void sift_timer(struct timers *ts, size_t place, struct timer *t)
{
	size_t below;

	for (; place > 1 && ts->heap[place / 2]->expires > t->expires;
	     place /= 2)
		put_timer(ts, place, ts->heap[place / 2]);
	for (; (below = 2 * place) <= ts->n_set; place = below) {
		if (below < ts->n_set &&
		    ts->heap[below + 1]->expires < ts->heap[below]->expires)
			below++;
		if (ts->heap[below]->expires >= t->expires)
			break;
		put_timer(ts, place, ts->heap[below]);
	}
	put_timer(ts, place, t);
}

static void unset_timer(struct timers *ts, struct timer *t)
{
	size_t place = t->place;
	struct timer *last;

	t->expires = TIMER_NEVER;
	t->place = 0;
	if (!place)
		return;
	last = ts->heap[ts->n_set--];
	if (last != t)
		sift_timer(ts, place, last);
}

/* Set a timer, or change its time. */
void timer_set(struct timers *ts, struct timer *t, int64_t at)
{
	if (t->expires == at)
		return;
	if (at == TIMER_NEVER) {
		unset_timer(ts, t);
		return;
	}
	t->expires = at;
	sift_timer(ts, t->place ? t->place : ++ts->n_set, t);
}

/* Unset a timer, and give its room back. */
void timer_remove(struct timers *ts, struct timer *t)
{
	unset_timer(ts, t);
	ts->n--;
}

/*
 * Get the time of the earliest timer. Returns milliseconds, TIMER_NEVER if
 * none is set.
 */
int64_t timers_next(const struct timers *ts)
{
	return ts->n_set ? ts->heap[1]->expires : TIMER_NEVER;
}

/*
 * Call the timers that are due, the earliest first. Each is called once, even
 * if it is set again for a time before @now.
 */
void timers_run(struct timers *ts, int64_t now)
{
	size_t most = ts->n_set;
	struct timer *t;

	while (most-- && timers_next(ts) <= now) {
		t = ts->heap[1];
		unset_timer(ts, t);
		t->fn(t);
	}
}

/*
 * Free the memory of timers.
 * @ts: timers, none of which may be used afterwards
 */
void timers_free(struct timers *ts)
{
	free(ts->heap);
	*ts = (struct timers){ .n = 0 };
}
