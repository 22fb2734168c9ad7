// SPDX-License-Identifier: GPL-2.0
/*
 * A checked packet enters the QP that it is for. Responses change the requester
 * (rx_response.c). Requests go to the responder (rx_rc.c, rx_uc.c) and from there
 * to a slot (slot_io.c), under the QP's receive lock. Answers and results are sent
 * when the lock is dropped (reply.c).
 *
 * DOC: locking of the data path
 *
 * inc_qp.rx.lock > inc_tree_slot.lock > inc_tree_slots_mem.lock,
 * inc_qp.rx.lock > inc_batch.lock, and inc_qp.rx.lock > inc_qp.tx.lock of any
 * QP. A slot's lock, a batch's and a QP's tx.lock are never held together, nor
 * are two locks of one kind. No lock is held across ip_local_out().
 */
#include <linux/skbuff.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/batch.h"
#include "datapath/cnp.h"
#include "datapath/engine.h"
#include "datapath/fanout.h"
#include "datapath/reply.h"
#include "datapath/rx_port.h"
#include "datapath/rx_rc.h"
#include "datapath/rx_response.h"
#include "datapath/rx_uc.h"
#include "datapath/slot_io.h"
#include "datapath/solicit.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"

/*
 * Answer each request of a member whose QP here is in error with a NAK, which
 * ends its own QP if it does not know yet. Packets accepted before are
 * acknowledged.
 */
static void refuse_in_error(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	struct inc_reply reply = {};

	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_IN_ERROR);
	if (!(pkt->flags & INC_PKT_REQUEST) || pkt->uc ||
	    READ_ONCE(qp->state) != RDMA_INC_MEMBER_STATE_ERROR)
		return;
	spin_lock(&qp->rx.lock);
	inc_reply_nak(&reply, qp, IB_NAK_REMOTE_OPERATIONAL_ERROR);
	if (inc_psn_diff(pkt->psn, reply.psn) < 0)
		reply.psn = pkt->psn;
	spin_unlock(&qp->rx.lock);
	inc_reply_flush(&reply, qp);
}

/*
 * The member has sent a packet. Nothing is believed of one before a responder or the
 * requester believes it. The CPUs that send to the member read the same cache lines.
 */
static void note_life(struct inc_qp *qp)
{
	unsigned long now = jiffies;
	u16 cpu = smp_processor_id();

	if (READ_ONCE(qp->last_rx) != now)
		WRITE_ONCE(qp->last_rx, now);
	if (READ_ONCE(qp->cpu) != cpu)
		WRITE_ONCE(qp->cpu, cpu);
	if (unlikely(!READ_ONCE(qp->heard)))
		inc_txq_heard(qp);
}

/* A response, or a CNP: what has no place in the order of requests. */
static void rx_unordered(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	if (unlikely(pkt->flags & INC_PKT_CNP)) {
		inc_cnp_rx(qp, pkt);
		return;
	}
	if (!inc_rx_response(qp, pkt))
		return;
	note_life(qp);
	if (unlikely(pkt->ce))
		inc_cnp_note(qp);
}

/**
 * inc_engine_rx() - process a checked packet for a QP
 * @qp: QP
 * @skb: packet that inc_rx_gather() has seen, skb->data at its BTH, nothing
 *	after its ICRC; consumed
 * @pkt: the packet, parsed
 *
 * Context: softirq, RCU read side.
 */
void inc_engine_rx(struct inc_qp *qp, struct sk_buff *skb,
		   const struct inc_pkt *pkt)
{
	struct inc_begun begun;
	struct inc_reply reply = { .begun = &begun };
	bool lives, ce = pkt->ce;

	if (!inc_rx_port_check(qp, skb))
		return;
	if (READ_ONCE(qp->state) != RDMA_INC_MEMBER_STATE_RTS) {
		refuse_in_error(qp, pkt);
		kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
		return;
	}
	if (!(pkt->flags & INC_PKT_REQUEST)) {
		rx_unordered(qp, pkt);
		consume_skb(skb);
		return;
	}

	inc_batch_note(qp);
	spin_lock(&qp->rx.lock);
	/* Before that, a packet without an R_Key may be anybody's. */
	lives = inc_rx_port_learn(qp, skb, pkt);
	if (pkt->uc) {
		lives &= inc_rx_uc(qp, skb, pkt, &reply);
	} else {
		lives &= inc_rx_rc(qp, skb, pkt, &reply);
		if (likely(lives))
			inc_solicit_watch(qp);
	}
	spin_unlock(&qp->rx.lock);
	if (likely(lives)) {
		note_life(qp);
		if (unlikely(ce))
			inc_cnp_note(qp);
	}
	inc_reply_flush(&reply, qp);
}

/**
 * inc_engine_end_batch() - put chunks that a QP has kept into their slot
 * @qp: QP, in the batch of a CPU, which ends
 *
 * The QP may be freed when its lock is dropped for the last time.
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_engine_end_batch(struct inc_qp *qp)
{
	bool more = true;

	while (more) {
		struct inc_reply reply = {};

		spin_lock(&qp->rx.lock);
		more = qp->rx.nwaiting;
		if (more)
			inc_slot_io_flush(qp, &reply);
		else
			qp->rx.batch_cpu = -1;
		spin_unlock(&qp->rx.lock);
		if (more)
			inc_reply_flush(&reply, qp);
	}
}
