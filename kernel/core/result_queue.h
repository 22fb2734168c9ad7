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
 * struct inc_out - result of one message on its way to one member
 * @va: where the member wants it
 * @rkey: key of that memory
 * @msg_id: message
 * @held: bytes of the request's packets, for inc_result_queue.held
 * @off: its offset in the slot's result buffer
 * @len: its length in bytes
 * @nchunks: its packets
 * @ready: packets that may be sent
 * @sent: packets that were given to the requester
 * @status: error status to send instead, or 0
 * @whole: it is the whole result buffer, in the same chunks
 * @open: a request has begun and its Immediate is not yet with the requester
 * @queued: it is in inc_result_queue.fifo
 * @resend: UC: it was sent, and is to be sent again
 * @beyond: it was accepted although too much is held
 *
 * A member has as many as it has messages in progress. So each byte counts: a
 * result is shorter than a message, which is 64 KiB at most.
 */
struct inc_out {
	u64	va;
	u32	rkey;
	u32	msg_id;
	u32	held;
	u16	off;
	u16	len;
	u16	nchunks;
	u16	ready;
	u16	sent;
	u8	status;
	u8	whole	: 1;
	u8	open	: 1;
	u8	queued	: 1;
	u8	resend	: 1;
	u8	beyond	: 1;
};

/**
 * struct inc_result_queue - results queued for one member
 * @geom: the tree's geometry
 * @out: results of messages that are open or queued, one of a slot at most
 * @next: for each of @out, 1 + the next one in its bucket, or the next free one,
 *	or 0
 * @bucket: for each value of the slots' lower bits, 1 + the first of @out, or 0
 * @fifo: indices of entries that have something to send, in the order in which they
 *	became ready: a ring
 * @mask: number of buckets less one; a power of two less one
 * @size: number of entries of @out and @fifo
 * @used: number of entries of @out in use
 * @free: 1 + the first free one, or 0
 * @head: first entry of @fifo
 * @queued: number of entries of @fifo in use; read without the lock
 * @nbeyond: number of messages in @waiting that were accepted beyond the limits
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
	u16				*next;
	u16				*bucket;
	u16				*fifo;
	u16				mask;
	u16				size;
	u16				used;
	u16				free;
	u16				head;
	u16				queued;
	u16				nbeyond;
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
 * enum inc_resultq_item - item taken from the queue
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
	return !q->queued && !q->nstray && !q->probe;
}

/*
 * Does it need more memory before another request begins, or before a result is
 * queued once more? With an entry for each slot, it does not. One is kept for the
 * tree's oldest message.
 */
static inline bool inc_resultq_must_grow(const struct inc_result_queue *q)
{
	return q->used + 1 >= q->size && q->size < q->geom->slots;
}

void inc_resultq_init(struct inc_result_queue *q,
		      const struct inc_slot_geom *g);
size_t inc_resultq_memory(u16 size);
u16 inc_resultq_fits(const struct inc_slot_geom *g, size_t bytes);
void inc_resultq_grow(struct inc_result_queue *q, void *mem, u16 size);
bool inc_resultq_waits(const struct inc_result_queue *q, u32 msg_id);
enum inc_open_verdict inc_resultq_may_open(const struct inc_result_queue *q,
					   u32 msg_id);
bool inc_resultq_must_open(const struct inc_result_queue *q, u32 msg_id,
			   u32 low_mark);
void inc_resultq_open(struct inc_result_queue *q, const struct inc_msg *msg,
		      u64 va, u32 rkey, u32 size, bool beyond);
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
