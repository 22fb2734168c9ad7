/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What happens if a communicator's tree fails.
 */
#ifndef INC_LIB_COMM_REBUILD_H
#define INC_LIB_COMM_REBUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "rendezvous/proto.h"

/**
 * enum inc_rebuild_state - how far a communicator is on its way to another tree
 * @INC_REBUILD_NONE: its tree works
 * @INC_REBUILD_BROKEN: the tree has failed, and the manager is to say "rebuild"
 * @INC_REBUILD_REJOINED: it has a new queue pair, and waits for "joined"
 * @INC_REBUILD_CONNECTED: the queue pair is in RTS, and waits for "ready"
 *
 * With two rails nobody says that: it makes another communicator instead, and then
 * agrees over it with the other ranks on what to repeat.
 */
enum inc_rebuild_state {
	INC_REBUILD_NONE,
	INC_REBUILD_BROKEN,
	INC_REBUILD_REJOINED,
	INC_REBUILD_CONNECTED,
};

/**
 * struct inc_rebuild - another tree after a failure
 * @on: another tree is made if this one fails
 * @state: how far the new tree is
 * @round: the manager's last "rebuild" that was answered
 * @finished: operations that all ranks have the results of
 * @base: what @finished was when the tree's first operation began: the manager hears
 *	numbers from there on, as ranks may be on either side of a move
 * @refused: @finished + 1 at the time when the device refused a packet; 0: it has not
 * @psn: first PSN of the new queue pair
 * @err: why the tree has failed, a negative errno value
 * @text: the same in words
 */
struct inc_rebuild {
	bool			on;
	enum inc_rebuild_state	state;
	uint32_t		round;
	uint32_t		finished;
	uint32_t		base;
	uint32_t		refused;
	uint32_t		psn;
	int			err;
	char			text[INC_RDV_TEXT_MAX];
};

#endif /* INC_LIB_COMM_REBUILD_H */
