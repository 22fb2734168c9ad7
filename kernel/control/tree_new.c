// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation trees: creation, changes of settings. tree_fail.c has their
 * failure, teardown.c their end.
 */
#include <linux/jiffies.h>
#include <linux/timer.h>
#include <linux/xarray.h>
#include <uapi/linux/rdma_inc.h>

#include "control/member.h"
#include "control/tree_fail.h"
#include "control/tree_mem.h"
#include "control/tree_new.h"
#include "core/collective.h"
#include "core/rank_range.h"
#include "datapath/fanout.h"
#include "datapath/fault.h"
#include "datapath/hook.h"
#include "datapath/missing.h"
#include "object/budget.h"
#include "object/qp.h"
#include "object/qp_mem.h"
#include "object/quota.h"
#include "object/share.h"
#include "object/slot_mem.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/notify.h"

/*
 * The sum over a few members is below netdev_max_backlog (1,000). Of many, each
 * may still be sent a burst: their ports have queues of their own, and a machine
 * with so many veth gets a longer backlog.
 */
static u16 default_window(u16 ranks)
{
	return clamp(RDMA_INC_DEFAULT_WINDOW_SUM / ranks,
		     RDMA_INC_DEFAULT_WINDOW_MIN, RDMA_INC_DEFAULT_WINDOW);
}

static void fill_defaults(struct inc_tree_cfg *cfg)
{
	if (!cfg->slots)
		cfg->slots = RDMA_INC_DEFAULT_SLOTS;
	if (!cfg->msg_size)
		cfg->msg_size = RDMA_INC_DEFAULT_MSG_SIZE;
	if (!cfg->pmtu)
		cfg->pmtu = RDMA_INC_DEFAULT_PMTU;
	if (!cfg->collectives)
		cfg->collectives = inc_coll_mask();
	if (!cfg->dtypes)
		cfg->dtypes = inc_coll_dtype_mask();
	if (!cfg->ops)
		cfg->ops = inc_coll_op_mask();
	if (!cfg->window)
		cfg->window = default_window(cfg->members);
	if (!cfg->hold)
		cfg->hold = RDMA_INC_DEFAULT_HOLD *
			    max(cfg->pmtu / RDMA_INC_DEFAULT_PMTU, 1);
	if (!cfg->min_rto_ms)
		cfg->min_rto_ms = RDMA_INC_DEFAULT_MIN_RTO;
	if (!cfg->dead_time_ms)
		cfg->dead_time_ms = RDMA_INC_DEFAULT_DEAD_TIME;
}

static void init_slots(struct inc_tree *tree)
{
	const struct inc_tree_cfg *cfg = &tree->cfg;
	u32 i;

	for (i = 0; i < cfg->slots; i++) {
		u32 msg_id = cfg->first_msg_id + i;
		struct inc_tree_slot *ts = inc_tree_slot(tree, msg_id);

		spin_lock_init(&ts->lock);
		inc_slot_init(&ts->m, &tree->geom, msg_id);
		ts->ended = msg_id - cfg->slots;
	}
	tree->low_mark = cfg->first_msg_id;
}

/* Reserve an ID. The tree is found by it once stored there. */
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
		.members		= cfg->members,
		.slots		= cfg->slots,
		.pmtu		= cfg->pmtu,
		.max_chunks	= DIV_ROUND_UP(cfg->msg_size, cfg->pmtu),
		.msg_size	= cfg->msg_size,
		.collectives	= cfg->collectives,
		.dtypes		= cfg->dtypes,
		.ops		= cfg->ops,
		.by_arrival	= cfg->order == RDMA_INC_ORDER_ARRIVAL,
		.child		= cfg->job_ranks,
	};
	if (!cfg->job_ranks && !cfg->below)
		return;
	geom->own.first = cfg->first_rank;
	geom->own.n = cfg->below ?
			      inc_rank_range_sum(cfg->below, cfg->members) :
			      cfg->members;
	geom->job_ranks = cfg->job_ranks ?: geom->own.n;
	if (cfg->below)
		geom->blocks = inc_rank_range_fill(NULL, NULL, cfg->below,
						   cfg->members,
						   cfg->first_rank,
						   geom->job_ranks);
}

/* Fill in the rank ranges, now that there is memory for them. */
static void init_spans(struct inc_tree *tree)
{
	if (!tree->below)
		return;
	inc_rank_range_fill(tree->ranges, tree->at, tree->below,
			    tree->cfg.members, tree->cfg.first_rank,
			    tree->geom.job_ranks);
	tree->geom.at = tree->at;
	tree->geom.ranges = tree->ranges;
}

static void tree_init(struct inc_tree *tree, struct inc_switch *sw,
		      const struct inc_tree_cfg *cfg,
		      const struct inc_slot_geom *geom)
{
	tree->sw = sw;
	tree->cfg = *cfg;
	tree->cfg.below = NULL;
	tree->state = RDMA_INC_TREE_STATE_FORMING;
	tree->missing.probed = jiffies;
	INIT_LIST_HEAD(&tree->parted);
	INIT_WORK(&tree->fail_work, inc_tree_fail_work);
	INIT_WORK(&tree->sweep_work, inc_tree_sweep_work);
	inc_blame_init(&tree->blame);
	spin_lock_init(&tree->slots_mem.lock);
	inc_qp_mem_tree_init(tree);
	tree->slots_mem.reclaimed_at = jiffies - 1;
	timer_setup(&tree->missing.scan, inc_missing_timer, 0);
	timer_setup(&tree->fanout.timer, inc_fanout_timer, 0);
	inc_crc_shift_init(&tree->crc_shift[0], cfg->pmtu - INC_HDR_LEN);
	inc_crc_shift_init(&tree->crc_shift[1], cfg->pmtu);
	tree->geom = *geom;
	init_spans(tree);
	init_slots(tree);
}

/* From here on the tree is visible, and only inc_tree_leave() ends it. */
static void publish_tree(struct inc_tree *tree)
{
	struct inc_switch *sw = tree->sw;

	tree->geom.tree_id = tree->cfg.id;
	tree->epoch = ++sw->epoch;
	WRITE_ONCE(sw->ntrees, sw->ntrees + 1);
	atomic_inc(&sw->share->ntrees);
	atomic_inc(&sw->live);
	/* Cannot fail: the entry is reserved. */
	xa_store(&sw->trees, tree->cfg.id, tree, GFP_KERNEL);
	inc_debugfs_tree_add(tree);
	if (tree->geom.child)
		inc_fault_show(inc_tree_parent(tree));
	inc_nl_notify_tree(tree, RDMA_INC_CMD_TREE_NEW_NTF);
}

/* Memory of a tree's QPs, a child's parent included. */
static u64 qps_memory(const struct inc_switch *sw,
		      const struct inc_tree_cfg *cfg)
{
	u64 bytes = (u64)cfg->members * inc_member_memory(sw, cfg, false);

	if (cfg->job_ranks)
		bytes += inc_member_memory(sw, cfg, true);
	return bytes;
}

/**
 * inc_tree_new() - make a tree
 * @sw: switch
 * @user_cfg: settings, in range; a free ID
 * @extack: set to the reason for an error
 *
 * Context: process, inc_switch.lock held.
 * Return: the tree, or ERR_PTR: -EDQUOT over a quota, -ENOBUFS over the memory
 * limit, -EBUSY no ID left, -ENOMEM.
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
	memory = inc_tree_memory(sw, &cfg, slot_size, geom.own.n);

	err = inc_quota_check(sw, &cfg, memory + qps_memory(sw, &cfg), extack);
	if (!err)
		err = inc_budget_charge(sw, memory, extack);
	if (err)
		return ERR_PTR(err);
	err = inc_hook_register(sw);
	if (err)
		goto err_charge;
	err = -ENOMEM;
	tree = inc_tree_alloc(&cfg, slot_size, geom.own.n);
	if (!tree)
		goto err_charge;

	tree_init(tree, sw, &cfg, &geom);
	tree->mem.charged = memory;
	inc_budget_reserve(sw, &tree->mem.reserved,
			   inc_slot_mem_blocks(&cfg, slot_size));
	err = choose_id(sw, tree);
	if (err)
		goto err_tree;
	if (geom.child) {
		struct inc_qp *qp = inc_member_new_parent(tree, extack);

		err = PTR_ERR_OR_ZERO(qp);
		if (err)
			goto err_id;
	}
	publish_tree(tree);
	return tree;

err_id:
	xa_erase(&sw->trees, tree->cfg.id);
err_tree:
	inc_budget_reserve(sw, &tree->mem.reserved,
			   -atomic64_read(&tree->mem.reserved));
	inc_tree_free(tree);
err_charge:
	inc_budget_uncharge(sw, memory);
	return ERR_PTR(err);
}

/* Charge the QPs for a larger window; the quota counts future members, too. */
static int grow_members(struct inc_tree *tree, u16 window,
			struct netlink_ext_ack *extack)
{
	struct inc_qp *qp = inc_tree_parent(tree);
	struct inc_tree_cfg cfg = tree->cfg;
	int err;
	u16 member;

	if (window <= cfg.window)
		return 0;
	cfg.window = window;
	cfg.below = tree->below;
	err = inc_quota_check_memory(tree->sw, qps_memory(tree->sw, &cfg) +
				     inc_tree_memory(tree->sw, &cfg,
						     tree->slots_mem.slot_size,
						     tree->geom.own.n),
				     extack);
	if (!err && qp)
		err = inc_member_grow(qp, &cfg, extack);
	for (member = 0; member < tree->cfg.members && !err; member++) {
		qp = inc_qp_find(tree, member);
		if (qp)
			err = inc_member_grow(qp, &cfg, extack);
	}
	return err;
}

/**
 * inc_tree_set() - change settings of a working tree
 * @tree: tree
 * @cfg: its settings, with others for priority, cnp_interval_us, window, hold,
 *	min_rto_ms, dead_time_ms
 * @extack: set to the reason for an error
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -EDQUOT over a quota, -ENOBUFS over the memory limit: no setting was
 * changed; members that have got their larger rings by then keep them.
 */
int inc_tree_set(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
		 struct netlink_ext_ack *extack)
{
	struct inc_qp *parent = inc_tree_parent(tree);
	u16 member;
	int err;

	lockdep_assert_held(&tree->sw->lock);
	err = grow_members(tree, cfg->window, extack);
	if (err)
		return err;
	WRITE_ONCE(tree->cfg.window, cfg->window);
	tree->cfg.window_given = cfg->window_given;
	WRITE_ONCE(tree->cfg.hold, cfg->hold);
	WRITE_ONCE(tree->cfg.min_rto_ms, cfg->min_rto_ms);
	WRITE_ONCE(tree->cfg.dead_time_ms, cfg->dead_time_ms);
	WRITE_ONCE(tree->cfg.priority, cfg->priority);
	WRITE_ONCE(tree->cfg.cnp_interval_us, cfg->cnp_interval_us);

	for (member = 0; member < tree->cfg.members; member++) {
		struct inc_qp *qp = inc_qp_find(tree, member);

		if (qp)
			inc_qp_tune(qp);
	}
	if (parent)
		inc_qp_tune(parent);
	return 0;
}
