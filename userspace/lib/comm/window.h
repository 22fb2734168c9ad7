/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How many messages a communicator has in flight.
 */
#ifndef INC_LIB_COMM_WINDOW_H
#define INC_LIB_COMM_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bdp.h"

/**
 * struct inc_window_rc - a communicator's window over RC
 * @bdp: how many messages to keep in flight
 * @piece: bytes of a block in each measured message; 0: none
 * @timed_at: when the message whose round trip is measured was sent, in
 *	microseconds; 0: none
 * @timed_id: that message
 * @ops: operations, modulo 256
 * @results: results have arrived since messages were sent
 * @adapts: the window adapts, as the caller has not fixed it
 */
struct inc_window_rc {
	struct inc_bdp		bdp;
	size_t			piece;
	uint64_t		timed_at;
	uint32_t		timed_id;
	uint8_t			ops;
	bool			results;
	bool			adapts;
};

/**
 * struct inc_window - messages in flight
 * @now: their current maximum number
 * @max: upper bound of @now
 * @rc: how @now adapts if the queue pair is RC
 */
struct inc_window {
	uint32_t		now;
	uint32_t		max;
	struct inc_window_rc	rc;
};

#endif /* INC_LIB_COMM_WINDOW_H */
