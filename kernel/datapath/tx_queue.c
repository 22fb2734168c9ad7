// SPDX-License-Identifier: GPL-2.0
/*
 * The requester side of a QP: queued results become requests in flight, and
 * requests become packets. The decisions are made in core/result_queue.c,
 * core/uplink_queue.c and core/requester.c; here are the lock, the counters and the
 * bursts.
 */
#include "core/psn.h"
#include "core/uplink_queue.h"
#include "datapath/ack_delay.h"
#include "datapath/fault.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/qp_mem.h"
#include "object/tree.h"
#include "report/trace.h"

/* Uncharge the tree and the namespace as inc_result_queue.held was. */
static void uncharge_all(struct inc_qp *qp, u32 bytes)
{
	if (bytes)
		inc_hold_account(qp, -(s64)bytes);
}

/**
 * inc_txq_open() - record where the result of a new request goes
 * @qp: the member's QP
 * @msg: the request's parsed header
 * @va: where the member wants the result
 * @rkey: key of that memory
 * @size: bytes that its packets hold if they have to wait
 *
 * Context: BH; qp->rx.lock held, takes qp->tx.lock.
 * Return: enum inc_open_verdict.
 */
enum inc_open_verdict inc_txq_open(struct inc_qp *qp,
				   const struct inc_msg *msg, u64 va,
				   u32 rkey, u32 size)
{
	struct inc_result_queue *q = &qp->tx.results;
	enum inc_open_verdict verdict;
	bool beyond;

	spin_lock_bh(&qp->tx.lock);
	verdict = inc_resultq_may_open(q, msg->msg_id);
	beyond = inc_hold_exceeded(qp, size);
	if (verdict == INC_OPEN_OK && unlikely(beyond) &&
	    !inc_resultq_must_open(q, msg->msg_id, inc_tree_low_mark(qp->tree)))
		verdict = INC_OPEN_HELD;
	if (verdict == INC_OPEN_OK)
		inc_resultq_open(q, msg, va, rkey, size, beyond);
	spin_unlock_bh(&qp->tx.lock);
	if (verdict == INC_OPEN_OK && size)
		inc_hold_account(qp, size);
	return verdict;
}

/**
 * inc_txq_resend() - queue the outcome of a UC member's message once more
 * @qp: its QP
 * @msg: message that has ended, with the member's part of its result
 * @va: where the member wants the result
 * @rkey: key of that memory
 * @status: enum inc_status that it has ended with
 *
 * Context: BH; takes qp->tx.lock.
 * Return: false if its outcome has yet to be sent for the first time.
 */
bool inc_txq_resend(struct inc_qp *qp, const struct inc_msg *msg, u64 va,
		    u32 rkey, u8 status)
{
	bool queued;

	spin_lock_bh(&qp->tx.lock);
	queued = inc_resultq_resend(&qp->tx.results, msg, va, rkey, status);
	spin_unlock_bh(&qp->tx.lock);
	return queued;
}

/**
 * inc_txq_close() - undo inc_txq_open() for a request its slot did not take
 * @qp: QP of the member
 * @msg_id: message that was opened
 *
 * Context: BH; takes qp->tx.lock.
 */
void inc_txq_close(struct inc_qp *qp, u32 msg_id)
{
	u32 freed;

	spin_lock_bh(&qp->tx.lock);
	freed = inc_resultq_close(&qp->tx.results, msg_id);
	spin_unlock_bh(&qp->tx.lock);
	uncharge_all(qp, freed);
}

/**
 * inc_txq_result() - queue more of a result
 * @qp: QP of a member
 * @msg: message
 * @ready: chunks of it that are ready now
 *
 * inc_txq_kick() sends it.
 *
 * Context: BH; takes qp->tx.lock.
 */
void inc_txq_result(struct inc_qp *qp, const struct inc_msg *msg, u16 ready)
{
	u32 freed;

	spin_lock_bh(&qp->tx.lock);
	freed = inc_resultq_ready(&qp->tx.results, msg, ready);
	spin_unlock_bh(&qp->tx.lock);
	uncharge_all(qp, freed);
}

/**
 * inc_txq_status() - queue the error that a message has ended with
 * @qp: QP of a member
 * @msg_id: message; nothing happens if the member's request has not begun
 * @status: enum inc_status
 *
 * Context: BH; takes qp->tx.lock.
 */
void inc_txq_status(struct inc_qp *qp, u32 msg_id, u8 status)
{
	u32 freed;

	spin_lock_bh(&qp->tx.lock);
	freed = inc_resultq_status(&qp->tx.results, msg_id, status);
	spin_unlock_bh(&qp->tx.lock);
	uncharge_all(qp, freed);
}

/**
 * inc_txq_stray() - queue a status for a message that no slot knows
 * @qp: QP of the member
 * @msg_id: message
 * @status: enum inc_status
 *
 * Context: BH; takes qp->tx.lock.
 * Return: false if too many are queued. Then the member breaks the rules faster
 * than it reads, and has to retransmit the message.
 */
bool inc_txq_stray(struct inc_qp *qp, u32 msg_id, u8 status)
{
	bool added;

	spin_lock_bh(&qp->tx.lock);
	added = inc_resultq_stray(&qp->tx.results, msg_id, status);
	spin_unlock_bh(&qp->tx.lock);
	return added;
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
 * Context: process; takes qp->tx.lock.
 */
void inc_txq_farewell(struct inc_qp *qp, u8 status)
{
	u32 next = READ_ONCE(qp->rx.next_msg_id);

	spin_lock_bh(&qp->tx.lock);
	inc_resultq_farewell(&qp->tx.results, next, status);
	spin_unlock_bh(&qp->tx.lock);
}

/**
 * inc_txq_probe() - probe a silent member for life
 * @qp: its QP
 *
 * A zero-length RDMA WRITE touches no memory (IBTA C9-88) and completes
 * nothing on the host, but has to be acknowledged.
 *
 * Context: BH; takes qp->tx.lock.
 */
void inc_txq_probe(struct inc_qp *qp)
{
	/* A UC member would not answer, nor would one whose QP is not up. */
	if (qp->cfg.transport == RDMA_INC_TRANSPORT_UC || !inc_qp_was_up(qp))
		return;
	spin_lock_bh(&qp->tx.lock);
	/* A packet in flight is as good as a probe. */
	if (qp->tx.requester.una == qp->tx.requester.max)
		qp->tx.results.probe = true;
	spin_unlock_bh(&qp->tx.lock);
}

/*
 * The one place that chooses the queue: a parent's, if it has requests, for
 * nothing may come between the packets of one; else NULL.
 */
static struct inc_uplink_queue *requests_of(const struct inc_qp *qp)
{
	struct inc_uplink_queue *q = qp->uplink;

	lockdep_assert_held(&qp->tx.lock);
	return q && !inc_uplinkq_empty(q) ? q : NULL;
}

/* Is something queued that may be sent now? */
static bool anything_queued(const struct inc_qp *qp)
{
	const struct inc_uplink_queue *q = requests_of(qp);

	return q ? inc_uplinkq_sendable(q) :
		   !inc_resultq_empty(&qp->tx.results);
}

/**
 * inc_txq_idle() - check whether a member has acknowledged everything
 * @qp: its QP
 *
 * Context: BH; takes qp->tx.lock.
 * Return: true if so; also if it never will because its QP is in error, or may
 * not because it was never heard from.
 */
bool inc_txq_idle(struct inc_qp *qp)
{
	const struct inc_requester *r = &qp->tx.requester;
	bool idle;

	spin_lock_bh(&qp->tx.lock);
	idle = qp->state != RDMA_INC_MEMBER_STATE_RTS || !qp->heard ||
	       (r->una == r->max && !requests_of(qp) &&
		inc_resultq_empty(&qp->tx.results));
	spin_unlock_bh(&qp->tx.lock);
	return idle;
}

static void count_item(struct inc_qp *qp, enum inc_resultq_item item)
{
	switch (item) {
	case INC_RESULTQ_NONE:
	case INC_RESULTQ_PART:
		break;
	case INC_RESULTQ_ERROR:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_ERRORS);
		fallthrough;
	case INC_RESULTQ_LAST:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_MESSAGES);
		break;
	case INC_RESULTQ_RESEND:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_RESEND_REPLIES);
		break;
	case INC_RESULTQ_PENDING:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_PENDING_REPLIES);
		break;
	case INC_RESULTQ_PROBE:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_PROBES);
		break;
	}
}

static void count_packet(struct inc_qp *qp, const struct inc_wqe *w, u32 psn,
			 enum inc_requester_kind kind)
{
	switch (kind) {
	case INC_REQ_FRESH:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_PACKETS);
		inc_qp_count_n(qp, RDMA_INC_A_MEMBER_STATS_TX_BYTES, w->len);
		trace_inc_tx_result(qp, psn, w);
		break;
	case INC_REQ_RETRANSMIT:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS);
		trace_inc_retransmit(qp, psn);
		break;
	case INC_REQ_SOLICIT:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_PROBES);
		break;
	}
}

/* Turn the next packet of a request to the parent into a request in flight. */
static void fill_request(struct inc_qp *qp, struct inc_uplink_queue *q,
			 struct inc_wqe *w)
{
	struct inc_slot *s = &qp->tree->slot[inc_uplinkq_slot(q)].m;

	qp->tx.end = inc_uplinkq_next(q, s, w);
	if (qp->tx.end != INC_REQ_MORE)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_MESSAGES);
}

/* Turn the next queued item into a request in flight, if the window allows. */
static void push_next(struct inc_qp *qp)
{
	struct inc_uplink_queue *requests = requests_of(qp);
	enum inc_resultq_item item;
	struct inc_wqe *w;

	if (!anything_queued(qp))
		return;
	w = inc_requester_push(&qp->tx.requester);
	if (!w)
		return;
	if (requests) {
		fill_request(qp, requests, w);
	} else {
		item = inc_resultq_next(&qp->tx.results, w, &qp->tx.end);
		count_item(qp, item);
		if (item == INC_RESULTQ_LAST)
			inc_ends_add(&qp->tx.ends,
				     inc_psn_add(qp->tx.requester.max, -1),
				     w->msg_id);
	}
	/* Without memory for a larger ring, the window is smaller. */
	if (unlikely(inc_requester_must_grow(&qp->tx.requester)) &&
	    !inc_fault_memory_tx(qp))
		inc_qp_mem_grow_ring(qp);
}

/**
 * inc_txq_arm() - arm the retransmission timer for the next deadline
 * @qp: QP
 * @now: time
 *
 * Context: BH; qp->tx.lock held.
 */
void inc_txq_arm(struct inc_qp *qp, u64 now)
{
	u64 deadline = inc_requester_deadline(&qp->tx.requester);
	struct timer_list *timer = &qp->tx.timer;
	unsigned long at;

	lockdep_assert_held(&qp->tx.lock);
	if (!deadline)
		return;
	at = jiffies + 1 +
	     (deadline > now ? usecs_to_jiffies(deadline - now) : 0);
	/*
	 * A pending timer that fires early checks again and re-arms itself,
	 * which saves touching it with every packet. One that would fire late
	 * is moved.
	 */
	if (!timer_pending(timer) || time_before(at, timer->expires))
		mod_timer(timer, at);
}

static bool make_burst_uc(struct inc_qp *qp, struct inc_gso *b)
{
	u32 low_mark = inc_tree_low_mark(qp->tree);
	int i;

	for (i = 0; i < INC_GSO_MAX; i++) {
		enum inc_requester_kind kind;
		enum inc_resultq_item item;
		struct inc_wqe w;

		item = inc_resultq_next_uc(&qp->tx.results, &w, low_mark,
					   &kind);
		if (item == INC_RESULTQ_NONE)
			break;
		count_item(qp, item);
		count_packet(qp, &w, qp->tx.uc_psn, kind);
		b->apart |= kind == INC_REQ_RETRANSMIT;
		/* Without memory it is lost; the member queries. */
		inc_tx_request(b, qp, &w, qp->tx.uc_psn, false);
		qp->tx.uc_psn = inc_psn_add(qp->tx.uc_psn, 1);
	}
	return i == INC_GSO_MAX;
}

/* Build up to a burst of packets. Returns whether there may be more. */
static bool make_burst(struct inc_qp *qp, struct inc_gso *b, u64 now)
{
	int i;

	lockdep_assert_held(&qp->tx.lock);
	if (qp->state != RDMA_INC_MEMBER_STATE_RTS)
		return false;
	if (qp->cfg.transport == RDMA_INC_TRANSPORT_UC)
		return make_burst_uc(qp, b);

	for (i = 0; i < INC_GSO_MAX; i++) {
		enum inc_requester_kind kind;
		enum inc_requester_end end;
		struct inc_wqe *w;
		bool ackreq;
		u32 psn;

		if (qp->tx.requester.next == qp->tx.requester.max)
			push_next(qp);
		end = anything_queued(qp) ? INC_REQ_MORE : qp->tx.end;
		w = inc_requester_next(&qp->tx.requester, now, end, &psn,
				       &ackreq, &kind);
		if (!w)
			break;
		count_packet(qp, w, psn, kind);
		b->apart |= kind == INC_REQ_RETRANSMIT;
		/* Without memory it counts as lost; the timer resends it. */
		inc_tx_request(b, qp, w, psn, ackreq);
	}
	inc_txq_arm(qp, now);
	return i == INC_GSO_MAX;
}

/*
 * Bursts that a CPU may send at a time: more than the largest window has. Without a
 * limit, packets queued meanwhile could keep it busy forever.
 */
#define MAX_BURSTS	(2 * INC_REQ_MAX_WINDOW / INC_GSO_MAX)

/* Send everything queued, or have inc_qp.tx.more continue. */
static void send_bursts(struct inc_qp *qp, struct inc_gso *b, u64 now)
{
	int left = MAX_BURSTS;
	bool more;

	lockdep_assert_held(&qp->tx.lock);
	while (qp->tx.recheck) {
		if (!left--) {
			queue_work(system_bh_wq, &qp->tx.more);
			return;
		}
		qp->tx.recheck = false;
		more = make_burst(qp, b, now);
		spin_unlock(&qp->tx.lock);
		inc_gso_send(b, qp);
		spin_lock(&qp->tx.lock);
		qp->tx.recheck |= more;
		if (qp->tx.recheck)
			now = inc_now();
	}
	qp->tx.busy = false;
}

/**
 * inc_txq_kick() - send a QP's queue
 * @qp: QP
 * @now: time, from inc_now() not long ago
 *
 * One CPU transmits for a QP at a time, so that PSNs leave in order without a
 * lock held across the IP stack; a second one leaves its packets to the first.
 *
 * Context: any but hard interrupt, RCU read side or a reference to the QP.
 */
void inc_txq_kick(struct inc_qp *qp, u64 now)
{
	struct inc_gso burst;
	bool lone = false;

	inc_gso_init(&burst);
	local_bh_disable();
	spin_lock(&qp->tx.lock);
	qp->tx.recheck = true;
	if (!qp->tx.busy) {
		qp->tx.busy = true;
		send_bursts(qp, &burst, now);
		lone = !qp->tx.results.waiting.n;
	}
	spin_unlock(&qp->tx.lock);
	inc_gso_end(&burst);
	if (lone)
		inc_ack_lone(qp);
	local_bh_enable();
}

/**
 * inc_txq_more() - continue after MAX_BURSTS
 * @work: inc_qp.tx.more; inc_qp.tx.busy is still set for it
 *
 * Context: softirq.
 */
void inc_txq_more(struct work_struct *work)
{
	struct inc_qp *qp = container_of(work, struct inc_qp, tx.more);
	struct inc_gso burst;

	inc_gso_init(&burst);
	spin_lock(&qp->tx.lock);
	send_bursts(qp, &burst, inc_now());
	spin_unlock(&qp->tx.lock);
	inc_gso_end(&burst);
}

/**
 * inc_txq_kick_parent() - let a child's uplink send its queue
 * @tree: any tree
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_txq_kick_parent(struct inc_tree *tree)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (qp)
		inc_txq_kick(qp, inc_now());
}

/**
 * inc_txq_probe_parent() - probe the parent, and through it all behind it
 * @tree: any tree
 *
 * Context: BH, RCU read side; takes the uplink's tx.lock.
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
	u64 now = inc_now();

	spin_lock(&qp->tx.lock);
	WRITE_ONCE(qp->heard, true);
	inc_requester_heard(&qp->tx.requester, now);
	spin_unlock(&qp->tx.lock);
	inc_txq_kick(qp, now);
}
