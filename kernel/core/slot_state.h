/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slot and the parts that wait in it, as slot.c, reduce_tree.c and prefetch.c
 * see them.
 */
#ifndef _INC_SLOT_STATE_H
#define _INC_SLOT_STATE_H

#include <linux/types.h>

#include "core/message.h"
#include "core/part.h"
#include "core/reduce/reduce.h"

/* No rank. */
#define INC_SLOT_NOBODY	U16_MAX

/* No CPU yet, and several of them. */
#define INC_SLOT_NO_CPU	(-1)
#define INC_SLOT_CPUS	(-2)

/**
 * struct inc_chunk - result of a chunk, one packet's worth of a message
 * @crc: CRC-32 of its bytes and their pad, from 0, for the ICRC
 * @filled: bytes of it gathered so far, if it is not reduced; else, at a child with
 *	several blocks of ranks, number of ranks in complete blocks
 */
struct inc_chunk {
	u32	crc;
	u32	filled;
};

/**
 * struct inc_slot - a slot
 * @geom: the tree's geometry
 * @msg: message that the slot works on, has done, or expects
 * @state: enum rdma_inc_slot_state
 * @status: enum inc_status of a failed message
 * @last_status: enum inc_status that @last has ended with
 * @wrong: rank whose request made the message fail, or INC_SLOT_NOBODY
 * @unlike: earlier rank, if they disagree, or INC_SLOT_NOBODY
 * @cpu: CPU that has brought parts since @msg began, or INC_SLOT_NO_CPU or
 *	INC_SLOT_CPUS; see inc_slot_note_cpu()
 * @ops: how to reduce @msg, NULL if it is not reduced
 * @unswept: parts of the message, which has failed, have yet to be dropped
 * @by_blocks: parts of a block of eight ranks are reduced at once if long enough
 * @result_wanted: some rank wants elements of the result
 * @last_wanted: some rank wanted some of the result of @last
 * @parent_answered: the parent has sent the message's final status
 * @uplink_busy: the request to the parent is not completely given to its QP;
 *	owned by uplink_queue.c
 * @uplink_msg_id: message of the newest request to the parent, whose INC header
 *	precedes @partial; owned by uplink_queue.c
 * @last: message before @msg, which ranks that have not begun @msg may still query;
 *	its nchunks is 0 if there was none
 * @begun: number of ranks whose request has begun
 * @gathered: chunks that all ranks have contributed to; they complete in order
 * @swept: with @unswept, rank whose parts are dropped next
 * @ready: chunks of the result that are complete; same as @gathered except at a
 *	child
 * @rx_bytes: bytes of the result received from the parent
 * @arrived: number of ranks that have arrived, for a message without data
 * @owner: message that the buffers' bytes belong to, or soon will: the newest
 *	that all ranks have begun, or the next one if its result was given back; set
 *	before any byte changes
 * @got: NULL without memory; for each rank, chunks received + 1, or 0 before its request began
 * @done: for each rank that is a switch, how many of its ranks have arrived of
 *	its next chunk: a request may have a part for each block of them
 * @pending: for each chunk and rank, or block of ranks, a part that waits for its
 *	sibling, the others of its block, or for the last rank to begin; parts that
 *	cover several are at the first
 * @half: for each rank, the first half of a wide chunk that waits for the other
 * @chunk: for each chunk, its result
 * @result: result buffer, NULL without memory
 * @partial: gathered data: @result, or at a child switch the request's planes,
 *	each inc_geom_buffer() after the previous one
 */
struct inc_slot {
	const struct inc_slot_geom	*geom;
	struct inc_msg			msg;
	u8				state;
	u8				status;
	u8				last_status;
	bool				result_wanted;
	bool				last_wanted;
	bool				parent_answered;
	bool				uplink_busy;
	bool				unswept;
	bool				by_blocks;
	u16				wrong;
	u16				unlike;
	int				cpu;
	const struct inc_reduce_ops	*ops;
	u16				begun;
	u16				gathered;
	u16				ready;
	u32				rx_bytes;
	u16				arrived;
	u16				swept;
	u32				owner;
	u32				uplink_msg_id;
	u16				*got;
	u16				*done;
	struct inc_part			**pending;
	struct inc_part			**half;
	struct inc_chunk		*chunk;
	u8				*result;
	u8				*partial;
	struct inc_msg			last;
};

/*
 * Are the message's elements reduced by the binary tree over ranks, and not just
 * over members? Only rounding tells the difference.
 */
static inline bool inc_slot_by_rank(const struct inc_slot *s)
{
	return s->geom->job_ranks && !s->geom->by_arrival && s->ops &&
	       s->ops->ordered;
}

/* Is a part of @len bytes reduced together with the others of its block? */
static inline bool inc_slot_in_block(const struct inc_slot *s, u16 member, u32 len)
{
	return s->by_blocks && (member | (INC_REDUCE_BLOCK - 1)) < s->geom->members &&
	       len >= s->ops->simd_min * s->ops->size;
}

#endif /* _INC_SLOT_STATE_H */
