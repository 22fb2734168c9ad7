// SPDX-License-Identifier: GPL-2.0
/*
 * From a member's request to the slot of its message:
 *
 *   inc_slot_io_begin()       a packet opens a message
 *     parse_header()            find its slot
 *     start_message()           may it begin now?
 *       take_memory()             on-demand memory for the message
 *       open_result()             remember where the result goes
 *       join_slot()               the member has begun it
 *   inc_slot_io_contribute()  keep a packet's payload for the slot
 *   inc_slot_io_flush()       put kept payloads into the slot
 *     forward_gathered()        it was the last one: send complete chunks
 *
 * Chunks that are complete in the slot go to the members (fanout.c), or at a
 * child to the parent (uplink_tx.c).
 */
#include <linux/cache.h>
#include <linux/lockdep.h>
#include <linux/prefetch.h>
#include <linux/skbuff.h>
#include <linux/smp.h>

#include "core/wire.h"
#include "datapath/batch.h"
#include "datapath/cb.h"
#include "datapath/fanout.h"
#include "datapath/fault.h"
#include "datapath/missing.h"
#include "datapath/reply.h"
#include "datapath/rx_payload.h"
#include "datapath/slot_io.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/blame.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/qp_mem.h"
#include "object/slot_mem.h"
#include "object/tree.h"
#include "report/trace.h"

/* Payloads that are kept for a slot: as many as are sent in one burst. */
#define KEPT_MAX	INC_GSO_MAX

static void forward_gathered(struct inc_tree *tree, u16 slot,
			     const struct inc_progress *p,
			     struct inc_reply *reply)
{
	inc_fanout_gathered(tree, slot, p);
	if (tree->geom.child)
		reply->kick_parent = true;
	else
		reply->kick_members = true;
}

static bool opens_slot(const struct inc_slot *s, enum inc_slot_verdict verdict)
{
	return s->begun == 1 &&
	       (verdict == INC_SLOT_TAKE || verdict == INC_SLOT_FAIL);
}

/*
 * The member has broken the window rule. If there is no room to tell it so now,
 * it has to retransmit.
 */
static enum inc_take refuse_msg_id(struct inc_qp *qp, u32 msg_id)
{
	return inc_txq_stray(qp, msg_id, INC_STATUS_MSG_ID) ? INC_TAKE_OK :
							      INC_TAKE_RNR;
}

/*
 * A rank's request makes a message fail: tell the ranks that have begun it.
 */
static void fail_msg(struct inc_qp *qp, u16 slot, u32 msg_id, u8 status,
		     u16 unlike, struct inc_reply *reply)
{
	const struct inc_blamed b = {
		.msg_id	= msg_id,
		.slot	= slot,
		.wrong	= qp->cfg.index,
		.unlike	= unlike,
		.status	= status,
	};
	struct inc_tree *tree = qp->tree;

	inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_FAILED);
	inc_blame(&tree->blame, &b);
	WRITE_ONCE(qp->rx.next_msg_id, msg_id + 1);
	inc_fanout_status(tree, slot, msg_id, status, reply->begun);
	/* Set by this CPU, if nobody has swept meanwhile. */
	if (data_race(tree->slot[slot].m.unswept))
		inc_tree_sweep(tree);
	/* There is room for one message's ranks: @reply->begun had another's. */
	reply->kick_members |= reply->kick_begun;
	/* Ranks that have not begun it are told when they do. */
	reply->kick_begun |= reply->begun->n > 1;
	inc_uplink_fail(tree, slot, msg_id, status);
	reply->kick_parent = true;
}

/* A message that has been begun opens again, over RC with new PSNs. */
static enum inc_take note_repeat(struct inc_qp *qp)
{
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT);
	return qp->cfg.transport == RDMA_INC_TRANSPORT_UC ? INC_TAKE_OK :
							   INC_TAKE_PLACE_LOST;
}

/*
 * Begin the message in its slot. If its chunks are not to be taken, the member
 * has been told why or need not be.
 */
static enum inc_take join_slot(struct inc_qp *qp, const struct inc_msg *msg,
			       u8 status, struct inc_reply *reply)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, msg->msg_id);
	enum inc_slot_verdict verdict = INC_SLOT_WAIT;
	struct inc_tree *tree = qp->tree;
	u16 slot = ts - tree->slot;
	struct inc_progress p;
	bool due = false;
	u16 unlike;

	spin_lock(&ts->lock);
	/* Pairs with inc_tree_fail(), whose work takes every slot's lock. */
	if (READ_ONCE(tree->error)) {
		verdict = INC_SLOT_FAILED;
		status = READ_ONCE(tree->error);
	} else if (likely(inc_slot_mem_take(tree, ts))) {
		verdict = inc_slot_begin(&ts->m, qp->cfg.index, msg, status);
		status = ts->m.status;
		if (opens_slot(&ts->m, verdict)) {
			atomic_inc(&tree->opened);
			WRITE_ONCE(tree->used, true);
			ts->begun_at = jiffies;
			inc_fanout_begin(ts);
		}
		/* Chunks of other ranks may have waited for the last one to begin. */
		if (verdict == INC_SLOT_TAKE && ts->m.gathered > ts->forwarded)
			due = inc_fanout_due(tree, ts, 1, &p);
	} else {
		/* Another slot was faster. */
		inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY);
	}
	if (verdict == INC_SLOT_FAIL)
		inc_fanout_note_begun(&ts->m, reply->begun);
	unlike = ts->m.unlike;
	spin_unlock(&ts->lock);

	switch (verdict) {
	case INC_SLOT_TAKE:
		qp->rx.to_slot = true;
		if (due)
			forward_gathered(tree, slot, &p, reply);
		break;
	case INC_SLOT_WAIT:
		inc_missing_watch(tree);
		inc_txq_close(qp, msg->msg_id);
		return INC_TAKE_RNR;
	case INC_SLOT_FAIL:
		fail_msg(qp, slot, msg->msg_id, status, unlike, reply);
		break;
	case INC_SLOT_FAILED:
		WRITE_ONCE(qp->rx.next_msg_id, msg->msg_id + 1);
		inc_txq_status(qp, msg->msg_id, status);
		break;
	case INC_SLOT_REPEAT:
		inc_txq_close(qp, msg->msg_id);
		return note_repeat(qp);
	case INC_SLOT_REFUSE:
		/* Answered without the slot, where it may begin later. */
		inc_txq_close(qp, msg->msg_id);
		return refuse_msg_id(qp, msg->msg_id);
	}
	return INC_TAKE_OK;
}

/* Memory of a message's packets, if all are as large as the first one. */
static u32 request_memory(const struct inc_qp *qp, const struct inc_msg *msg,
			  const struct inc_pkt *pkt)
{
	/* A request without elements does not wait. */
	if (!msg->in_len)
		return 0;
	if (pkt->flags & INC_PKT_IMM)
		return qp->rx.truesize;
	return DIV_ROUND_UP(qp->rx.msg_len, qp->tree->cfg.pmtu) *
	       qp->rx.truesize;
}

/* Can the result be sent? If not, tell the member, unless too much is held. */
static bool open_result(struct inc_qp *qp, const struct inc_msg *msg,
			const struct inc_hdr *hdr, const struct inc_pkt *pkt,
			enum inc_take *t)
{
	*t = INC_TAKE_OK;
	switch (inc_txq_open(qp, msg, be64_to_cpu(hdr->result_va),
			     be32_to_cpu(hdr->result_rkey),
			     request_memory(qp, msg, pkt))) {
	case INC_OPEN_OK:
		return true;
	case INC_OPEN_HELD:
		*t = INC_TAKE_RNR;
		break;
	case INC_OPEN_REPEAT:
		*t = note_repeat(qp);
		break;
	case INC_OPEN_BUSY:
		*t = refuse_msg_id(qp, msg->msg_id);
		break;
	}
	return false;
}

/*
 * Take the memory that the member lacks, and @slot. Returns false if there is none at
 * once: the member has to retransmit the message, and finds it then.
 */
static bool take_memory(struct inc_qp *qp, u32 msg_id, u16 slot)
{
	if (slot == INC_QP_MEM_NO_SLOT && inc_qp_mem_last_entry(qp, msg_id))
		return true;
	if (inc_qp_mem_take(qp, slot, !inc_fault_memory_rx(qp)))
		return true;
	inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY);
	return false;
}

/**
 * inc_slot_io_room() - see to it that a result can be queued once more
 * @qp: QP of the member
 * @msg_id: message that has ended
 *
 * Context: softirq, qp->rx.lock held; takes qp->tx.lock.
 * Return: false without memory at once; a work takes it.
 */
bool inc_slot_io_room(struct inc_qp *qp, u32 msg_id)
{
	return likely(!inc_qp_mem_needed(qp)) ||
	       take_memory(qp, msg_id, INC_QP_MEM_NO_SLOT);
}

/* As inc_slot_io_room(), for a message that is to begin in its slot. */
static bool has_room(struct inc_qp *qp, u32 msg_id)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, msg_id);
	u16 slot = ts - qp->tree->slot;

	if (likely(inc_slot_placed(&ts->m)) || inc_slot_mem_avail(qp->tree))
		slot = INC_QP_MEM_NO_SLOT;
	if (likely(slot == INC_QP_MEM_NO_SLOT && !inc_qp_mem_needed(qp)))
		return true;
	return take_memory(qp, msg_id, slot);
}

/* The header is parsed and the slot found: begin the message there. */
static enum inc_take start_message(struct inc_qp *qp,
				   const struct inc_msg *msg,
				   const struct inc_hdr *hdr, u8 status,
				   const struct inc_pkt *pkt,
				   struct inc_reply *reply)
{
	enum inc_take t;

	/*
	 * The QP was unpublished while this packet arrived. inc_member_del()
	 * must see all that began before, in inc_tree.used; both hold rx.lock.
	 */
	if (READ_ONCE(qp->state) == RDMA_INC_MEMBER_STATE_ERROR)
		return INC_TAKE_LOST;
	/* A message that starts now would wait for members not yet created. */
	if (READ_ONCE(qp->tree->state) == RDMA_INC_TREE_STATE_FORMING)
		return INC_TAKE_FORMING;
	if (!has_room(qp, msg->msg_id)) {
		inc_missing_memory(qp);
		return INC_TAKE_RNR;
	}
	if (open_result(qp, msg, hdr, pkt, &t))
		t = join_slot(qp, msg, status, reply);
	if (t != INC_TAKE_OK)
		return t;
	qp->rx.msg_id = msg->msg_id;
	if (!qp->rx.to_slot) {
		reply->kick_self = true;
		return INC_TAKE_OK;
	}

	inc_missing_watch(qp->tree);
	WRITE_ONCE(qp->rx.next_msg_id, msg->msg_id + 1);
	trace_inc_request(qp, msg);
	return INC_TAKE_OK;
}

/*
 * Parse the header of a message's first packet. A switch may say in it that the
 * message failed there; then its terms are not known.
 */
static u8 parse_header(const struct inc_qp *qp, const struct inc_pkt *pkt,
		       const struct inc_hdr *hdr, struct inc_msg *msg)
{
	u8 status = inc_qp_failure(qp, pkt);

	if (!status)
		return inc_msg_parse(&qp->tree->geom, qp->cfg.index, hdr,
				     pkt->dmalen, !(pkt->flags & INC_PKT_IMM),
				     msg);
	inc_msg_unknown(be32_to_cpu(hdr->msg_id), msg);
	return status;
}

/* Prefetch the slot of a message, see inc_qp_prefetch(). */
static void prefetch_slot(const struct inc_qp *qp, u32 msg_id)
{
	const struct inc_tree_slot *ts = inc_tree_slot(qp->tree, msg_id);

	prefetchw(&ts->lock);
	prefetchw(&ts->m);
	prefetchw((const u8 *)&ts->m + SMP_CACHE_BYTES);
	prefetchw((const u8 *)&ts->m + 2 * SMP_CACHE_BYTES);
}

/**
 * inc_slot_io_begin() - begin the message that a packet opens
 * @qp: QP of the member
 * @skb: packet, skb->data at its BTH
 * @pkt: the packet, parsed, the first of its message
 * @reply: work until the locks are dropped
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 * Return: enum inc_take. If INC_TAKE_OK, @qp->rx.msg_id is the message, and
 * @qp->rx.to_slot says whether the slot takes its chunks.
 */
enum inc_take inc_slot_io_begin(struct inc_qp *qp, const struct sk_buff *skb,
				const struct inc_pkt *pkt,
				struct inc_reply *reply)
{
	const struct inc_tree_cfg *cfg = &qp->tree->cfg;
	struct inc_msg msg;
	struct inc_hdr hdr;
	u8 status;
	u32 slot;

	lockdep_assert_held(&qp->rx.lock);
	qp->rx.to_slot = false;
	qp->rx.truesize = skb->truesize;
	inc_rx_hdr(skb, pkt, &hdr);
	if (!(pkt->flags & INC_PKT_LAST))
		prefetch_slot(qp, be32_to_cpu(hdr.msg_id));
	status = parse_header(qp, pkt, &hdr, &msg);
	qp->rx.msg_len = inc_msg_request_len(&qp->tree->geom, qp->cfg.index,
					     &msg);
	slot = msg.msg_id & (cfg->slots - 1);
	if (pkt->va != (u64)slot * cfg->msg_size)
		return INC_TAKE_ACCESS;
	return start_message(qp, &msg, &hdr, status, pkt, reply);
}

/* Put chunks of the message in progress into the slot. */
static void add_parts(struct inc_qp *qp, struct inc_part *part,
		      struct inc_reply *reply)
{
	struct inc_tree_slot *ts = inc_tree_slot(qp->tree, qp->rx.msg_id);
	struct inc_progress p;
	struct inc_part *next;
	bool due = false;
	u16 gathered;

	spin_lock(&ts->lock);
	inc_slot_note_cpu(&ts->m, smp_processor_id());
	gathered = ts->m.gathered;
	for (; part; part = next) {
		next = part->next;
		due |= inc_slot_add(&ts->m, qp->cfg.index, qp->rx.msg_id, part);
	}
	due = due && inc_fanout_due(qp->tree, ts, ts->m.gathered - gathered, &p);
	spin_unlock(&ts->lock);

	if (due)
		forward_gathered(qp->tree, ts - qp->tree->slot, &p, reply);
}

/**
 * inc_slot_io_flush() - put chunks that are kept into the slot
 * @qp: QP of the member, with one at least
 * @reply: work until the locks are dropped
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 */
void inc_slot_io_flush(struct inc_qp *qp, struct inc_reply *reply)
{
	lockdep_assert_held(&qp->rx.lock);
	qp->rx.bursts = qp->rx.nwaiting > 1;
	qp->rx.nwaiting = 0;
	add_parts(qp, qp->rx.waiting, reply);
}

/* Keep a chunk for the slot. Returns false if the slot should get it now. */
static bool keep_part(struct inc_qp *qp, struct inc_part *part, bool last)
{
	if (qp->rx.nwaiting)
		qp->rx.waiting_last->next = part;
	else
		qp->rx.waiting = part;
	qp->rx.waiting_last = part;
	qp->rx.nwaiting++;
	return !last && qp->rx.nwaiting < KEPT_MAX && inc_batch_continues(qp);
}

/**
 * inc_slot_io_contribute() - put a packet's payload into the slot
 * @qp: QP of the member
 * @skb: packet, skb->data at its BTH, unshared; consumed
 * @pkt: the packet, parsed, of the message in progress
 * @reply: work until the locks are dropped
 *
 * The payload is kept if more packets of the message are likely to come in this
 * CPU's batch, and discarded if the slot does not take the message's chunks.
 *
 * Context: softirq, RCU read side, qp->rx.lock held.
 */
void inc_slot_io_contribute(struct inc_qp *qp, struct sk_buff *skb,
			    const struct inc_pkt *pkt, struct inc_reply *reply)
{
	unsigned int hdr = pkt->flags & INC_PKT_FIRST ? INC_HDR_LEN : 0;
	bool last = pkt->flags & INC_PKT_LAST;
	struct inc_part *part;

	lockdep_assert_held(&qp->rx.lock);
	if (!qp->rx.to_slot) {
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_DISCARDED);
		consume_skb(skb);
		return;
	}
	part = inc_rx_part(skb, pkt->hdr_len + hdr, pkt->payload_len - hdr);
	if (unlikely(skb->truesize > qp->rx.truesize))
		inc_hold_more(qp, qp->rx.msg_id,
			      skb->truesize - qp->rx.truesize);

	part->next = NULL;
	if (last && !qp->rx.nwaiting)
		add_parts(qp, part, reply);
	else if (!keep_part(qp, part, last))
		inc_slot_io_flush(qp, reply);
}

/**
 * inc_part_free() - release a packet's payload
 * @part: part in the packet's control block
 *
 * The sk_buff goes to the cache that the next packet to send is taken from
 * (napi_build_skb()).
 *
 * Context: BH off.
 */
void inc_part_free(struct inc_part *part)
{
	napi_consume_skb(inc_cb_skb(part), 1);
}

/**
 * inc_slot_io_unshare() - make a packet's buffer fit to stay in a slot
 * @qp: QP of the member
 * @skb: packet; consumed if another one is returned
 *
 * The slot reduces in place, so nobody else may hold the data. The slot may
 * keep it for long, so the buffer must not be much larger than the data.
 *
 * Context: softirq.
 * Return: @skb or a copy; NULL without memory, and @skb stays.
 */
struct sk_buff *inc_slot_io_unshare(struct inc_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb_cloned(skb) && !inc_hold_oversized(skb))
		return skb;
	copy = inc_hold_copy(qp, skb);
	if (!copy)
		return NULL;
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_COPIED);
	consume_skb(skb);
	return copy;
}
