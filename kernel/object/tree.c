// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation trees: lookup, failure, progress.
 */
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "object/switch.h"
#include "object/tree.h"

/**
 * inc_tree_find() - find a tree by its ID
 * @sw: switch
 * @id: tree ID
 *
 * Context: inc_switch.lock held, or RCU read side.
 * Return: the tree, or NULL.
 */
struct inc_tree *inc_tree_find(struct inc_switch *sw, u32 id)
{
	return xa_load(&sw->trees, id);
}

/**
 * inc_tree_parent() - get a child's QP to its parent
 * @tree: tree
 *
 * Context: process, inc_switch.lock held.
 * Return: the QP, or NULL if this switch is the root.
 */
struct inc_qp *inc_tree_parent(struct inc_tree *tree)
{
	return rcu_dereference_protected(tree->parent,
					 lockdep_is_held(&tree->sw->lock));
}

/* Queue a work of a tree, which drops a reference. */
static void queue_own(struct inc_tree *tree, struct work_struct *work)
{
	refcount_inc(&tree->ref);
	/* Queued already. Not the last reference: the caller has one. */
	if (!queue_work(inc_wq, work))
		refcount_dec(&tree->ref);
}

/**
 * inc_tree_sweep() - have a work drop the rest of failed messages
 * @tree: tree
 *
 * Context: any but hard interrupt, RCU read side.
 */
void inc_tree_sweep(struct inc_tree *tree)
{
	queue_own(tree, &tree->sweep_work);
}

/**
 * inc_tree_fail() - move a tree to the failed state
 * @tree: tree
 * @status: enum inc_status that its members get; the first one counts
 *
 * Context: any but hard interrupt.
 */
void inc_tree_fail(struct inc_tree *tree, u8 status)
{
	/* Pairs with begin_slot(): a message that begins sees it, or is failed. */
	cmpxchg(&tree->error, 0, status);
	queue_own(tree, &tree->fail_work);
}

/* Slots that one call examines: members may end a round's messages at a time. */
#define MARK_STEPS	32

/**
 * inc_tree_low_mark() - get the low mark of ended messages
 * @tree: tree
 *
 * Context: any.
 * Return: message ID before which all messages have ended; may lag behind.
 */
u32 inc_tree_low_mark(struct inc_tree *tree)
{
	u32 old = READ_ONCE(tree->low_mark), mark = old;

	while (mark - old < MARK_STEPS &&
	       (s32)(READ_ONCE(inc_tree_slot(tree, mark)->ended) - mark) >= 0)
		mark++;
	/* The loser of a race has an older mark, which is right, too. */
	if (mark != old)
		cmpxchg(&tree->low_mark, old, mark);
	return mark;
}
