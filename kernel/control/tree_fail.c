// SPDX-License-Identifier: GPL-2.0
/*
 * Failure of a tree: end its messages, tell its members and its parent.
 */
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
#define TURN	4096

/* The workqueue has a high priority: to be willing to yield is not enough. */
static void yield_after(unsigned int n, unsigned int *done)
{
	*done += n;
	if (*done < TURN) {
		cond_resched();
		return;
	}
	*done = 0;
	schedule_timeout_uninterruptible(1);
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
	local_bh_disable();
	inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
	local_bh_enable();
	rcu_read_lock();
	inc_fanout_status(tree, slot, msg_id, status, &begun);
	rcu_read_unlock();
	return begun.n;
}

/* Up to a status for each member in each slot. */
static void fail_slots(struct inc_tree *tree, u8 status)
{
	unsigned int done = 0;
	u16 slot;

	for (slot = 0; slot < tree->cfg.slots; slot++)
		yield_after(fail_slot(tree, slot, status), &done);
	rcu_read_lock();
	inc_uplink_abort(tree);
	rcu_read_unlock();
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

static void report_member(struct inc_qp *qp, u8 status, bool farewell)
{
	if (farewell)
		inc_txq_farewell(qp, status);
	if (qp->report) {
		qp->report = false;
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
	bool first;

	mutex_lock(&tree->sw->lock);
	first = tree->state != RDMA_INC_TREE_STATE_FAILED;
	WRITE_ONCE(tree->state, RDMA_INC_TREE_STATE_FAILED);
	mutex_unlock(&tree->sw->lock);
	if (first)
		fail_slots(tree, status);

	mutex_lock(&tree->sw->lock);
	report_members(tree, status, first);
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
