// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a packet through the switch.
 *
 *   inc_engine_rx()     a response changes the requester, done; a request
 *     rx_request()      is new, duplicate, beyond a gap, or wrong
 *       take()          begin the message if it opens one, then
 *         add()         put its payload into the slot; was it the last one?
 *     finish()          outside all locks: acknowledge, send what is ready
 *
 * Chunks that are complete in the slot go to the members (fanout.c), or at a
 * child to the parent (uplink_tx.c). The parent's results go to the members:
 * take_result().
 *
 * A request is acknowledged only after its payload is in the slot: the member
 * does not retransmit an acknowledged packet, so it must not be lost here.
 *
 * DOC: locking of the data path
 *
 * inc_qp.rx_lock > inc_tree_slot.lock, and inc_qp.rx_lock > inc_qp.tx_lock of
 * any QP. A slot's lock and a transmit lock are never held together, nor are
 * two locks of one kind. No lock is held across ip_local_out().
 */
#include <linux/skbuff.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/ack.h"
#include "datapath/cb.h"
#include "datapath/engine.h"
#include "datapath/fanout.h"
#include "datapath/liveness.h"
#include "datapath/ooo_queue.h"
#include "datapath/rx_uc.h"
#include "datapath/solicit.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_rx.h"
#include "datapath/uplink_tx.h"
#include "object/blame.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/tree.h"
#include "report/trace.h"

/* AETH syndromes (IBTA table 45): ACK without credits, RNR NAK with a time. */
#define SYNDROME_ACK	IB_AETH_CREDIT_INVAL
/* 1.28 ms: time for slower ranks to catch up. */
#define SYNDROME_RNR	(IB_RNR_NAK | 14)
/* 20.48 ms: time for members to be added. */
#define SYNDROME_FORMING	(IB_RNR_NAK | 22)

/**
 * struct verdict - work that a request packet leaves to do outside the locks
 * @reply: an acknowledgment or NAK has to be sent
 * @kick: members have something to send
 * @up: the QP to the parent has something to send
 * @kick_own: this member has something to send
 * @syndrome: of the reply
 * @psn: PSN of the reply
 * @msn: message sequence number of the reply
 * @error: enum rdma_inc_member_error with which the QP enters the error state
 */
struct verdict {
	bool	reply;
	bool	kick;
	bool	up;
	bool	kick_own;
	u8	syndrome;
	u32	psn;
	u32	msn;
	u8	error;
};

enum take {
	TAKEN,
	NOT_NOW,	/* RNR NAK; the member retransmits */
	FORMING,	/* the same, but after a longer delay */
	LOST,		/* no memory; treat as lost on the wire */
	INVALID,
	ACCESS,
};

static void ack(struct inc_qp *qp, struct verdict *v, u32 psn)
{
	v->reply = true;
	v->syndrome = SYNDROME_ACK;
	v->psn = psn;
	v->msn = qp->resp.msn;
	qp->ack_put_off = 0;
}

static void nak(struct inc_qp *qp, struct verdict *v, u8 syndrome)
{
	v->reply = true;
	v->syndrome = syndrome;
	v->psn = qp->resp.epsn;
	v->msn = qp->resp.msn;
}

static void gathered(struct inc_tree *tree, u16 slot,
		     const struct inc_progress *p, struct verdict *v)
{
	inc_fanout_gathered(tree, slot, p);
	if (tree->geom.child)
		v->up = true;
	else
		v->kick = true;
}

static bool opens(const struct inc_slot *s, enum inc_slot_verdict verdict)
{
	return s->begun == 1 &&
	       (verdict == INC_SLOT_TAKE || verdict == INC_SLOT_FAIL);
}

/*
 * The member has broken the window rule. If there is no room to tell it so now,
 * it has to retransmit.
 */
static enum take stray(struct inc_qp *qp, u32 msg_id)
{
	return inc_txq_stray(qp, msg_id, INC_STATUS_MSG_ID) ? TAKEN : NOT_NOW;
}

/*
 * This rank's request makes a message fail: tell the ranks that have begun it.
 */
static void fail_msg(struct inc_qp *qp, u16 slot, u32 msg_id, u8 status,
		     u16 unlike, struct verdict *v)
{
	const struct inc_blamed b = {
		.msg_id	= msg_id,
		.slot	= slot,
		.wrong	= qp->cfg.index,
		.unlike	= unlike,
		.status	= status,
	};
	struct inc_tree *tree = qp->tree;

	inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
	inc_blame(&tree->blame, &b);
	WRITE_ONCE(qp->next_msg_id, msg_id + 1);
	inc_fanout_status(tree, slot, msg_id, status);
	inc_uplink_fail(tree, slot, msg_id, status);
	v->up = true;
}

/*
 * Begin the message in its slot. If its chunks are not to be taken, the member
 * has been told why or need not be.
 */
static enum take begin_slot(struct inc_qp *qp, const struct inc_msg *msg,
			    u8 status, struct verdict *v)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, msg->msg_id);
	enum inc_slot_verdict verdict = INC_SLOT_FAILED;
	struct inc_tree *tree = qp->tree;
	u16 slot = ts - tree->slot;
	struct inc_progress p;
	u16 begun, unlike;
	bool due = false;

	spin_lock(&ts->lock);
	/* Pairs with inc_tree_fail(), whose work takes every slot's lock. */
	if (READ_ONCE(tree->error)) {
		status = READ_ONCE(tree->error);
	} else {
		verdict = inc_slot_begin(&ts->m, qp->cfg.index, msg, status,
					 inc_now());
		status = ts->m.status;
		if (opens(&ts->m, verdict)) {
			atomic_inc(&tree->opened);
			WRITE_ONCE(tree->used, true);
			inc_fanout_begin(ts);
		}
		/* Others' chunks may have waited for the last rank to begin. */
		if (verdict == INC_SLOT_TAKE && ts->m.gathered > ts->forwarded)
			due = inc_fanout_due(tree, ts, &p);
	}
	begun = ts->m.begun;
	unlike = ts->m.unlike;
	spin_unlock(&ts->lock);

	switch (verdict) {
	case INC_SLOT_TAKE:
		qp->rx_take = true;
		inc_hold_began(qp, msg->msg_id);
		if (due)
			gathered(tree, slot, &p, v);
		break;
	case INC_SLOT_WAIT:
		inc_liveness_kick(tree);
		inc_txq_close(qp, msg->msg_id);
		return NOT_NOW;
	case INC_SLOT_FAIL:
		fail_msg(qp, slot, msg->msg_id, status, unlike, v);
		/* Ranks that have not begun it are told when they do. */
		v->kick = begun > 1;
		break;
	case INC_SLOT_FAILED:
		WRITE_ONCE(qp->next_msg_id, msg->msg_id + 1);
		inc_txq_status(qp, slot, msg->msg_id, status);
		break;
	case INC_SLOT_REPEAT:
		/* Begun by an earlier QP of this rank. */
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
		inc_txq_close(qp, msg->msg_id);
		break;
	case INC_SLOT_REFUSE:
		/* Answered without the slot, where its turn may yet come. */
		inc_txq_close(qp, msg->msg_id);
		return stray(qp, msg->msg_id);
	}
	return TAKEN;
}

/* Memory that a message's packets take, if all are as large as the first one. */
static u32 size_of(const struct inc_qp *qp, const struct inc_msg *msg,
		   const struct inc_pkt *pkt)
{
	/* A request without elements does not wait. */
	if (!msg->in_len)
		return 0;
	if (pkt->flags & INC_PKT_LAST)
		return qp->rx_size;
	return DIV_ROUND_UP(pkt->dmalen, qp->tree->cfg.pmtu) * qp->rx_size;
}

/* Can the result be sent? If not, tell the member, unless too much is held. */
static bool begin_out(struct inc_qp *qp, const struct inc_msg *msg,
		      const struct inc_hdr *hdr, const struct inc_pkt *pkt,
		      enum take *t)
{
	*t = TAKEN;
	switch (inc_txq_open(qp, msg, be64_to_cpu(hdr->result_va),
			     be32_to_cpu(hdr->result_rkey),
			     size_of(qp, msg, pkt))) {
	case INC_OPEN_OK:
		return true;
	case INC_OPEN_HELD:
		*t = NOT_NOW;
		break;
	case INC_OPEN_REPEAT:
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
		break;
	case INC_OPEN_BUSY:
		*t = stray(qp, msg->msg_id);
		break;
	}
	return false;
}

/* The header is parsed and the slot found: begin the message there. */
static enum take begin_msg(struct inc_qp *qp, const struct inc_msg *msg,
			   const struct inc_hdr *hdr, u8 status,
			   const struct sk_buff *skb, const struct inc_pkt *pkt,
			   struct verdict *v)
{
	enum take t;

	qp->rx_take = false;
	qp->rx_size = skb->truesize;
	/*
	 * The QP was unpublished while this packet arrived. inc_member_del()
	 * must see all that began before, in inc_tree.used; both hold rx_lock.
	 */
	if (READ_ONCE(qp->state) == RDMA_INC_MEMBER_STATE_ERROR)
		return LOST;
	/* It would wait for members that do not exist yet. */
	if (READ_ONCE(qp->tree->state) == RDMA_INC_TREE_STATE_FORMING)
		return FORMING;
	if (begin_out(qp, msg, hdr, pkt, &t))
		t = begin_slot(qp, msg, status, v);
	if (t != TAKEN)
		return t;
	qp->rx_msg_id = msg->msg_id;
	if (!qp->rx_take) {
		v->kick_own = true;
		return TAKEN;
	}

	inc_liveness_kick(qp->tree);
	WRITE_ONCE(qp->next_msg_id, msg->msg_id + 1);
	trace_inc_request(qp, msg);
	return TAKEN;
}

/* A packet opens a message: parse its header, find its slot. */
static enum take begin(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct inc_pkt *pkt, struct verdict *v)
{
	struct inc_tree *tree = qp->tree;
	struct inc_msg msg;
	struct inc_hdr hdr;
	u8 status;
	u32 slot;

	memcpy(&hdr, skb->data + pkt->hdr_len, sizeof(hdr));
	status = inc_qp_failure(qp, pkt);
	if (status)
		msg = (struct inc_msg) {
			.msg_id		= be32_to_cpu(hdr.msg_id),
			.nchunks	= 1,
			.gather_chunks	= 1,
		};
	else
		status = inc_msg_parse(&tree->geom, qp->cfg.index, &hdr,
				       pkt->dmalen, &msg);
	slot = msg.msg_id & (tree->cfg.slots - 1);
	if (pkt->va != (u64)slot * tree->cfg.msg_size)
		return ACCESS;
	return begin_msg(qp, &msg, &hdr, status, skb, pkt, v);
}

/*
 * A zero-length packet. A switch sends it to say that its tree has failed, or
 * that a member behind it waits, perhaps for one of our members.
 */
static void take_empty(struct inc_qp *qp, const struct inc_pkt *pkt,
		       struct verdict *v)
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
		v->up = true;
	else if (inc_liveness_probe_members(tree))
		v->kick = true;
}

/* A packet of a result from the parent. As take(). */
static enum take take_result(struct inc_qp *qp, struct sk_buff *skb,
			     const struct inc_pkt *pkt, struct verdict *v)
{
	if (!inc_uplink_result(qp, pkt, skb->data + pkt->hdr_len))
		return INVALID;
	inc_responder_accept(&qp->resp, pkt);
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_PACKETS);
	inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_BYTES,
		      pkt->payload_len);
	if (pkt->flags & INC_PKT_IMM)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (inc_responder_ack_due(&qp->resp, pkt->ackreq))
		ack(qp, v, pkt->psn);
	v->kick = true;
	v->up = true;
	consume_skb(skb);
	return TAKEN;
}

/* Put a packet's payload into its slot. Consumes @skb. */
static void add(struct inc_qp *qp, struct sk_buff *skb,
		const struct inc_pkt *pkt, struct verdict *v)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, qp->rx_msg_id);
	unsigned int hdr = pkt->flags & INC_PKT_FIRST ? INC_HDR_LEN : 0;
	struct inc_part *part = &inc_cb(skb)->part;
	struct inc_progress p;
	bool due;

	part->data = skb->data + pkt->hdr_len + hdr;
	part->len = pkt->payload_len - hdr;
	if (unlikely(skb->truesize > qp->rx_size))
		inc_hold_more(qp, qp->rx_msg_id, skb->truesize - qp->rx_size);

	spin_lock(&ts->lock);
	due = inc_slot_add(&ts->m, qp->cfg.index, qp->rx_msg_id, part) &&
	      inc_fanout_due(qp->tree, ts, &p);
	spin_unlock(&ts->lock);

	if (due)
		gathered(qp->tree, ts - qp->tree->slot, &p, v);
}

/**
 * inc_part_free() - release a packet's payload
 * @part: part in the packet's control block
 *
 * The sk_buff goes to the cache that the next packet to send is taken from
 * (napi_build_skb()).
 *
 * Context: BH off.
 */
void inc_part_free(struct inc_part *part)
{
	struct inc_cb *cb = container_of(part, struct inc_cb, part);

	napi_consume_skb(container_of((char (*)[48])cb, struct sk_buff, cb), 1);
}

/*
 * The slot reduces in place, so nobody else may hold the data. The slot may
 * keep it for long, so the buffer must not be much larger than the data.
 */
static struct sk_buff *own(struct inc_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb_cloned(skb) && !inc_hold_oversized(skb))
		return skb;
	copy = inc_hold_copy(qp, skb);
	if (!copy)
		return NULL;
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_COPIED);
	consume_skb(skb);
	return copy;
}

/* Accept the expected packet. Consumes @skb if TAKEN, else leaves it. */
static enum take take(struct inc_qp *qp, struct sk_buff **skbp,
		      const struct inc_pkt *pkt, struct verdict *v)
{
	bool empty = inc_responder_is_empty(pkt);
	struct sk_buff *skb;
	enum take t;

	if (qp->uplink)
		return take_result(qp, *skbp, pkt, v);
	skb = own(qp, *skbp);
	if (!skb)
		return LOST;
	*skbp = skb;
	if (pkt->flags & INC_PKT_FIRST && !empty) {
		t = begin(qp, skb, pkt, v);
		if (t != TAKEN)
			return t;
	}
	/* The Immediate: status 0, and the header's message ID. */
	if (pkt->flags & INC_PKT_LAST && !empty && !inc_qp_failure(qp, pkt) &&
	    pkt->imm != (qp->rx_msg_id & INC_IMM_MSG_ID_MASK))
		return INVALID;

	inc_responder_accept(&qp->resp, pkt);
	qp->asks = 0;
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_PACKETS);
	inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_BYTES,
		      pkt->payload_len);
	if (inc_responder_ack_due(&qp->resp, pkt->ackreq)) {
		bool small = pkt->flags & INC_PKT_FIRST &&
			     pkt->flags & INC_PKT_LAST && !empty;

		if (!small || inc_ack_put_off(qp, pkt->psn))
			ack(qp, v, pkt->psn);
	}
	if (empty) {
		take_empty(qp, pkt, v);
		consume_skb(skb);
		return TAKEN;
	}

	if (pkt->flags & INC_PKT_LAST)
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (qp->rx_take) {
		add(qp, skb, pkt, v);
	} else {
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DISCARDED);
		consume_skb(skb);
	}
	return TAKEN;
}

static void refuse(struct inc_qp *qp, struct verdict *v, enum take t)
{
	switch (t) {
	case TAKEN:
	case LOST:
		break;
	case NOT_NOW:
	case FORMING:
		nak(qp, v, t == NOT_NOW ? SYNDROME_RNR : SYNDROME_FORMING);
		/* Packets that follow are out of sequence, but none is lost. */
		qp->resp.nak_sent = true;
		break;
	case INVALID:
		nak(qp, v, IB_NAK_INVALID_REQUEST);
		v->error = RDMA_INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST;
		break;
	case ACCESS:
		nak(qp, v, IB_NAK_REMOTE_ACCESS_ERROR);
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
 * acknowledged when it is retransmitted. Our NAK made the member go back. An
 * rxe that learns in the middle of retransmitting a message that all of it has
 * arrived loses its place if it has to go back once more: it retransmits the
 * message from behind its end, and all that follows has a wrong PSN.
 */
static void take_kept(struct inc_qp *qp, struct verdict *v)
{
	enum take t = TAKEN;
	struct sk_buff *skb;
	struct inc_pkt pkt;
	u32 psn = qp->resp.epsn;

	while (t == TAKEN && (skb = skb_peek(&qp->kept)) &&
	       inc_psn_diff(inc_cb(skb)->psn, qp->resp.epsn) <= 0) {
		inc_ooo_next(qp);
		if (inc_cb(skb)->psn != qp->resp.epsn) {
			consume_skb(skb);
			continue;
		}
		inc_wire_parse(skb->data, skb->len, &pkt);
		if (inc_responder_check(&qp->resp, &pkt) != INC_RESP_NEW) {
			/*
			 * The member has renumbered its packets since. The
			 * queued ones are worthless, and it retransmits them
			 * all.
			 */
			consume_skb(skb);
			inc_ooo_forget(qp);
			break;
		}
		t = take(qp, &skb, &pkt, v);
		if (t != TAKEN)
			consume_skb(skb);
		else if (!(pkt.flags & INC_PKT_LAST) ||
			 pkt.flags & INC_PKT_FIRST)
			psn = qp->resp.epsn;
	}
	if (t != TAKEN)
		refuse(qp, v, t);
	else
		ack(qp, v, inc_psn_add(psn, -1));
}

static void rx_request(struct inc_qp *qp, struct sk_buff *skb,
		       const struct inc_pkt *pkt, struct verdict *v)
{
	enum inc_responder_verdict verdict =
		inc_responder_check(&qp->resp, pkt);
	enum take t;

	switch (verdict) {
	case INC_RESP_DUP:
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES);
		/* Acknowledge its own PSN: see take_kept(). */
		if (inc_responder_ack_due(&qp->resp, pkt->ackreq))
			ack(qp, v, pkt->psn);
		consume_skb(skb);
		return;
	case INC_RESP_OOO_NAK:
		nak(qp, v, IB_NAK_PSN_ERROR);
		fallthrough;
	case INC_RESP_OOO:
		inc_ooo_keep(qp, skb, pkt);
		return;
	case INC_RESP_NEW:
		inc_rx_learn_port(qp, skb, pkt);
		t = take(qp, &skb, pkt, v);
		if (t == TAKEN) {
			if (!skb_queue_empty(&qp->kept))
				take_kept(qp, v);
			return;
		}
		break;
	case INC_RESP_INVALID:
		t = INVALID;
		break;
	case INC_RESP_ACCESS:
		t = ACCESS;
		break;
	}
	refuse(qp, v, t);
	consume_skb(skb);
}

/* A new request of a UC member. Consumes @skb. */
static void take_uc(struct inc_qp *qp, struct sk_buff *skb,
		    const struct inc_pkt *pkt, const struct inc_hdr *hdr,
		    bool overtaken, struct verdict *v)
{
	struct sk_buff *mine = own(qp, skb);
	struct inc_msg msg;
	u8 status;

	if (!mine) {
		consume_skb(skb);
		return;
	}
	status = inc_msg_parse(&qp->tree->geom, qp->cfg.index, hdr, pkt->dmalen,
			       &msg);
	/* If it cannot be accepted now, the member queries and resends. */
	if (begin_msg(qp, &msg, hdr, status, mine, pkt, v) != TAKEN) {
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DEFERRED);
		consume_skb(mine);
		return;
	}
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_PACKETS);
	inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_BYTES,
		      pkt->payload_len);
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (qp->rx_take) {
		inc_uc_came(qp, msg.msg_id, overtaken);
		add(qp, mine, pkt, v);
	} else {
		inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DISCARDED);
		consume_skb(mine);
	}
}

static void rx_uc(struct inc_qp *qp, struct sk_buff *skb,
		  const struct inc_pkt *pkt, struct verdict *v)
{
	struct inc_hdr hdr;
	bool overtaken;

	switch (inc_uc_judge(qp, skb, pkt, &hdr, &overtaken)) {
	case INC_UC_NEW:
		inc_rx_learn_port(qp, skb, pkt);
		take_uc(qp, skb, pkt, &hdr, overtaken, v);
		v->kick_own = true;
		return;
	case INC_UC_ANSWER:
		v->kick_own = true;
		break;
	case INC_UC_DROP:
		break;
	}
	consume_skb(skb);
}

static void finish(struct inc_qp *qp, const struct verdict *v)
{
	if (v->reply) {
		inc_stats_inc(qp->stats, v->syndrome == SYNDROME_ACK ?
			      RDMA_INC_A_MEMBER_STATS_TX_ACKS :
			      v->syndrome >> 5 == IB_RNR_NAK >> 5 ?
			      RDMA_INC_A_MEMBER_STATS_TX_RNR_NAKS :
			      RDMA_INC_A_MEMBER_STATS_TX_NAKS);
		inc_tx_ack(qp, v->syndrome, v->psn, v->msn);
	}
	if (v->error)
		inc_qp_error(qp, v->error);
	if (v->kick)
		inc_fanout_kick(qp->tree);
	else if (v->kick_own)
		inc_txq_kick(qp);
	if (v->up)
		inc_txq_kick_parent(qp->tree);
}

static u8 nak_error(u8 syndrome)
{
	switch (syndrome) {
	case IB_NAK_REMOTE_ACCESS_ERROR:
		return RDMA_INC_MEMBER_ERROR_REMOTE_ACCESS;
	case IB_NAK_REMOTE_OPERATIONAL_ERROR:
		return RDMA_INC_MEMBER_ERROR_REMOTE_OPERATIONAL;
	default:
		return RDMA_INC_MEMBER_ERROR_REMOTE_INVALID_REQUEST;
	}
}

static void rx_response(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	unsigned int cnt = RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE;
	enum inc_requester_verdict verdict = INC_REQ_BAD;
	u8 error = RDMA_INC_MEMBER_ERROR_NONE;
	u64 now = inc_now();

	/* An acknowledgment has nothing after its AETH. */
	if (pkt->payload_len || pkt->pad) {
		inc_stats_inc(qp->stats, cnt);
		return;
	}

	spin_lock(&qp->tx_lock);
	switch (pkt->syndrome >> 5) {
	case 0:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_ACKS;
		verdict = inc_requester_ack(&qp->req, pkt->psn, now);
		break;
	case 1:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_RNR_NAKS;
		verdict = inc_requester_rnr_nak(&qp->req, pkt->psn, pkt->syndrome, now);
		break;
	case 3:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_NAKS;
		if (pkt->syndrome != IB_NAK_PSN_ERROR) {
			verdict = inc_requester_known(&qp->req, pkt->psn);
			if (verdict == INC_REQ_PROGRESS)
				error = nak_error(pkt->syndrome);
			break;
		}
		verdict = inc_requester_nak_seq(&qp->req, pkt->psn, now);
		break;
	}
	spin_unlock(&qp->tx_lock);

	if (verdict == INC_REQ_BAD)
		cnt = RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE;
	inc_stats_inc(qp->stats, cnt);
	if (error)
		inc_qp_error(qp, error);
	else if (verdict != INC_REQ_BAD && verdict != INC_REQ_OLD)
		inc_txq_kick(qp);
}

/*
 * Answer each request of a member whose QP here is in error with a NAK, which
 * ends its own QP if it does not know yet. Packets accepted before are
 * acknowledged.
 */
static void rx_in_error(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	struct verdict v = {};

	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_IN_ERROR);
	if (!(pkt->flags & INC_PKT_REQUEST) || pkt->uc ||
	    READ_ONCE(qp->state) != RDMA_INC_MEMBER_STATE_ERROR)
		return;
	spin_lock(&qp->rx_lock);
	nak(qp, &v, IB_NAK_REMOTE_OPERATIONAL_ERROR);
	if (inc_psn_diff(pkt->psn, v.psn) < 0)
		v.psn = pkt->psn;
	spin_unlock(&qp->rx_lock);
	finish(qp, &v);
}

/**
 * inc_engine_rx() - process a checked packet for a QP
 * @qp: QP
 * @skb: packet, skb->data at its BTH, linear, nothing after its ICRC; consumed
 * @pkt: the packet, parsed
 *
 * Context: softirq, RCU read side.
 */
void inc_engine_rx(struct inc_qp *qp, struct sk_buff *skb,
		   const struct inc_pkt *pkt)
{
	struct verdict v = {};

	if (!inc_ooo_out(qp, skb))
		return;
	if (READ_ONCE(qp->state) != RDMA_INC_MEMBER_STATE_RTS) {
		rx_in_error(qp, pkt);
		kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
		return;
	}
	if (unlikely(!READ_ONCE(qp->heard)))
		inc_txq_heard(qp);
	if (!(pkt->flags & INC_PKT_REQUEST)) {
		rx_response(qp, pkt);
		consume_skb(skb);
		return;
	}

	spin_lock(&qp->rx_lock);
	if (pkt->uc) {
		rx_uc(qp, skb, pkt, &v);
	} else {
		rx_request(qp, skb, pkt, &v);
		inc_solicit_watch(qp);
	}
	spin_unlock(&qp->rx_lock);
	finish(qp, &v);
}
