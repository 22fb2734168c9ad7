// SPDX-License-Identifier: GPL-2.0
/*
 * A QP's retransmission timer: retransmit unacknowledged packets until the
 * member is dead.
 */
#include "compat.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/tx_timer.h"
#include "object/qp.h"
#include "object/tree.h"
#include "report/notify.h"

/**
 * struct expiry - a timer that has expired
 * @rnr: the switch was waiting because of the member's RNR NAK
 * @silent: the member has just fallen silent
 * @len: bytes of the oldest packet that is not acknowledged
 */
struct expiry {
	bool	rnr;
	bool	silent;
	u32	len;
};

static enum inc_requester_timer handle_timeout(struct inc_qp *qp,
					       struct expiry *x)
{
	enum inc_requester_timer what = INC_REQ_TIMER_LATER;
	u64 now = inc_now();

	spin_lock(&qp->tx.lock);
	x->rnr = qp->tx.requester.rnr;
	x->silent = false;
	x->len = inc_requester_oldest_len(&qp->tx.requester);
	/* Thousands of these timers may keep the work from running that ends it. */
	if (inc_tree_is_over(qp->tree))
		what = INC_REQ_TIMER_IDLE;
	if (what == INC_REQ_TIMER_IDLE || qp->state != RDMA_INC_MEMBER_STATE_RTS)
		goto out;
	/* The member may not be up yet. */
	if (!inc_qp_was_up(qp))
		inc_requester_alive(&qp->tx.requester, now);
	what = inc_requester_timeout(&qp->tx.requester, now);
	if (what == INC_REQ_TIMER_LATER) {
		inc_txq_arm(qp, now);
	} else if (what == INC_REQ_TIMER_BACK) {
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_TIMEOUTS);
		x->silent = inc_requester_falls_silent(&qp->tx.requester, now);
	}
out:
	spin_unlock(&qp->tx.lock);
	if (x->silent) {
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_SILENCES);
		inc_nl_notify_silent(qp);
	}
	return what;
}

/* Was the oldest packet lost for its length? One that was not would arrive. */
static bool find_too_long(struct inc_qp *qp, const struct expiry *x)
{
	if (x->rnr || !inc_tx_too_long(qp, x->len))
		return false;
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_TOO_LONG);
	return true;
}

static u8 get_cause(const struct expiry *x, bool too_long)
{
	if (x->rnr)
		return RDMA_INC_MEMBER_ERROR_RNR_RETRY_EXCEEDED;
	return too_long ? RDMA_INC_MEMBER_ERROR_MTU_EXCEEDED :
			  RDMA_INC_MEMBER_ERROR_RETRY_EXCEEDED;
}

/**
 * inc_tx_timer() - handle expiry of a QP's retransmission timer
 * @t: inc_qp.tx.timer
 *
 * Context: softirq.
 */
void inc_tx_timer(struct timer_list *t)
{
	struct inc_qp *qp = timer_container_of(qp, t, tx.timer);
	enum inc_requester_timer what;
	bool too_long = false;
	struct expiry x;

	what = handle_timeout(qp, &x);
	if (what == INC_REQ_TIMER_BACK || what == INC_REQ_TIMER_DEAD)
		too_long = find_too_long(qp, &x);
	if (what == INC_REQ_TIMER_DEAD)
		inc_qp_error(qp, get_cause(&x, too_long));
	else if (what != INC_REQ_TIMER_LATER && what != INC_REQ_TIMER_IDLE)
		inc_txq_kick(qp, inc_now());
}
