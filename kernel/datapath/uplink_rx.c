// SPDX-License-Identifier: GPL-2.0
/*
 * A child's link to its parent, downwards: the parent's results arrive in the
 * slot's result buffer. From there they go to the members as a root's do.
 */
#include <linux/nospec.h>
#include <linux/spinlock.h>

#include "core/slot.h"
#include "core/wire.h"
#include "datapath/fanout.h"
#include "datapath/missing.h"
#include "datapath/reply.h"
#include "datapath/uplink_rx.h"
#include "datapath/uplink_tx.h"
#include "object/qp.h"
#include "object/slot_mem.h"
#include "object/tree.h"

/* An answer of the parent: its message, and how much of it is complete. */
struct answer {
	struct inc_msg	msg;
	u16		from, to;
	u8		status;
	bool		failed;
	bool		first;
};

static bool apply_answer(struct inc_slot *s, const struct inc_pkt *pkt, u32 off,
			 const struct inc_part *part, struct answer *a,
			 struct inc_begun *begun)
{
	bool ok = true, answered = s->parent_answered;
	u8 state = s->state;

	a->status = pkt->flags & INC_PKT_IMM ?
		    pkt->imm >> INC_IMM_STATUS_SHIFT : INC_STATUS_OK;
	if (pkt->flags & INC_PKT_IMM &&
	    (pkt->imm ^ s->msg.msg_id) & INC_IMM_MSG_ID_MASK)
		/* A status may be about another message. */
		return a->status;
	a->from = s->ready;
	if (part->len)
		ok = inc_slot_result(s, off, part);
	if (ok && pkt->flags & INC_PKT_IMM)
		ok = inc_slot_answer(s, a->status);
	a->to = s->ready;
	a->first = s->parent_answered && !answered;
	a->msg = s->msg;
	a->failed = state == RDMA_INC_SLOT_STATE_BUSY &&
		    s->state == RDMA_INC_SLOT_STATE_FAILED;
	if (a->failed)
		inc_fanout_note_begun(s, begun);
	return ok;
}

static bool apply_packet(struct inc_tree *tree, const struct inc_pkt *pkt,
			 const struct inc_part *part, struct inc_reply *reply)
{
	u32 off = pkt->payload_len ? (u32)pkt->va % tree->cfg.msg_size : 0;
	u16 slot = pkt->payload_len ? (u32)pkt->va / tree->cfg.msg_size :
				      pkt->imm & (tree->cfg.slots - 1);
	struct inc_tree_slot *ts;
	struct answer a = {};
	bool ok;

	slot = array_index_nospec(slot, tree->cfg.slots);
	ts = &tree->slot[slot];
	spin_lock(&ts->lock);
	ok = apply_answer(&ts->m, pkt, off, part, &a, reply->begun);
	if (a.to > a.from && ts->m.state == RDMA_INC_SLOT_STATE_DONE)
		inc_slot_mem_unread(tree, ts);
	spin_unlock(&ts->lock);

	if (a.first)
		WRITE_ONCE(tree->answers, tree->answers + 1);
	if (a.to > a.from) {
		inc_fanout_result(tree, slot, &a.msg, a.to);
		reply->kick_members = true;
	}
	if (a.failed) {
		inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
		inc_uplink_fail(tree, slot, a.msg.msg_id, a.status);
		inc_fanout_status(tree, slot, a.msg.msg_id, a.status, reply->begun);
		/* Set by this CPU, if nobody has swept meanwhile. */
		if (data_race(ts->m.unswept))
			inc_tree_sweep(tree);
		reply->kick_members |= reply->kick_begun;
		reply->kick_begun = true;
	}
	return ok;
}

/**
 * inc_uplink_result() - process a write from the parent
 * @qp: QP to the parent
 * @pkt: packet, checked by inc_responder_check()
 * @part: its payload
 * @reply: changed to send it on to the members
 *
 * Context: BH off, RCU read side, qp->rx.lock held.
 * Return: false if it is invalid: the QP has to enter the error state.
 */
bool inc_uplink_result(struct inc_qp *qp, const struct inc_pkt *pkt,
		       const struct inc_part *part, struct inc_reply *reply)
{
	struct inc_tree *tree = qp->tree;

	if (pkt->flags & INC_PKT_IMM &&
	    pkt->imm >> INC_IMM_STATUS_SHIFT >= INC_STATUS_PEER_DEAD) {
		inc_tree_fail(tree, pkt->imm >> INC_IMM_STATUS_SHIFT);
		return true;
	}
	if (pkt->payload_len || pkt->flags & INC_PKT_IMM)
		return apply_packet(tree, pkt, part, reply);
	/* A member somewhere waits, perhaps for one of our members. */
	reply->kick_members |= inc_missing_probe_members(tree);
	return true;
}
