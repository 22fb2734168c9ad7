// SPDX-License-Identifier: GPL-2.0
/*
 * The end of trees and QPs. Who deletes one takes it out of reach and goes on;
 * the rest is done here, by works:
 *
 *	inc_tree_leave()	nobody finds the tree any more; its members are told
 *	linger()		until they know, or for so long
 *	inc_part()		its QPs are out of reach; so is a member that is
 *				deleted alone
 *	end_qp(), end_tree()	a grace period later (parting.c): timers are
 *				stopped, memory is given back
 *	inc_tree_put()		the last reference: an event says that it is over
 *
 * Whatever comes while a grace period runs shares the next one. So a thousand
 * members, trees or namespaces that go at a time take two of them.
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
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"

/* Members are looked at so many times while they are waited for, or less often. */
#define LOOKS		8
/* And once in so many milliseconds at least. */
#define LOOK_MAX_MS	50

static bool all_idle(struct inc_tree *tree)
{
	struct inc_qp *qp = inc_tree_parent(tree);
	u16 rank;

	/* Without members it is not worth waiting for. */
	if (qp && tree->nmembers && !inc_txq_idle(qp))
		return false;
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		qp = inc_qp_find(tree, rank);
		if (qp && !inc_txq_idle(qp))
			return false;
	}
	return true;
}

/* Readers and timers of the tree's QPs may go on for a grace period. */
static void end_tree(struct inc_parting *p)
{
	struct inc_tree *tree = container_of(p, struct inc_tree, parting);

	cancel_delayed_work_sync(&tree->linger);
	inc_blame_end(&tree->blame);
	timer_shutdown_sync(&tree->scan);
	timer_shutdown_sync(&tree->late);
	inc_tree_put(tree);
}

static void part_tree(struct inc_tree *tree)
{
	struct inc_qp *qp = inc_tree_parent(tree);
	u16 rank;

	list_del_init(&tree->leaving);
	if (qp)
		inc_member_unpublish(qp);
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		qp = inc_qp_find(tree, rank);
		if (qp)
			inc_member_unpublish(qp);
	}
	inc_part(tree->sw, &tree->parting, end_tree);
}

static unsigned long next_look(const struct inc_tree *tree)
{
	return clamp((jiffies - tree->left_at) / LOOKS, 1UL,
		     msecs_to_jiffies(LOOK_MAX_MS));
}

static void linger(struct work_struct *work)
{
	struct inc_tree *tree = container_of(to_delayed_work(work),
					     struct inc_tree, linger);
	struct inc_switch *sw = tree->sw;

	mutex_lock(&sw->lock);
	/* Hurried while it did the last look. */
	if (list_empty(&tree->leaving))
		goto out;
	if (!tree->told ||
	    (time_before(jiffies, tree->until) && !all_idle(tree)))
		queue_delayed_work(inc_wq, &tree->linger, next_look(tree));
	else
		part_tree(tree);
out:
	mutex_unlock(&sw->lock);
}

/**
 * inc_tree_leave() - a tree ends
 * @tree: tree; nobody finds it any more when this returns, and its ID is free
 * @linger_ms: how long its members have to acknowledge that they were told
 *
 * The memory is given back later, which INC_CMD_TREE_DEL_NTF tells.
 *
 * Context: process, inc_switch.lock held; waits for nobody.
 */
void inc_tree_leave(struct inc_tree *tree, unsigned int linger_ms)
{
	struct inc_switch *sw = tree->sw;

	lockdep_assert_held(&sw->lock);
	xa_erase(&sw->trees, tree->cfg.id);
	sw->ntrees--;
	inc_debugfs_tree_del(tree);
	tree->left_at = jiffies;
	tree->until = jiffies + msecs_to_jiffies(linger_ms);
	list_add_tail(&tree->leaving, &sw->leaving);
	inc_tree_fail(tree, INC_STATUS_TREE_GONE);
	INIT_DELAYED_WORK(&tree->linger, linger);
	queue_delayed_work(inc_wq, &tree->linger, 0);
}

/**
 * inc_teardown_hurry() - wait for no member any more
 * @sw: switch
 *
 * Context: process, inc_switch.lock held.
 */
void inc_teardown_hurry(struct inc_switch *sw)
{
	struct inc_tree *tree;

	lockdep_assert_held(&sw->lock);
	list_for_each_entry(tree, &sw->leaving, leaving) {
		tree->until = jiffies;
		mod_delayed_work(inc_wq, &tree->linger, 0);
	}
}

/**
 * inc_teardown_init() - make a switch ready for trees that end
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
 * @sw: switch; all its trees were left, and are hurried
 *
 * Context: process, no lock held; may sleep.
 */
void inc_teardown_wait(struct inc_switch *sw)
{
	wait_var_event(&sw->live, !atomic_read(&sw->live));
	/* The last tree may have been freed by it. */
	flush_rcu_work(&sw->reap);
}
