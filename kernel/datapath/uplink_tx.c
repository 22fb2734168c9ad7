// SPDX-License-Identifier: GPL-2.0
/*
 * A child's link to its parent, upwards: the lock and the memory of the
 * requests that are queued for it (core/uplink_queue.c).
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/uplink_queue.h"
#include "datapath/uplink_tx.h"
#include "object/mem.h"
#include "object/qp.h"
#include "object/tree.h"

/**
 * inc_uplink_memory() - compute the memory that inc_uplink_alloc() takes
 * @slots: slots of the tree
 *
 * Return: bytes.
 */
u64 inc_uplink_memory(u16 slots)
{
	return inc_mem_kvmalloc(sizeof(struct inc_uplink_queue)) +
	       inc_mem_kvmalloc(slots * sizeof(struct inc_uplink_out)) +
	       inc_mem_kvmalloc(slots * sizeof(u16));
}

/**
 * inc_uplink_alloc() - allocate the queue of a QP to the parent
 * @tree: tree of the child switch
 *
 * Context: process.
 * Return: the queue, or NULL.
 */
struct inc_uplink_queue *inc_uplink_alloc(const struct inc_tree *tree)
{
	struct inc_uplink_queue *q = kzalloc_obj(*q, GFP_KERNEL_ACCOUNT);
	struct inc_uplink_out *out;
	u16 *fifo;

	if (!q)
		return NULL;
	out = kvcalloc(tree->cfg.slots, sizeof(*out), GFP_KERNEL_ACCOUNT);
	fifo = kvcalloc(tree->cfg.slots, sizeof(*fifo), GFP_KERNEL_ACCOUNT);
	inc_uplinkq_init(q, &tree->geom, out, fifo);
	if (!out || !fifo) {
		inc_uplink_free(q);
		return NULL;
	}
	return q;
}

/**
 * inc_uplink_free() - undo inc_uplink_alloc()
 * @q: queue, or NULL
 *
 * Context: process.
 */
void inc_uplink_free(struct inc_uplink_queue *q)
{
	if (!q)
		return;
	kvfree(q->out);
	kvfree(q->fifo);
	kfree(q);
}

/**
 * inc_uplink_gathered() - queue chunks that all members contributed to
 * @tree: tree
 * @slot: slot
 * @msg: message
 * @gathered: chunks gathered now, at least 1: all ranks have begun
 * @wanted: some rank wants elements of the result
 *
 * inc_txq_kick_parent() sends it.
 *
 * Context: BH off, RCU read side; takes the uplink's tx.lock.
 */
void inc_uplink_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_msg *msg, u16 gathered, bool wanted)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (!qp)
		return;
	spin_lock_bh(&qp->tx.lock);
	inc_uplinkq_gathered(qp->uplink, &tree->slot[slot].m, msg, gathered,
			     wanted);
	spin_unlock_bh(&qp->tx.lock);
}

/**
 * inc_uplink_fail() - finish the request of a failed message
 * @tree: tree
 * @slot: slot
 * @msg_id: message
 * @status: enum inc_status
 *
 * Context: BH off, RCU read side; takes the uplink's tx.lock.
 */
void inc_uplink_fail(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (!qp)
		return;
	spin_lock_bh(&qp->tx.lock);
	inc_uplinkq_fail(qp->uplink, &tree->slot[slot].m, msg_id, status);
	spin_unlock_bh(&qp->tx.lock);
}

/**
 * inc_uplink_abort() - drop the requests of a failed tree
 * @tree: tree
 *
 * The request in flight has to end; the others are dropped.
 *
 * Context: BH off or process, RCU read side; takes the uplink's tx.lock.
 */
void inc_uplink_abort(struct inc_tree *tree)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);

	if (!qp)
		return;
	spin_lock_bh(&qp->tx.lock);
	inc_uplinkq_abort(qp->uplink);
	spin_unlock_bh(&qp->tx.lock);
}
