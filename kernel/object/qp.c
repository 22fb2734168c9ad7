// SPDX-License-Identifier: GPL-2.0
/*
 * QPs: lookup, error state.
 *
 * A QP may be held by: a reader under RCU, which found it by its QPN or in its tree
 * (packets, timers of other members, works); its own timer; and a transmitter,
 * which is one of these.
 */
#include <linux/cache.h>
#include <linux/nospec.h>
#include <linux/prefetch.h>
#include <linux/rhashtable.h>

#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

/* A QPN is random: no hash of it is more even. */
static u32 qpn_hash(const void *data, u32 len, u32 seed)
{
	return *(const u32 *)data;
}

static int qpn_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct inc_qp *qp = obj;

	return qp->qpn != *(const u32 *)arg->key;
}

/* Constant parameters let the compiler inline the lookup. */
const struct rhashtable_params inc_qpn_params = {
	.hashfn			= qpn_hash,
	.obj_cmpfn		= qpn_cmp,
	.key_len		= sizeof(u32),
	.key_offset		= offsetof(struct inc_qp, qpn),
	.head_offset		= offsetof(struct inc_qp, node),
	.automatic_shrinking	= true,
};

/**
 * inc_qp_lookup() - find a QP by its number
 * @sw: switch
 * @qpn: QPN
 *
 * Context: RCU read side, which is how long the QP stays.
 * Return: the QP, or NULL; a child's uplink is found once it has its parent.
 */
struct inc_qp *inc_qp_lookup(struct inc_switch *sw, u32 qpn)
{
	struct inc_qp *qp = rhashtable_lookup(&sw->qps, &qpn, inc_qpn_params);

	/* Pairs with inc_member_connect(). */
	if (!qp || smp_load_acquire(&qp->state) == RDMA_INC_MEMBER_STATE_INIT)
		return NULL;
	return qp;
}

static void prefetch_lines(const void *from, const void *to)
{
	const void *at;

	for (at = from; at < to; at += SMP_CACHE_BYTES)
		prefetchw(at);
}

/**
 * inc_qp_prefetch() - prefetch the state of a QP and of its tree for a message
 * @qp: the QP
 *
 * Where there are many trees, or one with many members, little of their state is in
 * the caches. To wait for one line after the other takes longer than all else.
 *
 * Context: BH off.
 */
void inc_qp_prefetch(const struct inc_qp *qp)
{
	struct inc_stats __percpu *counters = READ_ONCE(qp->stats);
	const struct inc_requester *r = &qp->tx.requester;
	const struct inc_tree *tree = qp->tree;
	const struct inc_stats *stats;

	prefetch_lines(&qp->rx, &qp->rx.ack_timer);
	prefetch_lines(&qp->tx, &qp->tx.results.stray);
	prefetch_lines(r, r + 1);
	prefetch_lines(&tree->cfg, &tree->crc_shift);
	prefetch_lines(&tree->epoch, &tree->mem.reserved);
	prefetchw(&tree->held);
	stats = this_cpu_ptr(tree->stats);
	prefetch_lines(stats, stats + 1);
	if (counters) {
		stats = this_cpu_ptr(counters);
		prefetch_lines(stats, stats + 1);
	}
}

/**
 * inc_qp_find() - find a member by its rank
 * @tree: tree
 * @member: rank, any value
 *
 * Context: process, inc_switch.lock held.
 * Return: its QP, or NULL.
 */
struct inc_qp *inc_qp_find(struct inc_tree *tree, u16 member)
{
	if (member >= tree->cfg.members)
		return NULL;
	member = array_index_nospec(member, tree->cfg.members);
	return rcu_dereference_protected(tree->member_qp[member],
					 lockdep_is_held(&tree->sw->lock));
}

/**
 * inc_qp_tune() - apply the tree's present settings to a QP
 * @qp: QP
 *
 * Context: process; takes qp->tx.lock.
 */
void inc_qp_tune(struct inc_qp *qp)
{
	const struct inc_tree_cfg *cfg = &qp->tree->cfg;

	spin_lock_bh(&qp->tx.lock);
	WRITE_ONCE(qp->priority, cfg->priority);
	inc_requester_tune(&qp->tx.requester, cfg->window,
			   cfg->min_rto_ms * 1000, cfg->dead_time_ms * 1000);
	if (cfg->window_given)
		inc_requester_fix_window(&qp->tx.requester);
	spin_unlock_bh(&qp->tx.lock);
}

/**
 * inc_qp_stats_sum() - add a QP's counters to an array
 * @qp: QP
 * @sum: INC_STATS_MAX numbers, by RDMA_INC_A_MEMBER_STATS_*; added to
 *
 * Context: any.
 */
void inc_qp_stats_sum(const struct inc_qp *qp, u64 *sum)
{
	struct inc_stats __percpu *stats = READ_ONCE(qp->stats);
	int i;

	for (i = 0; i < INC_STATS_MAX; i++)
		sum[i] += atomic64_read(&qp->early[i]);
	if (stats)
		inc_stats_sum(stats, sum);
}

/**
 * inc_qp_error() - move a QP to the error state
 * @qp: QP
 * @error: enum rdma_inc_member_error; the first one counts
 *
 * The tree fails as well: no collective can complete without a rank.
 *
 * Context: any but hard interrupt, RCU read side or inc_switch.lock held; no
 * other lock.
 */
void inc_qp_error(struct inc_qp *qp, u8 error)
{
	bool first;

	spin_lock_bh(&qp->tx.lock);
	first = qp->state != RDMA_INC_MEMBER_STATE_ERROR;
	if (first) {
		WRITE_ONCE(qp->state, RDMA_INC_MEMBER_STATE_ERROR);
		qp->error = error;
		qp->report = true;
	}
	spin_unlock_bh(&qp->tx.lock);
	if (first)
		inc_tree_fail(qp->tree, INC_STATUS_PEER_DEAD);
}
