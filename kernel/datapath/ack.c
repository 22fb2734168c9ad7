// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments that are put off. Short messages come one by one, each asking
 * for one, which would be a packet in four. One for several is as good: the result
 * tells the member more, and sooner (coalescing: IBTA C9-112). The delay is well
 * below any local ACK timeout in use.
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "datapath/ack.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"

/* How long the acknowledgment of a short message may be put off. */
#define ACK_DELAY_MS	2
/* Lone messages of which it is not put off, when somebody has waited so long. */
#define ACK_EAGER	U8_MAX
/* So often, one after the other: it was no machine that stood still. */
#define ACK_WAITS	4

/**
 * inc_ack_put_off() - put the acknowledgment of a short message off
 * @qp: QP
 * @psn: the message's PSN
 *
 * Context: softirq, qp->rx_lock held.
 * Return: true if enough were put off: this one is to be sent.
 */
bool inc_ack_put_off(struct inc_qp *qp, u32 psn)
{
	qp->ack_psn = psn;
	/* It does not wait for that of the one before. */
	if (qp->ack_put_off)
		qp->ack_waits = 0;
	if (++qp->ack_put_off >= INC_RESP_ACK_EVERY)
		return true;
	if (!timer_pending(&qp->ack_timer))
		mod_timer(&qp->ack_timer,
			  jiffies + msecs_to_jiffies(ACK_DELAY_MS));
	return false;
}

static void send_ack(struct inc_qp *qp, u32 psn, u32 msn)
{
	inc_stats_inc(qp->stats, INC_A_MEMBER_STATS_TX_ACKS);
	inc_tx_ack(qp, IB_AETH_CREDIT_INVAL, psn, msn);
}

/**
 * inc_ack_timer() - an acknowledgment has been put off long enough
 * @t: inc_qp.ack_timer
 *
 * Context: softirq.
 */
void inc_ack_timer(struct timer_list *t)
{
	struct inc_qp *qp = timer_container_of(qp, t, ack_timer);
	u32 psn, msn;
	bool due;

	spin_lock(&qp->rx_lock);
	due = qp->ack_put_off && qp->state == INC_MEMBER_STATE_RTS;
	if (due && qp->ack_put_off == 1 && ++qp->ack_waits == ACK_WAITS) {
		qp->ack_eager = ACK_EAGER;
		qp->ack_waits--;
	}
	if (due)
		qp->ack_put_off = 0;
	psn = qp->ack_psn;
	msn = qp->resp.msn;
	spin_unlock(&qp->rx_lock);
	if (due)
		send_ack(qp, psn, msn);
}

/**
 * inc_ack_lone() - a member has been sent all that it waited for
 * @qp: its QP
 *
 * A member that has one message in flight at a time may wait for its acknowledgment
 * before it sends the next one, as plain verbs programs do. One that does is silent
 * until the timer has sent it; from then on it goes along, for some messages. All
 * others would get an acknowledgment each for nothing.
 *
 * Context: BH off, RCU read side, no lock held.
 */
void inc_ack_lone(struct inc_qp *qp)
{
	u32 psn, msn;
	bool due;

	if (READ_ONCE(qp->ack_put_off) != 1 || !READ_ONCE(qp->ack_eager))
		return;
	spin_lock(&qp->rx_lock);
	due = qp->ack_put_off == 1 && qp->ack_eager &&
	      qp->state == INC_MEMBER_STATE_RTS;
	if (due) {
		qp->ack_eager--;
		qp->ack_put_off = 0;
	}
	psn = qp->ack_psn;
	msn = qp->resp.msn;
	spin_unlock(&qp->rx_lock);
	if (due)
		send_ack(qp, psn, msn);
}
