/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * An operation, and those of a communicator.
 */
#ifndef INC_LIB_COMM_REQUEST_H
#define INC_LIB_COMM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "core/plan.h"
#include "device/mem.h"
#include "inc.h"

/**
 * struct inc_request - an operation
 * @comm: communicator
 * @next: next operation in order of issue, while in progress
 * @all: next of all requests that the communicator has allocated
 * @hdr: fields common to the INC headers of its messages
 * @plan: its steps
 * @step: the step whose messages are being sent
 * @step_no: number of @step
 * @send: caller's data; NULL: this rank sends none
 * @recv: caller's buffer for the result; NULL: this rank gets none
 * @source: caller's data, if @send is @temp
 * @temp: copy of the data, freed at the end
 * @keeps: @temp is kept for when it has to be repeated after its end
 * @in: bytes of its data; of what is kept, the result lies behind them
 * @out: bytes of its result
 * @last_id: ID of its last message
 * @esize: element size in bytes
 * @stride: bytes from a block to the next one in the caller's buffers
 * @part: the rest of it, over the second rail; NULL: none
 * @since_us: when it began, if both rails had nothing else to do; 0: they had
 * @after: operations over the second rail that end before it does
 * @pd: protection domain of @smem and @rmem
 * @number: how many operations had begun when it had
 * @uc: it is planned, and has memory, for UC
 * @posted: offset of the next message's part in a block, bytes
 * @msgs: number of its messages; with @inc_comm.rebuild.on, and without @keeps, the
 *	last one tells the other ranks that this one has all results
 * @msgs_posted: messages sent
 * @msgs_done: messages whose result has arrived
 * @last_seq: number of its last send request
 * @smem: registration of @send; NULL: copied
 * @rmem: registration of @recv; NULL: copied
 * @bounces: a registration failed: long messages are copied, one at a time
 * @err: first error
 * @persistent: can be started again, and keeps its memory until it is freed
 * @done: not in progress: completed, or not started yet
 * @orphan: the user has freed it; release it when it is done
 */
struct inc_request {
	struct inc_comm	*comm;
	struct inc_request	*next;
	struct inc_request	*all;
	struct inc_hdr	hdr;
	struct inc_plan	plan;
	struct inc_step	step;
	uint64_t	step_no;
	uint64_t	number;
	bool		uc;
	const char	*send;
	char		*recv;
	const char	*source;
	void		*temp;
	bool		keeps;
	size_t		in;
	size_t		out;
	uint32_t	last_id;
	size_t		esize;
	size_t		stride;
	struct inc_request	*part;
	uint64_t	since_us;
	uint64_t	after;
	const struct ibv_pd	*pd;
	size_t		posted;
	uint64_t	msgs;
	uint64_t	msgs_posted;
	uint64_t	msgs_done;
	uint64_t	last_seq;
	struct inc_mem	*smem;
	struct inc_mem	*rmem;
	bool		bounces;
	int		err;
	bool		persistent;
	bool		done;
	bool		orphan;
};

/**
 * struct inc_ops - operations of a communicator
 * @first: the first in progress, in order of issue
 * @last: the last in progress
 * @tx: the first that has messages to send; NULL: none
 * @free: spare requests
 * @all: all requests, spare or not
 * @kept: those that have ended and may have to be repeated, in order of issue
 * @kept_last: the last of these
 * @nkept: their number
 */
struct inc_ops {
	struct inc_request	*first;
	struct inc_request	*last;
	struct inc_request	*tx;
	struct inc_request	*free;
	struct inc_request	*all;
	struct inc_request	*kept;
	struct inc_request	*kept_last;
	uint32_t		nkept;
};

#endif /* INC_LIB_COMM_REQUEST_H */
