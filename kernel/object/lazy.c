// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is taken when it is first needed.
 *
 * Most members of a large switch are idle. What only a member at work needs, and
 * the buffers of slots, are charged when the member or the tree is made, so that
 * those that were admitted can work; but they are taken when the first message
 * begins. The softirq where it begins does not wait: if there is no memory at once,
 * the message is refused for now, and a work takes the memory until it comes again.
 * It does not use the reserves of GFP_ATOMIC, either: a memory cgroup's limit does
 * not hold for these. And the work does without a desk or a slot that it cannot get,
 * rather than have the cgroup's processes killed.
 *
 * Two things are never refused. A ring has a few entries from the beginning and
 * doubles when these are in flight; without memory the window is smaller. And a QP
 * counts without per-CPU counters, and finds its route without a cache, before the
 * work has made them.
 *
 * A desk doubles as well when it is full: what a member has in progress at a time is
 * mostly much less than the tree has slots.
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
#include "object/lazy.h"
#include "object/mem.h"
#include "object/qp.h"
#include "object/slot_mem.h"
#include "object/switch.h"
#include "object/tree.h"

/* Size of a dst_cache on each CPU, as near as can be told from outside. */
#define DST_CACHE_PCPU	48

#define GFP_SOFTIRQ	GFP_NOWAIT
#define GFP_WORK	(GFP_KERNEL | __GFP_RETRY_MAYFAIL)

/* So long nobody looks for memory that the work has not found. */
#define VAIN_PAUSE	(HZ / 10)

/* Bytes of a member's first desk: 43 messages in progress, over RC 32. */
#define DESK_FIRST	2048

/*
 * A desk is all that a member needs to have messages in progress: what struct
 * inc_lost_place has over RC, and behind that what struct inc_result_queue has.
 */
static size_t place_size(u8 transport)
{
	return transport == RDMA_INC_TRANSPORT_RC ?
	       INC_PLACE_PSNS * sizeof(u16) : 0;
}

/* Of a desk that has room for a message in each slot. */
static size_t whole_desk(u16 slots, u8 transport)
{
	return place_size(transport) + inc_resultq_memory(slots);
}

/* Of the next desk of a QP. */
static u32 next_desk(const struct inc_qp *qp)
{
	return min_t(size_t, max(2 * qp->lazy.desk_size, DESK_FIRST),
		     whole_desk(qp->tree->cfg.slots, qp->cfg.transport));
}

/* Large desks' last page counts. */
static u64 desk_memory(size_t size)
{
	return size > PAGE_SIZE ? inc_mem_vmalloc(size) : inc_mem_kvmalloc(size);
}

static void *desk_alloc(size_t size, gfp_t gfp)
{
	return size > PAGE_SIZE ? inc_pages_alloc(size, gfp) :
	       kzalloc(size, gfp | __GFP_ACCOUNT | __GFP_NOWARN);
}

static void desk_free(void *desk, size_t size)
{
	if (size > PAGE_SIZE)
		inc_pages_free(desk, size);
	else
		kfree(desk);
}

static u64 percpu_memory(void)
{
	return inc_mem_percpu(sizeof(struct inc_stats)) +
	       inc_mem_percpu(DST_CACHE_PCPU);
}

/**
 * inc_lazy_ring_memory() - compute the memory of a ring
 * @entries: its entries
 *
 * Return: bytes; 0 for a ring that is part of the QP.
 */
u64 inc_lazy_ring_memory(u32 entries)
{
	return entries <= INC_QP_RING ? 0 :
	       inc_mem_kvmalloc(entries * sizeof(struct inc_wqe));
}

/**
 * inc_lazy_qp_memory() - compute what is charged for a QP and taken later
 * @cfg: settings of its tree, defaults filled in
 *
 * Return: bytes.
 */
u64 inc_lazy_qp_memory(const struct inc_tree_cfg *cfg)
{
	return desk_memory(whole_desk(cfg->slots, RDMA_INC_TRANSPORT_RC)) +
	       percpu_memory() +
	       inc_lazy_ring_memory(inc_requester_entries(cfg->window));
}

static void took(struct inc_qp *qp, u64 bytes)
{
	inc_budget_spare(qp->sw, &qp->lazy.spare, -(s64)bytes);
}

/* Give a QP a larger desk, if it needs one. Returns what is to be freed. */
static void *furnish(struct inc_qp *qp, void *desk, u32 *size)
{
	size_t place = place_size(qp->cfg.transport);
	struct inc_result_queue *q = &qp->tx.results;
	u32 had = qp->lazy.desk_size;
	bool needed;

	lockdep_assert_held(&qp->rx.lock);
	spin_lock(&qp->tx.lock);
	needed = inc_resultq_cramped(q) && *size > had;
	if (needed)
		inc_resultq_furnish(q, desk + place,
				    inc_resultq_fits(q->geom, *size - place));
	spin_unlock(&qp->tx.lock);
	if (!needed)
		return desk;
	if (place) {
		if (had)
			memcpy(desk, qp->lazy.desk, place);
		qp->rx.place.said = desk;
	}
	swap(qp->lazy.desk, desk);
	qp->lazy.desk_size = *size;
	took(qp, desk_memory(*size) - desk_memory(had));
	*size = had;
	return desk;
}

/**
 * inc_lazy_reserved() - check whether a message may take a desk's last entry
 * @qp: QP
 * @msg_id: message
 *
 * It is kept for the tree's oldest message: if there is no memory for a larger desk,
 * others may wait for that one.
 *
 * Context: softirq, qp->rx.lock held.
 * Return: true if there is one, for this message.
 */
bool inc_lazy_reserved(const struct inc_qp *qp, u32 msg_id)
{
	const struct inc_result_queue *q = &qp->tx.results;

	lockdep_assert_held(&qp->rx.lock);
	/* As in inc_lazy_cramped(). */
	return data_race(q->used) < q->size &&
	       (s32)(msg_id - inc_tree_low_mark(qp->tree)) <= 0;
}

/* Take a larger desk for a member that needs one. Returns false without memory. */
static bool take_desk(struct inc_qp *qp)
{
	struct mem_cgroup *old;
	u32 size;
	void *desk;

	if (!inc_lazy_cramped(qp))
		return true;
	size = next_desk(qp);
	old = set_active_memcg(qp->tree->memcg);
	desk = desk_alloc(size, GFP_SOFTIRQ);
	set_active_memcg(old);
	if (!desk)
		return false;
	desk = furnish(qp, desk, &size);
	desk_free(desk, size);
	return true;
}

/* Take memory for a slot where a message begins, if none is spare. */
static bool take_slot(struct inc_tree *tree, u16 slot)
{
	struct mem_cgroup *old = set_active_memcg(tree->memcg);
	bool got = inc_slot_mem_get(tree, slot, GFP_SOFTIRQ);

	set_active_memcg(old);
	return got;
}

/**
 * inc_lazy_take() - take the memory that a message needs of a member and a slot
 * @qp: QP of the member
 * @slot: slot of the message
 * @now: false to leave it to the work
 *
 * Without memory at once, a work takes it. Who sends on and on does not have memory
 * searched for each time: once in a jiffy, and not at all for a while when the work
 * has found none, either.
 *
 * Context: softirq, qp->rx.lock held, the QP is published; takes the slot's lock and
 * qp->tx.lock.
 * Return: false without memory.
 */
bool inc_lazy_take(struct inc_qp *qp, u16 slot, bool now)
{
	unsigned long since = jiffies - qp->lazy.tried_at;
	bool vain = jiffies - READ_ONCE(qp->lazy.failed_at) < VAIN_PAUSE;
	bool got;

	lockdep_assert_held(&qp->rx.lock);
	got = now && !vain && since && take_desk(qp) &&
	      take_slot(qp->tree, slot);
	if (!got)
		qp->lazy.tried_at = jiffies;
	if (!vain && (!got || !qp->stats)) {
		WRITE_ONCE(qp->lazy.slot, slot);
		queue_work(inc_wq, &qp->lazy.work);
	}
	return got;
}

/**
 * inc_lazy_ring() - double a ring all of whose entries are in flight
 * @qp: QP; inc_requester_cramped()
 *
 * Context: BH; qp->tx.lock held.
 * Return: false without memory: the window is smaller for now.
 */
bool inc_lazy_ring(struct inc_qp *qp)
{
	const gfp_t gfp = GFP_SOFTIRQ | __GFP_ACCOUNT | __GFP_NOWARN;
	u32 has = qp->tx.requester.mask + 1;
	struct mem_cgroup *old;
	struct inc_wqe *ring;

	lockdep_assert_held(&qp->tx.lock);
	old = set_active_memcg(qp->tree->memcg);
	ring = kcalloc(2 * has, sizeof(*ring), gfp);
	set_active_memcg(old);
	if (!ring)
		return false;
	ring = inc_requester_grow(&qp->tx.requester, ring, 2 * has);
	if (ring != qp->tx.first)
		kfree(ring);
	took(qp, inc_lazy_ring_memory(2 * has) - inc_lazy_ring_memory(has));
	return true;
}

/**
 * inc_lazy_percpu() - make the per-CPU counters of a QP and its cache of routes
 * @qp: QP
 *
 * Without memory it works without, though slower.
 *
 * Context: process, not at the same time for one QP.
 */
void inc_lazy_percpu(struct inc_qp *qp)
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
static void lazy_work(struct work_struct *work)
{
	struct inc_qp *qp = container_of(work, struct inc_qp, lazy.work);
	struct mem_cgroup *old = set_active_memcg(qp->tree->memcg);
	void *desk = NULL;
	bool got;
	u32 size;

	inc_lazy_percpu(qp);
	got = inc_slot_mem_get(qp->tree, READ_ONCE(qp->lazy.slot), GFP_WORK);
	/* It needs a desk, or does not, or is just getting it: see furnish(). */
	size = data_race(next_desk(qp));
	if (inc_lazy_cramped(qp)) {
		desk = desk_alloc(size, GFP_WORK);
		got = got && desk;
	}
	if (!got)
		WRITE_ONCE(qp->lazy.failed_at, jiffies);
	if (desk) {
		spin_lock_bh(&qp->rx.lock);
		desk = furnish(qp, desk, &size);
		spin_unlock_bh(&qp->rx.lock);
	}
	set_active_memcg(old);
	desk_free(desk, size);
}

/**
 * inc_lazy_qp_init() - initialize a QP that has taken nothing
 * @qp: QP; its tree is known
 */
void inc_lazy_qp_init(struct inc_qp *qp)
{
	INIT_WORK(&qp->lazy.work, lazy_work);
	qp->lazy.tried_at = jiffies - 1;
	qp->lazy.failed_at = jiffies - VAIN_PAUSE;
	inc_requester_init(&qp->tx.requester, qp->tx.first, INC_QP_RING, 0);
	inc_resultq_init(&qp->tx.results, &qp->tree->geom);
}

/**
 * inc_lazy_qp_free() - free what a QP has taken
 * @qp: QP that is not published, now or later, its work done
 *
 * Context: process.
 */
void inc_lazy_qp_free(struct inc_qp *qp)
{
	dst_cache_destroy(&qp->dst);
	free_percpu(qp->stats);
	if (qp->tx.requester.ring != qp->tx.first)
		kfree(qp->tx.requester.ring);
	desk_free(qp->lazy.desk, qp->lazy.desk_size);
	inc_budget_spare(qp->sw, &qp->lazy.spare,
			 -atomic64_read(&qp->lazy.spare));
}
