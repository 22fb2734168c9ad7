// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on a request is found under the locks of its QP and its slot, and
 * carried out when they are dropped: nothing is sent under a lock.
 */
#include <linux/lockdep.h>

#include "compat.h"
#include "datapath/fanout.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/verdict.h"
#include "object/qp.h"

/* AETH syndrome (IBTA table 45): ACK without credits. */
#define SYNDROME_ACK	IB_AETH_CREDIT_INVAL

/**
 * inc_verdict_ack() - acknowledge a request
 * @v: verdict
 * @qp: QP of the member
 * @psn: PSN to acknowledge, or one beside it (inc_replay_name())
 *
 * Context: softirq, qp->rx.lock held.
 */
void inc_verdict_ack(struct inc_verdict *v, struct inc_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->rx.lock);
	v->reply = true;
	v->syndrome = SYNDROME_ACK;
	v->psn = inc_replay_name(&qp->rx.replay, &qp->rx.responder, psn);
	v->msn = qp->rx.responder.msn;
	qp->rx.acks_delayed = 0;
}

/**
 * inc_verdict_nak() - answer the expected PSN with a NAK
 * @v: verdict
 * @qp: QP of the member
 * @syndrome: AETH syndrome
 *
 * Context: softirq, qp->rx.lock held.
 */
void inc_verdict_nak(struct inc_verdict *v, const struct inc_qp *qp,
		     u8 syndrome)
{
	lockdep_assert_held(&qp->rx.lock);
	v->reply = true;
	v->syndrome = syndrome;
	v->psn = qp->rx.responder.epsn;
	v->msn = qp->rx.responder.msn;
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
 * inc_verdict_flush() - carry out a verdict: answer, and send what is ready
 * @v: verdict
 * @qp: QP of the member
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_verdict_flush(const struct inc_verdict *v, struct inc_qp *qp)
{
	if (v->reply) {
		inc_qp_count(qp, reply_counter(v->syndrome));
		inc_tx_aeth(qp, v->syndrome, v->psn, v->msn);
	}
	if (v->error)
		inc_qp_error(qp, v->error);
	if (v->kick_members)
		inc_fanout_kick(qp->tree);
	else if (v->kick_begun)
		inc_fanout_kick_begun(qp->tree, v->begun);
	else if (v->kick_self)
		inc_txq_kick(qp, inc_now());
	if (v->kick_parent)
		inc_txq_kick_parent(qp->tree);
}
