// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation trees: making and failing. How they end is in teardown.c.
 */
#include <linux/mm.h>
#include <linux/wait_bit.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "control/teardown.h"
#include "core/collective.h"
#include "core/rank_range.h"
#include "datapath/fanout.h"
#include "datapath/fault.h"
#include "datapath/hook.h"
#include "datapath/liveness.h"
#include "datapath/tx_queue.h"
#include "datapath/uplink_tx.h"
#include "object/mem.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/notify.h"

/**
 * inc_tree_find() - find a tree by its ID
 * @sw: switch
 * @id: tree ID
 *
 * Context: inc_switch.lock held, or RCU read side.
 * Return: the tree, or NULL.
 */
struct inc_tree *inc_tree_find(struct inc_switch *sw, u32 id)
{
	return xa_load(&sw->trees, id);
}

/**
 * inc_tree_parent() - a leaf's QP to its parent
 * @tree: tree
 *
 * Context: process, inc_switch.lock held.
 * Return: the QP, or NULL if this switch is the root.
 */
struct inc_qp *inc_tree_parent(struct inc_tree *tree)
{
	return rcu_dereference_protected(tree->parent,
					 lockdep_is_held(&tree->sw->lock));
}

static void tree_free(struct inc_tree *tree)
{
	free_percpu(tree->stats);
	vfree(tree->slot_mem);
	kvfree(tree->slot);
	kvfree(tree->member);
	kvfree(tree->below);
	kvfree(tree->spans);
	kvfree(tree->at);
	kfree(tree);
}

/**
 * inc_tree_put() - give up a reference
 * @tree: tree
 *
 * The last one is that of a tree that was left, see teardown.c. So no reader is there
 * any more, and no timer.
 *
 * Context: process, inc_switch.lock not held; may sleep. Any, if it is not the last.
 */
void inc_tree_put(struct inc_tree *tree)
{
	struct inc_switch *sw = tree->sw;

	if (!refcount_dec_and_test(&tree->ref))
		return;
	mutex_lock(&sw->lock);
	inc_switch_uncharge(sw, tree->memory);
	inc_nl_notify_tree(tree, INC_CMD_TREE_DEL_NTF);
	mutex_unlock(&sw->lock);
	tree_free(tree);
	if (atomic_dec_and_test(&sw->live))
		wake_up_var(&sw->live);
}

static u16 default_window(u16 ranks)
{
	return clamp(INC_TREE_SUM_WINDOW / ranks, 1, INC_TREE_MAX_WINDOW);
}

static void fill_defaults(struct inc_tree_cfg *cfg)
{
	if (!cfg->slots)
		cfg->slots = INC_TREE_SLOTS;
	if (!cfg->msg_size)
		cfg->msg_size = INC_TREE_MSG_SIZE;
	if (!cfg->pmtu)
		cfg->pmtu = INC_TREE_PMTU;
	if (!cfg->collectives)
		cfg->collectives = inc_coll_mask();
	if (!cfg->dtypes)
		cfg->dtypes = inc_coll_dtype_mask();
	if (!cfg->ops)
		cfg->ops = inc_coll_op_mask();
	if (!cfg->window)
		cfg->window = default_window(cfg->ranks);
	if (!cfg->hold)
		cfg->hold = INC_TREE_HOLD * max(cfg->pmtu / INC_TREE_PMTU, 1);
	if (!cfg->min_rto)
		cfg->min_rto = INC_TREE_MIN_RTO_MS;
	if (!cfg->dead_time)
		cfg->dead_time = INC_TREE_DEAD_TIME_MS;
}

/* Memory for the ranks of members that are switches, and @below copied. */
static bool alloc_spans(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
			u16 ranks)
{
	if (!cfg->below)
		return true;
	tree->below = kvmemdup(cfg->below, cfg->ranks * sizeof(*cfg->below),
			       GFP_KERNEL_ACCOUNT);
	tree->spans = kvcalloc(cfg->ranks, sizeof(*tree->spans),
			       GFP_KERNEL_ACCOUNT);
	tree->at = kvcalloc(ranks, sizeof(*tree->at), GFP_KERNEL_ACCOUNT);
	return tree->below && tree->spans && tree->at;
}

static struct inc_tree *tree_alloc(const struct inc_tree_cfg *cfg,
				   size_t slot_size, u16 own)
{
	struct inc_tree *tree = kzalloc_obj(*tree, GFP_KERNEL_ACCOUNT);

	if (!tree)
		return NULL;
	refcount_set(&tree->ref, 1);
	tree->member = kvcalloc(cfg->ranks, sizeof(*tree->member),
				GFP_KERNEL_ACCOUNT);
	tree->slot = kvcalloc(cfg->slots, sizeof(*tree->slot),
			      GFP_KERNEL_ACCOUNT);
	/* Pages of their own: packets refer to them. */
	tree->slot_mem = __vmalloc(slot_size * cfg->slots,
				   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	tree->stats = inc_stats_alloc();
	if (!tree->member || !tree->slot || !tree->slot_mem || !tree->stats ||
	    !alloc_spans(tree, cfg, own)) {
		tree_free(tree);
		return NULL;
	}
	return tree;
}

static void fail_work(struct work_struct *work);

static void init_slots(struct inc_tree *tree, size_t slot_size)
{
	const struct inc_tree_cfg *cfg = &tree->cfg;
	u32 i;

	for (i = 0; i < cfg->slots; i++) {
		u32 msg_id = cfg->first_msg_id + i;
		struct inc_tree_slot *ts = inc_tree_slot(tree, msg_id);

		spin_lock_init(&ts->lock);
		inc_slot_init(&ts->m, &tree->geom, msg_id,
			      tree->slot_mem + (ts - tree->slot) * slot_size);
		ts->ended = msg_id - cfg->slots;
	}
	tree->mark = cfg->first_msg_id;
}

/* What tree_alloc() takes, and what the tree takes elsewhere. */
static u64 tree_memory(const struct inc_switch *sw,
		       const struct inc_tree_cfg *cfg, size_t slot_size, u16 own)
{
	const struct inc_tree *tree;
	u64 bytes;

	bytes = inc_mem_kvmalloc(sizeof(*tree)) +
		inc_mem_kvmalloc(cfg->ranks * sizeof(*tree->member)) +
		inc_mem_kvmalloc(cfg->slots * sizeof(*tree->slot)) +
		inc_mem_vmalloc((u64)slot_size * cfg->slots) +
		inc_mem_percpu(sizeof(*tree->stats)) + inc_mem_xarray() +
		inc_debugfs_tree_memory(sw);
	if (cfg->below)
		bytes += inc_mem_kvmalloc(cfg->ranks * sizeof(*tree->below)) +
			 inc_mem_kvmalloc(cfg->ranks * sizeof(*tree->spans)) +
			 inc_mem_kvmalloc(own * sizeof(*tree->at));
	return bytes;
}

/* The ID is taken; the tree is found by it when it is stored there. */
static int choose_id(struct inc_switch *sw, struct inc_tree *tree)
{
	u32 id = tree->cfg.id;

	return xa_alloc(&sw->trees, &tree->cfg.id, NULL,
			id ? XA_LIMIT(id, id) : XA_LIMIT(1, INT_MAX),
			GFP_KERNEL);
}

static void init_geom(struct inc_slot_geom *geom,
		      const struct inc_tree_cfg *cfg)
{
	*geom = (struct inc_slot_geom) {
		.ranks		= cfg->ranks,
		.slots		= cfg->slots,
		.pmtu		= cfg->pmtu,
		.max_chunks	= DIV_ROUND_UP(cfg->msg_size, cfg->pmtu),
		.msg_size	= cfg->msg_size,
		.collectives	= cfg->collectives,
		.dtypes		= cfg->dtypes,
		.ops		= cfg->ops,
		.by_arrival	= cfg->order == INC_ORDER_ARRIVAL,
		.leaf		= cfg->all,
	};
	if (!cfg->all && !cfg->below)
		return;
	geom->own.first = cfg->first;
	geom->own.n = cfg->below ? inc_rank_range_sum(cfg->below, cfg->ranks) :
				   cfg->ranks;
	geom->all = cfg->all ?: geom->own.n;
}

/* Now that there is memory for them. */
static void init_spans(struct inc_tree *tree)
{
	if (!tree->below)
		return;
	if (inc_rank_range_fill(tree->spans, tree->at, tree->below,
				tree->cfg.ranks, tree->cfg.first))
		tree->geom.at = tree->at;
	tree->geom.span = tree->spans;
}

static void tree_init(struct inc_tree *tree, struct inc_switch *sw,
		      const struct inc_tree_cfg *cfg,
		      const struct inc_slot_geom *geom, size_t slot_size)
{
	tree->sw = sw;
	tree->cfg = *cfg;
	tree->cfg.below = NULL;
	tree->state = INC_TREE_STATE_FORMING;
	tree->probed = jiffies;
	INIT_LIST_HEAD(&tree->parted);
	INIT_WORK(&tree->fail_work, fail_work);
	inc_blame_init(&tree->blame);
	timer_setup(&tree->scan, inc_liveness_timer, 0);
	timer_setup(&tree->late, inc_fanout_late, 0);
	inc_crc_shift_init(&tree->crc_shift[0], cfg->pmtu - INC_HDR_LEN);
	inc_crc_shift_init(&tree->crc_shift[1], cfg->pmtu);
	tree->geom = *geom;
	init_spans(tree);
	init_slots(tree, slot_size);
}

/* From here on it is there, and ends by inc_tree_leave() alone. */
static void publish(struct inc_tree *tree)
{
	struct inc_switch *sw = tree->sw;

	tree->geom.tree_id = tree->cfg.id;
	tree->epoch = ++sw->epoch;
	sw->ntrees++;
	atomic_inc(&sw->live);
	/* Its place was reserved, so this can't fail. */
	xa_store(&sw->trees, tree->cfg.id, tree, GFP_KERNEL);
	inc_debugfs_tree_add(tree);
	if (tree->geom.leaf)
		inc_fault_show(inc_tree_parent(tree));
	inc_nl_notify_tree(tree, INC_CMD_TREE_NEW_NTF);
}

/**
 * inc_tree_new() - make a tree
 * @sw: switch
 * @user_cfg: settings, in range; an ID that is free
 * @extack: says why not
 *
 * Context: process, inc_switch.lock held.
 * Return: the tree, or ERR_PTR: -EDQUOT it exceeds a quota, -ENOBUFS it does not
 * fit into the memory limit, -EBUSY no ID is left, -ENOMEM.
 */
struct inc_tree *inc_tree_new(struct inc_switch *sw,
			      const struct inc_tree_cfg *user_cfg,
			      struct netlink_ext_ack *extack)
{
	struct inc_tree_cfg cfg = *user_cfg;
	struct inc_slot_geom geom;
	struct inc_tree *tree;
	size_t slot_size;
	u64 memory;
	int err;

	lockdep_assert_held(&sw->lock);
	fill_defaults(&cfg);
	init_geom(&geom, &cfg);
	slot_size = inc_slot_size(&geom);
	memory = tree_memory(sw, &cfg, slot_size, geom.own.n);

	err = inc_quota_check(sw, &cfg, memory + cfg.ranks *
			      inc_qp_memory(sw, cfg.slots), extack);
	if (!err)
		err = inc_switch_charge(sw, memory, extack);
	if (err)
		return ERR_PTR(err);
	err = inc_hook_register(sw);
	if (err)
		goto err_charge;
	err = -ENOMEM;
	tree = tree_alloc(&cfg, slot_size, geom.own.n);
	if (!tree)
		goto err_charge;

	tree_init(tree, sw, &cfg, &geom, slot_size);
	tree->memory = memory;
	err = choose_id(sw, tree);
	if (err)
		goto err_tree;
	if (geom.leaf) {
		struct inc_qp *qp = inc_qp_new_parent(tree, extack);

		err = PTR_ERR_OR_ZERO(qp);
		if (err)
			goto err_id;
	}
	publish(tree);
	return tree;

err_id:
	xa_erase(&sw->trees, tree->cfg.id);
err_tree:
	tree_free(tree);
err_charge:
	inc_switch_uncharge(sw, memory);
	return ERR_PTR(err);
}

/**
 * inc_tree_set() - change what may change while a tree works
 * @tree: tree
 * @cfg: window, hold, min_rto, dead_time; 0 leaves one as it is
 *
 * Context: process, inc_switch.lock held.
 */
void inc_tree_set(struct inc_tree *tree, const struct inc_tree_cfg *cfg)
{
	struct inc_qp *parent = inc_tree_parent(tree);
	u16 rank;

	lockdep_assert_held(&tree->sw->lock);
	if (cfg->window)
		WRITE_ONCE(tree->cfg.window, cfg->window);
	if (cfg->hold)
		WRITE_ONCE(tree->cfg.hold, cfg->hold);
	if (cfg->min_rto)
		WRITE_ONCE(tree->cfg.min_rto, cfg->min_rto);
	if (cfg->dead_time)
		WRITE_ONCE(tree->cfg.dead_time, cfg->dead_time);

	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		struct inc_qp *qp = inc_qp_find(tree, rank);

		if (qp)
			inc_qp_tune(qp);
	}
	if (parent)
		inc_qp_tune(parent);
}

/**
 * inc_tree_fail() - a tree is of no use any more
 * @tree: tree
 * @status: enum inc_status that its members get; the first reason counts
 *
 * Context: any but hard interrupt.
 */
void inc_tree_fail(struct inc_tree *tree, u8 status)
{
	/* Pairs with begin_slot(): a message that begins sees it, or is failed. */
	cmpxchg(&tree->error, 0, status);
	refcount_inc(&tree->ref);
	if (!queue_work(inc_wq, &tree->fail_work))
		inc_tree_put(tree);
}

static void fail_slots(struct inc_tree *tree, u8 status)
{
	u16 i;

	for (i = 0; i < tree->cfg.slots; i++) {
		struct inc_tree_slot *ts = &tree->slot[i];
		bool busy;
		u32 msg_id;

		spin_lock_bh(&ts->lock);
		busy = inc_slot_fail(&ts->m, status);
		msg_id = ts->m.msg.msg_id;
		spin_unlock_bh(&ts->lock);
		if (!busy)
			continue;
		local_bh_disable();
		inc_stats_inc(tree->stats, INC_A_TREE_STATS_FAILED);
		local_bh_enable();
		inc_fanout_status(tree, i, msg_id, status);
	}
}

static void report(struct inc_qp *qp, u8 status, bool farewell)
{
	if (farewell)
		inc_txq_farewell(qp, status);
	if (qp->report) {
		qp->report = false;
		inc_nl_notify_member(qp, INC_CMD_MEMBER_ERROR_NTF);
	}
}

static void report_members(struct inc_tree *tree, u8 status, bool farewell)
{
	struct inc_qp *parent = inc_tree_parent(tree);
	u16 rank;

	if (parent)
		report(parent, status, farewell);

	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		struct inc_qp *qp = inc_qp_find(tree, rank);

		if (qp)
			report(qp, status, farewell);
	}
}

/* Runs once per reason; only the first one changes the tree. */
static void fail_work(struct work_struct *work)
{
	struct inc_tree *tree = container_of(work, struct inc_tree, fail_work);
	u8 status = READ_ONCE(tree->error);
	bool first;

	mutex_lock(&tree->sw->lock);
	first = tree->state != INC_TREE_STATE_FAILED;
	WRITE_ONCE(tree->state, INC_TREE_STATE_FAILED);
	if (first) {
		rcu_read_lock();
		fail_slots(tree, status);
		inc_uplink_abort(tree);
		rcu_read_unlock();
	}
	report_members(tree, status, first);
	/* A tree that is dismantled here is reported as such. */
	if (first && (status != INC_STATUS_TREE_GONE ||
		      inc_tree_find(tree->sw, tree->cfg.id) == tree))
		inc_nl_notify_tree(tree, INC_CMD_TREE_FAILED_NTF);
	rcu_read_lock();
	inc_fanout_kick(tree);
	inc_txq_kick_parent(tree);
	rcu_read_unlock();
	tree->told = true;
	mutex_unlock(&tree->sw->lock);
	inc_tree_put(tree);
}

/**
 * inc_tree_mark() - how far messages have ended
 * @tree: tree
 *
 * Context: any.
 * Return: message ID before which all have.
 */
u32 inc_tree_mark(struct inc_tree *tree)
{
	u32 old = READ_ONCE(tree->mark), mark = old;

	while (mark - old < tree->cfg.slots &&
	       (s32)(READ_ONCE(inc_tree_slot(tree, mark)->ended) - mark) >= 0)
		mark++;
	/* Who loses knows less than the winner, which is right, too. */
	if (mark != old)
		cmpxchg(&tree->mark, old, mark);
	return mark;
}

/**
 * inc_tree_stats() - sum a tree's counters up
 * @tree: tree
 * @tree_sum: INC_STATS_MAX numbers, by INC_A_TREE_STATS_*; added to
 * @member_sum: INC_STATS_MAX numbers, by INC_A_MEMBER_STATS_*; added to
 *
 * Context: process, inc_switch.lock held.
 */
void inc_tree_stats(struct inc_tree *tree, u64 *tree_sum, u64 *member_sum)
{
	struct inc_qp *qp;
	u16 rank;
	int i;

	inc_stats_sum(tree->stats, tree_sum);
	for (i = 0; i < INC_STATS_MAX; i++)
		member_sum[i] += tree->gone[i];
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		qp = inc_qp_find(tree, rank);
		if (qp)
			inc_stats_sum(qp->stats, member_sum);
	}
	list_for_each_entry(qp, &tree->parted, parted)
		if (!qp->uplink)
			inc_stats_sum(qp->stats, member_sum);
}
