// SPDX-License-Identifier: GPL-2.0
/*
 * The requester side of a QP: results and statuses that are ready become
 * requests in flight, and requests become packets.
 *
 * A result streams: chunks that are complete are sent while the rest is
 * missing. Packets of one WRITE message must follow each other on a QP, so a
 * streaming result would block all other slots. Hence each packet is a WRITE
 * ONLY, and the last one of the result has the Immediate.
 */
#include "core/psn.h"
#include "datapath/ack.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/tree.h"
#include "report/trace.h"

static u32 imm_of(u32 msg_id, u8 status)
{
	return (u32)status << INC_IMM_STATUS_SHIFT |
	       (msg_id & INC_IMM_MSG_ID_MASK);
}

static void enqueue(struct inc_qp *qp, u16 slot)
{
	struct inc_out *out = &qp->out[slot];

	lockdep_assert_held(&qp->tx_lock);
	if (out->queued)
		return;
	out->queued = true;
	qp->fifo[qp->fifo_tail++ & (qp->tree->cfg.slots - 1)] = slot;
}

static bool fifo_empty(const struct inc_qp *qp)
{
	return qp->fifo_head == qp->fifo_tail;
}

/*
 * Does a slot in the fifo have nothing left to send? Its result was to be
 * resent, but the member has moved on since, so it has had it.
 */
static bool stale(const struct inc_out *out)
{
	return !out->again &&
	       (!out->open || (!out->status && out->sent == out->ready));
}

/**
 * inc_txq_open() - record where the result of a new request goes
 * @qp: the member's QP
 * @msg: the request's parsed header
 * @va: where the member wants the result
 * @rkey: key of that memory
 * @size: bytes that its packets hold if they have to wait
 *
 * Context: BH; qp->rx.lock held, takes qp->tx_lock.
 * Return: enum inc_open_verdict.
 */
enum inc_open_verdict inc_txq_open(struct inc_qp *qp,
				   const struct inc_msg *msg, u64 va,
				   u32 rkey, u32 size)
{
	enum inc_open_verdict verdict;
	struct inc_out *out;

	out = &qp->out[msg->msg_id & (qp->tree->cfg.slots - 1)];
	spin_lock_bh(&qp->tx_lock);
	if (out->begun && out->msg_id == msg->msg_id) {
		/* If opened again, it would be answered again. */
		verdict = INC_OPEN_REPEAT;
	} else if (out->open ||
		   (out->begun && (s32)(msg->msg_id - out->msg_id) < 0)) {
		verdict = INC_OPEN_BUSY;
	} else if (inc_hold_full(qp, msg->msg_id, size)) {
		verdict = INC_OPEN_HELD;
	} else {
		verdict = INC_OPEN_OK;
		out->va = va;
		out->rkey = rkey;
		out->msg_id = msg->msg_id;
		out->held = size;
		out->off = msg->out_off;
		out->len = msg->out_len;
		out->whole = out->len == msg->data_len;
		out->nchunks = out->whole ? msg->nchunks :
			       max(DIV_ROUND_UP(out->len, qp->tree->cfg.pmtu), 1U);
		out->ready = 0;
		out->sent = 0;
		out->status = INC_STATUS_OK;
		out->open = true;
		out->begun = true;
		out->again = false;
		inc_hold_add(qp, size);
		WRITE_ONCE(qp->begun, qp->begun + 1);
		qp->nopen++;
	}
	spin_unlock_bh(&qp->tx_lock);
	return verdict;
}

/**
 * inc_txq_again() - look up a UC member's message and resend its result
 * @qp: its QP
 * @msg_id: message
 *
 * Context: BH; takes qp->tx_lock.
 * Return: enum inc_again_verdict.
 */
enum inc_again_verdict inc_txq_again(struct inc_qp *qp, u32 msg_id)
{
	u16 slot = msg_id & (qp->tree->cfg.slots - 1);
	struct inc_out *out = &qp->out[slot];
	enum inc_again_verdict verdict;

	spin_lock_bh(&qp->tx_lock);
	if (!out->begun || (s32)(msg_id - out->msg_id) > 0) {
		verdict = INC_AGAIN_UNKNOWN;
	} else if (msg_id != out->msg_id) {
		verdict = INC_AGAIN_OLD;
	} else if (out->open) {
		verdict = INC_AGAIN_OPEN;
	} else {
		verdict = INC_AGAIN_QUEUED;
		out->again = true;
		enqueue(qp, slot);
	}
	spin_unlock_bh(&qp->tx_lock);
	return verdict;
}

/**
 * inc_txq_close() - undo inc_txq_open() for a request its slot did not take
 * @qp: QP of the member
 * @msg_id: message that was opened
 *
 * The message may be opened again. Anything that another CPU has queued for it
 * meanwhile is still sent.
 *
 * Context: BH; takes qp->tx_lock.
 */
void inc_txq_close(struct inc_qp *qp, u32 msg_id)
{
	struct inc_out *out = &qp->out[msg_id & (qp->tree->cfg.slots - 1)];

	spin_lock_bh(&qp->tx_lock);
	out->begun = false;
	WRITE_ONCE(qp->begun, qp->begun - 1);
	if (out->open && (!out->queued || stale(out))) {
		out->open = false;
		inc_hold_add(qp, -(s64)out->held);
		qp->nopen--;
	}
	spin_unlock_bh(&qp->tx_lock);
}

/* Number of packets of a member's part that are ready with @ready chunks. */
static u16 out_ready(const struct inc_slot_geom *g, const struct inc_out *out,
		     const struct inc_msg *msg, u16 ready)
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
 * inc_txq_result() - queue more of a result
 * @qp: QP of a member
 * @slot: slot
 * @msg: message
 * @ready: chunks of it that are ready now
 *
 * inc_txq_kick() sends it.
 *
 * Context: BH; takes qp->tx_lock.
 */
void inc_txq_result(struct inc_qp *qp, u16 slot, const struct inc_msg *msg,
		    u16 ready)
{
	struct inc_out *out = &qp->out[slot];

	spin_lock_bh(&qp->tx_lock);
	if (out->open && out->msg_id == msg->msg_id) {
		ready = out_ready(&qp->tree->geom, out, msg, ready);
		/* Two CPUs may get here out of order. */
		if (ready > out->ready) {
			out->ready = ready;
			if (ready == out->nchunks) {
				inc_hold_add(qp, -(s64)out->held);
				qp->nopen--;
			}
			enqueue(qp, slot);
		}
	}
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_txq_status() - queue the error that a message has ended with
 * @qp: QP of a member
 * @slot: slot
 * @msg_id: message; nothing happens if the member's request has not begun
 * @status: enum inc_status
 *
 * Context: BH; takes qp->tx_lock.
 */
void inc_txq_status(struct inc_qp *qp, u16 slot, u32 msg_id, u8 status)
{
	struct inc_out *out = &qp->out[slot];

	spin_lock_bh(&qp->tx_lock);
	if (out->open && out->msg_id == msg_id && !out->status) {
		out->status = status;
		if (out->ready < out->nchunks) {
			inc_hold_add(qp, -(s64)out->held);
			qp->nopen--;
		}
		enqueue(qp, slot);
	}
	spin_unlock_bh(&qp->tx_lock);
}

/* @spare: entries to leave for others. Returns false if there is no room. */
static bool add_stray(struct inc_qp *qp, u32 msg_id, u8 status, u8 spare)
{
	if (qp->nstray + spare >= INC_QP_MAX_STRAY)
		return false;
	qp->stray[qp->nstray++] = imm_of(msg_id, status);
	return true;
}

/**
 * inc_txq_stray() - queue a status for a message that no slot knows
 * @qp: QP of the member
 * @msg_id: message
 * @status: enum inc_status
 *
 * Context: BH; takes qp->tx_lock.
 * Return: false if too many are queued. Then the member breaks the rules faster
 * than it reads, and has to retransmit the message.
 */
bool inc_txq_stray(struct inc_qp *qp, u32 msg_id, u8 status)
{
	bool added;

	spin_lock_bh(&qp->tx_lock);
	added = add_stray(qp, msg_id, status, 1);
	spin_unlock_bh(&qp->tx_lock);
	return added;
}

/**
 * inc_txq_missing() - tell a UC member to resend a message, if it was lost
 * @qp: its QP
 * @msg_id: message that should have arrived by now
 *
 * Context: BH; takes qp->tx_lock.
 */
void inc_txq_missing(struct inc_qp *qp, u32 msg_id)
{
	const struct inc_out *out;

	out = &qp->out[msg_id & (qp->tree->cfg.slots - 1)];
	spin_lock_bh(&qp->tx_lock);
	if (!out->begun || (s32)(msg_id - out->msg_id) > 0)
		add_stray(qp, msg_id, INC_STATUS_RESEND, 1);
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_txq_farewell() - tell a member that its tree has failed
 * @qp: QP of the member
 * @status: enum inc_status
 *
 * A member that waits for a message learns of it from that message's status. A
 * member that waits for none gets a status with the message ID that it would
 * use next.
 *
 * Context: process; takes qp->tx_lock.
 */
void inc_txq_farewell(struct inc_qp *qp, u8 status)
{
	u32 next = READ_ONCE(qp->rx.next_msg_id);
	bool waits = false;
	u16 slot;

	spin_lock_bh(&qp->tx_lock);
	for (slot = 0; slot < qp->tree->cfg.slots && !waits; slot++)
		waits = qp->out[slot].open;
	/* Uses the entry left free for it: sent once, and never lost. */
	if (!waits)
		add_stray(qp, next, status, 0);
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_txq_probe() - probe a silent member for life
 * @qp: its QP
 *
 * A zero-length RDMA WRITE touches no memory (IBTA C9-88) and completes
 * nothing on the host, but has to be acknowledged.
 *
 * Context: BH; takes qp->tx_lock.
 */
void inc_txq_probe(struct inc_qp *qp)
{
	/* A UC member would not answer, nor would one whose QP is not up. */
	if (qp->cfg.transport == RDMA_INC_TRANSPORT_UC ||
	    !(qp->uplink || READ_ONCE(qp->heard)))
		return;
	spin_lock_bh(&qp->tx_lock);
	/* A packet in flight is as good as a probe. */
	if (qp->req.una == qp->req.max)
		qp->probe = true;
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_txq_idle() - check whether a member has acknowledged everything
 * @qp: its QP
 *
 * Context: BH; takes qp->tx_lock.
 * Return: true if so; also if it never will because its QP is in error, or may
 * not because it was never heard from.
 */
bool inc_txq_idle(struct inc_qp *qp)
{
	bool idle;

	spin_lock_bh(&qp->tx_lock);
	idle = qp->state != RDMA_INC_MEMBER_STATE_RTS || !qp->heard ||
	       (qp->req.una == qp->req.max && fifo_empty(qp) && !qp->nstray &&
		!qp->probe);
	spin_unlock_bh(&qp->tx_lock);
	return idle;
}

static bool anything_queued(const struct inc_qp *qp)
{
	if (qp->uplink && inc_uplink_under_way(qp))
		return inc_uplink_sendable(qp);
	return !fifo_empty(qp) || qp->nstray || qp->probe;
}

static void fill_status(struct inc_qp *qp, struct inc_wqe *w, u32 imm)
{
	u8 status = imm >> INC_IMM_STATUS_SHIFT;

	*w = (struct inc_wqe) {
		.imm	= imm,
		.opcode	= IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
	};
	if (status == INC_STATUS_RESEND || status == INC_STATUS_PENDING) {
		inc_stats_inc(qp->stats, status == INC_STATUS_RESEND ?
			      RDMA_INC_A_MEMBER_STATS_TX_RESEND_REPLIES :
			      RDMA_INC_A_MEMBER_STATS_TX_PENDING_REPLIES);
		return;
	}
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_ERRORS);
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_MESSAGES);
}

/* Each result tells a UC member which of its messages have ended. */
static u8 ok_status(struct inc_qp *qp, u32 msg_id)
{
	s32 behind;

	if (qp->cfg.transport != RDMA_INC_TRANSPORT_UC)
		return INC_STATUS_OK;
	behind = msg_id - inc_tree_low_mark(qp->tree);
	return INC_IMM_LOWMARK | clamp(behind, 0, INC_IMM_LOWMARK_MAX);
}

static void fill_chunk(struct inc_qp *qp, struct inc_wqe *w, u16 slot,
		       struct inc_out *out)
{
	const struct inc_slot_geom *g = &qp->tree->geom;
	u16 n = out->sent++;
	bool last = out->sent == out->nchunks;
	u32 off = out->whole ? inc_chunk_off(g, n) : (u32)n * g->pmtu;

	*w = (struct inc_wqe) {
		.va	= out->va + off,
		.rkey	= out->rkey,
		.msg_id	= out->msg_id,
		.imm	= imm_of(out->msg_id, ok_status(qp, out->msg_id)),
		.off	= out->off + off,
		.slot	= slot,
		.shared	= out->whole,
		.len	= out->whole ? inc_chunk_len(g, n, out->len) :
				       min_t(u32, out->len - off, g->pmtu),
		.opcode	= last ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
				 IB_OPCODE_RC_RDMA_WRITE_ONLY,
	};
	if (!last)
		qp->tx_end = INC_REQ_MORE;
	else if (out->nchunks == 1)
		qp->tx_end = INC_REQ_END_SHARED;
	if (last) {
		out->open = false;
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_MESSAGES);
	}
}

static void fill_stray(struct inc_qp *qp, struct inc_wqe *w)
{
	fill_status(qp, w, qp->stray[0]);
	qp->nstray--;
	memmove(qp->stray, qp->stray + 1, qp->nstray * sizeof(qp->stray[0]));
}

/* Turn the next queued item into a request in flight, if the window allows. */
static void fill_one(struct inc_qp *qp)
{
	struct inc_out *out;
	struct inc_wqe *w;
	u16 slot;

	if (!anything_queued(qp))
		return;
	w = inc_requester_push(&qp->req);
	if (!w)
		return;

	qp->tx_end = INC_REQ_END;
	if (qp->uplink && inc_uplink_under_way(qp)) {
		qp->tx_end = inc_uplink_fill(qp, w);
		return;
	}
	if (qp->nstray) {
		fill_stray(qp, w);
		return;
	}
	if (fifo_empty(qp)) {
		qp->probe = false;
		*w = (struct inc_wqe) { .opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY };
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_PROBES);
		return;
	}

	if (qp->uplink) {
		qp->tx_end = inc_uplink_fill(qp, w);
		return;
	}
	slot = qp->fifo[qp->fifo_head & (qp->tree->cfg.slots - 1)];
	out = &qp->out[slot];
	if (out->status) {
		fill_status(qp, w, imm_of(out->msg_id, out->status));
		out->open = false;
	} else {
		fill_chunk(qp, w, slot, out);
	}
	if (!out->open || out->sent == out->ready) {
		out->queued = false;
		qp->fifo_head++;
	}
}

static void count_sent(struct inc_qp *qp, const struct inc_wqe *w, u32 psn,
		       enum inc_requester_kind kind)
{
	switch (kind) {
	case INC_REQ_FRESH:
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_PACKETS);
		inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_BYTES,
			      w->len);
		trace_inc_tx_result(qp, psn, w);
		break;
	case INC_REQ_AGAIN:
		inc_stats_inc(qp->stats,
			      RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS);
		trace_inc_retransmit(qp, psn);
		break;
	case INC_REQ_ASK:
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_PROBES);
		break;
	}
}

/**
 * inc_txq_arm() - arm the retransmission timer for the next deadline
 * @qp: QP
 * @now: time
 *
 * Context: BH; qp->tx_lock held.
 */
void inc_txq_arm(struct inc_qp *qp, u64 now)
{
	u64 deadline = inc_requester_deadline(&qp->req);
	unsigned long at;

	if (!deadline)
		return;
	at = jiffies + 1 +
	     (deadline > now ? usecs_to_jiffies(deadline - now) : 0);
	/*
	 * A pending timer that fires early checks again and re-arms itself,
	 * which saves touching it with every packet. One that would fire late
	 * is moved.
	 */
	if (!timer_pending(&qp->rto) || time_before(at, qp->rto.expires))
		mod_timer(&qp->rto, at);
}

/*
 * The same for a UC member. Its requests are never in flight: they are
 * forgotten once sent. Returns false if nothing is queued.
 */
static bool fill_uc(struct inc_qp *qp, struct inc_wqe *w, enum inc_requester_kind *kind)
{
	*kind = INC_REQ_FRESH;
	if (qp->nstray) {
		fill_stray(qp, w);
		return true;
	}
	while (!fifo_empty(qp)) {
		u16 slot = qp->fifo[qp->fifo_head++ & (qp->tree->cfg.slots - 1)];
		struct inc_out *out = &qp->out[slot];

		out->queued = false;
		if (stale(out))
			continue;
		if (out->again) {
			*kind = INC_REQ_AGAIN;
			out->again = false;
			out->sent = 0;
		}
		if (out->status)
			fill_status(qp, w, imm_of(out->msg_id, out->status));
		else
			fill_chunk(qp, w, slot, out);
		out->open = false;
		return true;
	}
	return false;
}

static bool make_batch_uc(struct inc_qp *qp, struct inc_gso *b)
{
	int i;

	for (i = 0; i < INC_GSO_MAX; i++) {
		enum inc_requester_kind kind;
		struct inc_wqe w;

		if (!fill_uc(qp, &w, &kind))
			break;
		count_sent(qp, &w, qp->uc_psn, kind);
		b->apart |= kind == INC_REQ_AGAIN;
		/* Without memory it is lost; the member queries. */
		inc_tx_request(b, qp, &w, qp->uc_psn, false);
		qp->uc_psn = inc_psn_add(qp->uc_psn, 1);
	}
	return i == INC_GSO_MAX;
}

/* Build up to a batch of packets. Returns whether there may be more. */
static bool make_batch(struct inc_qp *qp, struct inc_gso *b)
{
	u64 now = inc_now();
	int i;

	lockdep_assert_held(&qp->tx_lock);
	if (qp->state != RDMA_INC_MEMBER_STATE_RTS)
		return false;
	if (qp->cfg.transport == RDMA_INC_TRANSPORT_UC)
		return make_batch_uc(qp, b);

	for (i = 0; i < INC_GSO_MAX; i++) {
		enum inc_requester_kind kind;
		struct inc_wqe *w;
		bool ackreq;
		u32 psn;

		if (qp->req.next == qp->req.max)
			fill_one(qp);
		w = inc_requester_next(&qp->req, now,
				       anything_queued(qp) ? INC_REQ_MORE : qp->tx_end,
				       &psn, &ackreq, &kind);
		if (!w)
			break;
		count_sent(qp, w, psn, kind);
		b->apart |= kind == INC_REQ_AGAIN;
		/* Without memory it counts as lost; the timer resends it. */
		inc_tx_request(b, qp, w, psn, ackreq);
	}
	inc_txq_arm(qp, now);
	return i == INC_GSO_MAX;
}

/*
 * Batches that a CPU may send in one turn. That is more than the largest
 * window; without a limit, packets queued meanwhile could keep it busy forever.
 */
#define MAX_BATCHES	(2 * INC_REQ_MAX_WINDOW / INC_GSO_MAX)

/* Send everything queued, or have inc_qp.more continue after this turn. */
static void transmit(struct inc_qp *qp, struct inc_gso *b)
{
	int left = MAX_BATCHES;
	bool more;

	lockdep_assert_held(&qp->tx_lock);
	while (qp->tx_again) {
		if (!left--) {
			queue_work(system_bh_wq, &qp->more);
			return;
		}
		qp->tx_again = false;
		more = make_batch(qp, b);
		spin_unlock(&qp->tx_lock);
		inc_gso_send(b, qp);
		spin_lock(&qp->tx_lock);
		qp->tx_again |= more;
	}
	qp->tx_busy = false;
}

/**
 * inc_txq_kick() - send what is ready
 * @qp: QP
 *
 * One CPU transmits for a QP at a time, so that PSNs leave in order without a
 * lock held across the IP stack; a second one leaves its packets to the first.
 *
 * Context: any but hard interrupt, RCU read side or a reference to the QP.
 */
void inc_txq_kick(struct inc_qp *qp)
{
	struct inc_gso burst;
	bool lone = false;

	inc_gso_init(&burst);
	local_bh_disable();
	spin_lock(&qp->tx_lock);
	qp->tx_again = true;
	if (!qp->tx_busy) {
		qp->tx_busy = true;
		transmit(qp, &burst);
		lone = !qp->nopen;
	}
	spin_unlock(&qp->tx_lock);
	inc_gso_end(&burst);
	if (lone)
		inc_ack_lone(qp);
	local_bh_enable();
}

/**
 * inc_txq_more() - continue sending after a CPU's turn
 * @work: inc_qp.more; inc_qp.tx_busy is still set for it
 *
 * Context: softirq.
 */
void inc_txq_more(struct work_struct *work)
{
	struct inc_qp *qp = container_of(work, struct inc_qp, more);
	struct inc_gso burst;

	inc_gso_init(&burst);
	spin_lock(&qp->tx_lock);
	transmit(qp, &burst);
	spin_unlock(&qp->tx_lock);
	inc_gso_end(&burst);
}

/**
 * inc_txq_kick_parent() - let a child's uplink send what is queued
 * @tree: any tree
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_txq_kick_parent(struct inc_tree *tree)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (qp)
		inc_txq_kick(qp);
}

/**
 * inc_txq_probe_parent() - probe the parent, and through it all behind it
 * @tree: any tree
 *
 * Context: BH, RCU read side; takes the uplink's tx_lock.
 * Return: false if the tree has no parent.
 */
bool inc_txq_probe_parent(struct inc_tree *tree)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (!qp)
		return false;
	inc_txq_probe(qp);
	return true;
}

/**
 * inc_txq_heard() - note the first packet received from a member
 * @qp: its QP
 *
 * Packets that could not reach it before may now, without waiting for the
 * timer.
 *
 * Context: softirq, no lock held.
 */
void inc_txq_heard(struct inc_qp *qp)
{
	spin_lock(&qp->tx_lock);
	WRITE_ONCE(qp->heard, true);
	inc_requester_heard(&qp->req, inc_now());
	spin_unlock(&qp->tx_lock);
	inc_txq_kick(qp);
}
