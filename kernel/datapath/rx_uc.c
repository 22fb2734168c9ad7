// SPDX-License-Identifier: GPL-2.0
/*
 * UC: nothing is acknowledged, everything may be lost. The member retransmits and
 * queries. The state of the member's message in its slot determines the answer:
 *
 *   not begun                 INC_STATUS_RESEND: the request was lost
 *   begun, not ended          INC_STATUS_PENDING
 *   ended                     the result or status once more
 *
 * The result is still in the slot: its bytes change when all ranks have begun the
 * slot's next message, and a member without its result does not begin it. The
 * packet that asks tells again where the result goes.
 *
 * A member that goes on to ask for the same, and never gets it or makes anything of
 * it, keeps the others waiting as one does that acknowledges nothing: it is dead after
 * the same time. One that is silent may compute.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/skbuff.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/reply.h"
#include "datapath/rx_payload.h"
#include "datapath/rx_uc.h"
#include "datapath/slot_io.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"
#include "object/tree.h"

/* Retries with no more time between them follow each other. */
#define RETRY_GAP	HZ
/* A member is not declared dead earlier: bursts of loss may last. */
#define RETRY_MIN	(2 * HZ)

/*
 * Verdict on a packet: not the member's; the member's, but old; send an answer that
 * is queued; the same while other ranks are awaited; take it.
 */
enum uc_verdict {
	UC_DROP,
	UC_OLD,
	UC_ANSWER,
	UC_WAIT,
	UC_NEW,
};

/* The expected PSN follows each packet: a gap means loss, or a late packet. */
static bool note_psn(struct inc_qp *qp, u32 psn)
{
	s32 ahead = inc_psn_diff(psn, qp->rx.responder.epsn);

	if (ahead < 0)
		return true;
	if (ahead)
		inc_qp_count_n(qp, RDMA_INC_A_MEMBER_STATS_RX_GAPS, ahead);
	qp->rx.responder.epsn = inc_psn_add(psn, 1);
	return false;
}

static enum inc_slot_past lookup_past(struct inc_qp *qp, u32 msg_id,
				      struct inc_msg *msg, u8 *status)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, msg_id);
	enum inc_slot_past past;

	spin_lock(&ts->lock);
	past = inc_slot_lookup(&ts->m, qp->cfg.index, msg_id, msg, status);
	spin_unlock(&ts->lock);
	return past;
}

/* Look up the message that a packet names, and queue its outcome if it has one. */
static enum inc_slot_past look_up(struct inc_qp *qp, const struct inc_hdr *hdr)
{
	u32 msg_id = be32_to_cpu(hdr->msg_id);
	enum inc_slot_past past;
	struct inc_msg msg;
	u8 status;

	/* Mostly it is new, and the slot need not be asked. */
	if ((s32)(msg_id - qp->rx.beyond) >= 0)
		return INC_SLOT_UNKNOWN;
	past = lookup_past(qp, msg_id, &msg, &status);
	if (past != INC_SLOT_ENDED)
		return past;
	/* Silence would have the member give up. */
	if (!inc_slot_io_room(qp, msg_id))
		return INC_SLOT_OPEN;
	if (hdr->flags & cpu_to_be16(INC_HDR_F_NO_DATA))
		msg.out_len = 0;
	return inc_txq_resend(qp, &msg, be64_to_cpu(hdr->result_va),
			      be32_to_cpu(hdr->result_rkey), status) ?
	       INC_SLOT_ENDED : INC_SLOT_OPEN;
}

static enum uc_verdict answer_query(struct inc_qp *qp,
				    const struct inc_hdr *hdr)
{
	u8 status = READ_ONCE(qp->tree->error);
	u32 msg_id = be32_to_cpu(hdr->msg_id);

	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_QUERIES);
	switch (look_up(qp, hdr)) {
	case INC_SLOT_ENDED:
		return UC_ANSWER;
	case INC_SLOT_OPEN:
		inc_txq_stray(qp, msg_id, INC_STATUS_PENDING);
		return UC_WAIT;
	case INC_SLOT_UNKNOWN:
		inc_txq_stray(qp, msg_id, status ?: INC_STATUS_RESEND);
		return UC_ANSWER;
	case INC_SLOT_OLD:
		break;
	}
	return UC_OLD;
}

static enum uc_verdict check_repeat(struct inc_qp *qp,
				    const struct inc_hdr *hdr)
{
	enum inc_slot_past past = look_up(qp, hdr);

	if (past == INC_SLOT_UNKNOWN)
		return UC_NEW;
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES);
	if (past == INC_SLOT_OPEN)
		return UC_WAIT;
	return past == INC_SLOT_ENDED ? UC_ANSWER : UC_OLD;
}

/* A packet that needs no more than an answer: is it one of too many retries? */
static void note_retry(struct inc_qp *qp)
{
	unsigned long dead =
		msecs_to_jiffies(READ_ONCE(qp->tree->cfg.dead_time_ms));

	if (!qp->rx.retry || inc_age(qp->rx.retry_at) > RETRY_GAP)
		qp->rx.retry_since = jiffies;
	qp->rx.retry = true;
	qp->rx.retry_at = jiffies;
	if (inc_age(qp->rx.retry_since) > max(dead, RETRY_MIN))
		inc_qp_error(qp, RDMA_INC_MEMBER_ERROR_RETRY_EXCEEDED);
}

/*
 * Classify a packet, and answer it if it needs no more. @overtaken is set, if
 * UC_NEW, when a packet sent later arrived earlier.
 */
static enum uc_verdict judge_packet(struct inc_qp *qp,
				    const struct sk_buff *skb,
				    const struct inc_pkt *pkt, bool *overtaken)
{
	const struct inc_tree_cfg *cfg = &qp->tree->cfg;
	struct inc_hdr hdr;
	u32 msg_id;

	/* A stranger's packet changes nothing, the expected PSN included. */
	if (!inc_responder_check_uc(&qp->rx.responder, pkt))
		goto bad;
	inc_rx_hdr(skb, pkt, &hdr);
	msg_id = be32_to_cpu(hdr.msg_id);
	if (pkt->va != (u64)(msg_id & (cfg->slots - 1)) * cfg->msg_size ||
	    pkt->imm != (msg_id & INC_IMM_MSG_ID_MASK))
		goto bad;
	*overtaken = note_psn(qp, pkt->psn);
	if (hdr.flags & cpu_to_be16(INC_HDR_F_QUERY))
		return answer_query(qp, &hdr);
	return check_repeat(qp, &hdr);

bad:
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST);
	return UC_DROP;
}

/* Record that a message has arrived, and report missing ones. */
static void report_missing(struct inc_qp *qp, bool overtaken)
{
	struct inc_msg msg;
	u32 missing;
	u8 n, status;

	inc_msg_loss_arrived(&qp->rx.loss, qp->rx.msg_id, overtaken);
	for (n = 0; n < INC_MSG_LOSS_JUDGED; n++)
		if (inc_msg_loss_judge(&qp->rx.loss, &missing) &&
		    !inc_msg_loss_seen(&qp->rx.loss, missing) &&
		    lookup_past(qp, missing, &msg, &status) == INC_SLOT_UNKNOWN)
			inc_txq_stray(qp, missing, INC_STATUS_RESEND);
}

/* A new request. Consumes @skb. */
static void accept_uc(struct inc_qp *qp, struct sk_buff *skb,
		      const struct inc_pkt *pkt, bool overtaken,
		      struct inc_reply *reply)
{
	struct sk_buff *mine = inc_slot_io_unshare(qp, skb);

	if (!mine) {
		consume_skb(skb);
		return;
	}
	/* If it cannot be accepted now, the member queries and resends. */
	if (inc_slot_io_begin(qp, mine, pkt, reply) != INC_TAKE_OK) {
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_DEFERRED);
		consume_skb(mine);
		return;
	}
	if ((s32)(qp->rx.next_msg_id - qp->rx.beyond) > 0)
		qp->rx.beyond = qp->rx.next_msg_id;
	inc_qp_count_rx(qp, pkt);
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_MESSAGES);
	if (qp->rx.to_slot)
		report_missing(qp, overtaken);
	inc_slot_io_contribute(qp, mine, pkt, reply);
}

/**
 * inc_rx_uc() - process a request packet for a UC QP
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed
 * @pkt: the packet, parsed, a request
 * @reply: work until the locks are dropped
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 * Return: false if it is not the member's.
 * Spec: draft section 7; IBTA 1.x section 9.8.
 */
bool inc_rx_uc(struct inc_qp *qp, struct sk_buff *skb,
	       const struct inc_pkt *pkt, struct inc_reply *reply)
{
	enum uc_verdict verdict;
	bool overtaken;

	lockdep_assert_held(&qp->rx.lock);
	verdict = judge_packet(qp, skb, pkt, &overtaken);
	switch (verdict) {
	case UC_NEW:
		qp->rx.retry = false;
		accept_uc(qp, skb, pkt, overtaken, reply);
		reply->kick_self = true;
		return true;
	case UC_WAIT:
		qp->rx.retry = false;
		reply->kick_self = true;
		break;
	case UC_ANSWER:
		reply->kick_self = true;
		note_retry(qp);
		break;
	case UC_OLD:
		note_retry(qp);
		break;
	case UC_DROP:
		break;
	}
	consume_skb(skb);
	return verdict != UC_DROP;
}
