/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slot machine: the contributions of a tree's ranks to one message, and
 * their result (draft, section 5.2 and figure 4). It knows no packet, no QP and
 * no lock: the caller holds the slot's lock and owns all memory.
 */
#ifndef _INC_SLOT_H
#define _INC_SLOT_H

#include <linux/types.h>
#include <uapi/linux/rdma_inc.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/message.h"

struct inc_reduce_ops;

/* No rank. */
#define INC_SLOT_NOBODY	U16_MAX

/**
 * struct inc_part - payload of one packet, or the reduction of several
 * @data: the elements, or the upper 16 bits of their sums; may be written to
 * @lo: part with the lower 16 bits of the sums, if they are wide (see struct
 *	inc_operand), else NULL; belongs to this part
 * @len: bytes
 * @level: number of pairings it went through; it covers the ranks first ...
 *	first + 2^level - 1, as many of them as exist; in order of arrival,
 *	number of other ranks added to it
 */
struct inc_part {
	void		*data;
	struct inc_part	*lo;
	u16		len;
	u16		level;
};

/**
 * inc_part_free() - free a part; supplied by the owner of parts
 * @part: the part
 */
void inc_part_free(struct inc_part *part);

/**
 * struct inc_chunk - result of a chunk, one packet's worth of a message
 * @crc: CRC-32 of its bytes and their pad, from 0, for the ICRC
 * @filled: bytes of it gathered so far, if it is not reduced
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
 * @wrong: rank whose request made the message fail, or INC_SLOT_NOBODY
 * @unlike: earlier rank, if they disagree, or INC_SLOT_NOBODY
 * @ops: how to reduce @msg, NULL if it is not reduced
 * @result_wanted: some rank wants elements of the result
 * @parent_answered: the parent has sent the message's final status
 * @uplink_busy: the request to the parent is not completely given to its QP;
 *	owned by uplink_tx.c
 * @begun: number of ranks whose request has begun
 * @gathered: chunks that all ranks have contributed to; they complete in order
 * @ready: chunks of the result that are complete; same as @gathered except at a
 *	child
 * @rx_bytes: bytes of the result received from the parent
 * @arrived: number of ranks that have arrived, for a message without data
 * @owner: message that the buffers' bytes belong to, or soon will: the newest
 *	that all ranks have begun; set before any byte changes
 * @started: when the first request arrived, in the caller's clock
 * @got: for each rank, chunks received + 1, or 0 before its request began
 * @parked: for each chunk and rank, a part that waits for its sibling, or for
 *	the last rank to begin; parts that cover several ranks are at the first
 * @half: for each rank, the first half of a wide chunk that waits for the other
 * @chunk: for each chunk, its result
 * @result: result buffer
 * @partial: gathered data: @result, or at a child switch the request's elements
 * @partial_lo: at a child switch, the lower 16 bits of wide elements
 */
struct inc_slot {
	const struct inc_slot_geom	*geom;
	struct inc_msg			msg;
	u8				state;
	u8				status;
	bool				result_wanted;
	bool				parent_answered;
	bool				uplink_busy;
	u16				wrong;
	u16				unlike;
	const struct inc_reduce_ops	*ops;
	u16				begun;
	u16				gathered;
	u16				ready;
	u32				rx_bytes;
	u16				arrived;
	u32				owner;
	u64				started;
	u16				*got;
	struct inc_part			**parked;
	struct inc_part			**half;
	struct inc_chunk		*chunk;
	u8				*result;
	u8				*partial;
	u8				*partial_lo;
};

/**
 * enum inc_slot_verdict - what to do with a request that begins
 * @INC_SLOT_TAKE: take its chunks
 * @INC_SLOT_FAIL: the message has failed now, for all ranks: tell those that
 *	have begun, this one included, and discard its chunks
 * @INC_SLOT_FAILED: the message failed before: tell this rank, discard
 * @INC_SLOT_REPEAT: this rank's request for this message has begun before:
 *	discard its chunks
 * @INC_SLOT_WAIT: the slot's next message, while ranks are still to be told
 *	that this one failed: not now, it has to be retransmitted
 * @INC_SLOT_REFUSE: the slot does not expect this message: tell this rank
 *	alone, discard
 */
enum inc_slot_verdict {
	INC_SLOT_TAKE,
	INC_SLOT_FAIL,
	INC_SLOT_FAILED,
	INC_SLOT_REPEAT,
	INC_SLOT_WAIT,
	INC_SLOT_REFUSE,
};

size_t inc_slot_size(const struct inc_slot_geom *g);
void inc_slot_init(struct inc_slot *s, const struct inc_slot_geom *g,
		   u32 msg_id, void *mem);
enum inc_slot_verdict inc_slot_begin(struct inc_slot *s, u16 member,
				     const struct inc_msg *msg, u8 status,
				     u64 now);
bool inc_slot_add(struct inc_slot *s, u16 member, u32 msg_id,
		  struct inc_part *part);
bool inc_slot_fail(struct inc_slot *s, u8 status);
bool inc_slot_result(struct inc_slot *s, u32 off, const void *data, u32 len);
bool inc_slot_answer(struct inc_slot *s, u8 status);

/*
 * Are the bytes of a message that was sent, a result or a child's request,
 * still there to be resent? Needs no lock: if they change at this moment, all
 * ranks have begun the slot's next message, so no rank needs them.
 */
static inline bool inc_slot_has(const struct inc_slot *s, u32 msg_id)
{
	return (s32)(READ_ONCE(s->owner) - msg_id) <= 0;
}

static inline bool inc_slot_begun(const struct inc_slot *s, u16 member)
{
	return s->got[member];
}

#endif /* _INC_SLOT_H */
