/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The number of messages that a member keeps in flight, adapted to its path.
 * Pure functions over the caller's clock (microseconds) and message IDs, tested
 * by test_bdp.c. Over UC a message is one packet, over RC several.
 *
 * The bandwidth-delay product of a path is the rate of arriving results times
 * the round trip without queueing. The window is twice the product: there is
 * always something to send when a rank polls for results a little late. The
 * rate is measured only while the window is full: from the message that fills
 * it until that message's result arrives. The rate is thus at most one window
 * per round trip, and grows with the window until a larger one brings no more
 * results. Then the window stays.
 *
 * The round trip is the lowest one ever seen, as all others may include
 * queueing and waiting for other ranks. If even the lowest includes such waits,
 * the window is too large by that much, but does not keep growing.
 *
 * Over RC, at least the results of @queue's time are always in flight. Where
 * the round trip is shorter than a scheduling latency, or ranks share a CPU, it
 * is cheaper to handle many messages at a time.
 *
 * Losses shrink the window only if there are many more than at their recent
 * minimum: then a queue is too short for the window.
 */
#ifndef INC_LIB_BDP_H
#define INC_LIB_BDP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct inc_bdp - state of a member
 * @now: current window, in messages
 * @min: lower bound of the window
 * @max: upper bound of the window
 * @limit: upper bound of the window because of losses
 * @queue: the results of this much time are always in flight, microseconds
 * @rtt: lowest round trip, 0: none measured
 * @rate: messages per second: rises at once, falls slowly
 * @usual: typical loss in 1/256: falls fast, rises slowly
 * @settle: coming measurements that still show losses of the previous window
 * @done: messages done
 * @lost: messages lost
 * @measures: a measurement is in progress
 * @id: its message, which filled the window
 * @since: when that message was sent
 * @done_then: @done at that time
 * @lost_then: @lost at that time
 */
struct inc_bdp {
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

void inc_bdp_init(struct inc_bdp *w, uint32_t first, uint32_t min,
		  uint32_t max, uint32_t queue);
void inc_bdp_filled(struct inc_bdp *w, uint32_t id, uint64_t now);
bool inc_bdp_done(struct inc_bdp *w, uint32_t id, uint64_t rtt,
		  uint64_t now);

/* Does a message's result end a measurement? Its time matters only then. */
static inline bool inc_bdp_ends(const struct inc_bdp *w, uint32_t id)
{
	return w->measures && (int32_t)(id - w->id) >= 0;
}

/* Record that a message, or its result, was lost. */
static inline void inc_bdp_lost(struct inc_bdp *w)
{
	w->lost++;
}

#endif /* INC_LIB_BDP_H */
