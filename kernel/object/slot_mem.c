// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a tree's slots.
 *
 * It is in blocks. Memory in a piece is quicker to get and to find the page of than
 * vmalloc()'s, but there may be no large piece. Many small slots share a block, so
 * that little of its last page is wasted. A block is taken when a message begins in
 * one of its slots, see lazy.c.
 */
#include <linux/gfp.h>
#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include "object/budget.h"
#include "object/mem.h"
#include "object/slot_mem.h"
#include "object/tree.h"

#define BLOCK_BYTES	SZ_32K

static u16 block_slots(const struct inc_tree_cfg *cfg, size_t slot_size)
{
	if (slot_size > BLOCK_BYTES / 2)
		return 1;
	return min_t(size_t, cfg->slots,
		     rounddown_pow_of_two(BLOCK_BYTES / slot_size));
}

/**
 * inc_pages_alloc() - allocate cleared pages, no more than needed
 * @size: bytes
 * @gfp: GFP_NOWAIT or GFP_KERNEL, with modifiers
 *
 * Each page has a reference count of its own: packets refer to pages of slots. And no
 * page has another owner's data: packets also hold bytes that no message has
 * written, behind a short chunk of wide elements, or when a request that has
 * begun fails.
 *
 * Context: as @gfp allows.
 * Return: the memory, or NULL.
 */
void *inc_pages_alloc(size_t size, gfp_t gfp)
{
	void *mem;

	gfp |= __GFP_ACCOUNT | __GFP_ZERO;
	mem = alloc_pages_exact(size, (gfp & ~__GFP_RETRY_MAYFAIL) |
				__GFP_NORETRY | __GFP_NOWARN);
	if (!mem && gfpflags_allow_blocking(gfp))
		return __vmalloc(size, gfp);
	/* It holds the only pointers to parts. */
	if (mem)
		kmemleak_alloc(mem, size, 1, gfp);
	return mem;
}

/**
 * inc_pages_free() - undo inc_pages_alloc()
 * @mem: memory, or NULL
 * @size: bytes
 *
 * Context: process or softirq.
 */
void inc_pages_free(void *mem, size_t size)
{
	if (is_vmalloc_addr(mem)) {
		vfree(mem);
	} else if (mem) {
		kmemleak_free(mem);
		free_pages_exact(mem, size);
	}
}

/**
 * inc_slot_mem_free() - free the memory of a tree's slots
 * @tree: tree that is not published, now or later
 *
 * Context: process.
 */
void inc_slot_mem_free(struct inc_tree *tree)
{
	u16 i;

	if (!tree->slot_mem)
		return;
	for (i = 0; i < tree->nblocks; i++)
		inc_pages_free(tree->slot_mem[i], tree->block_size);
	kvfree(tree->slot_mem);
}

/**
 * inc_slot_mem_alloc() - allocate the index of the memory of a tree's slots
 * @tree: tree
 * @cfg: its settings, defaults filled in
 * @slot_size: bytes of a slot
 *
 * Context: process.
 * Return: false without memory.
 */
bool inc_slot_mem_alloc(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
			size_t slot_size)
{
	tree->slot_size = slot_size;
	tree->block_slots = block_slots(cfg, slot_size);
	tree->block_size = tree->block_slots * slot_size;
	tree->nblocks = cfg->slots / tree->block_slots;
	tree->slot_mem = kvcalloc(tree->nblocks, sizeof(*tree->slot_mem),
				  GFP_KERNEL_ACCOUNT);
	return tree->slot_mem;
}

/**
 * inc_slot_mem_index() - compute the memory of inc_slot_mem_alloc()
 * @cfg: settings of a tree, defaults filled in
 * @slot_size: bytes of a slot
 *
 * Return: bytes.
 */
u64 inc_slot_mem_index(const struct inc_tree_cfg *cfg, size_t slot_size)
{
	u16 blocks = cfg->slots / block_slots(cfg, slot_size);

	return inc_mem_kvmalloc(blocks * sizeof(void *));
}

/**
 * inc_slot_mem_blocks() - compute the memory of a tree's slots
 * @cfg: settings of a tree, defaults filled in
 * @slot_size: bytes of a slot
 *
 * Return: bytes, if a message has begun in each.
 */
u64 inc_slot_mem_blocks(const struct inc_tree_cfg *cfg, size_t slot_size)
{
	u16 per_block = block_slots(cfg, slot_size);

	return inc_mem_vmalloc((u64)slot_size * per_block) *
	       (cfg->slots / per_block);
}

/* The block of a slot, allocated by one of those that need it first. */
static void *get_block(struct inc_tree *tree, u16 block, gfp_t gfp)
{
	void *mem = READ_ONCE(tree->slot_mem[block]), *other;

	if (mem)
		return mem;
	mem = inc_pages_alloc(tree->block_size, gfp);
	if (!mem)
		return NULL;
	other = cmpxchg(&tree->slot_mem[block], NULL, mem);
	if (other) {
		inc_pages_free(mem, tree->block_size);
		return other;
	}
	inc_budget_spare(tree->sw, &tree->spare,
			 -(s64)inc_mem_vmalloc(tree->block_size));
	return mem;
}

/**
 * inc_slot_mem_get() - give a slot its memory
 * @tree: tree
 * @slot: slot
 * @gfp: GFP_NOWAIT or GFP_KERNEL, with modifiers
 *
 * Context: as @gfp allows; takes the slot's lock.
 * Return: false without memory.
 */
bool inc_slot_mem_get(struct inc_tree *tree, u16 slot, gfp_t gfp)
{
	struct inc_tree_slot *ts = &tree->slot[slot];
	void *mem;

	if (inc_slot_placed(&ts->m))
		return true;
	mem = get_block(tree, slot / tree->block_slots, gfp);
	if (!mem)
		return false;
	mem += slot % tree->block_slots * tree->slot_size;
	spin_lock_bh(&ts->lock);
	if (!inc_slot_placed(&ts->m))
		inc_slot_place(&ts->m, mem);
	spin_unlock_bh(&ts->lock);
	return true;
}
