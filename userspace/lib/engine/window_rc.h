/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The window of a communicator over RC, which adapts to the path.
 */
#ifndef INC_LIB_PACE_H
#define INC_LIB_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bdp.h"

struct inc_comm;
struct inc_req;

/**
 * struct inc_pace - a communicator's window over RC
 * @window: how many messages to keep in flight
 * @piece: bytes of a block in each measured message; 0: none
 * @timed_at: when the message whose round trip is measured was sent, in
 *	microseconds; 0: none
 * @timed_id: that message
 * @ops: operations, modulo 256
 * @came: results have arrived since messages were sent
 * @follows: the window adapts, as the caller has not fixed it
 */
struct inc_pace {
	struct inc_window	window;
	size_t			piece;
	uint64_t		timed_at;
	uint32_t		timed_id;
	uint8_t			ops;
	bool			came;
	bool			follows;
};

void inc_pace_issue(struct inc_comm *comm, const struct inc_req *req);
void inc_pace_sent(struct inc_comm *comm, const struct inc_req *req, uint32_t id);
void inc_pace_filled(struct inc_comm *comm);
void inc_pace_done(struct inc_comm *comm, const struct inc_req *req, uint32_t id,
		   bool ok);

#endif /* INC_LIB_PACE_H */
