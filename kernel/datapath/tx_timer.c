// SPDX-License-Identifier: GPL-2.0
/*
 * A QP's retransmission timer: retransmit unacknowledged packets until the
 * member is dead.
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "datapath/missing.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/tx_timer.h"
#include "object/qp.h"
#include "object/tree.h"

/*
 * A member that sends requests is alive for some time, whatever it leaves
 * unacknowledged. But one that answers with RNR NAKs alone gets only the dead
 * time for that. A member that was never heard from may not be up yet.
 */
static void note_life(struct inc_qp *qp, u64 now)
{
	struct inc_requester *r = &qp->tx.requester;
	unsigned long silent;

	lockdep_assert_held(&qp->tx.lock);
	if (!inc_qp_was_up(qp)) {
		inc_requester_alive(r, now);
	} else if (READ_ONCE(qp->rx.has_sent) && !r->rnr) {
		silent = jiffies - READ_ONCE(qp->rx.sent_at);
		inc_requester_sends(r, now - jiffies_to_usecs(silent));
	}
}

/**
 * struct expiry - what is known of a timer that has expired
 * @rnr: the switch was waiting because of the member's RNR NAK
 * @len: bytes of the oldest packet that is not acknowledged
 */
struct expiry {
	bool	rnr;
	u32	len;
};

static enum inc_requester_timer handle_timeout(struct inc_qp *qp, bool reprieve,
					       struct expiry *x)
{
	enum inc_requester_timer what = INC_REQ_TIMER_LATER;
	u64 now = inc_now();

	spin_lock(&qp->tx.lock);
	x->rnr = qp->tx.requester.rnr;
	x->len = inc_requester_oldest_len(&qp->tx.requester);
	/* Thousands of these timers may keep the work from running that ends it. */
	if (inc_tree_is_over(qp->tree))
		what = INC_REQ_TIMER_IDLE;
	if (what == INC_REQ_TIMER_IDLE || qp->state != RDMA_INC_MEMBER_STATE_RTS)
		goto out;
	if (reprieve)
		inc_requester_reprieve(&qp->tx.requester, now);
	else
		note_life(qp, now);
	what = inc_requester_timeout(&qp->tx.requester, now);
	if (what == INC_REQ_TIMER_LATER)
		inc_txq_arm(qp, now);
	else if (what == INC_REQ_TIMER_BACK)
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_TIMEOUTS);
out:
	spin_unlock(&qp->tx.lock);
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

	what = handle_timeout(qp, false, &x);
	if (what == INC_REQ_TIMER_DEAD && !x.rnr && inc_missing_doubt(qp))
		what = handle_timeout(qp, true, &x);
	if (what == INC_REQ_TIMER_BACK || what == INC_REQ_TIMER_DEAD)
		too_long = find_too_long(qp, &x);
	if (what == INC_REQ_TIMER_DEAD)
		inc_qp_error(qp, get_cause(&x, too_long));
	else if (what != INC_REQ_TIMER_LATER && what != INC_REQ_TIMER_IDLE)
		inc_txq_kick(qp, inc_now());
}
