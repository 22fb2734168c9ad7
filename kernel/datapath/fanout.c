// SPDX-License-Identifier: GPL-2.0
/*
 * From a slot to the members: send gathered chunks to the members that wait for
 * them, or at a child switch to the parent, and report failures.
 *
 * A member learns that it has a result from the result's last packet. Earlier
 * packets only keep the link from idling. So while chunks complete much faster than
 * a slow link could carry them, several are passed on at a time: each member's QP
 * is handled once for all of them, and their packets leave together (tx_gso.c). The
 * end of a message never waits, nor does anything when chunks arrive one by one. If
 * further chunks do not arrive, a timer passes on the rest.
 */
#include <linux/llist.h>
#include <linux/lockdep.h>

#include "compat.h"
#include "datapath/fanout.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_queue.h"
#include "datapath/batch.h"
#include "datapath/uplink_tx.h"
#include "object/qp.h"
#include "object/slot_mem.h"
#include "object/tree.h"
#include "report/trace.h"

/*
 * Chunks are quick if one follows another within this time in microseconds, not
 * counting the time to send to all members meanwhile ...
 */
#define QUICK_US	20
/* ... and this many did so in a row. Up to INC_GSO_MAX chunks then wait. */
#define QUICK_RUN	3

/*
 * Everything that tells the members of a message's end is queued, so others may
 * now be told that it has ended. A slow CPU may find a newer message here.
 */
static void note_ended(struct inc_tree_slot *ts, u32 msg_id)
{
	u32 old = READ_ONCE(ts->ended);

	while ((s32)(msg_id - old) > 0 && !try_cmpxchg(&ts->ended, &old, msg_id))
		;
}

/**
 * inc_fanout_note_begun() - note the ranks to tell that a message has failed
 * @s: its slot
 * @b: set to ranks whose requests have begun
 *
 * Context: the slot's lock is held.
 */
void inc_fanout_note_begun(const struct inc_slot *s, struct inc_begun *b)
{
	u16 rank, left = s->begun;

	b->n = s->begun;
	bitmap_zero(b->ranks, s->geom->members);
	for (rank = 0; left && rank < s->geom->members; rank++) {
		if (!inc_slot_begun(s, rank))
			continue;
		__set_bit(rank, b->ranks);
		left--;
	}
}

/**
 * inc_fanout_status() - tell the ranks that a message failed
 * @tree: tree
 * @slot: slot
 * @msg_id: message
 * @status: enum inc_status
 * @b: ranks whose requests had begun when it failed
 *
 * Only these are told now, however many ranks there are; each other rank is told
 * when its request begins. inc_fanout_kick() sends the status.
 *
 * Context: BH off or process, RCU read side, no slot's lock held.
 */
void inc_fanout_status(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status,
		       const struct inc_begun *b)
{
	struct inc_qp *qp;
	u16 rank;

	for_each_set_bit(rank, b->ranks, tree->cfg.members) {
		qp = rcu_dereference(tree->member_qp[rank]);
		if (qp)
			inc_txq_status(qp, msg_id, status);
	}
	note_ended(&tree->slot[slot], msg_id);
}

/**
 * inc_fanout_kick() - let all members' QPs send their queues
 * @tree: tree
 *
 * The caller's own entries are seen without a lock, and other CPUs send theirs. So
 * members that get nothing cost next to nothing.
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_fanout_kick(struct inc_tree *tree)
{
	u64 now = inc_now();
	struct inc_qp *qp;

	inc_tree_for_each_member(tree, qp)
		/* See above: another CPU's entries are that CPU's to send. */
		if (!data_race(inc_resultq_empty(&qp->tx.results)))
			inc_batch_send(qp, now);
	WRITE_ONCE(tree->fanout.kicked_at, inc_now());
}

/**
 * inc_fanout_kick_begun() - let some members' QPs send their queues
 * @tree: tree
 * @b: ranks that inc_fanout_status() has told
 *
 * A rank chooses how often its messages fail, so the work depends on the ranks that
 * have begun them, not on all ranks.
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_fanout_kick_begun(struct inc_tree *tree, const struct inc_begun *b)
{
	u64 now = inc_now();
	struct inc_qp *qp;
	u16 rank;

	for_each_set_bit(rank, b->ranks, tree->cfg.members) {
		qp = rcu_dereference(tree->member_qp[rank]);
		if (qp)
			inc_txq_kick(qp, now);
	}
}

/**
 * inc_fanout_result() - queue more of a result to the members
 * @tree: tree
 * @slot: slot
 * @msg: message
 * @ready: chunks that are complete now
 *
 * Each member gets its share of the result. inc_fanout_kick() sends it.
 *
 * Context: BH off, RCU read side, no slot's lock held.
 */
void inc_fanout_result(struct inc_tree *tree, u16 slot,
		       const struct inc_msg *msg, u16 ready)
{
	struct inc_qp *qp;

	if (ready == msg->nchunks)
		inc_stats_inc(tree->stats, RDMA_INC_A_TREE_STATS_MESSAGES);
	trace_inc_complete(tree, slot, msg, ready);

	inc_tree_for_each_member(tree, qp)
		inc_txq_result(qp, msg, ready);
	if (ready == msg->nchunks)
		note_ended(&tree->slot[slot], msg->msg_id);
}

/**
 * inc_fanout_begin() - reset progress when a slot begins a message
 * @ts: slot
 *
 * Context: the slot's lock is held.
 */
void inc_fanout_begin(struct inc_tree_slot *ts)
{
	lockdep_assert_held(&ts->lock);
	ts->forwarded = 0;
	ts->delayed = false;
	ts->done_at = 0;
}

/* @n more chunks of a message are complete: will the next one be soon? */
static bool may_wait(const struct inc_tree *tree, struct inc_tree_slot *ts, u16 n)
{
	const struct inc_slot *s = &ts->m;
	u64 now, since;

	if (n > 1)
		ts->quick = QUICK_RUN;
	if (s->geom->child || s->gathered == s->msg.nchunks)
		return false;
	now = inc_now();
	since = max(ts->done_at, READ_ONCE(tree->fanout.kicked_at));
	if (n == 1 && ts->done_at)
		ts->quick = (s64)(now - since) > QUICK_US ? 0 :
			    min(ts->quick + 1, QUICK_RUN);
	ts->done_at = now;
	return ts->quick == QUICK_RUN &&
	       s->gathered - ts->forwarded < INC_GSO_MAX;
}

static void defer_chunks(struct inc_tree *tree, struct inc_tree_slot *ts)
{
	ts->delayed = true;
	if (ts->listed)
		return;
	ts->listed = true;
	/* Before the timer_pending() check: the timer takes the whole list. */
	llist_add(&ts->delayed_node, &tree->fanout.delayed);
	if (!timer_pending(&tree->fanout.timer))
		mod_timer(&tree->fanout.timer, jiffies + 1);
}

static void copy_progress(struct inc_tree *tree, struct inc_tree_slot *ts,
			  struct inc_progress *p)
{
	const struct inc_slot *s = &ts->m;

	p->msg = s->msg;
	p->reduced = s->ops;
	p->result_wanted = s->result_wanted;
	p->from = ts->forwarded;
	p->to = s->gathered;
	ts->forwarded = s->gathered;
	ts->delayed = false;
	if (s->state == RDMA_INC_SLOT_STATE_DONE)
		inc_slot_mem_unread(tree, ts);
}

/**
 * inc_fanout_due() - decide whether to pass on gathered chunks now
 * @tree: tree
 * @ts: its slot
 * @n: chunks that have been gathered just now
 * @p: filled in for inc_fanout_gathered()
 *
 * Context: softirq, the slot's lock is held.
 * Return: false if they wait for more chunks, or for the timer.
 */
bool inc_fanout_due(struct inc_tree *tree, struct inc_tree_slot *ts, u16 n,
		    struct inc_progress *p)
{
	lockdep_assert_held(&ts->lock);
	if (may_wait(tree, ts, n)) {
		defer_chunks(tree, ts);
		return false;
	}
	copy_progress(tree, ts, p);
	return true;
}

/**
 * inc_fanout_gathered() - pass on chunks that all ranks have contributed to
 * @tree: tree
 * @slot: slot
 * @p: progress from inc_fanout_due()
 *
 * inc_fanout_kick(), or at a child switch inc_txq_kick_parent(), sends it.
 *
 * Context: BH off, RCU read side, no slot's lock held.
 */
void inc_fanout_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_progress *p)
{
	const struct inc_msg *msg = &p->msg;
	u32 len = 0;
	u16 i;

	for (i = p->from; i < p->to; i++)
		len += inc_chunk_len(&tree->geom, i, msg->gather_len);
	inc_stats_add(tree->stats, RDMA_INC_A_TREE_STATS_CHUNKS,
		      p->to - p->from);
	if (p->reduced)
		inc_stats_add(tree->stats, RDMA_INC_A_TREE_STATS_REDUCED_BYTES,
			      (u64)len * tree->cfg.members);
	else
		inc_stats_add(tree->stats, RDMA_INC_A_TREE_STATS_PASSED_BYTES,
			      len);
	if (!tree->geom.child) {
		inc_fanout_result(tree, slot, msg, p->to);
		return;
	}
	if (p->to == msg->gather_chunks)
		WRITE_ONCE(tree->slot[slot].gathered_at, jiffies);
	inc_uplink_gathered(tree, slot, msg, p->to, p->result_wanted);
}

/**
 * inc_fanout_timer() - pass on chunks that have waited long enough
 * @t: inc_tree_fanout.timer
 *
 * Context: softirq.
 */
void inc_fanout_timer(struct timer_list *t)
{
	struct inc_tree *tree = timer_container_of(tree, t, fanout.timer);
	struct llist_node *list = llist_del_all(&tree->fanout.delayed);
	struct inc_tree_slot *ts, *next;
	struct inc_progress p;
	bool any = false, due;

	rcu_read_lock();
	llist_for_each_entry_safe(ts, next, list, delayed_node) {
		spin_lock(&ts->lock);
		ts->listed = false;
		due = ts->delayed && ts->m.state == RDMA_INC_SLOT_STATE_BUSY;
		if (due)
			copy_progress(tree, ts, &p);
		spin_unlock(&ts->lock);
		if (due)
			inc_fanout_gathered(tree, ts - tree->slot, &p);
		any |= due;
	}
	if (any)
		inc_fanout_kick(tree);
	rcu_read_unlock();
}
