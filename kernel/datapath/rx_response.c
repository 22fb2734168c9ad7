// SPDX-License-Identifier: GPL-2.0
/*
 * Responses: ACKs and NAKs of members change the requester, which then sends
 * more, or again.
 */
#include <linux/spinlock.h>

#include "compat.h"
#include "core/requester.h"
#include "core/wire.h"
#include "datapath/rx_response.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"
#include "object/slot_mem.h"

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

/* Take the messages whose results all members have acknowledged now. */
static unsigned int take_read(struct inc_qp *qp, u32 *read)
{
	unsigned int n = 0;

	while (inc_ends_take(&qp->tx.ends, qp->tx.requester.una, &read[n]))
		n += inc_slot_mem_read(qp->tree, read[n]);
	return n;
}

/**
 * inc_rx_response() - process an acknowledgment or NAK
 * @qp: QP of the member
 * @pkt: the packet, parsed
 *
 * Context: softirq, RCU read side, no lock held.
 * Return: true if it is about a packet in flight: the member has sent it.
 * Spec: IBTA 1.x section 9.7.5.
 */
bool inc_rx_response(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	unsigned int cnt = RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE;
	enum inc_requester_verdict verdict = INC_REQ_BAD;
	u8 error = RDMA_INC_MEMBER_ERROR_NONE;
	u32 read[INC_ENDS_MAX];
	unsigned int nread;
	u64 now = inc_now();
	bool known;

	/* An acknowledgment has nothing after its AETH. */
	if (pkt->payload_len || pkt->pad) {
		inc_qp_count(qp, cnt);
		return false;
	}

	spin_lock(&qp->tx.lock);
	known = inc_requester_known(&qp->tx.requester, pkt->psn) ==
		INC_REQ_PROGRESS;
	switch (pkt->syndrome >> 5) {
	case 0:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_ACKS;
		verdict = inc_requester_ack(&qp->tx.requester, pkt->psn, now);
		break;
	case 1:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_RNR_NAKS;
		verdict = inc_requester_rnr_nak(&qp->tx.requester, pkt->psn,
						pkt->syndrome, now);
		break;
	case 3:
		cnt = RDMA_INC_A_MEMBER_STATS_RX_NAKS;
		if (pkt->syndrome != IB_NAK_PSN_ERROR) {
			verdict = inc_requester_known(&qp->tx.requester,
						      pkt->psn);
			if (verdict == INC_REQ_PROGRESS)
				error = nak_error(pkt->syndrome);
			break;
		}
		verdict = inc_requester_nak_seq(&qp->tx.requester, pkt->psn,
						now);
		break;
	}
	nread = take_read(qp, read);
	spin_unlock(&qp->tx.lock);

	while (nread--)
		inc_slot_mem_put(qp->tree, read[nread]);
	if (verdict == INC_REQ_BAD)
		cnt = RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE;
	inc_qp_count(qp, cnt);
	if (unlikely(pkt->becn) && known)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_CNPS);
	if (error)
		inc_qp_error(qp, error);
	else if (verdict != INC_REQ_BAD && verdict != INC_REQ_OLD)
		inc_txq_kick(qp, now);
	return known;
}
