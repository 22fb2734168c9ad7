// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of trees, and their last reference.
 */
#include <linux/gfp.h>
#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "control/tree_mem.h"
#include "core/rank_range.h"
#include "object/mem.h"
#include "object/stats.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/notify.h"

/*
 * The slots' memory is in blocks. Memory in a piece is quicker to get and to
 * find the page of than vmalloc()'s, but there may be no large piece. Many small
 * slots share a block, so that little of its last page is wasted.
 */
#define BLOCK_BYTES	SZ_32K

static u16 block_slots(const struct inc_tree_cfg *cfg, size_t slot_size)
{
	if (slot_size > BLOCK_BYTES / 2)
		return 1;
	return min_t(size_t, cfg->slots,
		     rounddown_pow_of_two(BLOCK_BYTES / slot_size));
}

/*
 * Each page has a reference count of its own: packets refer to pages. And no
 * page has another owner's data: packets also hold bytes that no message has
 * written, behind a short chunk of wide elements, or when a request that has
 * begun fails.
 */
static void *block_alloc(size_t size)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO;
	void *mem = alloc_pages_exact(size, gfp | __GFP_NORETRY | __GFP_NOWARN);

	if (!mem)
		return __vmalloc(size, gfp);
	/* It holds the only pointers to parts. */
	kmemleak_alloc(mem, size, 1, GFP_KERNEL);
	return mem;
}

static void block_free(void *mem, size_t size)
{
	if (is_vmalloc_addr(mem)) {
		vfree(mem);
	} else if (mem) {
		kmemleak_free(mem);
		free_pages_exact(mem, size);
	}
}

static void free_slot_mem(struct inc_tree *tree)
{
	u16 i;

	if (!tree->slot_mem)
		return;
	for (i = 0; i < tree->nblocks; i++)
		block_free(tree->slot_mem[i], tree->block_size);
	kvfree(tree->slot_mem);
}

static bool alloc_slot_mem(struct inc_tree *tree,
			   const struct inc_tree_cfg *cfg, size_t slot_size)
{
	u16 i;

	tree->block_slots = block_slots(cfg, slot_size);
	tree->block_size = tree->block_slots * slot_size;
	tree->nblocks = cfg->slots / tree->block_slots;
	tree->slot_mem = kvcalloc(tree->nblocks, sizeof(*tree->slot_mem),
				  GFP_KERNEL_ACCOUNT);
	if (!tree->slot_mem)
		return false;
	for (i = 0; i < tree->nblocks; i++) {
		tree->slot_mem[i] = block_alloc(tree->block_size);
		if (!tree->slot_mem[i])
			return false;
	}
	return true;
}

/**
 * inc_tree_free() - undo inc_tree_alloc()
 * @tree: tree that is not published, now or later
 *
 * Context: process.
 */
void inc_tree_free(struct inc_tree *tree)
{
	free_percpu(tree->stats);
	free_slot_mem(tree);
	kvfree(tree->slot);
	kvfree(tree->member_qp);
	kvfree(tree->below);
	kvfree(tree->ranges);
	kvfree(tree->at);
	kfree(tree);
}

/**
 * inc_tree_put() - drop a reference
 * @tree: tree
 *
 * The last reference is that of a tree under teardown, see teardown.c. So no
 * reader or timer is left.
 *
 * Context: process, inc_switch.lock not held; may sleep. Any, if it is not the last.
 */
void inc_tree_put(struct inc_tree *tree)
{
	struct inc_switch *sw = tree->sw;

	if (!refcount_dec_and_test(&tree->ref))
		return;
	mutex_lock(&sw->lock);
	inc_switch_uncharge(sw, tree->memory);
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
	tree->member_qp = kvcalloc(cfg->members, sizeof(*tree->member_qp),
				   GFP_KERNEL_ACCOUNT);
	tree->slot = kvcalloc(cfg->slots, sizeof(*tree->slot),
			      GFP_KERNEL_ACCOUNT);
	tree->stats = inc_stats_alloc();
	if (!tree->member_qp || !tree->slot || !tree->stats ||
	    !alloc_slot_mem(tree, cfg, slot_size) ||
	    !alloc_spans(tree, cfg, own)) {
		inc_tree_free(tree);
		return NULL;
	}
	return tree;
}

/**
 * inc_tree_memory() - compute the memory that a tree takes
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
	u16 per_block = block_slots(cfg, slot_size);
	u16 blocks = cfg->slots / per_block;
	const struct inc_tree *tree;
	u64 bytes;

	bytes = inc_mem_kvmalloc(sizeof(*tree)) +
		inc_mem_kvmalloc(cfg->members * sizeof(*tree->member_qp)) +
		inc_mem_kvmalloc(cfg->slots * sizeof(*tree->slot)) +
		inc_mem_kvmalloc(blocks * sizeof(*tree->slot_mem)) +
		inc_mem_vmalloc((u64)slot_size * per_block) * blocks +
		inc_mem_percpu(sizeof(*tree->stats)) + inc_mem_xarray() +
		inc_debugfs_tree_memory(sw);
	if (cfg->below)
		bytes += inc_mem_kvmalloc(cfg->members * sizeof(*tree->below)) +
			 inc_mem_kvmalloc(cfg->members *
					  sizeof(*tree->ranges)) +
			 inc_mem_kvmalloc(own * sizeof(*tree->at));
	return bytes;
}
