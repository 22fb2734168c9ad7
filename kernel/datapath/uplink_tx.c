// SPDX-License-Identifier: GPL-2.0
/*
 * A child's link to its parent, upwards.
 *
 * Requests are sent as hosts send them, packet by packet as chunks are
 * gathered. The packets of a message follow each other on a QP, so messages are
 * sent one after the other, in the order in which their first chunks were
 * gathered. Their bytes stay in the slot (inc_slot.up) until the slot's next
 * message is gathered there, and by then the parent has answered this one.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/wire.h"
#include "datapath/uplink_tx.h"
#include "object/mem.h"
#include "object/qp.h"
#include "object/tree.h"

/**
 * inc_uplink_memory() - compute the memory that inc_uplink_alloc() takes
 * @tree: tree
 *
 * Return: bytes.
 */
u64 inc_uplink_memory(const struct inc_tree *tree)
{
	return inc_mem_kvmalloc(sizeof(struct inc_uplink)) +
	       inc_mem_kvmalloc(tree->cfg.slots *
				sizeof(struct inc_uplink_out));
}

/**
 * inc_uplink_alloc() - allocate the uplink state of a QP to the parent
 * @tree: tree of the child switch
 *
 * Context: process.
 * Return: the uplink, or NULL.
 */
struct inc_uplink *inc_uplink_alloc(const struct inc_tree *tree)
{
	struct inc_uplink *up = kzalloc_obj(*up, GFP_KERNEL_ACCOUNT);
	u16 i;

	if (!up)
		return NULL;
	up->out = kvcalloc(tree->cfg.slots, sizeof(*up->out),
			   GFP_KERNEL_ACCOUNT);
	if (!up->out) {
		kfree(up);
		return NULL;
	}
	/* The message before the slot's first one. */
	for (i = 0; i < tree->cfg.slots; i++)
		up->out[i].msg_id = tree->slot[i].m.msg.msg_id - tree->cfg.slots;
	return up;
}

/**
 * inc_uplink_free() - undo inc_uplink_alloc()
 * @up: uplink, or NULL
 *
 * Context: process.
 */
void inc_uplink_free(struct inc_uplink *up)
{
	if (!up)
		return;
	kvfree(up->out);
	kfree(up);
}

static struct inc_uplink_out *head(const struct inc_qp *qp)
{
	if (qp->fifo_head == qp->fifo_tail)
		return NULL;
	return &qp->uplink->out[qp->fifo[qp->fifo_head & (qp->tree->cfg.slots - 1)]];
}

/* The INC header precedes the elements, as on the wire. */
static struct inc_hdr *hdr_of(const struct inc_qp *qp, u16 slot)
{
	return (struct inc_hdr *)(qp->tree->slot[slot].m.partial - INC_HDR_LEN);
}

static void fill_hdr(const struct inc_qp *qp, u16 slot, u32 msg_id)
{
	u64 va = (u64)slot * qp->tree->cfg.msg_size;

	*hdr_of(qp, slot) = (struct inc_hdr) {
		.version	= INC_VERSION,
		.collective	= INC_COLL_BARRIER,
		.tree_id	= cpu_to_be32(qp->uplink->tree_id),
		.msg_id		= cpu_to_be32(msg_id),
		.result_rkey	= cpu_to_be32(qp->rx.responder.rkey),
		.result_va	= cpu_to_be64(va),
	};
}

/*
 * Open a new request of a slot, of the header alone so far. Returns NULL if it
 * is not new.
 */
static struct inc_uplink_out *open_out(struct inc_qp *qp, u16 slot, u32 msg_id)
{
	struct inc_uplink_out *out = &qp->uplink->out[slot];

	lockdep_assert_held(&qp->tx_lock);
	if ((s32)(msg_id - out->msg_id) <= 0)
		return NULL;
	*out = (struct inc_uplink_out) {
		.msg_id		= msg_id,
		.dmalen		= INC_HDR_LEN,
		.packets	= 1,
		.open		= true,
	};
	fill_hdr(qp, slot, msg_id);
	WRITE_ONCE(qp->tree->slot[slot].m.uplink_busy, true);
	qp->fifo[qp->fifo_tail++ & (qp->tree->cfg.slots - 1)] = slot;
	return out;
}

static void describe(const struct inc_qp *qp, u16 slot,
		     struct inc_uplink_out *out, const struct inc_msg *msg,
		     bool wanted)
{
	const struct inc_slot_geom *g = &qp->tree->geom;
	struct inc_hdr *hdr = hdr_of(qp, slot);
	u16 flags = 0;

	out->wide = inc_msg_wide(g, msg, inc_geom_own(g));
	out->len = msg->gather_len;
	out->packets = out->wide ? 2 * msg->gather_chunks : msg->gather_chunks;
	out->dmalen = out->wide ? inc_wide_len(g, msg->gather_len) :
				  INC_HDR_LEN + msg->gather_len;
	if (out->wide)
		flags |= INC_HDR_F_WIDE;
	if (!wanted)
		flags |= INC_HDR_F_NO_DATA;
	hdr->collective = msg->collective;
	hdr->dtype = msg->dtype;
	hdr->op = msg->op;
	hdr->root = cpu_to_be16(msg->root);
	hdr->flags = cpu_to_be16(flags);
	hdr->nelem = cpu_to_be32(msg->nelem);
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
 * Context: BH off, RCU read side; takes the uplink's tx_lock.
 */
void inc_uplink_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_msg *msg, u16 gathered, bool wanted)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);
	struct inc_uplink_out *out;
	u16 ready;

	if (!qp)
		return;
	spin_lock_bh(&qp->tx_lock);
	out = open_out(qp, slot, msg->msg_id);
	if (out)
		describe(qp, slot, out, msg, wanted);
	out = &qp->uplink->out[slot];
	ready = out->wide ? 2 * gathered : gathered;
	/* Two CPUs may get here out of order. */
	if (out->open && out->msg_id == msg->msg_id && ready > out->ready)
		out->ready = ready;
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_uplink_fail() - finish the request of a failed message
 * @tree: tree
 * @slot: slot
 * @msg_id: message
 * @status: enum inc_status
 *
 * Tell the parent, if it does not know of the message yet. Otherwise send the
 * rest of the request all the same: it has to end before another can begin.
 *
 * Context: BH off, RCU read side; takes the uplink's tx_lock.
 */
void inc_uplink_fail(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);
	struct inc_uplink_out *out;

	if (!qp)
		return;
	spin_lock_bh(&qp->tx_lock);
	out = open_out(qp, slot, msg_id);
	if (out)
		out->status = status;
	out = &qp->uplink->out[slot];
	if (out->msg_id == msg_id)
		out->ready = out->packets;
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_uplink_abort() - drop the requests of a failed tree
 * @tree: tree
 *
 * The request in flight has to end; the others are dropped.
 *
 * Context: BH off or process, RCU read side; takes the uplink's tx_lock.
 */
void inc_uplink_abort(struct inc_tree *tree)
{
	struct inc_qp *qp = rcu_dereference(tree->parent);
	struct inc_uplink_out *out;

	if (!qp)
		return;
	spin_lock_bh(&qp->tx_lock);
	out = head(qp);
	if (out && out->sent) {
		out->ready = out->packets;
		qp->fifo_tail = qp->fifo_head + 1;
	} else {
		qp->fifo_tail = qp->fifo_head;
	}
	spin_unlock_bh(&qp->tx_lock);
}

/**
 * inc_uplink_under_way() - check whether a request is partly sent
 * @qp: QP to the parent
 *
 * If so, nothing else may be sent.
 *
 * Context: qp->tx_lock held.
 * Return: true if so.
 */
bool inc_uplink_under_way(const struct inc_qp *qp)
{
	const struct inc_uplink_out *out = head(qp);

	return out && out->sent;
}

/**
 * inc_uplink_sendable() - check whether a packet of a request is ready
 * @qp: QP to the parent
 *
 * Context: qp->tx_lock held.
 * Return: true if so.
 */
bool inc_uplink_sendable(const struct inc_qp *qp)
{
	const struct inc_uplink_out *out = head(qp);

	return out && out->sent < out->ready;
}

static u8 opcode(bool first, bool last)
{
	if (first)
		return last ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
			      IB_OPCODE_RC_RDMA_WRITE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE :
		      IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
}

/**
 * inc_uplink_fill() - turn the next request packet into a work request
 * @qp: QP to the parent; inc_uplink_sendable()
 * @w: filled in; its off counts from the header before inc_slot.up
 *
 * Context: qp->tx_lock held.
 * Return: what follows the packet.
 */
enum inc_requester_end inc_uplink_fill(struct inc_qp *qp, struct inc_wqe *w)
{
	const struct inc_slot_geom *g = &qp->tree->geom;
	u16 slot = qp->fifo[qp->fifo_head & (qp->tree->cfg.slots - 1)];
	struct inc_slot *s = &qp->tree->slot[slot].m;
	struct inc_uplink_out *out = &qp->uplink->out[slot];
	u16 n = out->sent++;
	u16 chunk = out->wide ? n / 2 : n;
	bool last = out->sent == out->packets;

	*w = (struct inc_wqe) {
		.va	= (u64)slot * qp->tree->cfg.msg_size,
		.rkey	= qp->uplink->rkey,
		.msg_id	= out->msg_id,
		.imm	= (u32)out->status << INC_IMM_STATUS_SHIFT |
			  (out->msg_id & INC_IMM_MSG_ID_MASK),
		.off	= (u32)chunk * g->pmtu,
		.slot	= slot,
		.len	= last ? out->dmalen - (u32)n * g->pmtu : g->pmtu,
		.opcode	= opcode(!n, last),
	};
	if (out->wide && n & 1)
		w->off += s->partial_lo - s->partial;
	if (!last)
		return INC_REQ_MORE;
	qp->fifo_head++;
	out->open = false;
	WRITE_ONCE(s->uplink_busy, false);
	inc_stats_inc(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_MESSAGES);
	return out->packets == 1 ? INC_REQ_END_SHARED : INC_REQ_END;
}

/**
 * inc_uplink_dmalen() - get the length for a packet's RETH
 * @qp: QP to the parent
 * @w: packet
 *
 * Context: qp->tx_lock held.
 * Return: bytes of its message.
 */
u32 inc_uplink_dmalen(const struct inc_qp *qp, const struct inc_wqe *w)
{
	return w->len ? qp->uplink->out[w->slot].dmalen : 0;
}

/**
 * inc_uplink_payload() - get the payload of a request packet
 * @qp: QP to the parent
 * @w: packet
 *
 * It is the slot's own memory, as for a result. If the slot is at its next
 * message, or all ranks have begun that one, the parent has had this one and
 * only the acknowledgment was lost: the bytes of the retransmission do not
 * matter. Nor do the bytes that follow a short chunk in a packet that has to be
 * full.
 *
 * Context: qp->tx_lock held.
 * Return: the payload, or NULL for zeros.
 */
const void *inc_uplink_payload(const struct inc_qp *qp, const struct inc_wqe *w)
{
	const struct inc_slot *s = &qp->tree->slot[w->slot].m;

	if (qp->uplink->out[w->slot].msg_id != w->msg_id ||
	    !inc_slot_has(s, w->msg_id))
		return NULL;
	return s->partial + w->off - INC_HDR_LEN;
}
