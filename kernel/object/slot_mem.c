// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a tree's slots.
 *
 * Slots' memory is in blocks. Contiguous memory is quicker to get and to find the
 * page of than vmalloc()'s, but there may be no large piece. Many small slots share
 * a block, so that little of its last page is wasted. A block is taken when a
 * message begins and no memory is free, see qp_mem.c.
 *
 * A slot gives its memory back when all members have acknowledged their results, if
 * none of them has begun its next message by then. The memory given back last is in
 * the caches, and is taken first. For a result of one packet that is not worth it,
 * unless there is no memory for another slot. Members over UC acknowledge nothing:
 * slots that have one keep theirs.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
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
 * begun fails. They are cleared here: the allocator would clear them before
 * it asks the memory cgroup, also when that refuses.
 *
 * Context: as @gfp allows.
 * Return: the memory, or NULL.
 */
void *inc_pages_alloc(size_t size, gfp_t gfp)
{
	void *mem;

	gfp |= __GFP_ACCOUNT;
	mem = alloc_pages_exact(size, (gfp & ~__GFP_RETRY_MAYFAIL) |
				__GFP_NORETRY | __GFP_NOWARN);
	if (mem)
		/* Pointers to parts are only there. */
		kmemleak_alloc(mem, size, 1, gfp);
	else if (gfpflags_allow_blocking(gfp))
		mem = __vmalloc(size, gfp);
	if (mem)
		memset(mem, 0, PAGE_ALIGN(size));
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
	const struct inc_tree_slots_mem *m = &tree->slots_mem;
	u16 i;

	if (!m->blocks)
		return;
	for (i = 0; i < m->n; i++)
		inc_pages_free(m->blocks[i], m->block_size);
	kvfree(m->blocks);
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
	struct inc_tree_slots_mem *m = &tree->slots_mem;

	m->slot_size = slot_size;
	m->block_slots = block_slots(cfg, slot_size);
	m->block_size = m->block_slots * slot_size;
	m->max = cfg->slots / m->block_slots;
	m->blocks = kvcalloc(m->max, sizeof(*m->blocks), GFP_KERNEL_ACCOUNT);
	return m->blocks;
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

/* @mem is not any slot's any more. */
static void push_free(struct inc_tree *tree, void *mem)
{
	lockdep_assert_held(&tree->slots_mem.lock);
	*(void **)mem = tree->slots_mem.free;
	WRITE_ONCE(tree->slots_mem.free, mem);
}

/* One more block for slots. Returns false without memory. */
static bool add_block(struct inc_tree *tree, gfp_t gfp)
{
	struct inc_tree_slots_mem *m = &tree->slots_mem;
	void *mem = inc_pages_alloc(m->block_size, gfp);
	bool added;
	u16 i;

	if (!mem)
		return false;
	spin_lock_bh(&m->lock);
	/* Another CPU may have added the last block. */
	added = m->n < m->max;
	if (added) {
		m->blocks[m->n++] = mem;
		WRITE_ONCE(m->wanted, false);
		for (i = m->block_slots; i--;)
			push_free(tree, mem + i * m->slot_size);
	}
	spin_unlock_bh(&m->lock);
	if (added)
		inc_budget_reserve(tree->sw, &tree->mem.reserved,
				   -(s64)inc_mem_vmalloc(m->block_size));
	else
		inc_pages_free(mem, m->block_size);
	return true;
}

/**
 * inc_slot_mem_take() - give a slot free memory
 * @tree: tree
 * @ts: slot
 *
 * Context: BH off, the slot's lock is held.
 * Return: false if there is none.
 */
bool inc_slot_mem_take(struct inc_tree *tree, struct inc_tree_slot *ts)
{
	void *mem;

	lockdep_assert_held(&ts->lock);
	if (inc_slot_placed(&ts->m))
		return true;
	spin_lock(&tree->slots_mem.lock);
	mem = tree->slots_mem.free;
	if (mem)
		WRITE_ONCE(tree->slots_mem.free, *(void **)mem);
	spin_unlock(&tree->slots_mem.lock);
	if (!mem)
		return false;
	inc_slot_place(&ts->m, mem);
	return true;
}

/* Have all members acknowledged the result of the slot's message? */
static bool is_read(const struct inc_tree_slot *ts)
{
	return atomic64_read(&ts->unread) == (u64)ts->m.msg.msg_id << 32;
}

static void give_back(struct inc_tree *tree, struct inc_tree_slot *ts)
{
	spin_lock(&tree->slots_mem.lock);
	push_free(tree, inc_slot_give_back(&ts->m));
	spin_unlock(&tree->slots_mem.lock);
}

/* May the slot have memory that it does not need? */
static bool seems_over(const struct inc_tree_slot *ts)
{
	/* A hint: its lock is not held. */
	return data_race(ts->m.state != RDMA_INC_SLOT_STATE_BUSY) &&
	       inc_slot_placed(&ts->m);
}

/*
 * Look for memory. Slots keep some that they do not need: after short results,
 * failed messages and refused ones. The work is bounded, by one search in a jiffy.
 * Returns false if there is none.
 */
static bool reclaim(struct inc_tree *tree)
{
	struct inc_tree_slot *ts = tree->slot;
	u16 i;

	if (!inc_age(READ_ONCE(tree->slots_mem.reclaimed_at)))
		return false;
	WRITE_ONCE(tree->slots_mem.reclaimed_at, jiffies);
	for (i = 0; i < tree->cfg.slots && !inc_slot_mem_avail(tree); i++, ts++) {
		if (!seems_over(ts))
			continue;
		spin_lock_bh(&ts->lock);
		if (inc_slot_placed(&ts->m) && inc_slot_is_over(&ts->m, is_read(ts)))
			give_back(tree, ts);
		spin_unlock_bh(&ts->lock);
	}
	return inc_slot_mem_avail(tree);
}

/**
 * inc_slot_mem_get() - see to it that there is memory for a slot
 * @tree: tree
 * @slot: slot
 * @gfp: GFP_NOWAIT or GFP_KERNEL, with modifiers
 *
 * inc_slot_mem_take() gives it to the slot when a message begins: another one may be
 * faster, and is not to wait for this one.
 *
 * Context: as @gfp allows; takes slots' locks.
 * Return: false without memory.
 */
bool inc_slot_mem_get(struct inc_tree *tree, u16 slot, gfp_t gfp)
{
	if (inc_slot_placed(&tree->slot[slot].m) || inc_slot_mem_avail(tree))
		return true;
	/* A caller that may sleep has the time to search first. */
	if (gfpflags_allow_blocking(gfp) && reclaim(tree))
		return true;
	if (add_block(tree, gfp))
		return true;
	/* From now on, who does not need any more gives back. */
	WRITE_ONCE(tree->slots_mem.wanted, true);
	return reclaim(tree);
}

/**
 * inc_slot_mem_unread() - note that the result of a slot's message is complete
 * @tree: tree
 * @ts: slot; its message is done, and no result's last packet has been queued yet
 *
 * Context: the slot's lock is held.
 */
void inc_slot_mem_unread(struct inc_tree *tree, struct inc_tree_slot *ts)
{
	atomic64_set(&ts->unread, (u64)ts->m.msg.msg_id << 32 |
		     tree->cfg.members);
}

/**
 * inc_slot_mem_read() - note that a member has acknowledged all of its result
 * @tree: tree
 * @msg_id: message
 *
 * Context: any, once for each member over RC and message at most.
 * Return: true if it was the last one and the result is worth it:
 * inc_slot_mem_put() is due.
 */
bool inc_slot_mem_read(struct inc_tree *tree, u32 msg_id)
{
	struct inc_tree_slot *ts = inc_tree_slot(tree, msg_id);
	s64 old = atomic64_read(&ts->unread);

	do {
		/* The slot has gone on, and has kept its memory. */
		if (upper_32_bits(old) != msg_id || !lower_32_bits(old))
			return false;
	} while (!atomic64_try_cmpxchg(&ts->unread, &old, old - 1));
	if (lower_32_bits(old) > 1)
		return false;
	/* A hint: its lock is not held, and another message may have begun. */
	return data_race(ts->m.msg.nchunks) > 1 ||
	       READ_ONCE(tree->slots_mem.wanted);
}

/**
 * inc_slot_mem_put() - take the memory of a slot back for the next message
 * @tree: tree
 * @msg_id: message whose result all members have acknowledged
 *
 * A member that has its result may have begun the slot's next message already, then
 * the slot keeps its memory.
 *
 * Context: BH off, no lock of the data path held but inc_qp.rx.lock.
 */
void inc_slot_mem_put(struct inc_tree *tree, u32 msg_id)
{
	struct inc_tree_slot *ts = inc_tree_slot(tree, msg_id);

	spin_lock(&ts->lock);
	if (ts->m.msg.msg_id == msg_id &&
	    ts->m.state == RDMA_INC_SLOT_STATE_DONE &&
	    inc_slot_is_over(&ts->m, is_read(ts)))
		give_back(tree, ts);
	spin_unlock(&ts->lock);
}
