/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results and statuses that are queued for one member, and what to send
 * next, without packets, locks or memory of its own.
 */
#ifndef _INC_RESULT_QUEUE_H
#define _INC_RESULT_QUEUE_H

#include <linux/types.h>

#include "core/message.h"
#include "core/oldest.h"
#include "core/requester.h"

/* Statuses that belong to no slot and are queued. */
#define INC_RESULTQ_MAX_STRAY	64

/**
 * struct inc_out - result of one slot on its way to one member
 * @va: where the member wants it
 * @rkey: key of that memory
 * @msg_id: message
 * @held: bytes of the request's packets, for inc_result_queue.held
 * @off: its offset in the slot's result buffer
 * @len: its length in bytes
 * @nchunks: its packets
 * @ready: packets that may be sent
 * @sent: packets that were given to the requester
 * @whole: it is the whole result buffer, in the same chunks
 * @status: error status to send instead, or 0
 * @open: a request has begun and its Immediate is not yet with the requester
 * @queued: the slot is in inc_result_queue.fifo
 * @resend: UC: it was sent, and is to be sent again
 */
struct inc_out {
	u64	va;
	u32	rkey;
	u32	msg_id;
	u32	held;
	u32	off;
	u32	len;
	u16	nchunks;
	u16	ready;
	u16	sent;
	u8	status;
	bool	whole;
	bool	open;
	bool	queued;
	bool	resend;
};

/**
 * struct inc_result_queue - what is queued for one member
 * @geom: the tree's geometry
 * @mask: slots of @out less one; a power of two less one
 * @out: results, by slot
 * @fifo: slots that have something to send, in the order in which they became
 *	ready
 * @head: first entry of @fifo, free running
 * @tail: after the last entry
 * @nstray: number of entries in @stray
 * @probe: send a zero-length write to see whether the member is alive
 * @begun: messages that the member has ever begun; read without the lock
 * @held: bytes of packets of requests that have begun and are not complete
 * @waiting: messages whose requests have begun and are not complete
 * @stray: Immediates of statuses that belong to no slot
 */
struct inc_result_queue {
	const struct inc_slot_geom	*geom;
	struct inc_out			*out;
	u16				*fifo;
	u16				mask;
	u16				head;
	u16				tail;
	u8				nstray;
	bool				probe;
	u32				begun;
	u64				held;
	struct inc_oldest		waiting;
	u32				stray[INC_RESULTQ_MAX_STRAY];
};

/**
 * enum inc_open_verdict - whether a request may begin
 * @INC_OPEN_OK: yes; where its result goes is recorded
 * @INC_OPEN_BUSY: no: the slot's last result is not sent yet
 * @INC_OPEN_REPEAT: no: this message is open
 * @INC_OPEN_HELD: not now: too much of this member's data is held
 */
enum inc_open_verdict {
	INC_OPEN_OK,
	INC_OPEN_BUSY,
	INC_OPEN_REPEAT,
	INC_OPEN_HELD,
};

/**
 * enum inc_resultq_item - what was taken from the queue
 * @INC_RESULTQ_NONE: nothing
 * @INC_RESULTQ_PART: part of a result
 * @INC_RESULTQ_LAST: the last packet of a result
 * @INC_RESULTQ_ERROR: the error with which a message has ended
 * @INC_RESULTQ_RESEND: a status that asks for a message
 * @INC_RESULTQ_PENDING: a status that says that a message has not ended
 * @INC_RESULTQ_PROBE: a zero-length write
 */
enum inc_resultq_item {
	INC_RESULTQ_NONE,
	INC_RESULTQ_PART,
	INC_RESULTQ_LAST,
	INC_RESULTQ_ERROR,
	INC_RESULTQ_RESEND,
	INC_RESULTQ_PENDING,
	INC_RESULTQ_PROBE,
};

/* Is nothing queued? */
static inline bool inc_resultq_empty(const struct inc_result_queue *q)
{
	return q->head == q->tail && !q->nstray && !q->probe;
}

static inline struct inc_out *inc_resultq_out(const struct inc_result_queue *q,
					      u32 msg_id)
{
	return &q->out[msg_id & q->mask];
}

/* Has it memory? Until then no request may begin. */
static inline bool inc_resultq_furnished(const struct inc_result_queue *q)
{
	return q->fifo;
}

/* Does a message wait for chunks of others? Then its packets are held. */
static inline bool inc_resultq_waits(const struct inc_result_queue *q,
				     u32 msg_id)
{
	const struct inc_out *out = inc_resultq_out(q, msg_id);

	return out->open && out->msg_id == msg_id && !out->status &&
	       out->ready < out->nchunks;
}

void inc_resultq_init(struct inc_result_queue *q,
		      const struct inc_slot_geom *g);
void inc_resultq_furnish(struct inc_result_queue *q, struct inc_out *out,
			 u16 *fifo, struct inc_oldest_entry *waiting);
enum inc_open_verdict inc_resultq_may_open(const struct inc_result_queue *q,
					   u32 msg_id);
void inc_resultq_open(struct inc_result_queue *q, const struct inc_msg *msg,
		      u64 va, u32 rkey, u32 size);
u32 inc_resultq_close(struct inc_result_queue *q, u32 msg_id);
bool inc_resultq_hold(struct inc_result_queue *q, u32 msg_id, u32 bytes);
u32 inc_resultq_ready(struct inc_result_queue *q, const struct inc_msg *msg,
		      u16 ready);
u32 inc_resultq_status(struct inc_result_queue *q, u32 msg_id, u8 status);
bool inc_resultq_resend(struct inc_result_queue *q, const struct inc_msg *msg,
			u64 va, u32 rkey, u8 status);
bool inc_resultq_stray(struct inc_result_queue *q, u32 msg_id, u8 status);
void inc_resultq_farewell(struct inc_result_queue *q, u32 next_msg_id,
			  u8 status);
enum inc_resultq_item inc_resultq_next(struct inc_result_queue *q,
				       struct inc_wqe *w,
				       enum inc_requester_end *end);
enum inc_resultq_item inc_resultq_next_uc(struct inc_result_queue *q,
					  struct inc_wqe *w, u32 low_mark,
					  enum inc_requester_kind *kind);

#endif /* _INC_RESULT_QUEUE_H */
