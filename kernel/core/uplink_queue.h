/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests that are queued for a child's parent, and what to send next,
 * without packets, locks or memory of its own.
 */
#ifndef _INC_UPLINK_QUEUE_H
#define _INC_UPLINK_QUEUE_H

#include <linux/types.h>

#include "core/message.h"
#include "core/requester.h"

struct inc_slot;

/**
 * struct inc_uplink_out - request of one slot on its way to the parent
 * @dmalen: bytes of the request
 * @packets: its packets
 * @ready: packets that may be sent
 * @sent: packets that were given to the requester
 * @planes: planes that its elements are in
 * @status: enum inc_status with which the message failed here
 * @open: some packets were not yet given to the requester
 */
struct inc_uplink_out {
	u32		dmalen;
	u16		packets;
	u16		ready;
	u16		sent;
	u16		planes;
	u8		status;
	bool		open;
};

/**
 * struct inc_uplink_queue - requests queued for a child's parent
 * @geom: the child's geometry
 * @tree_id: the parent's tree
 * @rkey: R_Key of its slots
 * @result_rkey: R_Key of the child's slots, where the results go
 * @out: requests, by slot
 * @fifo: slots with open requests, in order; the first may be partly sent
 * @head: first entry of @fifo, free running
 * @tail: after the last entry
 */
struct inc_uplink_queue {
	const struct inc_slot_geom	*geom;
	u32				tree_id;
	u32				rkey;
	u32				result_rkey;
	struct inc_uplink_out		*out;
	u16				*fifo;
	u16				head;
	u16				tail;
};

static inline bool inc_uplinkq_empty(const struct inc_uplink_queue *q)
{
	return q->head == q->tail;
}

/* The slot whose request is next; the queue must not be empty. */
static inline u16 inc_uplinkq_slot(const struct inc_uplink_queue *q)
{
	return q->fifo[q->head & (q->geom->slots - 1)];
}

/* Is a packet of the next request ready? The queue must not be empty. */
static inline bool inc_uplinkq_sendable(const struct inc_uplink_queue *q)
{
	const struct inc_uplink_out *out = &q->out[inc_uplinkq_slot(q)];

	return out->sent < out->ready;
}

void inc_uplinkq_init(struct inc_uplink_queue *q, const struct inc_slot_geom *g,
		      struct inc_uplink_out *out, u16 *fifo);
void inc_uplinkq_gathered(struct inc_uplink_queue *q, struct inc_slot *s,
			  const struct inc_msg *msg, u16 gathered, bool wanted);
void inc_uplinkq_fail(struct inc_uplink_queue *q, struct inc_slot *s,
		      u32 msg_id, u8 status);
void inc_uplinkq_abort(struct inc_uplink_queue *q);
enum inc_requester_end inc_uplinkq_next(struct inc_uplink_queue *q,
					struct inc_slot *s, struct inc_wqe *w);

#endif /* _INC_UPLINK_QUEUE_H */
