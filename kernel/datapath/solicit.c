// SPDX-License-Identifier: GPL-2.0
/*
 * Solicit silent RC members. If the end of a member's data is lost, or the only
 * packet of a message, the member finds out by its own local ACK timeout, which has
 * to be long: an rxe whose timer expires while the path or a busy CPU holds its
 * packets back retransmits packets that are not lost, and may lose its place. So
 * the switch keeps the time, since it knows that others wait.
 *
 * A member that has nothing in flight ignores the NAK (IBTA 9.7.5.1.2: it is
 * about no request of the member).
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>

#include "compat.h"
#include "core/responder.h"
#include "datapath/ooo_queue.h"
#include "datapath/solicit.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"
#include "object/tree.h"

/*
 * A member is solicited after twice its timeout, but not before this many
 * minimum timeouts. The interval doubles each time, up to MAX_ASKS times.
 */
#define ASK_MIN_RTOS	3
#define MAX_ASKS	5

/* How long a member is silent before it is solicited, or again; jiffies. */
static unsigned long ask_after(const struct inc_qp *qp)
{
	u64 us = max_t(u64, ASK_MIN_RTOS * qp->tx.requester.min_rto_us,
		       2 * inc_requester_rto(&qp->tx.requester));

	return usecs_to_jiffies(us << qp->rx.solicits) + 1;
}

static void start_timer(struct inc_qp *qp)
{
	mod_timer(&qp->rx.solicit_timer, qp->rx.silent_since + ask_after(qp));
}

/**
 * inc_solicit_least() - get the minimum silence before a member is solicited
 * @tree: tree
 *
 * Context: any.
 * Return: jiffies.
 */
unsigned long inc_solicit_least(const struct inc_tree *tree)
{
	return msecs_to_jiffies(ASK_MIN_RTOS *
				READ_ONCE(tree->cfg.min_rto_ms)) +
	       1;
}

/**
 * inc_solicit_watch() - start the timer for the rest of a member's request
 * @qp: QP of the member
 *
 * Context: softirq, qp->rx.lock held.
 */
void inc_solicit_watch(struct inc_qp *qp)
{
	lockdep_assert_held(&qp->rx.lock);
	qp->rx.silent_since = jiffies;
	WRITE_ONCE(qp->rx.has_sent, true);
	qp->rx.waited_for = false;
	if (inc_responder_owed(&qp->rx.responder) &&
	    !timer_pending(&qp->rx.solicit_timer))
		start_timer(qp);
}

/*
 * Solicit if it is time to. Returns false if the member owes nothing, or does
 * not respond.
 */
static bool ask_member(struct inc_qp *qp, bool waited)
{
	enum inc_responder_solicit how = INC_RESP_SOLICIT_NOTHING;
	u32 psn, msn;
	bool owes;

	spin_lock(&qp->rx.lock);
	owes = qp->state == RDMA_INC_MEMBER_STATE_RTS && qp->rx.solicits < MAX_ASKS &&
	       (waited || inc_responder_owed(&qp->rx.responder));
	/* Only now does the member owe anything. */
	if (waited && !qp->rx.waited_for && !inc_responder_owed(&qp->rx.responder)) {
		qp->rx.waited_for = true;
		qp->rx.silent_since = jiffies;
	}
	if (owes && inc_age(qp->rx.silent_since) >= ask_after(qp)) {
		qp->rx.solicits++;
		qp->rx.silent_since = jiffies;
		how = inc_responder_silence(&qp->rx.responder, waited);
	}
	/* Not answered: the packets queued for it are stale. */
	if (!waited && qp->rx.solicits >= MAX_ASKS && !owes)
		inc_ooo_purge(qp);
	psn = qp->rx.responder.epsn;
	msn = qp->rx.responder.msn;
	spin_unlock(&qp->rx.lock);

	if (how == INC_RESP_SOLICIT_NOTHING)
		return owes;
	inc_qp_count(qp, how == INC_RESP_SOLICIT_NAK ?
			 RDMA_INC_A_MEMBER_STATS_TX_NAKS :
			 RDMA_INC_A_MEMBER_STATS_TX_RNR_NAKS);
	inc_tx_aeth(qp, how == INC_RESP_SOLICIT_NAK ? IB_NAK_PSN_ERROR :
						 INC_SYNDROME_AGAIN, psn, msn);
	return owes;
}

/**
 * inc_solicit_timer() - solicit a silent member that owes packets
 * @t: inc_qp.rx.solicit_timer
 *
 * Context: softirq.
 */
void inc_solicit_timer(struct timer_list *t)
{
	struct inc_qp *qp = timer_container_of(qp, t, rx.solicit_timer);

	if (ask_member(qp, false))
		start_timer(qp);
}

/**
 * inc_solicit_waited() - solicit a member that others wait for
 * @qp: its QP
 *
 * A switch has short timeouts of its own, and UC members query by themselves. A
 * member that has sent nothing yet may be unable to answer: its QP need not be
 * ready to receive.
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_solicit_waited(struct inc_qp *qp)
{
	if (qp->cfg.transport == RDMA_INC_TRANSPORT_RC && !qp->is_switch &&
	    READ_ONCE(qp->rx.has_sent))
		ask_member(qp, true);
}
