/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The window of a communicator over RC, which adapts to the path.
 */
#ifndef INC_LIB_WINDOW_RC_H
#define INC_LIB_WINDOW_RC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bdp.h"

struct inc_comm;
struct inc_request;

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

void inc_window_rc_issue(struct inc_comm *comm, const struct inc_request *req);
void inc_window_rc_sent(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id);
void inc_window_rc_filled(struct inc_comm *comm);
void inc_window_rc_done(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id, bool ok);

#endif /* INC_LIB_WINDOW_RC_H */
