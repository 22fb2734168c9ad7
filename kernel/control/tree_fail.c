// SPDX-License-Identifier: GPL-2.0
/*
 * Failure of a tree: end its messages, tell its members and its parent.
 */
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "control/tree_fail.h"
#include "control/tree_mem.h"
#include "datapath/fanout.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

/* Statuses to queue or send between two pauses: less than a millisecond. */
#define MAX_STATUSES	4096

/* The workqueue has a high priority: to be willing to yield is not enough. */
static void yield_after(unsigned int n, unsigned int *done)
{
	*done += n;
	if (*done < MAX_STATUSES) {
		cond_resched();
		return;
	}
	*done = 0;
	schedule_timeout_uninterruptible(1);
}

/* Drop the rest of a slot's failed message, with BH on in between. */
static void sweep_slot(struct inc_tree_slot *ts)
{
	bool more = true;

	while (more) {
		spin_lock_bh(&ts->lock);
		more = inc_slot_sweep(&ts->m);
		spin_unlock_bh(&ts->lock);
		cond_resched();
	}
}

/**
 * inc_tree_sweep_work() - drop the rest of failed messages
 * @work: inc_tree.sweep_work
 *
 * Context: process.
 */
void inc_tree_sweep_work(struct work_struct *work)
{
	struct inc_tree *tree = container_of(work, struct inc_tree, sweep_work);
	u16 slot;

	for (slot = 0; slot < tree->cfg.slots; slot++)
		/* Set before this work was queued. */
		if (data_race(tree->slot[slot].m.unswept))
			sweep_slot(&tree->slot[slot]);
	inc_tree_put(tree);
}

/* Returns the number of members that were told. */
static u16 fail_slot(struct inc_tree *tree, u16 slot, u8 status)
{
	struct inc_tree_slot *ts = &tree->slot[slot];
	struct inc_begun begun;
	bool busy;
	u32 msg_id;

	spin_lock_bh(&ts->lock);
	busy = inc_slot_fail(&ts->m, status);
	if (busy)
		inc_fanout_note_begun(&ts->m, &begun);
	msg_id = ts->m.msg.msg_id;
	spin_unlock_bh(&ts->lock);
	if (!busy)
		return 0;
	sweep_slot(ts);
	local_bh_disable();
	inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
	local_bh_enable();
	rcu_read_lock();
	inc_fanout_status(tree, slot, msg_id, status, &begun);
	rcu_read_unlock();
	return begun.n;
}

/*
 * Up to a status for each member in each slot. Returns whether there were messages
 * that had begun.
 */
static bool fail_slots(struct inc_tree *tree, u8 status)
{
	unsigned int done = 0;
	bool begun = false;
	u16 slot, n;

	for (slot = 0; slot < tree->cfg.slots; slot++) {
		n = fail_slot(tree, slot, status);
		begun |= n;
		yield_after(n, &done);
	}
	rcu_read_lock();
	inc_uplink_abort(tree);
	rcu_read_unlock();
	return begun;
}

/* As inc_fanout_kick(), but each of many members may have many statuses. */
static void kick_all(struct inc_tree *tree)
{
	unsigned int done = 0;
	struct inc_qp *qp;
	u16 member;

	for (member = 0; member < tree->cfg.members; member++) {
		rcu_read_lock();
		qp = rcu_dereference(tree->member_qp[member]);
		/* Ours are queued already; whoever adds others kicks for them. */
		if (qp && !data_race(inc_resultq_empty(&qp->tx.results)))
			inc_txq_kick(qp, inc_now());
		rcu_read_unlock();
		yield_after(READ_ONCE(tree->cfg.window), &done);
	}
	rcu_read_lock();
	inc_txq_kick_parent(tree);
	rcu_read_unlock();
}

/**
 * inc_tree_note_lost() - note that a tree has lost a member, or its parent
 * @qp: its QP, connected; the tree's first one counts
 *
 * Context: process, inc_switch.lock held.
 */
void inc_tree_note_lost(const struct inc_qp *qp)
{
	struct inc_failure *f = &qp->tree->failure;

	if (f->family)
		return;
	f->family = qp->cfg.family;
	f->uplink = qp->uplink;
	f->rank = qp->cfg.index;
	f->error = qp->error;
	f->peer = qp->cfg.peer;
}

/* Trees of jobs that have ended well fail, too, when their members are deleted. */
static void note_failure(struct inc_tree *tree, u8 status, bool begun)
{
	struct inc_failure *f = &tree->failure;

	if (!begun && !f->error)
		return;
	f->tree = tree->cfg.id;
	f->status = status;
	f->pmtu = tree->cfg.pmtu;
	f->at = ktime_to_ms(ktime_get_boottime());
	tree->sw->failure = *f;
}

static void report_member(struct inc_qp *qp, u8 status, bool farewell)
{
	if (farewell)
		inc_txq_farewell(qp, status);
	if (qp->report) {
		qp->report = false;
		inc_tree_note_lost(qp);
		inc_nl_notify_member(qp, RDMA_INC_CMD_MEMBER_ERROR_NTF);
	}
}

static void report_members(struct inc_tree *tree, u8 status, bool farewell)
{
	struct inc_qp *parent = inc_tree_parent(tree);
	u16 member;

	if (parent)
		report_member(parent, status, farewell);

	for (member = 0; member < tree->cfg.members; member++) {
		struct inc_qp *qp = inc_qp_find(tree, member);

		if (qp)
			report_member(qp, status, farewell);
	}
}

/**
 * inc_tree_fail_work() - report a tree's failure to members and parent
 * @work: inc_tree.fail_work; runs once per reason, and only the first one changes
 *	the tree
 *
 * A full tree has millions of statuses to queue and to send. Other trees do not
 * wait for that: it is done without the lock, by this work alone. Teardown
 * waits for it, see linger_work().
 *
 * Context: process; takes inc_switch.lock.
 */
void inc_tree_fail_work(struct work_struct *work)
{
	struct inc_tree *tree = container_of(work, struct inc_tree, fail_work);
	u8 status = READ_ONCE(tree->error);
	bool first, begun = false;

	mutex_lock(&tree->sw->lock);
	first = tree->state != RDMA_INC_TREE_STATE_FAILED;
	WRITE_ONCE(tree->state, RDMA_INC_TREE_STATE_FAILED);
	mutex_unlock(&tree->sw->lock);
	if (first)
		begun = fail_slots(tree, status);

	mutex_lock(&tree->sw->lock);
	report_members(tree, status, first);
	if (first)
		note_failure(tree, status, begun);
	/* A tree that is deleted here is reported as such. */
	if (first && (status != INC_STATUS_TREE_GONE ||
		      inc_tree_find(tree->sw, tree->cfg.id) == tree))
		inc_nl_notify_tree(tree, RDMA_INC_CMD_TREE_FAILED_NTF);
	mutex_unlock(&tree->sw->lock);
	kick_all(tree);

	mutex_lock(&tree->sw->lock);
	tree->members_told = true;
	mutex_unlock(&tree->sw->lock);
	inc_tree_put(tree);
}
