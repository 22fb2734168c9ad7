/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How many messages a member has under way: what its path takes. Pure functions
 * over the caller's clock (microseconds) and message IDs, tested by
 * test_window.c. Over UC a message is a packet, over RC some.
 *
 * A path holds the rate at which results come times the round trip without any
 * queue; twice that is the window, so that there is always something to send
 * when one of the ranks looks for results a little late. The rate is measured
 * while the window is full only: from when a message fills it until that one's
 * result comes. So it is at most the window in a round trip, and grows with
 * the window as long as that brings more results; then the window stays.
 *
 * The round trip is the lowest one ever seen, since all others may hold what
 * queues, and what a result waits for other ranks. If it never was without such
 * waits, the window is too large by as much, but does not go on growing.
 *
 * Over RC, what results come in @queue is always under way: where a round trip is
 * shorter than the time in which a process gets its turn, or the ranks share a CPU,
 * it costs less to look after many messages at a time.
 *
 * Losses are no reason for a smaller window, unless there are many more than
 * there were at their fewest lately: then a queue is too short for it.
 */
#ifndef INC_LIB_WINDOW_H
#define INC_LIB_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct inc_window - state of a member
 * @now: messages that may be under way
 * @min: not fewer than these
 * @max: not more than these
 * @limit: not more than these, because of losses
 * @queue: so much time's results are under way at least
 * @rtt: lowest round trip, 0: none measured
 * @rate: messages per second: up at once, down slowly
 * @usual: messages of 256 that are lost: down soon, up slowly
 * @settle: measurements still to come that tell of losses of the window before
 * @done: messages done
 * @lost: messages lost
 * @measures: a measurement is under way
 * @id: its message, which filled the window
 * @since: when that was sent
 * @done_then: @done at that time
 * @lost_then: @lost at that time
 */
struct inc_window {
	uint32_t	now;
	uint32_t	min;
	uint32_t	max;
	uint32_t	limit;
	uint32_t	queue;
	uint32_t	rtt;
	uint32_t	rate;
	uint32_t	usual;
	uint32_t	settle;
	uint32_t	done;
	uint32_t	lost;
	bool		measures;
	uint32_t	id;
	uint64_t	since;
	uint32_t	done_then;
	uint32_t	lost_then;
};

void inc_window_init(struct inc_window *w, uint32_t first, uint32_t min,
		     uint32_t max, uint32_t queue);
void inc_window_filled(struct inc_window *w, uint32_t id, uint64_t now);
bool inc_window_done(struct inc_window *w, uint32_t id, uint64_t rtt,
		     uint64_t now);

/* Does a message's result end a measurement? Its time matters only then. */
static inline bool inc_window_ends(const struct inc_window *w, uint32_t id)
{
	return w->measures && (int32_t)(id - w->id) >= 0;
}

/* A message was lost, or its result. */
static inline void inc_window_lost(struct inc_window *w)
{
	w->lost++;
}

#endif /* INC_LIB_WINDOW_H */
