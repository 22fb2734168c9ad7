// SPDX-License-Identifier: GPL-2.0
/*
 * Teardown of trees and QPs. Deleting one only unpublishes it; works do the
 * rest here:
 *
 *	inc_tree_leave()	unpublishes the tree; its members are told
 *	linger_work()		waits until they know, for a limited time
 *	inc_defer_free()	its QPs are unpublished; so is a member that is
 *				deleted alone
 *	end_qp(), end_tree()	a grace period later (parting.c): timers are
 *				stopped, memory is released
 *	inc_tree_put()		drops the last reference and sends the event
 *
 * Objects added while a grace period runs share the next one. So a thousand
 * members, trees or namespaces that are deleted at a time need two of them.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "control/member.h"
#include "control/teardown.h"
#include "control/tree_mem.h"
#include "datapath/tx_queue.h"
#include "object/blame.h"
#include "object/parting.h"
#include "object/qp.h"
#include "object/share.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"

/* Interval between checks of members: the time waited so far over this ... */
#define LOOKS		8
/* ... but at most this many milliseconds. */
#define LOOK_MAX_MS	50

static bool all_idle(struct inc_tree *tree)
{
	struct inc_qp *qp = inc_tree_parent(tree);
	u16 member;

	/* Without members the parent is not worth waiting for. */
	if (qp && tree->nmembers && !inc_txq_idle(qp))
		return false;
	for (member = 0; member < tree->cfg.members; member++) {
		qp = inc_qp_find(tree, member);
		if (qp && !inc_txq_idle(qp))
			return false;
	}
	return true;
}

/* Readers and timers of the tree's QPs may run for a grace period. */
static void end_tree(struct inc_parting *p)
{
	struct inc_tree *tree = container_of(p, struct inc_tree, end.parting);

	cancel_delayed_work_sync(&tree->end.linger);
	inc_blame_end(&tree->blame);
	timer_shutdown_sync(&tree->missing.scan);
	timer_shutdown_sync(&tree->fanout.timer);
	inc_tree_put(tree);
}

static void part_tree(struct inc_tree *tree)
{
	struct inc_qp *qp = inc_tree_parent(tree);
	u16 member;

	list_del_init(&tree->end.leaving);
	if (qp)
		inc_member_unpublish(qp);
	for (member = 0; member < tree->cfg.members; member++) {
		qp = inc_qp_find(tree, member);
		if (qp)
			inc_member_unpublish(qp);
	}
	inc_defer_free(tree->sw, &tree->end.parting, end_tree);
}

static unsigned long next_look(const struct inc_tree *tree)
{
	return clamp((jiffies - tree->end.left_at) / LOOKS, 1UL,
		     msecs_to_jiffies(LOOK_MAX_MS));
}

static void linger_work(struct work_struct *work)
{
	struct inc_tree *tree = container_of(to_delayed_work(work),
					     struct inc_tree, end.linger);
	struct inc_switch *sw = tree->sw;

	mutex_lock(&sw->lock);
	/* The work was hurried during the last check. */
	if (list_empty(&tree->end.leaving))
		goto out;
	if (!tree->members_told ||
	    (time_before(jiffies, tree->end.until) && !all_idle(tree)))
		queue_delayed_work(inc_wq, &tree->end.linger, next_look(tree));
	else
		part_tree(tree);
out:
	mutex_unlock(&sw->lock);
}

/**
 * inc_tree_leave() - unpublish a tree and start its teardown
 * @tree: tree; unpublished when this returns, and its ID is free
 * @linger_ms: how long its members have to acknowledge the final status
 *
 * The memory is released later, which RDMA_INC_CMD_TREE_DEL_NTF reports.
 *
 * Context: process, inc_switch.lock held; does not wait.
 */
void inc_tree_leave(struct inc_tree *tree, unsigned int linger_ms)
{
	struct inc_switch *sw = tree->sw;

	lockdep_assert_held(&sw->lock);
	xa_erase(&sw->trees, tree->cfg.id);
	WRITE_ONCE(sw->ntrees, sw->ntrees - 1);
	atomic_dec(&sw->share->ntrees);
	inc_debugfs_tree_del(tree);
	tree->end.left_at = jiffies;
	tree->end.until = jiffies + msecs_to_jiffies(linger_ms);
	/* Pairs with inc_tree_is_over(). */
	smp_store_release(&tree->end.leaves, true);
	list_add_tail(&tree->end.leaving, &sw->leaving);
	inc_tree_fail(tree, INC_STATUS_TREE_GONE);
	INIT_DELAYED_WORK(&tree->end.linger, linger_work);
	queue_delayed_work(inc_wq, &tree->end.linger, 0);
}

/**
 * inc_teardown_hurry() - stop waiting for members to acknowledge
 * @sw: switch
 *
 * Context: process, inc_switch.lock held.
 */
void inc_teardown_hurry(struct inc_switch *sw)
{
	struct inc_tree *tree;

	lockdep_assert_held(&sw->lock);
	list_for_each_entry(tree, &sw->leaving, end.leaving) {
		WRITE_ONCE(tree->end.until, jiffies);
		mod_delayed_work(inc_wq, &tree->end.linger, 0);
	}
}

/**
 * inc_teardown_init() - initialize a switch for teardown of its trees
 * @sw: switch
 *
 * Context: process.
 */
void inc_teardown_init(struct inc_switch *sw)
{
	INIT_LIST_HEAD(&sw->leaving);
	inc_parting_init(sw);
	atomic_set(&sw->live, 0);
}

/**
 * inc_teardown_wait() - wait until all trees of a switch are gone
 * @sw: switch; inc_tree_leave() and inc_teardown_hurry() were called for its
 *	trees
 *
 * Context: process, no lock held; may sleep.
 */
void inc_teardown_wait(struct inc_switch *sw)
{
	wait_var_event(&sw->live, !atomic_read(&sw->live));
	/* The last tree may have been freed by it. */
	flush_rcu_work(&sw->reap);
}
