// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of trees, and their last reference.
 */
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "control/tree_mem.h"
#include "core/rank_range.h"
#include "object/budget.h"
#include "object/mem.h"
#include "object/slot_mem.h"
#include "object/snapshot.h"
#include "object/stats.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/notify.h"

/**
 * inc_tree_free() - undo inc_tree_alloc()
 * @tree: tree that is not published, now or later
 *
 * Context: process.
 */
void inc_tree_free(struct inc_tree *tree)
{
	free_percpu(tree->stats);
	inc_slot_mem_free(tree);
	kvfree(tree->slot);
	kvfree(tree->member_qp);
	kvfree(tree->below);
	kvfree(tree->ranges);
	kvfree(tree->at);
	mem_cgroup_put(tree->mem.memcg);
	kfree(tree);
}

/**
 * inc_tree_put() - drop a reference
 * @tree: tree
 *
 * A tree under teardown has the last reference, see teardown.c. So no reader or
 * timer is left.
 *
 * Context: process, inc_switch.lock not held; may sleep. Any, if it is not the last.
 */
void inc_tree_put(struct inc_tree *tree)
{
	struct inc_switch *sw = tree->sw;

	if (!refcount_dec_and_test(&tree->ref))
		return;
	mutex_lock(&sw->lock);
	inc_budget_uncharge(sw, tree->mem.charged);
	inc_budget_reserve(sw, &tree->mem.reserved,
			   -atomic64_read(&tree->mem.reserved));
	inc_tree_stats(tree, sw->gone_trees, sw->gone_members);
	inc_nl_notify_tree(tree, RDMA_INC_CMD_TREE_DEL_NTF);
	mutex_unlock(&sw->lock);
	inc_tree_free(tree);
	if (atomic_dec_and_test(&sw->live))
		wake_up_var(&sw->live);
}

/* Allocate the rank ranges of members that are switches, and copy @below. */
static bool alloc_spans(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
			u16 ranks)
{
	if (!cfg->below)
		return true;
	tree->below = kvmemdup(cfg->below, cfg->members * sizeof(*cfg->below),
			       GFP_KERNEL_ACCOUNT);
	tree->ranges = kvcalloc(cfg->members, sizeof(*tree->ranges),
				GFP_KERNEL_ACCOUNT);
	tree->at = kvcalloc(ranks, sizeof(*tree->at), GFP_KERNEL_ACCOUNT);
	return tree->below && tree->ranges && tree->at;
}

/**
 * inc_tree_alloc() - allocate a tree
 * @cfg: settings, defaults filled in
 * @slot_size: bytes of a slot
 * @own: ranks below this switch, if members are switches
 *
 * Context: process.
 * Return: the tree, with one reference, or NULL.
 */
struct inc_tree *inc_tree_alloc(const struct inc_tree_cfg *cfg,
				size_t slot_size, u16 own)
{
	struct inc_tree *tree = kzalloc_obj(*tree, GFP_KERNEL_ACCOUNT);

	if (!tree)
		return NULL;
	refcount_set(&tree->ref, 1);
	tree->mem.memcg = get_mem_cgroup_from_mm(current->mm);
	tree->member_qp = kvcalloc(cfg->members, sizeof(*tree->member_qp),
				   GFP_KERNEL_ACCOUNT);
	tree->slot = kvcalloc(cfg->slots, sizeof(*tree->slot),
			      GFP_KERNEL_ACCOUNT);
	tree->stats = inc_stats_alloc();
	if (!tree->member_qp || !tree->slot || !tree->stats ||
	    !inc_slot_mem_alloc(tree, cfg, slot_size) ||
	    !alloc_spans(tree, cfg, own)) {
		inc_tree_free(tree);
		return NULL;
	}
	return tree;
}

/**
 * inc_tree_memory() - compute the memory that a tree takes at most
 * @sw: switch
 * @cfg: as in inc_tree_alloc()
 * @slot_size: as in inc_tree_alloc()
 * @own: as in inc_tree_alloc()
 *
 * Return: bytes.
 */
u64 inc_tree_memory(const struct inc_switch *sw, const struct inc_tree_cfg *cfg,
		    size_t slot_size, u16 own)
{
	const struct inc_tree *tree;
	u64 bytes;

	bytes = inc_mem_kvmalloc(sizeof(*tree)) +
		inc_mem_kvmalloc(cfg->members * sizeof(*tree->member_qp)) +
		inc_mem_kvmalloc(cfg->slots * sizeof(*tree->slot)) +
		inc_slot_mem_index(cfg, slot_size) +
		inc_slot_mem_blocks(cfg, slot_size) +
		inc_mem_percpu(sizeof(*tree->stats)) + inc_mem_xarray() +
		inc_debugfs_tree_memory(sw);
	if (cfg->below)
		bytes += inc_mem_kvmalloc(cfg->members * sizeof(*tree->below)) +
			 inc_mem_kvmalloc(cfg->members *
					  sizeof(*tree->ranges)) +
			 inc_mem_kvmalloc(own * sizeof(*tree->at));
	return bytes;
}
