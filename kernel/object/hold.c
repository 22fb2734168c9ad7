// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of packets that wait for other ranks. A message is charged when it begins
 * with what its packets take if all have buffers as large as the first one's, and
 * with the difference when a larger one comes. It is charged until all ranks' are
 * there.
 *
 * There are two limits. "hold" is that of one member. And what all members of a
 * namespace hold is limited, too, as there may be many: each may have a quarter of
 * what is left. So when many take much all get less, and those that come later
 * find as much as those that came first.
 *
 * A member's oldest message that has not ended is taken whatever the limits say. For
 * the tree's oldest one is the oldest of each member that lacks it; so there is
 * always a message that gets on.
 */
#include <linux/mm.h>
#include <linux/percpu_counter.h>

#include "object/hold.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

/* A namespace's limit is this part of its memory limit, or of the memory. */
#define SHARE_SHIFT	3
/* A member's limit is this part of what is left of that. */
#define MEMBER_SHIFT	2
/* Bytes that a CPU may not have told the others. */
#define BATCH		SZ_64K

/**
 * inc_hold_init() - nothing is held in a namespace
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

/* What a member may hold as far as others of its namespace leave it room. */
static u64 share(struct inc_switch *sw)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	u64 limit = min(memory, READ_ONCE(sw->mem_limit)) >> SHARE_SHIFT;
	u64 held = percpu_counter_read_positive(&sw->held);

	return held < limit ? (limit - held) >> MEMBER_SHIFT : 0;
}

static bool waits(const struct inc_qp *qp, u32 msg_id)
{
	const struct inc_out *out;

	out = &qp->out[msg_id & (qp->tree->cfg.slots - 1)];
	return out->open && out->msg_id == msg_id && !out->status &&
	       out->ready < out->nchunks;
}

/* Has the member none that waits and is older? */
static bool oldest(struct inc_qp *qp, u32 msg_id)
{
	while (qp->oldest != qp->newest && !waits(qp, qp->oldest))
		qp->oldest++;
	return (s32)(msg_id - qp->oldest) <= 0;
}

/* What one member may hold. */
static u64 limit_of(const struct inc_qp *qp)
{
	u64 limit = READ_ONCE(qp->tree->cfg.hold);

	if (qp->is_switch)
		return limit * 2 * inc_geom_span(&qp->tree->geom, qp->cfg.rank).n;
	return min(limit, share(qp->sw));
}

/**
 * inc_hold_full() - does a member hold too much to begin another message
 * @qp: its QP
 * @msg_id: message
 * @bytes: what it would be charged with
 *
 * A switch is sent what it holds of its own members, so it has the limits of all
 * of them. It is not told how little is left of the namespace's: switches may begin
 * messages in different orders, and those that wait for each other would wait for
 * ever.
 *
 * Context: BH; qp->rx_lock and qp->tx_lock held.
 * Return: true if it has to come again.
 */
bool inc_hold_full(struct inc_qp *qp, u32 msg_id, u32 bytes)
{
	return bytes && qp->held && qp->held + bytes > limit_of(qp) &&
	       !oldest(qp, msg_id);
}

/**
 * inc_hold_room() - what else a member may hold
 * @qp: its QP
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_hold_room(const struct inc_qp *qp)
{
	u64 limit = limit_of(qp), held = READ_ONCE(qp->held);

	return held < limit ? limit - held : 0;
}

/**
 * inc_hold_of_all() - what all members of a namespace hold has changed
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
 * inc_hold_began() - a member's message has begun
 * @qp: its QP
 * @msg_id: message
 *
 * Context: qp->rx_lock held.
 */
void inc_hold_began(struct inc_qp *qp, u32 msg_id)
{
	if ((s32)(msg_id - qp->oldest) < 0)
		qp->oldest = msg_id;
	if ((s32)(msg_id - qp->newest) >= 0)
		qp->newest = msg_id + 1;
}

/**
 * inc_hold_add() - charge a member, or give back
 * @qp: its QP
 * @bytes: how much
 *
 * Context: BH; qp->tx_lock held.
 */
void inc_hold_add(struct inc_qp *qp, s64 bytes)
{
	lockdep_assert_held(&qp->tx_lock);
	if (!bytes)
		return;
	qp->held += bytes;
	inc_hold_of_all(qp->sw, bytes);
}

/**
 * inc_hold_more() - a packet is larger than the first one of its message
 * @qp: QP of the member
 * @msg_id: message
 * @bytes: by how much
 *
 * Context: BH, takes qp->tx_lock.
 */
void inc_hold_more(struct inc_qp *qp, u32 msg_id, u32 bytes)
{
	struct inc_out *out = &qp->out[msg_id & (qp->tree->cfg.slots - 1)];

	spin_lock_bh(&qp->tx_lock);
	if (waits(qp, msg_id) && out->held) {
		out->held += bytes;
		inc_hold_add(qp, bytes);
	}
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_hold_drop() - a QP ends
 * @qp: QP that nobody can find
 *
 * What its tree's slots still have of it goes with them.
 *
 * Context: process.
 */
void inc_hold_drop(struct inc_qp *qp)
{
	spin_lock_bh(&qp->tx_lock);
	inc_hold_add(qp, -(s64)qp->held);
	spin_unlock_bh(&qp->tx_lock);
}
