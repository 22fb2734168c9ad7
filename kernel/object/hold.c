// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of packets that wait for other ranks. When a message begins, it is
 * charged with the memory that its packets take if all have buffers as large as
 * the first one's. A larger packet charges the difference when it arrives. The
 * charge lasts until all ranks' packets have arrived.
 *
 * There are two limits. "hold" is that of one member. All members of a
 * namespace together are limited, too, as there may be many: each may hold a
 * quarter of what is left. So when many hold a lot, all get less, and a late
 * member gets as much as an early one.
 *
 * A member's oldest message that has not ended is accepted whatever the limits
 * say: the tree's oldest message is the oldest of each member that has yet to
 * send it. So there is always a message that makes progress.
 */
#include <linux/mm.h>
#include <linux/percpu_counter.h>

#include "object/hold.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

/* A namespace may hold 2^-3 of its memory limit, or of the memory if less. */
#define SHARE_SHIFT	3
/* A member may hold 2^-2 of the rest of that. */
#define MEMBER_SHIFT	2
/* Bytes that a CPU may keep to itself before it updates the sum. */
#define BATCH		SZ_64K

/**
 * inc_hold_init() - initialize accounting of held packets in a namespace
 * @sw: its switch
 *
 * Return: 0 or -ENOMEM.
 */
int inc_hold_init(struct inc_switch *sw)
{
	return percpu_counter_init(&sw->held, 0, GFP_KERNEL);
}

/**
 * inc_hold_exit() - undo inc_hold_init()
 * @sw: switch
 */
void inc_hold_exit(struct inc_switch *sw)
{
	percpu_counter_destroy(&sw->held);
}

/* A member's share of what the others of its namespace leave. */
static u64 share_of(struct inc_switch *sw)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	u64 limit = min(memory, READ_ONCE(sw->mem_limit)) >> SHARE_SHIFT;
	u64 held = percpu_counter_read_positive(&sw->held);

	return held < limit ? (limit - held) >> MEMBER_SHIFT : 0;
}

/* Bytes that one member may hold. */
static u64 limit_of(const struct inc_qp *qp)
{
	u64 limit = READ_ONCE(qp->tree->cfg.hold);

	if (qp->is_switch)
		return limit * 2 *
		       inc_geom_ranks(&qp->tree->geom, qp->cfg.index).n;
	return min(limit, share_of(qp->sw));
}

/**
 * inc_hold_full() - check whether a member holds too much to begin a message
 * @qp: its QP
 * @msg_id: message
 * @bytes: charge of the message
 *
 * A member that is a switch sends what it holds of its own members, so it has
 * twice the sum of their limits. The namespace's limit does not apply to it:
 * switches may begin messages in different orders, and those that wait for each
 * other would wait forever.
 *
 * Context: BH; qp->tx.lock held.
 * Return: true if the member has to retransmit it later.
 */
bool inc_hold_full(struct inc_qp *qp, u32 msg_id, u32 bytes)
{
	u64 held = qp->tx.results.held;

	lockdep_assert_held(&qp->tx.lock);
	return bytes && held && held + bytes > limit_of(qp) &&
	       !inc_oldest_is(&qp->tx.results.waiting, msg_id);
}

/**
 * inc_hold_room() - get the bytes that a member may still hold
 * @qp: its QP
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_hold_room(const struct inc_qp *qp)
{
	u64 limit = limit_of(qp), held = READ_ONCE(qp->tx.results.held);

	return held < limit ? limit - held : 0;
}

/**
 * inc_hold_copy() - copy a packet into a buffer of its own size
 * @qp: its QP
 * @skb: packet; stays as it is
 *
 * Context: softirq.
 * Return: the copy, or NULL without memory, which is counted.
 */
struct sk_buff *inc_hold_copy(struct inc_qp *qp, const struct sk_buff *skb)
{
	struct sk_buff *copy = skb_copy_expand(skb, 0, 0, GFP_ATOMIC);

	if (!copy)
		inc_stats_inc(qp->sw->stats,
			      RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY);
	return copy;
}

/**
 * inc_hold_of_all() - account bytes held by all members of a namespace
 * @sw: switch
 * @bytes: by how much
 *
 * Context: any.
 */
void inc_hold_of_all(struct inc_switch *sw, s64 bytes)
{
	percpu_counter_add_batch(&sw->held, bytes, BATCH);
}

/**
 * inc_hold_more() - charge for a packet larger than its message's first one
 * @qp: QP of the member
 * @msg_id: message
 * @bytes: by how much
 *
 * Context: BH, takes qp->tx.lock.
 */
void inc_hold_more(struct inc_qp *qp, u32 msg_id, u32 bytes)
{
	bool held;

	spin_lock_bh(&qp->tx.lock);
	held = inc_resultq_hold(&qp->tx.results, msg_id, bytes);
	spin_unlock_bh(&qp->tx.lock);
	if (held)
		inc_hold_of_all(qp->sw, bytes);
}

/**
 * inc_hold_drop() - uncharge a QP that ends
 * @qp: unpublished QP
 *
 * This includes packets that its tree's slots still hold.
 *
 * Context: process.
 */
void inc_hold_drop(struct inc_qp *qp)
{
	spin_lock_bh(&qp->tx.lock);
	inc_hold_of_all(qp->sw, -(s64)qp->tx.results.held);
	qp->tx.results.held = 0;
	spin_unlock_bh(&qp->tx.lock);
}
