// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed acknowledgments. Short messages arrive one by one, each with AckReq, so a
 * quarter of all packets would be ACKs. One ACK for several messages is as good:
 * the result tells the member more, and sooner (coalescing: IBTA C9-112). And the
 * end of a write of several packets is better acknowledged with a later packet
 * (core/lost_place.h). The delay is well below any local ACK timeout in use.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>

#include "compat.h"
#include "datapath/ack_delay.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"

/* How long an acknowledgment may be delayed. */
#define ACK_DELAY_MS	2
/* Lone messages acknowledged at once after a member waited for the timer. */
#define ACK_EAGER	U8_MAX
/* Waits in a row that show a habit, not a machine that stalled once. */
#define ACK_WAITS	4

/**
 * inc_ack_delay() - delay the acknowledgment of a message
 * @qp: QP
 * @psn: PSN of its last packet
 *
 * Context: softirq, qp->rx.lock held.
 * Return: true if enough acknowledgments were delayed: send this one now.
 */
bool inc_ack_delay(struct inc_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->rx.lock);
	qp->rx.ack_psn = psn;
	/* The member did not wait for the previous acknowledgment. */
	if (qp->rx.acks_delayed)
		qp->rx.ack_waits = 0;
	if (++qp->rx.acks_delayed >= INC_RESP_ACK_EVERY)
		return true;
	if (!timer_pending(&qp->rx.ack_timer))
		mod_timer(&qp->rx.ack_timer,
			  jiffies + msecs_to_jiffies(ACK_DELAY_MS));
	return false;
}

/* Drop the receive lock, and send the delayed acknowledgment if it is due. */
static void unlock_and_ack(struct inc_qp *qp, bool due)
	__releases(&qp->rx.lock)
{
	u32 psn = qp->rx.ack_psn, msn = qp->rx.responder.msn;

	if (due) {
		psn = inc_place_ack_psn(&qp->rx.place, &qp->rx.responder, psn);
		qp->rx.acks_delayed = 0;
	}
	spin_unlock(&qp->rx.lock);
	if (!due)
		return;
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_ACKS);
	inc_tx_aeth(qp, IB_AETH_CREDIT_INVAL, psn, msn);
}

/**
 * inc_ack_timer() - send an acknowledgment that was delayed long enough
 * @t: inc_qp.rx.ack_timer
 *
 * Context: softirq.
 */
void inc_ack_timer(struct timer_list *t)
{
	struct inc_qp *qp = timer_container_of(qp, t, rx.ack_timer);
	bool due;

	spin_lock(&qp->rx.lock);
	due = qp->rx.acks_delayed && qp->state == RDMA_INC_MEMBER_STATE_RTS;
	if (due && qp->rx.acks_delayed == 1 &&
	    ++qp->rx.ack_waits == ACK_WAITS) {
		qp->rx.ack_eager = ACK_EAGER;
		qp->rx.ack_waits--;
	}
	unlock_and_ack(qp, due);
}

/**
 * inc_ack_lone() - acknowledge a member that has been sent all its results
 * @qp: its QP
 *
 * A member with one message in flight at a time may wait for its acknowledgment
 * before it sends the next one, as plain verbs programs do. Such a member stays
 * silent until the timer has sent the acknowledgment. Once that is seen, the
 * acknowledgment is sent along with the result for some messages. Any other
 * member would only get an extra ACK per message.
 *
 * Context: BH off, RCU read side, no lock held.
 */
void inc_ack_lone(struct inc_qp *qp)
{
	bool due;

	if (READ_ONCE(qp->rx.acks_delayed) != 1 || !READ_ONCE(qp->rx.ack_eager))
		return;
	spin_lock(&qp->rx.lock);
	due = qp->rx.acks_delayed == 1 && qp->rx.ack_eager &&
	      qp->state == RDMA_INC_MEMBER_STATE_RTS;
	if (due)
		qp->rx.ack_eager--;
	unlock_and_ack(qp, due);
}
