// SPDX-License-Identifier: GPL-2.0
/*
 * UC: nothing is acknowledged, everything may be lost. The member retransmits
 * and queries. What the switch remembers of each slot's message (struct
 * inc_out) determines the answer:
 *
 *   not begun                 INC_STATUS_RESEND: the request was lost
 *   begun, not ended          INC_STATUS_PENDING
 *   ended                     the result or status once more
 *
 * The result is still in the slot: its bytes change when all ranks have begun
 * the slot's next message, and a member without its result does not begin it.
 */
#include <linux/skbuff.h>

#include "core/psn.h"
#include "core/wire.h"
#include "datapath/rx_uc.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"
#include "object/tree.h"

/* The expected PSN follows each packet: a gap means loss, or a late packet. */
static bool psn_came(struct inc_qp *qp, u32 psn)
{
	s32 ahead = inc_psn_diff(psn, qp->resp.epsn);

	if (ahead < 0)
		return true;
	if (ahead)
		inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_GAPS,
			      ahead);
	qp->resp.epsn = inc_psn_add(psn, 1);
	return false;
}

static enum inc_uc_verdict asked(struct inc_qp *qp, u32 msg_id)
{
	u8 status = READ_ONCE(qp->tree->error);

	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_QUERIES);
	switch (inc_txq_again(qp, msg_id)) {
	case INC_AGAIN_QUEUED:
		return INC_UC_ANSWER;
	case INC_AGAIN_OPEN:
		inc_txq_stray(qp, msg_id, INC_STATUS_PENDING);
		return INC_UC_ANSWER;
	case INC_AGAIN_UNKNOWN:
		inc_txq_stray(qp, msg_id, status ?: INC_STATUS_RESEND);
		return INC_UC_ANSWER;
	case INC_AGAIN_OLD:
		break;
	}
	return INC_UC_DROP;
}

static enum inc_uc_verdict requested(struct inc_qp *qp, u32 msg_id)
{
	enum inc_again_verdict verdict = inc_txq_again(qp, msg_id);

	if (verdict == INC_AGAIN_UNKNOWN)
		return INC_UC_NEW;
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES);
	return verdict == INC_AGAIN_QUEUED ? INC_UC_ANSWER : INC_UC_DROP;
}

/**
 * inc_uc_judge() - classify a UC member's packet, answer it if possible
 * @qp: its QP
 * @skb: packet, skb->data at its BTH
 * @pkt: the packet, parsed, a request
 * @hdr: filled with the INC header if INC_UC_NEW
 * @overtaken: set, if INC_UC_NEW, when a packet sent later arrived earlier
 *
 * Context: BH; qp->rx_lock held.
 * Return: enum inc_uc_verdict.
 * Spec: draft section 7; IBTA 1.x section 9.8.
 */
enum inc_uc_verdict inc_uc_judge(struct inc_qp *qp, const struct sk_buff *skb,
				 const struct inc_pkt *pkt, struct inc_hdr *hdr,
				 bool *overtaken)
{
	const struct inc_tree_cfg *cfg = &qp->tree->cfg;
	u32 msg_id;

	lockdep_assert_held(&qp->rx_lock);
	/* A stranger's packet changes nothing, the expected PSN included. */
	if (!inc_responder_check_uc(&qp->resp, pkt))
		goto bad;
	memcpy(hdr, skb->data + pkt->hdr_len, sizeof(*hdr));
	msg_id = be32_to_cpu(hdr->msg_id);
	if (pkt->va != (u64)(msg_id & (cfg->slots - 1)) * cfg->msg_size ||
	    pkt->imm != (msg_id & INC_IMM_MSG_ID_MASK))
		goto bad;
	*overtaken = psn_came(qp, pkt->psn);
	if (hdr->flags & cpu_to_be16(INC_HDR_F_QUERY))
		return asked(qp, msg_id);
	return requested(qp, msg_id);

bad:
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST);
	return INC_UC_DROP;
}

/**
 * inc_uc_came() - record a message that arrived and report missing ones
 * @qp: the member's QP
 * @msg_id: message that its slot has taken
 * @overtaken: from inc_uc_judge()
 *
 * Context: BH; qp->rx_lock held. inc_txq_kick() sends the reports.
 */
void inc_uc_came(struct inc_qp *qp, u32 msg_id, bool overtaken)
{
	u32 missing;

	lockdep_assert_held(&qp->rx_lock);
	inc_msg_loss_came(&qp->gap, msg_id, overtaken);
	while (inc_msg_loss_judge(&qp->gap, &missing))
		inc_txq_missing(qp, missing);
}
