/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The queues of a communicator's queue pair.
 */
#ifndef INC_LIB_COMM_QUEUES_H
#define INC_LIB_COMM_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/**
 * struct inc_rq - receive queue
 * @cq: its completion queue
 * @armed: @cq will raise an event, or has an event pending
 * @events: events of @cq not acknowledged yet
 * @depth: size, in requests
 * @posted: receives posted
 */
struct inc_rq {
	struct ibv_cq		*cq;
	bool			armed;
	unsigned int		events;
	uint32_t		depth;
	uint32_t		posted;
};

/**
 * struct inc_sq - send queue
 * @cq: its completion queue
 * @armed: @cq will raise an event, or has an event pending
 * @events: events of @cq not acknowledged yet
 * @depth: size, in messages
 * @posted: messages posted
 * @done: send requests known to be complete
 * @signaled: the last signaled send request
 * @every: at least one send request in this many is signaled
 * @full: sending waits for a send completion
 * @inline_max: maximum inline data, bytes
 * @wr: send requests being built, two for each message of &struct inc_window.max
 * @sge: their gather lists, two entries each
 */
struct inc_sq {
	struct ibv_cq		*cq;
	bool			armed;
	unsigned int		events;
	uint32_t		depth;
	uint64_t		posted;
	uint64_t		done;
	uint64_t		signaled;
	uint32_t		every;
	bool			full;
	uint32_t		inline_max;
	struct ibv_send_wr	*wr;
	struct ibv_sge		*sge;
};

#endif /* INC_LIB_COMM_QUEUES_H */
