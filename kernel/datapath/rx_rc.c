// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of RC members, and a parent's results:
 *
 *   inc_rx_rc()              a request is new, a duplicate, beyond a gap, wrong
 *     accept_packet()          the expected one: begin the message if it opens
 *                              one, then slot_io.c has its payload
 *       accept_result()        the same for a parent's packet
 *       acknowledge_packet()          now or later
 *     drain_ooo()              it has closed a gap: accept its queue, in
 *                              steps (inc_rx_more())
 *     refuse_packet()          answer with a NAK
 *
 * A request is acknowledged only after its payload is in the slot, or kept for it:
 * the member does not retransmit an acknowledged packet, so it must not be lost
 * here.
 */
#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/ack_delay.h"
#include "datapath/batch.h"
#include "datapath/cb.h"
#include "datapath/fanout.h"
#include "datapath/missing.h"
#include "datapath/ooo_queue.h"
#include "datapath/reply.h"
#include "datapath/rx_payload.h"
#include "datapath/rx_port.h"
#include "datapath/rx_rc.h"
#include "datapath/slot_io.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_rx.h"
#include "object/qp.h"
#include "object/tree.h"

/* AETH syndromes (IBTA table 45): RNR NAK with a time. */
/* 1.28 ms: time for slower ranks to catch up. */
#define SYNDROME_RNR	(IB_RNR_NAK | 14)
/* 20.48 ms: time for members to be added. */
#define SYNDROME_FORMING	(IB_RNR_NAK | 22)

/*
 * A zero-length packet. A switch sends it to say that its tree has failed, or
 * that a member behind it waits, perhaps for one of our members.
 */
static void accept_zero_length(struct inc_qp *qp, const struct inc_pkt *pkt,
			       struct inc_reply *reply)
{
	struct inc_tree *tree = qp->tree;
	u8 status = pkt->flags & INC_PKT_IMM ?
		    pkt->imm >> INC_IMM_STATUS_SHIFT : INC_STATUS_OK;

	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
	if (!qp->is_switch)
		return;
	if (status == INC_STATUS_TREE_GONE)
		inc_tree_fail(tree, INC_STATUS_MEMBER_LEFT);
	else if (status >= INC_STATUS_TREE_MIN && status <= INC_STATUS_TREE_MAX)
		inc_tree_fail(tree, status);
	else if (inc_txq_probe_parent(tree))
		reply->kick_parent = true;
	else if (inc_missing_probe_members(tree))
		reply->kick_members = true;
}

/* A packet of a result from the parent. As accept_packet(). */
static enum inc_take accept_result(struct inc_qp *qp, struct sk_buff *skb,
				   const struct inc_pkt *pkt,
				   struct inc_reply *reply)
{
	const struct inc_part *part = inc_rx_part(skb, pkt->hdr_len,
						  pkt->payload_len);

	if (!inc_uplink_result(qp, pkt, part, reply))
		return INC_TAKE_INVALID;
	inc_responder_accept(&qp->rx.responder, pkt);
	inc_qp_count_rx(qp, pkt);
	if (pkt->flags & INC_PKT_IMM)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (inc_responder_ack_due(&qp->rx.responder, pkt->ackreq))
		inc_reply_ack(reply, qp, pkt->psn);
	if (pkt->flags & INC_PKT_IMM)
		/* The slot may have its next message. */
		reply->kick_parent = true;
	else
		/* Results that come in one burst leave in one. */
		inc_batch_continues(qp);
	consume_skb(skb);
	return INC_TAKE_OK;
}

/* Does the message end with the right Immediate and length? */
static bool ends_right(const struct inc_qp *qp, const struct inc_pkt *pkt)
{
	u32 len = qp->rx.responder.done + pkt->payload_len;

	if (pkt->flags & INC_PKT_FIRST)
		len = pkt->payload_len;
	if (!(pkt->flags & INC_PKT_IMM))
		return !qp->rx.to_slot || len < qp->rx.msg_len;
	/* Status 0, and the header's message ID. */
	return pkt->imm == (qp->rx.msg_id & INC_IMM_MSG_ID_MASK) &&
	       (!qp->rx.to_slot || len == qp->rx.msg_len);
}

/*
 * Acknowledge an accepted packet. The end of a write of several packets is
 * acknowledged together with later packets, if there are any: an ACK that names it
 * may make a stock rxe lose its place (lost_place.h).
 */
static void acknowledge_packet(struct inc_qp *qp, const struct inc_pkt *pkt,
			       struct inc_reply *reply)
{
	const u8 only = INC_PKT_FIRST | INC_PKT_LAST;
	struct inc_responder *resp = &qp->rx.responder;
	struct inc_lost_place *place = &qp->rx.place;

	if (!inc_responder_ack_due(resp, pkt->ackreq)) {
		if (qp->rx.acks_delayed &&
		    inc_place_ends_write(place, resp, inc_psn_add(pkt->psn, -1)))
			inc_reply_ack(reply, qp, pkt->psn);
		return;
	}
	if (resp->tail_due)
		return;
	if (((pkt->flags & only) != only || inc_responder_is_empty(pkt)) &&
	    !inc_place_ends_write(place, resp, pkt->psn))
		inc_reply_ack(reply, qp, pkt->psn);
	else if (inc_ack_delay(qp, pkt->psn))
		inc_reply_ack(reply, qp, pkt->psn);
}

/* Accept the expected packet. Consumes @skb if INC_TAKE_OK, else leaves it. */
static enum inc_take accept_packet(struct inc_qp *qp, struct sk_buff **skbp,
				   const struct inc_pkt *pkt,
				   struct inc_reply *reply)
{
	struct inc_responder *resp = &qp->rx.responder;
	bool empty = inc_responder_is_empty(pkt);
	const struct inc_pkt *write = pkt;
	struct inc_pkt last;
	struct sk_buff *skb;
	enum inc_take t;

	if (qp->uplink)
		return accept_result(qp, *skbp, pkt, reply);
	skb = inc_slot_io_unshare(qp, *skbp);
	if (!skb)
		return INC_TAKE_LOST;
	*skbp = skb;
	/* A write of its own, but the message's last packet. */
	if (resp->tail_due) {
		last = *pkt;
		last.flags &= ~INC_PKT_FIRST;
		pkt = &last;
	}
	if (pkt->flags & INC_PKT_FIRST && !empty) {
		t = inc_slot_io_begin(qp, skb, pkt, reply);
		if (t != INC_TAKE_OK)
			return t;
	}
	if (pkt->flags & INC_PKT_LAST && !empty && !inc_qp_failure(qp, pkt) &&
	    !ends_right(qp, pkt))
		return INC_TAKE_INVALID;
	/* An RNR NAK would make an rxe lose its place. */
	if (unlikely(inc_place_asks_again(&qp->rx.place, pkt))) {
		inc_reply_ack(reply, qp, inc_psn_add(pkt->psn, -1));
		return INC_TAKE_LOST;
	}

	if (!qp->is_switch)
		inc_place_note(&qp->rx.place, resp, write);
	inc_responder_accept(resp, pkt);
	qp->rx.solicits = 0;
	inc_qp_count_rx(qp, pkt);
	acknowledge_packet(qp, pkt, reply);
	if (empty) {
		accept_zero_length(qp, pkt, reply);
		consume_skb(skb);
		return INC_TAKE_OK;
	}

	if (pkt->flags & INC_PKT_IMM)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	inc_slot_io_contribute(qp, skb, pkt, reply);
	return INC_TAKE_OK;
}

/* Answer with an RNR NAK. */
static void refuse_for_now(struct inc_qp *qp, struct inc_reply *reply,
			   u8 syndrome)
{
	inc_reply_nak(reply, qp, syndrome);
	/* Packets that follow are out of sequence, but none is lost. */
	qp->rx.responder.nak_sent = true;
}

static void refuse_packet(struct inc_qp *qp, struct inc_reply *reply,
			  enum inc_take t)
{
	switch (t) {
	case INC_TAKE_OK:
	case INC_TAKE_LOST:
		break;
	case INC_TAKE_RNR:
	case INC_TAKE_FORMING:
		refuse_for_now(qp, reply, t == INC_TAKE_RNR ? SYNDROME_RNR :
							      SYNDROME_FORMING);
		break;
	case INC_TAKE_INVALID:
		inc_reply_nak(reply, qp, IB_NAK_INVALID_REQUEST);
		reply->error = RDMA_INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST;
		break;
	case INC_TAKE_ACCESS:
		inc_reply_nak(reply, qp, IB_NAK_REMOTE_ACCESS_ERROR);
		reply->error = RDMA_INC_MEMBER_ERROR_LOCAL_ACCESS;
		break;
	case INC_TAKE_PLACE_LOST:
		inc_reply_nak(reply, qp, IB_NAK_INVALID_REQUEST);
		reply->error = RDMA_INC_MEMBER_ERROR_LOCAL_PLACE_LOST;
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_PLACE_LOST);
		break;
	}
	if (reply->error)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST);
}

/* Packets behind a gap that are accepted at a time. */
#define DRAIN_MAX	16

/*
 * A gap is closed: accept the packets queued behind it and acknowledge them. One
 * packet may make 128 acceptable, so inc_rx_more() continues after DRAIN_MAX.
 * Packets that arrive meanwhile are queued behind them.
 *
 * The last packet of a multi-packet message is the exception: it is
 * acknowledged when it is retransmitted. Our NAK made the member go back, and
 * an ACK in the middle of that may make a stock rxe lose its place
 * (lost_place.h).
 */
static void drain_ooo(struct inc_qp *qp, struct inc_reply *reply)
{
	struct inc_responder *resp = &qp->rx.responder;
	enum inc_responder_queued queued;
	enum inc_take t = INC_TAKE_OK;
	struct sk_buff *skb;
	struct inc_pkt pkt;
	u32 psn = resp->epsn;
	int left = DRAIN_MAX;

	while (t == INC_TAKE_OK && (skb = skb_peek(&qp->rx.ooo))) {
		queued = inc_responder_queued(resp, inc_cb(skb)->psn);
		if (queued == INC_RESP_QUEUED_LATER)
			break;
		/* Do not stop at a packet that is the exception. */
		if (left-- <= 0 && psn == resp->epsn) {
			resp->nak_sent = true;
			queue_work(system_bh_wq, &qp->rx.more);
			break;
		}
		inc_ooo_dequeue(qp);
		if (queued == INC_RESP_QUEUED_PAST) {
			consume_skb(skb);
			continue;
		}
		inc_wire_parse(skb->data, skb->len, &pkt);
		if (inc_responder_check(resp, &pkt) != INC_RESP_NEW) {
			/*
			 * Contradicts the packet that closed the gap. Either may be
			 * forged: the member sends this one again.
			 */
			consume_skb(skb);
			inc_ooo_purge(qp);
			break;
		}
		t = accept_packet(qp, &skb, &pkt, reply);
		if (t != INC_TAKE_OK)
			consume_skb(skb);
		else if (!(pkt.flags & INC_PKT_LAST) ||
			 pkt.flags & INC_PKT_FIRST)
			psn = resp->epsn;
	}
	if (t != INC_TAKE_OK)
		refuse_packet(qp, reply, t);
	else
		inc_reply_ack(reply, qp, inc_psn_add(psn, -1));
}

/* A packet beyond a gap. Consumes @skb. Returns false if it is not the member's. */
static bool take_early(struct inc_qp *qp, struct sk_buff *skb,
		       const struct inc_pkt *pkt, struct inc_reply *reply)
{
	if (!inc_ooo_enqueue(qp, skb, pkt))
		return false;
	if (inc_responder_nak_due(&qp->rx.responder))
		inc_reply_nak(reply, qp, IB_NAK_PSN_ERROR);
	return true;
}

/**
 * inc_rx_rc() - process a request packet for an RC QP
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed
 * @pkt: the packet, parsed, a request
 * @reply: work until the locks are dropped
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 * Return: false if it is not the member's.
 * Spec: IBTA 1.x section 9.7.4.
 */
bool inc_rx_rc(struct inc_qp *qp, struct sk_buff *skb,
	       const struct inc_pkt *pkt, struct inc_reply *reply)
{
	enum inc_responder_verdict verdict;
	enum inc_take t;

	lockdep_assert_held(&qp->rx.lock);
	verdict = inc_responder_check(&qp->rx.responder, pkt);
	if (unlikely(verdict == INC_RESP_STRANGE)) {
		inc_rx_port_distrust(qp, skb);
		return false;
	}
	/* A switch keeps its place. */
	if (unlikely(verdict != INC_RESP_NEW || !pkt->payload_len) &&
	    !qp->is_switch && !qp->uplink &&
	    inc_place_contradicts(&qp->rx.place, &qp->rx.responder, pkt,
				  verdict)) {
		refuse_packet(qp, reply, INC_TAKE_PLACE_LOST);
		consume_skb(skb);
		return true;
	}
	switch (verdict) {
	case INC_RESP_DUP:
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES);
		/* Not a later PSN: see drain_ooo(). */
		if (inc_responder_ack_due(&qp->rx.responder, pkt->ackreq))
			inc_reply_ack(reply, qp, pkt->psn);
		consume_skb(skb);
		return true;
	case INC_RESP_OOO:
		return take_early(qp, skb, pkt, reply);
	case INC_RESP_NEW:
		t = accept_packet(qp, &skb, pkt, reply);
		if (t == INC_TAKE_OK) {
			if (!skb_queue_empty(&qp->rx.ooo))
				drain_ooo(qp, reply);
			return true;
		}
		break;
	case INC_RESP_ACCESS:
		t = INC_TAKE_ACCESS;
		break;
	default:
		t = INC_TAKE_INVALID;
		break;
	}
	refuse_packet(qp, reply, t);
	consume_skb(skb);
	return true;
}

/* Drop queued packets that have arrived again. Is the next one expected? */
static bool drain_due(struct inc_qp *qp)
{
	enum inc_responder_queued queued;
	struct sk_buff *skb;

	while ((skb = skb_peek(&qp->rx.ooo))) {
		queued = inc_responder_queued(&qp->rx.responder,
					      inc_cb(skb)->psn);
		if (queued != INC_RESP_QUEUED_PAST)
			return queued == INC_RESP_QUEUED_NEXT;
		consume_skb(inc_ooo_dequeue(qp));
	}
	return false;
}

/**
 * inc_rx_more() - accept more packets that were queued beyond a gap
 * @work: inc_qp.rx.more
 *
 * Context: softirq.
 */
void inc_rx_more(struct work_struct *work)
{
	struct inc_qp *qp = container_of(work, struct inc_qp, rx.more);
	struct inc_begun begun;
	struct inc_reply reply = { .begun = &begun };

	rcu_read_lock();
	spin_lock(&qp->rx.lock);
	if (READ_ONCE(qp->state) == RDMA_INC_MEMBER_STATE_RTS && drain_due(qp))
		drain_ooo(qp, &reply);
	spin_unlock(&qp->rx.lock);
	inc_reply_flush(&reply, qp);
	rcu_read_unlock();
}
