// SPDX-License-Identifier: GPL-2.0
/*
 * The reply to a request is decided under the locks of its QP and its slot, and
 * sent when they are dropped: nothing is sent under a lock.
 */
#include <linux/lockdep.h>

#include "compat.h"
#include "datapath/fanout.h"
#include "datapath/reply.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"

/* AETH syndrome (IBTA table 45): ACK without credits. */
#define SYNDROME_ACK	IB_AETH_CREDIT_INVAL

/**
 * inc_reply_ack() - acknowledge a request
 * @reply: result
 * @qp: QP of the member
 * @psn: PSN to acknowledge, or one beside it (inc_place_ack_psn())
 *
 * Context: softirq, qp->rx.lock held.
 */
void inc_reply_ack(struct inc_reply *reply, struct inc_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->rx.lock);
	reply->due = true;
	reply->syndrome = SYNDROME_ACK;
	reply->psn = inc_place_ack_psn(&qp->rx.place, &qp->rx.responder, psn);
	reply->msn = qp->rx.responder.msn;
	qp->rx.acks_delayed = 0;
}

/**
 * inc_reply_nak() - answer the expected PSN with a NAK
 * @reply: result
 * @qp: QP of the member
 * @syndrome: AETH syndrome
 *
 * Context: softirq, qp->rx.lock held.
 */
void inc_reply_nak(struct inc_reply *reply, const struct inc_qp *qp,
		   u8 syndrome)
{
	lockdep_assert_held(&qp->rx.lock);
	reply->due = true;
	reply->syndrome = syndrome;
	reply->psn = qp->rx.responder.epsn;
	reply->msn = qp->rx.responder.msn;
}

static unsigned int reply_counter(u8 syndrome)
{
	if (syndrome == SYNDROME_ACK)
		return RDMA_INC_A_MEMBER_STATS_TX_ACKS;
	return syndrome >> 5 == IB_RNR_NAK >> 5 ?
	       RDMA_INC_A_MEMBER_STATS_TX_RNR_NAKS :
	       RDMA_INC_A_MEMBER_STATS_TX_NAKS;
}

/**
 * inc_reply_flush() - send a reply, and queued results
 * @reply: reply
 * @qp: QP of the member
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_reply_flush(const struct inc_reply *reply, struct inc_qp *qp)
{
	if (reply->due) {
		inc_qp_count(qp, reply_counter(reply->syndrome));
		inc_tx_aeth(qp, reply->syndrome, reply->psn, reply->msn);
	}
	if (reply->error)
		inc_qp_error(qp, reply->error);
	if (reply->kick_members)
		inc_fanout_kick(qp->tree);
	else if (reply->kick_begun)
		inc_fanout_kick_begun(qp->tree, reply->begun);
	else if (reply->kick_self)
		inc_txq_kick(qp, inc_now());
	if (reply->kick_parent)
		inc_txq_kick_parent(qp->tree);
}
