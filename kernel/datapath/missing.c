// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of members that keep others waiting.
 *
 * A tree counts the messages that begin in it, and each QP those that its
 * member has begun. No slot moves on to its next message before all members
 * have begun this one, whether it is done or failed. So the members that a
 * message is missing are those that have begun fewer messages than the tree,
 * and those in the middle of one. Slots are not examined, however many there
 * are.
 *
 * While there is such a member, a timer checks all members periodically, a
 * bounded number at a time. A member whose count does not move is solicited for
 * what it owes (solicit.c), and later probed for life.
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "datapath/missing.h"
#include "datapath/solicit.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/qp.h"
#include "object/tree.h"

/* Checks per dead time. */
#define SCANS_PER_DEAD_TIME	5
/* Extra dead times for each member if all members are silent. */
#define DOUBT	3
/* Members checked in one timer run. */
#define RANKS_PER_RUN		256

/* Interval between probes of a member that keeps others waiting. */
static unsigned long probe_interval(const struct inc_tree *tree)
{
	return 1 + msecs_to_jiffies(READ_ONCE(tree->cfg.dead_time_ms) /
				    SCANS_PER_DEAD_TIME);
}

/* Is the last time long ago? Then this is the next one. */
static bool may_probe_all(struct inc_tree *tree)
{
	unsigned long next = READ_ONCE(tree->probed) + probe_interval(tree) / 2;

	if (time_before(jiffies, next))
		return false;
	WRITE_ONCE(tree->probed, jiffies);
	return true;
}

/**
 * inc_missing_watch() - watch for missing members while a message waits
 * @tree: tree
 *
 * Context: softirq.
 */
void inc_missing_watch(struct inc_tree *tree)
{
	if (!timer_pending(&tree->scan))
		mod_timer(&tree->scan, jiffies + inc_solicit_least(tree));
}

/**
 * inc_missing_probe_members() - probe all members for life
 * @tree: tree
 *
 * Called for members that wait behind another switch, and no more often than if
 * a member waited here. inc_fanout_kick() sends the probes.
 *
 * Context: BH, RCU read side.
 * Return: true if probes are queued.
 */
bool inc_missing_probe_members(struct inc_tree *tree)
{
	struct inc_qp *qp;

	if (!may_probe_all(tree))
		return false;
	WRITE_ONCE(tree->member_waits, true);
	inc_missing_watch(tree);
	inc_tree_for_each_member(tree, qp)
		inc_txq_probe(qp);
	return true;
}

static void watch_wait(struct inc_wait *w, bool waits, u32 count)
{
	if (waits && (!w->waits || w->seen != count)) {
		w->since = jiffies;
		w->probed = jiffies;
		w->seen = count;
	}
	w->waits = waits;
}

static bool probe_due(struct inc_wait *w, unsigned long interval)
{
	if (!w->waits || time_before(jiffies, w->probed + interval))
		return false;
	w->probed = jiffies;
	return true;
}

/*
 * A missing member with nothing in flight owes no ACK, so no timer would ever
 * find it dead. Probe it. Returns whether it is missing.
 */
static bool check_member(struct inc_tree *tree, struct inc_qp *qp)
{
	u32 begun = READ_ONCE(qp->tx.results.begun);
	bool lacks = (s32)(atomic_read(&tree->opened) - begun) > 0 ||
		     READ_ONCE(qp->rx.responder.in_msg);

	watch_wait(&qp->wait, lacks, begun);
	if (probe_due(&qp->wait, probe_interval(tree))) {
		inc_txq_probe(qp);
		inc_txq_kick(qp, inc_now());
	}
	if (tree->scan_all ||
	    (lacks && time_after_eq(jiffies,
				    qp->wait.since + inc_solicit_least(tree))))
		inc_solicit_waited(qp);
	return lacks;
}

/* Members behind the parent may be missing. */
static bool check_parent(struct inc_tree *tree)
{
	u32 answers = READ_ONCE(tree->answers);
	bool waits = tree->geom.child && atomic_read(&tree->opened) != answers;

	watch_wait(&tree->up_wait, waits, answers);
	if (probe_due(&tree->up_wait, probe_interval(tree)) &&
	    inc_txq_probe_parent(tree))
		inc_txq_kick_parent(tree);
	return waits;
}

/**
 * inc_missing_timer() - check for members that keep others waiting
 * @t: inc_tree.scan
 *
 * Context: softirq.
 */
void inc_missing_timer(struct timer_list *t)
{
	struct inc_tree *tree = timer_container_of(tree, t, scan);
	u16 member = tree->scan_next, end;

	if (READ_ONCE(tree->error))
		return;
	end = min(member + RANKS_PER_RUN, tree->cfg.members);
	rcu_read_lock();
	if (!member) {
		tree->scan_waits = check_parent(tree);
		tree->scan_all = xchg(&tree->member_waits, false);
	}
	for (; member < end; member++) {
		struct inc_qp *qp = rcu_dereference(tree->member_qp[member]);

		if (qp && check_member(tree, qp))
			tree->scan_waits = true;
	}
	rcu_read_unlock();
	tree->scan_next = end < tree->cfg.members ? end : 0;
	if (tree->scan_next)
		mod_timer(t, jiffies + 1);
	else if (tree->scan_waits)
		mod_timer(t, jiffies + inc_solicit_least(tree));
}

/* Have all other members that should answer been silent since then? */
static bool others_silent(struct inc_tree *tree, const struct inc_qp *who,
			  unsigned long since)
{
	struct inc_qp *qp;
	bool any = false;

	inc_tree_for_each_member(tree, qp) {
		if (qp == who || !READ_ONCE(qp->heard) ||
		    qp->cfg.transport == RDMA_INC_TRANSPORT_UC)
			continue;
		if (time_after_eq(READ_ONCE(qp->last_rx), since))
			return false;
		any = true;
	}
	return any;
}

/*
 * All members may seem dead at a time, and each one's timer comes here: their
 * probes serve all of them.
 */
static void probe_others(struct inc_tree *tree, const struct inc_qp *who)
{
	struct inc_qp *qp;

	if (!may_probe_all(tree))
		return;
	inc_tree_for_each_member(tree, qp) {
		if (qp == who)
			continue;
		inc_txq_probe(qp);
		inc_txq_kick(qp, inc_now());
	}
}

/**
 * inc_missing_doubt() - tell a dead member from a dead network
 * @qp: its QP
 *
 * If no other member was heard lately either, all are probed. If none answers,
 * the network or this machine has stalled, and every member gets more time.
 *
 * Context: softirq, @qp's timer, no lock held.
 * Return: true if the verdict is to be put off by part of the dead time.
 */
bool inc_missing_doubt(struct inc_qp *qp)
{
	unsigned long dead =
		msecs_to_jiffies(READ_ONCE(qp->tree->cfg.dead_time_ms));
	struct inc_tree *tree = qp->tree;
	bool doubt;

	if (qp->uplink || qp->is_switch)
		return false;
	rcu_read_lock();
	if (qp->doubted && time_after_eq(READ_ONCE(qp->last_rx), qp->doubted_at))
		qp->doubted = false;
	if (qp->doubted) {
		doubt = time_before(jiffies, qp->doubted_at + DOUBT * dead);
		/*
		 * The network may be back, but this member has not been probed
		 * since.
		 */
		qp->doubted = others_silent(tree, qp, qp->doubted_at);
	} else {
		doubt = others_silent(tree, qp, jiffies - dead / 2);
		qp->doubted = doubt;
		qp->doubted_at = jiffies;
		if (doubt)
			probe_others(tree, qp);
	}
	rcu_read_unlock();
	return doubt;
}
