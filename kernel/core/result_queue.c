// SPDX-License-Identifier: GPL-2.0
/*
 * The results and statuses that are queued for one member.
 *
 * A result streams: chunks that are complete are sent while the rest is
 * missing. Packets of one WRITE message must follow each other on a QP, so a
 * streaming result would block all other slots. Hence each packet is a WRITE
 * ONLY, and the last one of the result has the Immediate.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>

#include "core/result_queue.h"

/* Bytes of an entry: one of each array. */
#define ENTRY_BYTES	(sizeof(struct inc_out) + \
			 sizeof(struct inc_oldest_entry) + 3 * sizeof(u16))

/* The @nth entry of the fifo. */
static u16 *fifo_at(const struct inc_result_queue *q, u16 nth)
{
	u32 at = q->head + nth;

	return &q->fifo[at < q->size ? at : at - q->size];
}

static void enqueue_out(struct inc_result_queue *q, struct inc_out *out)
{
	if (out->queued)
		return;
	out->queued = true;
	*fifo_at(q, q->queued) = out - q->out;
	q->queued++;
}

static void dequeue_out(struct inc_result_queue *q, struct inc_out *out)
{
	out->queued = false;
	q->head = q->head + 1 < q->size ? q->head + 1 : 0;
	q->queued--;
}

/*
 * Find the entry of a slot's message, or NULL. Few slots share a bucket, whichever
 * a member chooses: with fewer buckets there are fewer entries.
 */
static struct inc_out *find_slot(const struct inc_result_queue *q, u32 msg_id)
{
	struct inc_out *out;
	u16 at;

	for (at = q->bucket[msg_id & q->mask]; at; at = q->next[at - 1]) {
		out = &q->out[at - 1];
		if (!((out->msg_id ^ msg_id) & (q->geom->slots - 1)))
			return out;
	}
	return NULL;
}

/* Find the entry of an open message, or NULL. */
static struct inc_out *find_open(const struct inc_result_queue *q, u32 msg_id)
{
	struct inc_out *out = find_slot(q, msg_id);

	return out && out->open && out->msg_id == msg_id ? out : NULL;
}

/* Put an entry with this index into the bucket of its message. */
static void link_out(struct inc_result_queue *q, u16 index, u32 msg_id)
{
	u16 *bucket = &q->bucket[msg_id & q->mask];

	q->next[index] = *bucket;
	*bucket = index + 1;
}

/* Find the entry of a slot, or one that is not in use. */
static struct inc_out *take_slot(struct inc_result_queue *q, u32 msg_id)
{
	struct inc_out *out = find_slot(q, msg_id);
	u16 index;

	if (out)
		return out;
	index = q->free - 1;
	q->free = q->next[index];
	q->used++;
	link_out(q, index, msg_id);
	out = &q->out[index];
	out->queued = false;
	return out;
}

static bool in_use(const struct inc_out *out)
{
	return out->open || out->queued;
}

/* Free an entry if it is not in use any more. */
static void put_out(struct inc_result_queue *q, struct inc_out *out)
{
	u16 *link = &q->bucket[out->msg_id & q->mask], at = out - q->out + 1;

	if (in_use(out))
		return;
	while (*link != at)
		link = &q->next[*link - 1];
	*link = q->next[at - 1];
	q->next[at - 1] = q->free;
	q->free = at;
	q->used--;
}

/*
 * Has an entry of the fifo nothing left to send? Its result was to be
 * resent, but the member has moved on since, so it has had it.
 */
static bool is_stale(const struct inc_out *out)
{
	return !out->resend &&
	       (!out->open || (!out->status && out->sent == out->ready));
}

/**
 * inc_resultq_init() - initialize an empty queue, without memory for results
 * @q: queue
 * @g: the tree's geometry
 *
 * An empty queue takes statuses that belong to no slot, and probes.
 */
void inc_resultq_init(struct inc_result_queue *q, const struct inc_slot_geom *g)
{
	/* Only read: a message is put there when there is memory. */
	static const u16 nothing;

	*q = (struct inc_result_queue) {
		.geom	= g,
		.bucket	= (u16 *)&nothing,
	};
}

/**
 * inc_resultq_memory() - compute the memory that a queue needs
 * @size: number of messages in progress
 *
 * Context: any.
 * Return: bytes.
 */
size_t inc_resultq_memory(u16 size)
{
	return size * ENTRY_BYTES;
}

/**
 * inc_resultq_fits() - compute how many messages in progress memory has room for
 * @g: the tree's geometry
 * @bytes: of the memory
 *
 * Context: any.
 * Return: their number, the tree's slots at most.
 */
u16 inc_resultq_fits(const struct inc_slot_geom *g, size_t bytes)
{
	return min_t(size_t, g->slots, bytes / ENTRY_BYTES);
}

/**
 * inc_resultq_grow() - give a queue memory, or more
 * @q: queue; inc_resultq_must_grow()
 * @mem: zeroed, inc_resultq_memory() bytes; the caller frees the memory it had
 *	before
 * @size: number of messages in progress, more than before
 *
 * Context: the queue's lock is held.
 */
void inc_resultq_grow(struct inc_result_queue *q, void *mem, u16 size)
{
	struct inc_oldest_entry *waiting;
	struct inc_out *out = mem;
	u16 i, *fifo, *next;

	waiting = (struct inc_oldest_entry *)(out + size);
	next = (u16 *)(waiting + size);
	fifo = next + 2 * size;
	for (i = 0; i < q->size; i++) {
		out[i] = q->out[i];
		waiting[i] = q->waiting.entry[i];
	}
	for (i = 0; i < q->queued; i++)
		fifo[i] = *fifo_at(q, i);
	q->head = 0;
	q->out = out;
	q->waiting.entry = waiting;
	q->next = next;
	q->bucket = next + size;
	q->fifo = fifo;
	q->mask = rounddown_pow_of_two(size) - 1;
	q->size = size;
	q->free = 0;
	for (i = size; i--;) {
		if (in_use(&out[i])) {
			link_out(q, i, out[i].msg_id);
		} else {
			next[i] = q->free;
			q->free = i + 1;
		}
	}
}

/**
 * inc_resultq_may_open() - check whether a new request may begin
 * @q: queue
 * @msg_id: its message
 *
 * Context: the queue's lock is held.
 * Return: enum inc_open_verdict, but never INC_OPEN_HELD.
 */
enum inc_open_verdict inc_resultq_may_open(const struct inc_result_queue *q,
					   u32 msg_id)
{
	const struct inc_out *out = find_slot(q, msg_id);

	if (!out || !out->open)
		return INC_OPEN_OK;
	return out->msg_id == msg_id ? INC_OPEN_REPEAT : INC_OPEN_BUSY;
}

/**
 * inc_resultq_must_open() - check whether a new request may begin beyond all limits
 * @q: queue
 * @msg_id: its message
 * @low_mark: all messages of the tree before this one have ended
 *
 * If the tree's oldest message could not begin, nothing would make progress. It is
 * older than all that wait here. One more that is may begin, too, for if a tree does
 * not use all message IDs nobody knows which one is its oldest. Not each that is: a
 * member that begins the newest ones first would know no limit. So over UC, where
 * losses change the order, a tree must use all (protocol.rst).
 *
 * Context: the queue's lock is held.
 * Return: true if so.
 */
bool inc_resultq_must_open(const struct inc_result_queue *q, u32 msg_id,
			   u32 low_mark)
{
	return inc_oldest_is(&q->waiting, msg_id) &&
	       (!q->nbeyond || (s32)(msg_id - low_mark) <= 0);
}

static void set_result(const struct inc_result_queue *q, struct inc_out *out,
		       const struct inc_msg *msg, u64 va, u32 rkey)
{
	bool whole = msg->out_len == msg->data_len;

	out->va = va;
	out->rkey = rkey;
	out->msg_id = msg->msg_id;
	out->off = msg->out_off;
	out->len = msg->out_len;
	out->whole = whole;
	out->nchunks = whole ? msg->nchunks :
		       max(DIV_ROUND_UP(msg->out_len, q->geom->pmtu), 1U);
	out->sent = 0;
}

/**
 * inc_resultq_open() - record where the result of a new request goes
 * @q: queue; inc_resultq_may_open(), and it has an entry that is not in use
 * @msg: the request's parsed header
 * @va: where the member wants the result
 * @rkey: key of that memory
 * @size: bytes that its packets hold if they have to wait
 * @beyond: these are more than the member may hold: inc_resultq_must_open()
 *
 * Context: the queue's lock is held.
 */
void inc_resultq_open(struct inc_result_queue *q, const struct inc_msg *msg,
		      u64 va, u32 rkey, u32 size, bool beyond)
{
	struct inc_out *out = take_slot(q, msg->msg_id);

	set_result(q, out, msg, va, rkey);
	out->held = size;
	out->ready = 0;
	out->status = INC_STATUS_OK;
	out->open = true;
	out->resend = false;
	out->beyond = beyond;
	q->nbeyond += beyond;
	q->held += size;
	inc_oldest_add(&q->waiting, msg->msg_id, out - q->out);
	WRITE_ONCE(q->begun, q->begun + 1);
}

/* A request is complete. Returns the bytes that it does not hold any more. */
static u32 release_request(struct inc_result_queue *q,
			   const struct inc_out *out)
{
	inc_oldest_del(&q->waiting, out - q->out);
	q->nbeyond -= out->beyond;
	q->held -= out->held;
	return out->held;
}

/**
 * inc_resultq_close() - undo inc_resultq_open(), as the request was not taken
 * @q: queue
 * @msg_id: message that was opened
 *
 * The message may be opened again. Anything that was queued for it meanwhile is
 * still sent.
 *
 * Context: the queue's lock is held.
 * Return: bytes that are not held any more.
 */
u32 inc_resultq_close(struct inc_result_queue *q, u32 msg_id)
{
	struct inc_out *out = find_open(q, msg_id);
	u32 freed;

	WRITE_ONCE(q->begun, q->begun - 1);
	if (!out || (out->queued && !is_stale(out)))
		return 0;
	out->open = false;
	freed = release_request(q, out);
	put_out(q, out);
	return freed;
}

/**
 * inc_resultq_waits() - check whether a message waits for chunks of others
 * @q: queue
 * @msg_id: message
 *
 * Context: the queue's lock is held.
 * Return: true if so; then its packets are held.
 */
bool inc_resultq_waits(const struct inc_result_queue *q, u32 msg_id)
{
	const struct inc_out *out = find_open(q, msg_id);

	return out && !out->status && out->ready < out->nchunks;
}

/**
 * inc_resultq_hold() - hold more for a message than it was opened with
 * @q: queue
 * @msg_id: message
 * @bytes: by how much
 *
 * Context: the queue's lock is held.
 * Return: false if the message holds nothing, and still does not.
 */
bool inc_resultq_hold(struct inc_result_queue *q, u32 msg_id, u32 bytes)
{
	struct inc_out *out = find_open(q, msg_id);

	if (!inc_resultq_waits(q, msg_id) || !out->held)
		return false;
	out->held += bytes;
	q->held += bytes;
	return true;
}

/* Number of packets of a member's part that are ready with @ready chunks. */
static u16 packets_ready(const struct inc_slot_geom *g,
			 const struct inc_out *out, const struct inc_msg *msg,
			 u16 ready)
{
	u32 bytes;

	if (out->whole || ready == msg->nchunks)
		return min(ready, out->nchunks);
	bytes = inc_chunk_off(g, ready);
	if (bytes <= out->off)
		return 0;
	/* The last packet tells that the whole message is done. */
	return min_t(u32, (bytes - out->off) / g->pmtu, out->nchunks - 1);
}

/**
 * inc_resultq_ready() - queue more of a result
 * @q: queue
 * @msg: message
 * @ready: chunks of it that are ready now
 *
 * Context: the queue's lock is held.
 * Return: bytes that are not held any more.
 */
u32 inc_resultq_ready(struct inc_result_queue *q, const struct inc_msg *msg,
		      u16 ready)
{
	struct inc_out *out = find_open(q, msg->msg_id);

	if (!out)
		return 0;
	ready = packets_ready(q->geom, out, msg, ready);
	/* Two CPUs may get here out of order. */
	if (ready <= out->ready)
		return 0;
	out->ready = ready;
	enqueue_out(q, out);
	return ready == out->nchunks ? release_request(q, out) : 0;
}

/**
 * inc_resultq_status() - queue the error that a message has ended with
 * @q: queue
 * @msg_id: message; nothing happens if the member's request has not begun
 * @status: enum inc_status
 *
 * Context: the queue's lock is held.
 * Return: bytes that are not held any more.
 */
u32 inc_resultq_status(struct inc_result_queue *q, u32 msg_id, u8 status)
{
	struct inc_out *out = find_open(q, msg_id);

	if (!out || out->status)
		return 0;
	out->status = status;
	enqueue_out(q, out);
	return out->ready < out->nchunks ? release_request(q, out) : 0;
}

/**
 * inc_resultq_resend() - queue the outcome of a UC member's message once more
 * @q: queue; !inc_resultq_must_grow()
 * @msg: message that has ended, with the member's part of its result
 * @va: where the member wants the result
 * @rkey: key of that memory
 * @status: enum inc_status that it has ended with
 *
 * Context: the queue's lock is held.
 * Return: false if its outcome is not queued yet, or not sent for the first time.
 */
bool inc_resultq_resend(struct inc_result_queue *q, const struct inc_msg *msg,
			u64 va, u32 rkey, u8 status)
{
	struct inc_out *out = take_slot(q, msg->msg_id);

	if (out->open)
		return false;
	set_result(q, out, msg, va, rkey);
	out->status = status;
	out->resend = true;
	enqueue_out(q, out);
	return true;
}

/* @reserve: entries to leave for others. Returns false if there is no room. */
static bool add_stray(struct inc_result_queue *q, u32 msg_id, u8 status,
		      u8 reserve)
{
	if (q->nstray + reserve >= INC_RESULTQ_MAX_STRAY)
		return false;
	q->stray[q->nstray++] = inc_wqe_imm(msg_id, status);
	return true;
}

/**
 * inc_resultq_stray() - queue a status for a message that no slot knows
 * @q: queue
 * @msg_id: message
 * @status: enum inc_status
 *
 * Context: the queue's lock is held.
 * Return: false if too many are queued.
 */
bool inc_resultq_stray(struct inc_result_queue *q, u32 msg_id, u8 status)
{
	return add_stray(q, msg_id, status, 1);
}

/**
 * inc_resultq_farewell() - queue the status with which a tree has failed
 * @q: queue
 * @next_msg_id: message ID that the member would use next
 * @status: enum inc_status
 *
 * Nothing is queued for a member that waits for a message: it learns of the
 * failure from that message's status. A message that has begun either waits for
 * others or is queued, so idle slots need not be looked at.
 *
 * Context: the queue's lock is held.
 */
void inc_resultq_farewell(struct inc_result_queue *q, u32 next_msg_id,
			  u8 status)
{
	u16 i;

	if (q->waiting.n)
		return;
	for (i = 0; i < q->queued; i++)
		if (q->out[*fifo_at(q, i)].open)
			return;
	/* Uses the entry left free for it: sent once, and never lost. */
	add_stray(q, next_msg_id, status, 0);
}

static enum inc_resultq_item fill_status(struct inc_wqe *w, u32 imm)
{
	*w = (struct inc_wqe) {
		.imm	= imm,
		.opcode	= IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	};
	switch (imm >> INC_IMM_STATUS_SHIFT) {
	case INC_STATUS_RESEND:
		return INC_RESULTQ_RESEND;
	case INC_STATUS_PENDING:
		return INC_RESULTQ_PENDING;
	default:
		return INC_RESULTQ_ERROR;
	}
}

static enum inc_resultq_item fill_stray(struct inc_result_queue *q,
					struct inc_wqe *w)
{
	u32 imm = q->stray[0];

	q->nstray--;
	memmove(q->stray, q->stray + 1, q->nstray * sizeof(q->stray[0]));
	return fill_status(w, imm);
}

static enum inc_resultq_item fill_chunk(struct inc_result_queue *q,
					struct inc_wqe *w, struct inc_out *out,
					u8 status)
{
	const struct inc_slot_geom *g = q->geom;
	u16 n = out->sent++;
	bool last = out->sent == out->nchunks;
	u32 off = out->whole ? inc_chunk_off(g, n) : (u32)n * g->pmtu;
	u16 len = out->whole ? inc_chunk_len(g, n, out->len) :
			       min_t(u32, out->len - off, g->pmtu);

	*w = (struct inc_wqe) {
		.va	= out->va + off,
		.rkey	= out->rkey,
		.msg_id	= out->msg_id,
		.imm	= inc_wqe_imm(out->msg_id, status),
		.off	= out->off + off,
		.slot	= out->msg_id & (q->geom->slots - 1),
		.len	= len,
		.dmalen	= len,
		.source	= out->whole ? INC_WQE_CHUNK : INC_WQE_RESULT,
		.opcode	= last ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
				 IB_OPCODE_RC_RDMA_WRITE_ONLY,
	};
	if (!last)
		return INC_RESULTQ_PART;
	out->open = false;
	return INC_RESULTQ_LAST;
}

static enum inc_resultq_item fill_out(struct inc_result_queue *q,
				      struct inc_wqe *w, struct inc_out *out,
				      u8 ok_status)
{
	if (!out->status)
		return fill_chunk(q, w, out, ok_status);
	out->open = false;
	return fill_status(w, inc_wqe_imm(out->msg_id, out->status));
}

/**
 * inc_resultq_next() - turn the next queued item into a request of an RC member
 * @q: queue; !inc_resultq_empty()
 * @w: filled in
 * @end: set to whether more follow at once
 *
 * Context: the queue's lock is held.
 * Return: its kind.
 */
enum inc_resultq_item inc_resultq_next(struct inc_result_queue *q,
				       struct inc_wqe *w,
				       enum inc_requester_end *end)
{
	enum inc_resultq_item item;
	struct inc_out *out;

	*end = INC_REQ_END;
	if (q->nstray)
		return fill_stray(q, w);
	if (!q->queued) {
		q->probe = false;
		*w = (struct inc_wqe) {
			.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		};
		return INC_RESULTQ_PROBE;
	}

	out = &q->out[*fifo_at(q, 0)];
	item = fill_out(q, w, out, INC_STATUS_OK);
	if (item == INC_RESULTQ_PART)
		*end = INC_REQ_MORE;
	else if (item == INC_RESULTQ_LAST && out->nchunks == 1)
		*end = INC_REQ_END_SHARED;
	if (!out->open || out->sent == out->ready)
		dequeue_out(q, out);
	put_out(q, out);
	return item;
}

/* A result tells a UC member which of its messages have ended. */
static u8 low_mark_status(u32 msg_id, u32 low_mark)
{
	s32 behind = msg_id - low_mark;

	return INC_IMM_LOWMARK | clamp(behind, 0, INC_IMM_LOWMARK_MAX);
}

/**
 * inc_resultq_next_uc() - turn the next queued item into a UC member's packet
 * @q: queue
 * @w: filled in; is never in flight: it is forgotten once sent
 * @low_mark: all messages before this one have ended
 * @kind: set to whether it was sent before
 *
 * Context: the queue's lock is held.
 * Return: its kind, INC_RESULTQ_NONE if nothing is queued.
 */
enum inc_resultq_item inc_resultq_next_uc(struct inc_result_queue *q,
					  struct inc_wqe *w, u32 low_mark,
					  enum inc_requester_kind *kind)
{
	enum inc_resultq_item item = INC_RESULTQ_NONE;

	*kind = INC_REQ_FRESH;
	if (q->nstray)
		item = fill_stray(q, w);
	while (!item && q->queued) {
		struct inc_out *out = &q->out[*fifo_at(q, 0)];

		dequeue_out(q, out);
		if (!is_stale(out)) {
			if (out->resend)
				*kind = INC_REQ_RETRANSMIT;
			out->resend = false;
			item = fill_out(q, w, out,
					low_mark_status(out->msg_id, low_mark));
			out->open = false;
		}
		put_out(q, out);
	}
	if (item)
		w->opcode |= IB_OPCODE_UC;
	return item;
}
