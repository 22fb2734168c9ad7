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
#include "core/slot_state.h"

/**
 * enum inc_slot_verdict - what to do with a request that begins
 * @INC_SLOT_TAKE: take its chunks
 * @INC_SLOT_FAIL: the message has failed now, for all ranks: tell all ranks that
 *	have begun it, and discard its chunks
 * @INC_SLOT_FAILED: the message failed before: tell this rank, discard
 * @INC_SLOT_REPEAT: this rank has begun this message before, and none since:
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

/**
 * enum inc_slot_past - outcome of a rank's message, as the slot knows it
 * @INC_SLOT_UNKNOWN: the rank has begun neither it nor a later one in the slot
 * @INC_SLOT_OPEN: the rank has begun it, and it goes on
 * @INC_SLOT_ENDED: the rank has begun it, and it has ended
 * @INC_SLOT_OLD: the rank has begun a later one
 */
enum inc_slot_past {
	INC_SLOT_UNKNOWN,
	INC_SLOT_OPEN,
	INC_SLOT_ENDED,
	INC_SLOT_OLD,
};

/* Parts that one call drops when a message fails, and one rank's more. */
#define INC_SLOT_SWEEP	256

size_t inc_slot_buffers(const struct inc_slot_geom *g);
size_t inc_slot_size(const struct inc_slot_geom *g);
void inc_slot_init(struct inc_slot *s, const struct inc_slot_geom *g,
		   u32 msg_id);
void inc_slot_place(struct inc_slot *s, void *mem);
bool inc_slot_is_over(const struct inc_slot *s, bool read);
void *inc_slot_give_back(struct inc_slot *s);
enum inc_slot_verdict inc_slot_begin(struct inc_slot *s, u16 member,
				     const struct inc_msg *msg, u8 status);
enum inc_slot_past inc_slot_lookup(const struct inc_slot *s, u16 member,
				   u32 msg_id, struct inc_msg *msg, u8 *status);
bool inc_slot_add(struct inc_slot *s, u16 member, u32 msg_id,
		  struct inc_part *part);
bool inc_slot_fail(struct inc_slot *s, u8 status);
bool inc_slot_sweep(struct inc_slot *s);
bool inc_slot_result(struct inc_slot *s, u32 off, const struct inc_part *part);
bool inc_slot_answer(struct inc_slot *s, u8 status);

/*
 * Are the bytes of a message's result still there to be resent? Needs no lock: if they
 * change at this moment, all ranks have begun the slot's next message, or have
 * acknowledged this one, so no rank needs them.
 */
static inline bool inc_slot_has(const struct inc_slot *s, u32 msg_id)
{
	return (s32)(READ_ONCE(s->owner) - msg_id) <= 0;
}

/* Has it memory? Without the slot's lock that may change: see slot_mem.c. */
static inline bool inc_slot_placed(const struct inc_slot *s)
{
	return READ_ONCE(s->result);
}

/*
 * A CPU brings parts of the message in progress; the slot's lock is held. It writes
 * twice in a message at most: all of them read that line.
 */
static inline void inc_slot_note_cpu(struct inc_slot *s, int cpu)
{
	if (likely(s->cpu == cpu || s->cpu == INC_SLOT_CPUS))
		return;
	s->cpu = s->cpu == INC_SLOT_NO_CPU ? cpu : INC_SLOT_CPUS;
}

static inline bool inc_slot_begun(const struct inc_slot *s, u16 member)
{
	return s->got[member];
}

#endif /* _INC_SLOT_H */
