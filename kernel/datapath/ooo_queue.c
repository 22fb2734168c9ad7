// SPDX-License-Identifier: GPL-2.0
/*
 * Packets beyond a gap in the PSN sequence. They are accepted when the gap is
 * closed, and are then trusted as if they had arrived in order. Most carry no
 * R_Key. So only packets that fit the message in progress are kept, in memory
 * charged to the member. All are dropped if two contradict each other, or if the
 * gap stays open.
 */
#include <linux/lockdep.h>
#include <linux/skbuff.h>

#include "core/psn.h"
#include "datapath/cb.h"
#include "datapath/ooo_queue.h"
#include "datapath/rx_payload.h"
#include "datapath/rx_port.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

static void charge_queue(struct inc_qp *qp, s64 bytes)
{
	qp->rx.ooo_size += bytes;
	inc_hold_account(qp, bytes);
}

/**
 * inc_ooo_purge() - drop all packets queued beyond a gap
 * @qp: QP
 *
 * Context: qp->rx.lock held, or the QP is unpublished and has no readers.
 */
void inc_ooo_purge(struct inc_qp *qp)
{
	__skb_queue_purge(&qp->rx.ooo);
	charge_queue(qp, -(s64)qp->rx.ooo_size);
	qp->rx.responder.ooo_queued = false;
}

/**
 * inc_ooo_dequeue() - dequeue the first queued packet
 * @qp: QP with a non-empty queue
 *
 * Context: qp->rx.lock held.
 * Return: the packet.
 */
struct sk_buff *inc_ooo_dequeue(struct inc_qp *qp)
{
	struct sk_buff *skb;

	lockdep_assert_held(&qp->rx.lock);
	skb = __skb_dequeue(&qp->rx.ooo);
	charge_queue(qp, -(s64)skb->truesize);
	qp->rx.responder.ooo_queued = !skb_queue_empty(&qp->rx.ooo);
	return skb;
}

/*
 * Are two packets the same? A retransmission may differ in ECN marks, in AckReq,
 * and in the ICRC, which covers IP's ID.
 */
static bool same_packet(const struct sk_buff *a, const struct sk_buff *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, 4) &&
	       !memcmp(a->data + 5, b->data + 5, 3) &&
	       inc_rx_same(a, b, 9, a->len - 9 - IB_ICRC_BYTES);
}

/*
 * A queued packet may stay for long. If it is a small one in a large buffer,
 * copy it to a buffer of its own size. Returns NULL if it may not stay.
 */
static struct sk_buff *fit_buffer(struct inc_qp *qp, struct sk_buff *skb)
{
	if (inc_hold_oversized(skb)) {
		struct sk_buff *copy = inc_hold_copy(qp, skb);

		consume_skb(skb);
		skb = copy;
		if (!skb)
			return NULL;
	}
	if (qp->rx.ooo_size + skb->truesize > inc_hold_room(qp)) {
		consume_skb(skb);
		return NULL;
	}
	return skb;
}

/**
 * inc_ooo_enqueue() - queue a packet beyond a gap, sorted by PSN, each once
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed
 * @pkt: the packet, parsed, a request
 *
 * If two packets with one PSN differ, there is no telling which is the
 * member's. Then none in the queue is trusted, and the member retransmits them
 * all.
 *
 * Context: softirq, qp->rx.lock held.
 * Return: false if it is not the member's: it is forged.
 */
bool inc_ooo_enqueue(struct inc_qp *qp, struct sk_buff *skb,
		     const struct inc_pkt *pkt)
{
	struct inc_responder_run run;
	struct sk_buff *prev;

	lockdep_assert_held(&qp->rx.lock);
	if (inc_psn_diff(pkt->psn, qp->rx.responder.epsn) > INC_QP_MAX_OOO ||
	    !inc_place_may_queue(&qp->rx.place) || inc_responder_is_empty(pkt))
		goto drop;

	inc_responder_run(&qp->rx.responder, &run);
	/* The packet nearly always belongs at the tail. */
	skb_queue_reverse_walk(&qp->rx.ooo, prev) {
		s32 diff = inc_psn_diff(pkt->psn, inc_cb(prev)->psn);

		if (!diff && same_packet(skb, prev))
			goto drop;
		if (!diff) {
			inc_ooo_purge(qp);
			inc_rx_port_distrust(qp, skb);
			return true;
		}
		if (diff > 0) {
			run = inc_cb(prev)->run;
			break;
		}
	}
	switch (inc_responder_ooo(&qp->rx.responder, pkt, &run)) {
	case INC_RESP_OOO_GOOD:
		break;
	case INC_RESP_OOO_UNKNOWN:
		goto drop;
	case INC_RESP_OOO_WRONG:
		inc_rx_port_distrust(qp, skb);
		return false;
	}
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE);
	skb = fit_buffer(qp, skb);
	if (!skb)
		return true;
	inc_cb(skb)->psn = pkt->psn;
	inc_cb(skb)->run = run;
	charge_queue(qp, skb->truesize);
	qp->rx.responder.ooo_queued = true;
	/* At the head of the queue if none precedes it. */
	__skb_queue_after(&qp->rx.ooo, prev, skb);
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_OOO_QUEUED);
	return true;
drop:
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE);
	consume_skb(skb);
	return true;
}
