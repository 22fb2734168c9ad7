// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of members that keep others waiting.
 *
 * A tree counts the messages that begin in it, and each QP the messages that its
 * member has begun. No slot moves on to its next message before all members have
 * begun this one, whether it is done or failed. So members keep others waiting if
 * they have begun fewer messages than the tree, or are in the middle of one. Slots
 * are not examined, however many there are.
 *
 * While there is such a member, a timer checks all members periodically, a bounded
 * number at a time. A member whose count does not move is solicited for its packets
 * (solicit.c), and later probed for life.
 *
 * A member for whose message there is no memory keeps others waiting, too, but it is
 * not to blame. If all that is waited for is memory, the tree fails.
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "datapath/missing.h"
#include "datapath/solicit.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/qp.h"
#include "object/tree.h"

/* Probes in the time after which silence is told. */
#define PROBES		5
/* Members checked in one timer run. */
#define RANKS_PER_RUN		256

/* Interval between probes of a member that keeps others waiting. */
static unsigned long probe_interval(const struct inc_tree *tree)
{
	u32 silent_ms = min_t(u32, READ_ONCE(tree->cfg.dead_time_ms),
			      RDMA_INC_SILENT_TIME);

	return 1 + msecs_to_jiffies(max(silent_ms / PROBES,
					READ_ONCE(tree->cfg.min_rto_ms)));
}

/* Is the last time long ago? Then this is the next one. */
static bool may_probe_all(struct inc_tree *tree)
{
	if (inc_age(READ_ONCE(tree->missing.probed)) < probe_interval(tree) / 2)
		return false;
	WRITE_ONCE(tree->missing.probed, jiffies);
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
	if (!timer_pending(&tree->missing.scan))
		mod_timer(&tree->missing.scan, jiffies + inc_solicit_least(tree));
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
	WRITE_ONCE(tree->missing.member_waits, true);
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
	if (!w->waits || inc_age(w->probed) < interval)
		return false;
	w->probed = jiffies;
	return true;
}

/* Does it keep others waiting, with so many messages begun? */
static bool is_missing(const struct inc_qp *qp, u32 begun)
{
	return (s32)(atomic_read(&qp->tree->opened) - begun) > 0 ||
	       READ_ONCE(qp->rx.responder.in_msg);
}

/*
 * A missing member with nothing in flight owes no ACK, so no timer would ever
 * find it dead. Probe it. Returns whether it is missing.
 */
static bool check_member(struct inc_tree *tree, struct inc_qp *qp)
{
	u32 begun = READ_ONCE(qp->tx.results.begun);
	bool lacks = is_missing(qp, begun);

	watch_wait(&qp->wait, lacks, begun);
	if (probe_due(&qp->wait, probe_interval(tree))) {
		inc_txq_probe(qp);
		inc_txq_kick(qp, inc_now());
	}
	if (tree->missing.scan_all ||
	    (lacks && inc_age(qp->wait.since) >= inc_solicit_least(tree)))
		inc_solicit_waited(qp);
	return lacks;
}

/* Has the parent yet to answer, with so many messages answered? */
static bool parent_is_missing(const struct inc_tree *tree, u32 answers)
{
	return tree->geom.child && atomic_read(&tree->opened) != answers;
}

/* Members behind the parent may be missing. */
static bool check_parent(struct inc_tree *tree)
{
	u32 answers = READ_ONCE(tree->answers);
	bool waits = parent_is_missing(tree, answers);

	watch_wait(&tree->missing.up_wait, waits, answers);
	if (probe_due(&tree->missing.up_wait, probe_interval(tree)) &&
	    inc_txq_probe_parent(tree))
		inc_txq_kick_parent(tree);
	return waits;
}

/**
 * inc_missing_timer() - check for members that keep others waiting
 * @t: inc_tree_missing.scan
 *
 * Context: softirq.
 */
void inc_missing_timer(struct timer_list *t)
{
	struct inc_tree *tree = timer_container_of(tree, t, missing.scan);
	u16 member = tree->missing.scan_next, end;

	if (READ_ONCE(tree->error))
		return;
	end = min(member + RANKS_PER_RUN, tree->cfg.members);
	rcu_read_lock();
	if (!member) {
		tree->missing.scan_waits = check_parent(tree);
		tree->missing.scan_all = xchg(&tree->missing.member_waits, false);
	}
	for (; member < end; member++) {
		struct inc_qp *qp = rcu_dereference(tree->member_qp[member]);

		if (qp && check_member(tree, qp))
			tree->missing.scan_waits = true;
	}
	rcu_read_unlock();
	tree->missing.scan_next = end < tree->cfg.members ? end : 0;
	if (tree->missing.scan_next)
		mod_timer(t, jiffies + 1);
	else if (tree->missing.scan_waits)
		mod_timer(t, jiffies + inc_solicit_least(tree));
}

static unsigned long dead_time(const struct inc_tree *tree)
{
	return msecs_to_jiffies(READ_ONCE(tree->cfg.dead_time_ms));
}

/*
 * Is a member's next message one that there is no memory for? It comes again all the
 * time, unless its process does something else.
 */
static bool lacks_memory(const struct inc_qp *qp, u32 begun)
{
	return READ_ONCE(qp->mem.lacks_after) == begun &&
	       jiffies - READ_ONCE(qp->mem.lacked_at) < dead_time(qp->tree) / 2;
}

/* Does the tree wait for somebody whom lack of memory does not keep from sending? */
static bool waits_for_others(struct inc_tree *tree)
{
	struct inc_qp *qp;

	if (parent_is_missing(tree, READ_ONCE(tree->answers)))
		return true;
	inc_tree_for_each_member(tree, qp) {
		u32 begun = READ_ONCE(qp->tx.results.begun);

		if (is_missing(qp, begun) && !lacks_memory(qp, begun))
			return true;
	}
	return false;
}

/**
 * inc_missing_memory() - note that there is no memory for a member's message
 * @qp: QP of the member
 *
 * Mostly there is some soon: other messages end, or a work finds it. But if a member
 * could not begin any message for the dead time, and whoever keeps others waiting
 * could not, either, no message will end. Then the tree fails.
 *
 * Context: softirq, RCU read side, @qp->rx.lock held.
 */
void inc_missing_memory(struct inc_qp *qp)
{
	u32 begun = READ_ONCE(qp->tx.results.begun);
	bool again = lacks_memory(qp, begun);

	WRITE_ONCE(qp->mem.lacked_at, jiffies);
	if (again && jiffies - qp->mem.lacks_since < dead_time(qp->tree))
		return;
	qp->mem.lacks_since = jiffies;
	WRITE_ONCE(qp->mem.lacks_after, begun);
	if (again && !waits_for_others(qp->tree))
		inc_tree_fail(qp->tree, INC_STATUS_NO_MEMORY);
}
