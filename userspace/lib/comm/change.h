/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The change to another tree: from RC to UC if packets are lost, or to other switches;
 * see api/change.c.
 */
#ifndef INC_LIB_COMM_CHANGE_H
#define INC_LIB_COMM_CHANGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "inc.h"
#include "rendezvous/proto.h"

struct inc_comm;
struct inc_request;

/**
 * enum inc_change_state - how far a communicator is on its way to another tree
 * @INC_CHANGE_NONE: it does not change, or has changed
 * @INC_CHANGE_MAKING: a thread makes another communicator
 * @INC_CHANGE_TRYING: the ranks find out whether its tree reaches all of them
 * @INC_CHANGE_COUNTING: the ranks agree over that on the last operation over the old tree
 * @INC_CHANGE_DRAINING: the operations up to that one end
 * @INC_CHANGE_LEAVING: the ranks tell each other that they have; what happens to the old
 *	tree does not matter
 * @INC_CHANGE_CLEANING: a thread leaves the old tree
 */
enum inc_change_state {
	INC_CHANGE_NONE,
	INC_CHANGE_MAKING,
	INC_CHANGE_TRYING,
	INC_CHANGE_COUNTING,
	INC_CHANGE_DRAINING,
	INC_CHANGE_LEAVING,
	INC_CHANGE_CLEANING,
};

/**
 * struct inc_change - how a communicator changes to another tree
 * @next: next communicator that other calls carry on, see progress.c
 * @by_able: node among those that may change
 * @step: does what is due, also after a failure; called: a caller waits for it
 * @able: the communicator may change to UC
 * @movable: it may move to other switches
 * @keeps: this change is a move: transport and settings stay
 * @qp_type: transport that its creator chose
 * @state: how far the change is
 * @tries: number of attempts that failed
 * @opts: options of the other communicator
 * @job: job of the other communicator
 * @text: why the other communicator could not be made
 * @thread: makes that communicator, or destroys the old one; joined if @runs
 * @runs: @thread exists
 * @ended: @thread has done its work
 * @stop: @thread is to give up
 * @stopped_by: in the communicator that @thread makes: its creator's @stop
 * @other: the communicator with the new tree; after the change, with the old one
 * @req: operation over the new tree by which the ranks agree
 * @count: data of @req: number of operations begun; then, all ranks' highest one
 * @holds: operations after number @last are not sent
 * @last: number of the last operation over the old tree
 * @since: when @holds began, microseconds
 */
struct inc_change {
	struct inc_comm		*next;
	LIST_ENTRY(inc_comm)	by_able;
	void			(*step)(struct inc_comm *comm, bool called);
	bool			able;
	bool			movable;
	bool			keeps;
	enum inc_qp_type	qp_type;
	enum inc_change_state	state;
	unsigned int		tries;
	struct inc_comm_opts	opts;
	char			job[INC_JOB_MAX + 1];
	char			text[INC_RDV_TEXT_MAX];
	pthread_t		thread;
	bool			runs;
	_Atomic bool		ended;
	_Atomic bool		stop;
	_Atomic bool		*stopped_by;
	struct inc_comm		*other;
	struct inc_request	*req;
	uint64_t		count;
	bool			holds;
	uint64_t		last;
	uint64_t		since;
};

#endif /* INC_LIB_COMM_CHANGE_H */
