// SPDX-License-Identifier: GPL-2.0
/*
 * Failure of a tree: end its messages, tell its members and its parent.
 */
#include <linux/mutex.h>
#include <linux/rcupdate.h>
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

static void fail_slots(struct inc_tree *tree, u8 status)
{
	u16 i;

	for (i = 0; i < tree->cfg.slots; i++) {
		struct inc_tree_slot *ts = &tree->slot[i];
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
			continue;
		local_bh_disable();
		inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
		local_bh_enable();
		inc_fanout_status(tree, i, msg_id, status, &begun);
	}
}

static void report(struct inc_qp *qp, u8 status, bool farewell)
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
		report(parent, status, farewell);

	for (member = 0; member < tree->cfg.members; member++) {
		struct inc_qp *qp = inc_qp_find(tree, member);

		if (qp)
			report(qp, status, farewell);
	}
}

/**
 * inc_tree_fail_work() - report a tree's failure to members and parent
 * @work: inc_tree.fail_work; runs once per reason, and only the first one changes
 *	the tree
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
	if (first) {
		rcu_read_lock();
		fail_slots(tree, status);
		inc_uplink_abort(tree);
		rcu_read_unlock();
	}
	report_members(tree, status, first);
	/* A tree that is deleted here is reported as such. */
	if (first && (status != INC_STATUS_TREE_GONE ||
		      inc_tree_find(tree->sw, tree->cfg.id) == tree))
		inc_nl_notify_tree(tree, RDMA_INC_CMD_TREE_FAILED_NTF);
	rcu_read_lock();
	inc_fanout_kick(tree);
	inc_txq_kick_parent(tree);
	rcu_read_unlock();
	tree->members_told = true;
	mutex_unlock(&tree->sw->lock);
	inc_tree_put(tree);
}
