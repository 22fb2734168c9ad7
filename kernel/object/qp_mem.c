// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand memory of members and slots.
 *
 * Most members of a large switch are idle. The memory that only a busy member needs,
 * and the buffers of slots, are charged when the member or the tree is made, so that
 * all admitted members can work; but they are allocated when the first message
 * begins. The softirq where it begins does not wait: if there is no memory at once,
 * the message is refused for now, and a work takes the memory until it comes again.
 * It does not use the reserves of GFP_ATOMIC, either: a memory cgroup's limit does
 * not hold for these. And the work does without memory that it cannot get,
 * rather than have the cgroup's processes killed.
 *
 * Two things are never refused. A ring has a few entries from the beginning and
 * doubles when these are in flight; without memory the window is smaller. And a QP
 * counts without per-CPU counters, and finds its route without a cache, before the
 * work has made them.
 *
 * In-flight state doubles as well when it is full: a member mostly has much fewer
 * messages in progress than the tree has slots.
 *
 * Nothing is freed before the member or the tree is; slots leave their memory to each
 * other. So nothing is allocated in a steady state.
 */
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "object/budget.h"
#include "object/mem.h"
#include "object/qp.h"
#include "object/qp_mem.h"
#include "object/slot_mem.h"
#include "object/switch.h"
#include "object/tree.h"

/* Size of a dst_cache on each CPU, as near as can be told from outside. */
#define DST_CACHE_PCPU	48

#define GFP_SOFTIRQ	GFP_NOWAIT
#define GFP_WORK	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* How long a tree does not look again for memory that its work has not found. */
#define MEM_BACKOFF	(HZ / 10)

/* Bytes of a member's first in-flight state: 43 messages, over RC 32. */
#define INFLIGHT_FIRST	2048

/*
 * In-flight state is all that a member needs to have messages in progress: the
 * arrays of struct inc_lost_place over RC, then those of struct inc_result_queue.
 */
static size_t place_size(u8 transport)
{
	return transport == RDMA_INC_TRANSPORT_RC ?
	       INC_PLACE_PSNS * sizeof(u16) : 0;
}

/* With room for a message in each slot. */
static size_t max_inflight_size(u16 slots, u8 transport)
{
	return place_size(transport) + inc_resultq_memory(slots);
}

static u32 next_inflight_size(const struct inc_qp *qp)
{
	return min_t(size_t, max(2 * qp->mem.inflight_size, INFLIGHT_FIRST),
		     max_inflight_size(qp->tree->cfg.slots, qp->cfg.transport));
}

/* Of more than a page, the last page counts. */
static u64 inflight_memory(size_t size)
{
	return size > PAGE_SIZE ? inc_mem_vmalloc(size) : inc_mem_kvmalloc(size);
}

static void *inflight_alloc(size_t size, gfp_t gfp)
{
	return size > PAGE_SIZE ? inc_pages_alloc(size, gfp) :
	       kzalloc(size, gfp | __GFP_ACCOUNT | __GFP_NOWARN);
}

static void inflight_free(void *mem, size_t size)
{
	if (size > PAGE_SIZE)
		inc_pages_free(mem, size);
	else
		kfree(mem);
}

static u64 percpu_memory(void)
{
	return inc_mem_percpu(sizeof(struct inc_stats)) +
	       inc_mem_percpu(DST_CACHE_PCPU);
}

/* A ring of the first size is part of the QP. */
static u64 ring_memory(u32 entries)
{
	return entries <= INC_QP_RING ? 0 :
	       inc_mem_kvmalloc(entries * sizeof(struct inc_wqe));
}

/**
 * inc_qp_mem_on_demand() - compute the on-demand memory of a QP
 * @cfg: settings of its tree, defaults filled in
 *
 * Return: bytes.
 */
u64 inc_qp_mem_on_demand(const struct inc_tree_cfg *cfg)
{
	return inflight_memory(max_inflight_size(cfg->slots, RDMA_INC_TRANSPORT_RC)) +
	       percpu_memory() +
	       ring_memory(inc_requester_entries(cfg->window));
}

static void took(struct inc_qp *qp, u64 bytes)
{
	inc_budget_reserve(qp->sw, &qp->mem.reserved, -(s64)bytes);
}

/* Give a QP larger in-flight state, if needed. Returns memory for the caller to free. */
static void *set_inflight(struct inc_qp *qp, void *mem, u32 *size)
{
	size_t place = place_size(qp->cfg.transport);
	struct inc_result_queue *q = &qp->tx.results;
	u32 had = qp->mem.inflight_size;
	bool needed;

	lockdep_assert_held(&qp->rx.lock);
	spin_lock(&qp->tx.lock);
	needed = inc_resultq_must_grow(q) && *size > had;
	if (needed)
		inc_resultq_grow(q, mem + place,
				 inc_resultq_fits(q->geom, *size - place));
	spin_unlock(&qp->tx.lock);
	if (!needed)
		return mem;
	if (place) {
		if (had)
			memcpy(mem, qp->mem.inflight, place);
		qp->rx.place.said = mem;
	}
	swap(qp->mem.inflight, mem);
	qp->mem.inflight_size = *size;
	took(qp, inflight_memory(*size) - inflight_memory(had));
	*size = had;
	return mem;
}

/**
 * inc_qp_mem_last_entry() - may a message take the last entry?
 * @qp: QP
 * @msg_id: message
 *
 * The last entry is kept for the tree's oldest message: without memory for more,
 * other members may wait for that one.
 *
 * Context: softirq, qp->rx.lock held.
 * Return: true if there is one, for this message.
 */
bool inc_qp_mem_last_entry(const struct inc_qp *qp, u32 msg_id)
{
	const struct inc_result_queue *q = &qp->tx.results;

	lockdep_assert_held(&qp->rx.lock);
	/* As in inc_qp_mem_needed(). */
	return data_race(q->used) < q->size &&
	       (s32)(msg_id - inc_tree_low_mark(qp->tree)) <= 0;
}

/* Grow the in-flight state of a member that needs it. Returns false without memory. */
static bool take_inflight(struct inc_qp *qp)
{
	struct mem_cgroup *old;
	u32 size;
	void *mem;

	if (!inc_qp_mem_needed(qp))
		return true;
	size = next_inflight_size(qp);
	old = set_active_memcg(qp->tree->mem.memcg);
	mem = inflight_alloc(size, GFP_SOFTIRQ);
	set_active_memcg(old);
	if (!mem)
		return false;
	mem = set_inflight(qp, mem, &size);
	inflight_free(mem, size);
	return true;
}

/* Has a work of any member of the tree just found no memory? */
static bool backs_off(const struct inc_tree *tree)
{
	return jiffies - READ_ONCE(tree->mem.failed_at) < MEM_BACKOFF;
}

/* Get memory for a slot where a message begins, if it needs any and none is free. */
static bool get_slot(struct inc_tree *tree, u16 slot, gfp_t gfp)
{
	return slot == INC_QP_MEM_NO_SLOT || inc_slot_mem_get(tree, slot, gfp);
}

static bool take_slot(struct inc_tree *tree, u16 slot)
{
	struct mem_cgroup *old = set_active_memcg(tree->mem.memcg);
	bool got = get_slot(tree, slot, GFP_SOFTIRQ);

	set_active_memcg(old);
	return got;
}

/**
 * inc_qp_mem_take() - take memory of a member and a slot for a message
 * @qp: QP of the member
 * @slot: slot of the message, or INC_QP_MEM_NO_SLOT
 * @now: false to leave it to the work
 *
 * Without memory at once, a work takes it. Memory is searched for once in a jiffy
 * for a tree, and not at all during the backoff after the work has found none,
 * either. So a refused message costs no more than an empty one, however many
 * members retry.
 *
 * Context: softirq, qp->rx.lock held, the QP is published; takes the slot's lock and
 * qp->tx.lock.
 * Return: false without memory.
 */
bool inc_qp_mem_take(struct inc_qp *qp, u16 slot, bool now)
{
	struct inc_tree *tree = qp->tree;
	unsigned long since = jiffies - READ_ONCE(tree->mem.tried_at);
	bool backoff = backs_off(tree), got = false;

	lockdep_assert_held(&qp->rx.lock);
	if (now && !backoff && since) {
		got = take_inflight(qp) && take_slot(tree, slot);
		if (!got)
			WRITE_ONCE(tree->mem.tried_at, jiffies);
	}
	if (!backoff && (!got || !qp->stats)) {
		WRITE_ONCE(qp->rx.mem_slot, slot);
		queue_work(inc_wq, &qp->mem.work);
	}
	return got;
}

/**
 * inc_qp_mem_grow_ring() - double a ring all of whose entries are in flight
 * @qp: QP; inc_requester_must_grow()
 *
 * Context: BH; qp->tx.lock held.
 * Return: false without memory: the window is smaller for now.
 */
bool inc_qp_mem_grow_ring(struct inc_qp *qp)
{
	const gfp_t gfp = GFP_SOFTIRQ | __GFP_ACCOUNT | __GFP_NOWARN;
	u32 has = qp->tx.requester.mask + 1;
	struct mem_cgroup *old;
	struct inc_wqe *ring;

	lockdep_assert_held(&qp->tx.lock);
	old = set_active_memcg(qp->tree->mem.memcg);
	ring = kcalloc(2 * has, sizeof(*ring), gfp);
	set_active_memcg(old);
	if (!ring)
		return false;
	ring = inc_requester_grow(&qp->tx.requester, ring, 2 * has);
	if (ring != qp->tx.first)
		kfree(ring);
	took(qp, ring_memory(2 * has) - ring_memory(has));
	return true;
}

/**
 * inc_qp_mem_percpu() - make per-CPU counters and the route cache of a QP
 * @qp: QP
 *
 * Without memory it works without, though slower.
 *
 * Context: process, not at the same time for one QP.
 */
void inc_qp_mem_percpu(struct inc_qp *qp)
{
	struct inc_stats __percpu *stats;
	struct dst_cache dst = {};

	if (qp->stats)
		return;
	stats = inc_stats_alloc();
	if (!stats)
		return;
	if (!dst_cache_init(&dst, GFP_KERNEL_ACCOUNT)) {
		qp->dst.reset_ts = dst.reset_ts;
		/* Pairs with the address dependency of its readers. */
		smp_store_release(&qp->dst.cache, dst.cache);
	}
	/* As for the cache. */
	smp_store_release(&qp->stats, stats);
	took(qp, percpu_memory());
}

/* Take all that a member may lack. */
static void mem_work(struct work_struct *work)
{
	struct inc_qp *qp = container_of(work, struct inc_qp, mem.work);
	struct inc_tree *tree = qp->tree;
	struct mem_cgroup *old = set_active_memcg(tree->mem.memcg);
	void *mem = NULL;
	bool got;
	u32 size;

	inc_qp_mem_percpu(qp);
	if (backs_off(tree))
		goto out;
	got = get_slot(tree, READ_ONCE(qp->rx.mem_slot), GFP_WORK);
	/* The softirq may grow it at the same time: set_inflight() looks again. */
	size = data_race(next_inflight_size(qp));
	if (inc_qp_mem_needed(qp)) {
		mem = inflight_alloc(size, GFP_WORK);
		got = got && mem;
	}
	if (!got)
		WRITE_ONCE(tree->mem.failed_at, jiffies);
	if (mem) {
		spin_lock_bh(&qp->rx.lock);
		mem = set_inflight(qp, mem, &size);
		spin_unlock_bh(&qp->rx.lock);
		inflight_free(mem, size);
	}
out:
	set_active_memcg(old);
}

/**
 * inc_qp_mem_tree_init() - initialize a tree that has taken nothing
 * @tree: tree
 */
void inc_qp_mem_tree_init(struct inc_tree *tree)
{
	tree->mem.tried_at = jiffies - 1;
	tree->mem.failed_at = jiffies - MEM_BACKOFF;
}

/**
 * inc_qp_mem_init() - initialize a QP that has taken nothing
 * @qp: QP; its tree is known
 */
void inc_qp_mem_init(struct inc_qp *qp)
{
	INIT_WORK(&qp->mem.work, mem_work);
	inc_requester_init(&qp->tx.requester, qp->tx.first, INC_QP_RING, 0);
	inc_resultq_init(&qp->tx.results, &qp->tree->geom);
}

/**
 * inc_qp_mem_free() - free the on-demand memory of a QP
 * @qp: QP that is not published, now or later, its work done
 *
 * Context: process.
 */
void inc_qp_mem_free(struct inc_qp *qp)
{
	dst_cache_destroy(&qp->dst);
	free_percpu(qp->stats);
	if (qp->tx.requester.ring != qp->tx.first)
		kfree(qp->tx.requester.ring);
	inflight_free(qp->mem.inflight, qp->mem.inflight_size);
	inc_budget_reserve(qp->sw, &qp->mem.reserved,
			   -atomic64_read(&qp->mem.reserved));
}
