// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of RC members, and a parent's results:
 *
 *   inc_rx_rc()              a request is new, a duplicate, beyond a gap, wrong
 *     accept_packet()          the expected one: begin the message if it opens
 *                              one, then put its payload into the slot
 *       accept_result()        the same for a parent's packet
 *     drain_ooo()              it has closed a gap: accept what is queued
 *     discard_replayed()       the member has lost its place: it has arrived
 *     refuse_packet()          answer with a NAK
 *
 * A request is acknowledged only after its payload is in the slot: the member
 * does not retransmit an acknowledged packet, so it must not be lost here.
 */
#include <linux/lockdep.h>
#include <linux/skbuff.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/ack.h"
#include "datapath/cb.h"
#include "datapath/liveness.h"
#include "datapath/ooo_queue.h"
#include "datapath/rx_rc.h"
#include "datapath/slot_io.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_rx.h"
#include "datapath/verdict.h"
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
			       struct inc_verdict *v)
{
	struct inc_tree *tree = qp->tree;
	u8 status = pkt->flags & INC_PKT_IMM ?
		    pkt->imm >> INC_IMM_STATUS_SHIFT : INC_STATUS_OK;

	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
	if (!qp->is_switch)
		return;
	if (status == INC_STATUS_TREE_GONE)
		inc_tree_fail(tree, INC_STATUS_MEMBER_LEFT);
	else if (status >= INC_STATUS_TREE_MIN && status <= INC_STATUS_TREE_MAX)
		inc_tree_fail(tree, status);
	else if (inc_txq_probe_parent(tree))
		v->kick_parent = true;
	else if (inc_liveness_probe_members(tree))
		v->kick_members = true;
}

/* A packet of a result from the parent. As accept_packet(). */
static enum inc_take accept_result(struct inc_qp *qp, struct sk_buff *skb,
				   const struct inc_pkt *pkt,
				   struct inc_verdict *v)
{
	if (!inc_uplink_result(qp, pkt, skb->data + pkt->hdr_len))
		return INC_TAKE_INVALID;
	inc_responder_accept(&qp->rx.responder, pkt);
	inc_qp_count_rx(qp, pkt);
	if (pkt->flags & INC_PKT_IMM)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (inc_responder_ack_due(&qp->rx.responder, pkt->ackreq))
		inc_verdict_ack(v, qp, pkt->psn);
	v->kick_members = true;
	v->kick_parent = true;
	consume_skb(skb);
	return INC_TAKE_OK;
}

/* Accept the expected packet. Consumes @skb if INC_TAKE_OK, else leaves it. */
static enum inc_take accept_packet(struct inc_qp *qp, struct sk_buff **skbp,
				   const struct inc_pkt *pkt,
				   struct inc_verdict *v)
{
	bool empty = inc_responder_is_empty(pkt);
	struct sk_buff *skb;
	enum inc_take t;

	if (qp->uplink)
		return accept_result(qp, *skbp, pkt, v);
	skb = inc_slot_io_unshare(qp, *skbp);
	if (!skb)
		return INC_TAKE_LOST;
	*skbp = skb;
	if (pkt->flags & INC_PKT_FIRST && !empty) {
		t = inc_slot_io_begin(qp, skb, pkt, v);
		if (t != INC_TAKE_OK)
			return t;
	}
	/* The Immediate: status 0, and the header's message ID. */
	if (pkt->flags & INC_PKT_LAST && !empty && !inc_qp_failure(qp, pkt) &&
	    pkt->imm != (qp->rx.msg_id & INC_IMM_MSG_ID_MASK))
		return INC_TAKE_INVALID;

	inc_responder_accept(&qp->rx.responder, pkt);
	qp->rx.solicits = 0;
	inc_qp_count_rx(qp, pkt);
	if (inc_responder_ack_due(&qp->rx.responder, pkt->ackreq)) {
		bool small = pkt->flags & INC_PKT_FIRST &&
			     pkt->flags & INC_PKT_LAST && !empty;

		if (!small || inc_ack_delay(qp, pkt->psn))
			inc_verdict_ack(v, qp, pkt->psn);
	}
	if (empty) {
		accept_zero_length(qp, pkt, v);
		consume_skb(skb);
		return INC_TAKE_OK;
	}

	if (pkt->flags & INC_PKT_LAST)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	inc_slot_io_contribute(qp, skb, pkt, v);
	return INC_TAKE_OK;
}

/* Answer with an RNR NAK. */
static void refuse_for_now(struct inc_qp *qp, struct inc_verdict *v, u8 syndrome)
{
	inc_verdict_nak(v, qp, syndrome);
	/* Packets that follow are out of sequence, but none is lost. */
	qp->rx.responder.nak_sent = true;
}

static void refuse_packet(struct inc_qp *qp, struct inc_verdict *v,
			  enum inc_take t)
{
	switch (t) {
	case INC_TAKE_OK:
	case INC_TAKE_LOST:
		break;
	case INC_TAKE_RNR:
	case INC_TAKE_FORMING:
		refuse_for_now(qp, v, t == INC_TAKE_RNR ? SYNDROME_RNR :
							  SYNDROME_FORMING);
		break;
	case INC_TAKE_INVALID:
		inc_verdict_nak(v, qp, IB_NAK_INVALID_REQUEST);
		v->error = RDMA_INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST;
		break;
	case INC_TAKE_ACCESS:
		inc_verdict_nak(v, qp, IB_NAK_REMOTE_ACCESS_ERROR);
		v->error = RDMA_INC_MEMBER_ERROR_LOCAL_ACCESS;
		break;
	}
	if (v->error)
		inc_stats_inc(qp->stats,
			      RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST);
}

/*
 * A gap is closed: accept the packets queued behind it and acknowledge them.
 *
 * The last packet of a multi-packet message is the exception: it is
 * acknowledged when it is retransmitted. Our NAK made the member go back, and
 * an ACK in the middle of that may make a stock rxe lose its place (replay.h).
 */
static void drain_ooo(struct inc_qp *qp, struct inc_verdict *v)
{
	struct inc_responder *resp = &qp->rx.responder;
	enum inc_responder_queued turn;
	enum inc_take t = INC_TAKE_OK;
	struct sk_buff *skb;
	struct inc_pkt pkt;
	u32 psn = resp->epsn;

	while (t == INC_TAKE_OK && (skb = skb_peek(&qp->rx.ooo))) {
		turn = inc_responder_queued(resp, inc_cb(skb)->psn);
		if (turn == INC_RESP_QUEUED_LATER)
			break;
		inc_ooo_dequeue(qp);
		if (turn == INC_RESP_QUEUED_PAST) {
			consume_skb(skb);
			continue;
		}
		inc_wire_parse(skb->data, skb->len, &pkt);
		if (inc_responder_check(resp, &pkt) != INC_RESP_NEW) {
			/*
			 * The member has renumbered its packets since. The
			 * queued ones are worthless, and it retransmits them
			 * all.
			 */
			consume_skb(skb);
			inc_ooo_purge(qp);
			break;
		}
		t = accept_packet(qp, &skb, &pkt, v);
		if (t != INC_TAKE_OK)
			consume_skb(skb);
		else if (!(pkt.flags & INC_PKT_LAST) ||
			 pkt.flags & INC_PKT_FIRST)
			psn = resp->epsn;
	}
	if (t != INC_TAKE_OK)
		refuse_packet(qp, v, t);
	else
		inc_verdict_ack(v, qp, inc_psn_add(psn, -1));
}

/* What a packet says of its message, as far as a replay has to know. */
static enum inc_replay_place place_of(struct inc_qp *qp,
				      const struct sk_buff *skb,
				      const struct inc_pkt *pkt)
{
	enum inc_replay_place place;
	u32 msg_id;

	place = inc_replay_place(pkt, skb->data + pkt->hdr_len, qp->rx.msg_id,
				 &msg_id);
	if (place == INC_REPLAY_AFTER && inc_txq_began(qp, msg_id))
		return INC_REPLAY_BEFORE;
	return place;
}

/*
 * A stock rxe that has lost its place sends with new PSNs what has arrived.
 * Returns whether that is all there is to the packet; it is consumed then.
 */
static bool discard_replayed(struct inc_qp *qp, struct sk_buff *skb,
			     const struct inc_pkt *pkt,
			     enum inc_responder_verdict verdict,
			     struct inc_verdict *v)
{
	struct inc_responder *resp = &qp->rx.responder;
	struct inc_replay *replay = &qp->rx.replay;
	enum inc_replay_verdict what;

	what = inc_replay_judge(replay, resp, pkt, verdict,
				place_of(qp, skb, pkt));
	if (!inc_replay_may_queue(replay) && !skb_queue_empty(&qp->rx.ooo))
		inc_ooo_purge(qp);
	switch (what) {
	case INC_REPLAY_NONE:
		return false;
	case INC_REPLAY_DISCARD:
		inc_replay_discard(replay, resp, pkt);
		qp->rx.solicits = 0;
		inc_qp_count_rx(qp, pkt);
		if (inc_responder_ack_due(resp, pkt->ackreq))
			inc_verdict_ack(v, qp, pkt->psn);
		break;
	case INC_REPLAY_GO_BACK:
		refuse_for_now(qp, v, INC_SYNDROME_AGAIN);
		break;
	}
	if (pkt->flags & INC_PKT_FIRST)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
	if (pkt->payload_len)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DISCARDED);
	consume_skb(skb);
	return true;
}

/**
 * inc_rx_rc() - process a request packet for an RC QP
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed
 * @pkt: the packet, parsed, a request
 * @v: verdict
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 * Spec: IBTA 1.x section 9.7.4.
 */
void inc_rx_rc(struct inc_qp *qp, struct sk_buff *skb,
	       const struct inc_pkt *pkt, struct inc_verdict *v)
{
	enum inc_responder_verdict verdict;
	enum inc_take t;

	lockdep_assert_held(&qp->rx.lock);
	verdict = inc_responder_check(&qp->rx.responder, pkt);
	/* A switch keeps its place. */
	if (unlikely(!inc_replay_expected(&qp->rx.replay,
					  &qp->rx.responder, pkt, verdict)) &&
	    !qp->is_switch && !qp->uplink &&
	    discard_replayed(qp, skb, pkt, verdict, v))
		return;
	switch (verdict) {
	case INC_RESP_DUP:
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES);
		/* Acknowledge its own PSN: see drain_ooo(). */
		if (inc_responder_ack_due(&qp->rx.responder, pkt->ackreq))
			inc_verdict_ack(v, qp, pkt->psn);
		consume_skb(skb);
		return;
	case INC_RESP_OOO_NAK:
		inc_verdict_nak(v, qp, IB_NAK_PSN_ERROR);
		fallthrough;
	case INC_RESP_OOO:
		inc_ooo_enqueue(qp, skb, pkt);
		return;
	case INC_RESP_NEW:
		inc_rx_learn_port(qp, skb, pkt);
		t = accept_packet(qp, &skb, pkt, v);
		if (t == INC_TAKE_OK) {
			if (!skb_queue_empty(&qp->rx.ooo))
				drain_ooo(qp, v);
			return;
		}
		break;
	case INC_RESP_INVALID:
		t = INC_TAKE_INVALID;
		break;
	case INC_RESP_ACCESS:
		t = INC_TAKE_ACCESS;
		break;
	}
	refuse_packet(qp, v, t);
	consume_skb(skb);
}
