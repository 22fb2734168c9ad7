// SPDX-License-Identifier: GPL-2.0
/*
 * Packets beyond a hole. They are taken in when the hole is filled, and then they
 * are believed as if they came at that time. Most have no key. So only those are
 * kept that fit to what is known, in memory that is charged to the member; they
 * are dropped when two contradict each other, and when the hole stays open.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "core/psn.h"
#include "datapath/cb.h"
#include "datapath/ooo_queue.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

/* UDP source port of a packet; its UDP header is in front of its BTH. */
static __be16 port_of(const struct sk_buff *skb)
{
	return ((const struct udphdr *)skb->data - 1)->source;
}

/**
 * inc_rx_learn_port() - learn a member's UDP source port
 * @qp: QP
 * @skb: packet, skb->data at its BTH
 * @pkt: the packet, parsed, a request whose R_Key, if it has one, is right
 *
 * Who knows the R_Key is the member. A QP has one source port all its life, so
 * from here on others that know the numbers in the BTH need that, too.
 *
 * Context: qp->rx_lock held.
 */
void inc_rx_learn_port(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct inc_pkt *pkt)
{
	if (!qp->port && pkt->flags & INC_PKT_FIRST &&
	    !inc_responder_is_empty(pkt))
		WRITE_ONCE(qp->port, port_of(skb));
}

/* A packet that is not what it pretends to be, or another one is not. */
static void distrust(struct inc_qp *qp, struct sk_buff *skb)
{
	inc_stats_inc(qp->stats, INC_A_MEMBER_STATS_RX_UNTRUSTED);
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
}

/**
 * inc_ooo_out() - keep out what does not come from the member's port
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed if false
 *
 * Context: softirq.
 * Return: true if it may come in.
 */
bool inc_ooo_out(struct inc_qp *qp, struct sk_buff *skb)
{
	__be16 port = READ_ONCE(qp->port);

	if (likely(!port || port_of(skb) == port))
		return true;
	distrust(qp, skb);
	return false;
}

static void charge(struct inc_qp *qp, s64 bytes)
{
	qp->kept_size += bytes;
	inc_hold_of_all(qp->sw, bytes);
}

/**
 * inc_ooo_forget() - drop what is kept beyond a hole
 * @qp: QP
 *
 * Context: qp->rx_lock held, or nobody can find the QP any more.
 */
void inc_ooo_forget(struct inc_qp *qp)
{
	__skb_queue_purge(&qp->kept);
	charge(qp, -(s64)qp->kept_size);
	qp->resp.kept = false;
}

/**
 * inc_ooo_next() - take the first packet out of those that are kept
 * @qp: QP that keeps any
 *
 * Context: qp->rx_lock held.
 * Return: the packet.
 */
struct sk_buff *inc_ooo_next(struct inc_qp *qp)
{
	struct sk_buff *skb = __skb_dequeue(&qp->kept);

	charge(qp, -(s64)skb->truesize);
	qp->resp.kept = !skb_queue_empty(&qp->kept);
	return skb;
}

/*
 * Do two packets say the same? A repetition may differ in what the network marks,
 * in AckReq, and in the ICRC, which covers IP's ID.
 */
static bool same(const struct sk_buff *a, const struct sk_buff *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, 4) &&
	       !memcmp(a->data + 5, b->data + 5, 3) &&
	       !memcmp(a->data + 9, b->data + 9, a->len - 9 - IB_ICRC_BYTES);
}

/*
 * A kept packet may stay for long, and be a small one in a large buffer: then it
 * moves to one of its own size. Returns NULL if it may not stay.
 */
static struct sk_buff *fit(struct inc_qp *qp, struct sk_buff *skb)
{
	if (inc_hold_oversized(skb)) {
		struct sk_buff *copy = skb_copy_expand(skb, 0, 0, GFP_ATOMIC);

		consume_skb(skb);
		skb = copy;
		if (!skb) {
			inc_stats_inc(qp->sw->stats,
				      INC_A_SWITCH_STATS_RX_NO_MEMORY);
			return NULL;
		}
	}
	if (qp->kept_size + skb->truesize > inc_hold_room(qp)) {
		consume_skb(skb);
		return NULL;
	}
	return skb;
}

/**
 * inc_ooo_keep() - keep a packet beyond a hole, sorted, each once
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed
 * @pkt: the packet, parsed, a request
 *
 * If two differ that have one PSN nobody knows which is the member's: then nothing
 * that is kept is believed, and it all comes again.
 *
 * Context: softirq, qp->rx_lock held.
 */
void inc_ooo_keep(struct inc_qp *qp, struct sk_buff *skb,
		  const struct inc_pkt *pkt)
{
	struct inc_responder_run run;
	struct sk_buff *prev;

	if (inc_psn_diff(pkt->psn, qp->resp.epsn) > INC_QP_MAX_KEPT)
		goto drop;

	inc_responder_run(&qp->resp, &run);
	/* It nearly always belongs at the end. */
	skb_queue_reverse_walk(&qp->kept, prev) {
		s32 diff = inc_psn_diff(pkt->psn, inc_cb(prev)->psn);

		if (!diff && same(skb, prev))
			goto drop;
		if (!diff) {
			inc_ooo_forget(qp);
			distrust(qp, skb);
			return;
		}
		if (diff > 0) {
			run = inc_cb(prev)->run;
			break;
		}
	}
	switch (inc_responder_ooo(&qp->resp, pkt, &run)) {
	case INC_RESP_OOO_GOOD:
		break;
	case INC_RESP_OOO_UNKNOWN:
		goto drop;
	case INC_RESP_OOO_WRONG:
		distrust(qp, skb);
		return;
	}
	inc_stats_inc(qp->stats, INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE);
	inc_rx_learn_port(qp, skb, pkt);
	skb = fit(qp, skb);
	if (!skb)
		return;
	inc_cb(skb)->psn = pkt->psn;
	inc_cb(skb)->run = run;
	charge(qp, skb->truesize);
	qp->resp.kept = true;
	/* At the head of the queue if none is before it. */
	__skb_queue_after(&qp->kept, prev, skb);
	inc_stats_inc(qp->stats, INC_A_MEMBER_STATS_RX_KEPT);
	return;
drop:
	inc_stats_inc(qp->stats, INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE);
	consume_skb(skb);
}
