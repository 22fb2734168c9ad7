// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of slots and QPs, and the sum of a tree's counters. Copies take the locks of
 * the data path, and only for copying: nothing is allocated or printed under them.
 */
#include <linux/slab.h>

#include "core/psn.h"
#include "core/uplink_queue.h"
#include "object/qp.h"
#include "object/snapshot.h"
#include "object/tree.h"

/**
 * inc_slot_snapshot_alloc() - allocate a copy of a slot
 * @ranks: maximum number of ranks of the tree
 *
 * Context: process; may sleep. Freed by kfree().
 * Return: the memory, or NULL.
 */
struct inc_slot_snapshot *inc_slot_snapshot_alloc(u16 ranks)
{
	struct inc_slot_snapshot *v;

	v = kzalloc(struct_size(v, got, ranks), GFP_KERNEL_ACCOUNT);
	if (v)
		v->members = ranks;
	return v;
}

/* The first message ID at or after the tree's first one that uses this slot. */
static u32 first_msg_id(const struct inc_tree *tree, u16 index)
{
	u32 first = tree->cfg.first_msg_id;

	return first + ((index - first) & (tree->cfg.slots - 1));
}

/**
 * inc_slot_snapshot_get() - copy a slot
 * @tree: tree
 * @index: slot, less than the tree's slots
 * @v: made by inc_slot_snapshot_alloc() with at least the tree's ranks
 *
 * Context: any but hard interrupt; takes the slot's lock. The tree must not
 * go away meanwhile.
 */
void inc_slot_snapshot_get(struct inc_tree *tree, u16 index,
			   struct inc_slot_snapshot *v)
{
	struct inc_tree_slot *slot = &tree->slot[index];
	const struct inc_slot *m = &slot->m;
	unsigned long begun_at, gathered_at;

	v->index = index;
	v->members = tree->cfg.members;
	v->geom = &tree->geom;

	spin_lock_bh(&slot->lock);
	v->state = m->state;
	v->status = m->status;
	v->wrong = m->wrong;
	v->unlike = m->unlike;
	v->msg = m->msg;
	v->begun = m->begun;
	v->ready = m->ready;
	begun_at = slot->begun_at;
	v->waits_parent =
		m->geom->child && m->state == RDMA_INC_SLOT_STATE_BUSY &&
		m->gathered == m->msg.gather_chunks && !m->parent_answered;
	gathered_at = READ_ONCE(slot->gathered_at);
	if (inc_slot_placed(m))
		memcpy(v->got, m->got, v->members * sizeof(*v->got));
	else
		memset(v->got, 0, v->members * sizeof(*v->got));
	spin_unlock_bh(&slot->lock);

	v->used = v->state != RDMA_INC_SLOT_STATE_IDLE ||
		  v->msg.msg_id != first_msg_id(tree, index);
	v->age_ms = v->state == RDMA_INC_SLOT_STATE_IDLE ? 0 :
		    jiffies_to_msecs(jiffies - begun_at);
	/* @gathered_at is set a moment after the last request arrived. */
	v->parent_ms = v->waits_parent ?
		       min(jiffies_to_msecs(jiffies - gathered_at), v->age_ms) : 0;
}

/**
 * inc_slot_snapshot_wants() - count the packets that a slot needs of a rank
 * @v: snapshot of the slot, while its tree exists
 * @member: index of the member
 *
 * Context: any.
 * Return: their number; 0 if the message has not begun, or has ended.
 */
u16 inc_slot_snapshot_wants(const struct inc_slot_snapshot *v, u16 member)
{
	return v->state == RDMA_INC_SLOT_STATE_BUSY ?
	       inc_msg_wants(v->geom, &v->msg, member) : 0;
}

/**
 * inc_qp_snapshot_get() - copy the state of a QP
 * @qp: QP; must not go away meanwhile
 * @v: filled in
 *
 * The two halves are copied one after the other, each under its lock.
 *
 * Context: any but hard interrupt; takes the QP's locks.
 */
void inc_qp_snapshot_get(struct inc_qp *qp, struct inc_qp_snapshot *v)
{
	unsigned long last_rx;

	spin_lock_bh(&qp->rx.lock);
	v->epsn = qp->rx.responder.epsn;
	v->in_msg = qp->rx.responder.in_msg;
	v->rx_msg_id = qp->rx.msg_id;
	v->next_msg_id = qp->rx.next_msg_id;
	v->ooo = skb_queue_len(&qp->rx.ooo);
	spin_unlock_bh(&qp->rx.lock);

	spin_lock_bh(&qp->tx.lock);
	v->state = qp->state;
	v->error = qp->error;
	v->rnr = qp->tx.requester.rnr;
	v->backoff = qp->tx.requester.backoff;
	v->una = qp->tx.requester.una;
	v->next = qp->cfg.transport == RDMA_INC_TRANSPORT_UC ? qp->tx.uc_psn :
							  qp->tx.requester.next;
	v->max = qp->tx.requester.max;
	v->srtt = qp->tx.requester.srtt;
	v->rttvar = qp->tx.requester.rttvar;
	v->window = qp->tx.requester.window;
	v->held = min_t(u64, qp->tx.results.held, U32_MAX);
	v->queued = qp->uplink ? qp->uplink->tail - qp->uplink->head :
				 qp->tx.results.queued;
	v->nstray = qp->tx.results.nstray;
	spin_unlock_bh(&qp->tx.lock);

	v->pending = inc_psn_diff(v->max, v->una);
	/* Before the clock: a packet may arrive in between. */
	last_rx = READ_ONCE(qp->last_rx);
	v->last_rx_ms = jiffies_to_msecs(jiffies - last_rx);
}

/**
 * inc_tree_stats() - sum up a tree's counters
 * @tree: tree
 * @tree_sum: INC_STATS_MAX numbers, by RDMA_INC_A_TREE_STATS_*; added to
 * @member_sum: INC_STATS_MAX numbers, by RDMA_INC_A_MEMBER_STATS_*; added to
 *
 * Context: process, inc_switch.lock held.
 */
void inc_tree_stats(struct inc_tree *tree, u64 *tree_sum, u64 *member_sum)
{
	struct inc_qp *qp;
	u16 member;
	int i;

	inc_stats_sum(tree->stats, tree_sum);
	for (i = 0; i < INC_STATS_MAX; i++)
		member_sum[i] += tree->gone[i];
	for (member = 0; member < tree->cfg.members; member++) {
		qp = inc_qp_find(tree, member);
		if (qp)
			inc_qp_stats_sum(qp, member_sum);
	}
	list_for_each_entry(qp, &tree->parted, parted)
		if (!qp->uplink)
			inc_qp_stats_sum(qp, member_sum);
}
