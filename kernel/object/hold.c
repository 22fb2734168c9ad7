// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of packets that wait for other ranks. When a message begins, it is
 * charged with the memory that its packets take if all have buffers as large as
 * the first one's. A larger packet charges the difference when it arrives. The
 * charge lasts until all ranks' packets have arrived.
 *
 * "hold" limits one member, a quota the members of a tree. And as there may be many
 * trees, all of a namespace together are limited, and all of the namespaces that a
 * user has made by user namespaces: each member may hold a quarter of the rest. So
 * when many hold a lot, all get less, and a late member gets as much as an early
 * one. But ranks that never come would leave nothing to anybody, and they may be
 * another tenant's. So part of the room is divided among trees: within its part, a
 * tree does not depend on others.
 *
 * The tree's oldest message that has not ended is accepted whatever the limits say,
 * and of each member one more (inc_resultq_must_open()). So there is always a
 * message that makes progress, if members begin their messages in order.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/percpu_counter.h>

#include "object/budget.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/quota.h"
#include "object/share.h"
#include "object/switch.h"
#include "object/tree.h"

/* A namespace may hold 2^-3 of its memory limit, or of the memory if less. */
#define SHARE_SHIFT	3
/* A member may hold 2^-2 of the rest of that. */
#define MEMBER_SHIFT	2
/* 2^-1 of it is divided among trees, as if there were this many at least. */
#define TREES_SHIFT	1
#define MIN_TREES	16
/* Bytes that a CPU may keep to itself before it updates the sum. */
#define BATCH		SZ_64K

/**
 * inc_hold_limit() - get the bytes that the members of a namespace may hold
 * @sw: its switch
 *
 * All namespaces of a user together may hold no more than one of them.
 *
 * Context: any.
 * Return: bytes, besides inc_hold_guaranteed().
 */
u64 inc_hold_limit(const struct inc_switch *sw)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;

	if (!sw->share->host)
		memory = min(memory, inc_budget_user_ceiling());
	return min(memory, READ_ONCE(sw->mem_limit)) >> SHARE_SHIFT;
}

/**
 * inc_hold_guaranteed() - get the bytes that any tree may hold
 * @sw: switch
 *
 * The share shrinks with each tree, but packets held already stay.
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_hold_guaranteed(const struct inc_switch *sw)
{
	return div_u64(inc_hold_limit(sw) >> TREES_SHIFT,
		       max(atomic_read(&sw->share->ntrees), MIN_TREES));
}

/**
 * inc_hold_sum() - get the bytes that the members of a user's namespaces hold
 * @sw: switch
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_hold_sum(struct inc_switch *sw)
{
	return percpu_counter_sum_positive(&sw->share->held);
}

/* The rest of a limit. */
static u64 rest_of(u64 limit, u64 held)
{
	return held < limit ? limit - held : 0;
}

/* Bytes that a member may still hold, of the common rest or its tree's part. */
static u64 share_of(const struct inc_qp *qp, u64 own)
{
	struct inc_share *share = qp->sw->share;
	u64 sure = inc_hold_guaranteed(qp->sw);
	u64 others = sure * (max(atomic_read(&share->ntrees), 1) - 1);
	u64 left = rest_of(inc_hold_limit(qp->sw), others);

	left = rest_of(left, percpu_counter_read_positive(&share->held));
	return max(rest_of(sure, inc_tree_held(qp->tree)),
		   rest_of(left >> MEMBER_SHIFT, own));
}

/*
 * Bytes that one member, which holds @own, may still hold. A member that is a
 * switch sends the data of its own members, so it has twice the sum of their
 * limits. The others do not apply to it: switches may begin messages in different
 * orders, and wait for each other forever. So the tree is refused if its quota has
 * no room for that (quota.c).
 */
static u64 room_of(const struct inc_qp *qp, u64 own)
{
	u64 limit = READ_ONCE(qp->tree->cfg.hold);
	u64 quota = READ_ONCE(qp->sw->quota.tree_hold);
	u64 room;
	u16 ranks;

	if (qp->is_switch) {
		ranks = inc_geom_ranks(&qp->tree->geom, qp->cfg.index).n;
		return rest_of(inc_quota_switch_hold(limit, ranks), own);
	}
	room = min(rest_of(limit, own), share_of(qp, own));
	return quota ? min(room, rest_of(quota, inc_tree_held(qp->tree))) :
		       room;
}

/**
 * inc_hold_exceeded() - check whether a member would hold too much with a message
 * @qp: its QP
 * @bytes: charge of the message
 *
 * Context: BH; qp->tx.lock held.
 * Return: true if so.
 */
bool inc_hold_exceeded(const struct inc_qp *qp, u32 bytes)
{
	lockdep_assert_held(&qp->tx.lock);
	return bytes && bytes > room_of(qp, qp->tx.results.held);
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
	return room_of(qp, READ_ONCE(qp->tx.results.held));
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
 * inc_hold_account() - account bytes that a member holds to its tree and all
 * @qp: its QP
 * @bytes: by how much
 *
 * Context: any.
 */
void inc_hold_account(struct inc_qp *qp, s64 bytes)
{
	atomic64_add(bytes, &qp->tree->held);
	percpu_counter_add_batch(&qp->sw->share->held, bytes, BATCH);
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
		inc_hold_account(qp, bytes);
}

/**
 * inc_hold_drop() - uncharge a QP that ends
 * @qp: unpublished QP
 *
 * Packets that its tree's slots still hold are uncharged, too.
 *
 * Context: process.
 */
void inc_hold_drop(struct inc_qp *qp)
{
	spin_lock_bh(&qp->tx.lock);
	inc_hold_account(qp, -(s64)qp->tx.results.held);
	qp->tx.results.held = 0;
	spin_unlock_bh(&qp->tx.lock);
}
