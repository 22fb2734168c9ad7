// SPDX-License-Identifier: GPL-2.0
/*
 * Asking silent RC members. If the end of what a member had to send was lost, or
 * the only packet of a message, the member finds out by its own local ACK timeout.
 * That is long, and has to be: an rxe whose timer expires while the path or a busy
 * CPU holds its packets back repeats what is not lost, and may lose its place.
 * So it is the switch that looks at the clock, since it knows what others wait for.
 *
 * A member that has nothing in flight ignores the question (IBTA 9.7.5.1.2: it is
 * about no request of it).
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "core/responder.h"
#include "datapath/ooo_queue.h"
#include "datapath/solicit.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"
#include "object/tree.h"

/* 0.01 ms: go back at once. */
#define SYNDROME_AGAIN	(IB_RNR_NAK | 1)
/*
 * A member is asked after twice its time-out, but not before this many of the least
 * time-outs; later each time, a few times.
 */
#define ASK_MIN_RTOS	3
#define MAX_ASKS	5

/* When a silent member is asked, or asked again; jiffies. */
static unsigned long ask_at(const struct inc_qp *qp)
{
	u64 us = max_t(u64, ASK_MIN_RTOS * qp->req.min_rto,
		       2 * inc_requester_rto(&qp->req));

	return qp->rx_at + usecs_to_jiffies(us << qp->asks) + 1;
}

/**
 * inc_solicit_least() - the shortest silence after which a member is asked
 * @tree: tree
 *
 * Context: any.
 * Return: jiffies.
 */
unsigned long inc_solicit_least(const struct inc_tree *tree)
{
	return msecs_to_jiffies(ASK_MIN_RTOS * READ_ONCE(tree->cfg.min_rto)) + 1;
}

/**
 * inc_solicit_watch() - a request came: be there when what belongs to it does not
 * @qp: QP of the member
 *
 * Context: softirq, qp->rx_lock held.
 */
void inc_solicit_watch(struct inc_qp *qp)
{
	qp->rx_at = jiffies;
	WRITE_ONCE(qp->spoke_at, jiffies);
	WRITE_ONCE(qp->spoke, true);
	qp->waited = false;
	if (inc_responder_owed(&qp->resp) && !timer_pending(&qp->ask_timer))
		mod_timer(&qp->ask_timer, ask_at(qp));
}

/* Ask if it is time to. Returns false if the member owes nothing, or does not care. */
static bool ask(struct inc_qp *qp, bool waited)
{
	enum inc_responder_ask how = INC_RESP_ASK_NOTHING;
	u32 psn, msn;
	bool owes;

	spin_lock(&qp->rx_lock);
	owes = qp->state == INC_MEMBER_STATE_RTS && qp->asks < MAX_ASKS &&
	       (waited || inc_responder_owed(&qp->resp));
	/* Only now is anything expected of it. */
	if (waited && !qp->waited && !inc_responder_owed(&qp->resp)) {
		qp->waited = true;
		qp->rx_at = jiffies;
	}
	if (owes && time_after_eq(jiffies, ask_at(qp))) {
		qp->asks++;
		qp->rx_at = jiffies;
		how = inc_responder_silence(&qp->resp, waited);
	}
	/* It was asked in vain: what is kept for it has grown old. */
	if (!waited && qp->asks >= MAX_ASKS && !owes)
		inc_ooo_forget(qp);
	psn = qp->resp.epsn;
	msn = qp->resp.msn;
	spin_unlock(&qp->rx_lock);

	if (how == INC_RESP_ASK_NOTHING)
		return owes;
	inc_stats_inc(qp->stats, how == INC_RESP_ASK_NAK ?
		      INC_A_MEMBER_STATS_TX_NAKS :
		      INC_A_MEMBER_STATS_TX_RNR_NAKS);
	inc_tx_ack(qp, how == INC_RESP_ASK_NAK ? IB_NAK_PSN_ERROR :
						 SYNDROME_AGAIN, psn, msn);
	return owes;
}

/**
 * inc_solicit_timer() - a member may be silent though it owes packets
 * @t: inc_qp.ask_timer
 *
 * Context: softirq.
 */
void inc_solicit_timer(struct timer_list *t)
{
	struct inc_qp *qp = timer_container_of(qp, t, ask_timer);

	if (ask(qp, false))
		mod_timer(t, ask_at(qp));
}

/**
 * inc_solicit_waited() - others wait for a member
 * @qp: its QP
 *
 * A switch has short time-outs of its own, and over UC members ask. Who has sent
 * nothing yet may not be able to: its QP need not take what comes.
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_solicit_waited(struct inc_qp *qp)
{
	if (qp->cfg.transport == INC_TRANSPORT_RC && !qp->is_switch &&
	    READ_ONCE(qp->spoke))
		ask(qp, true);
}
