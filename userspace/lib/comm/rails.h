/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Two devices of a rank, each with a tree of its own: api/rails.c.
 */
#ifndef INC_LIB_COMM_RAILS_H
#define INC_LIB_COMM_RAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "inc.h"
#include "rendezvous/proto.h"

struct inc_comm;

/**
 * struct inc_rails - a second communicator, over a second device
 * @other: the second communicator; NULL: there is none, or this is it
 * @peer: the other communicator of the two; NULL: there is none
 * @able: the job may have two rails
 * @chosen: the second rail's address, as a mask of &struct inc_rdv_joined.rails; 0: none
 * @at: where this communicator's daemon is
 * @job: job of the second communicator; once that exists, the job that replaces this
 *	one if its tree fails, over the device of @peer
 * @opts: options of a communicator in @job
 * @text: why a second communicator could not be made
 * @tries: number of attempts that failed
 * @took_us: microseconds that this rail took for its part of an operation; 0: unknown
 * @slow: rail that took much longer in the last @slow_ops operations
 * @slow_ops: their number
 */
struct inc_rails {
	struct inc_comm		*other;
	struct inc_comm		*peer;
	bool			able;
	uint32_t		chosen;
	char			at[64];
	char			job[INC_JOB_MAX + 1];
	struct inc_comm_opts	opts;
	char			text[INC_RDV_TEXT_MAX];
	unsigned int		tries;
	uint64_t		took_us;
	const struct inc_comm	*slow;
	unsigned int		slow_ops;
};

#endif /* INC_LIB_COMM_RAILS_H */
