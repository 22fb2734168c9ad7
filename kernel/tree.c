// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation trees: making, failing, scanning for silent members, teardown.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "ask.h"
#include "coll.h"
#include "compat.h"
#include "debugfs.h"
#include "deliver.h"
#include "hook.h"
#include "inc.h"
#include "netlink.h"
#include "qp.h"
#include "send.h"
#include "span.h"
#include "tree.h"
#include "up.h"

/* The dead time is looked at this many times while it runs. */
#define SCANS_PER_DEAD_TIME	5

/**
 * inc_tree_find() - find a tree by its ID
 * @inet: switch
 * @id: tree ID
 *
 * Context: inc_net.lock held, or RCU read side.
 * Return: the tree, or NULL.
 */
struct inc_tree *inc_tree_find(struct inc_net *inet, u32 id)
{
	return xa_load(&inet->trees, id);
}

/**
 * inc_tree_parent() - a leaf's QP to its parent
 * @tree: tree
 *
 * Context: process, inc_net.lock held.
 * Return: the QP, or NULL if this switch is the root.
 */
struct inc_qp *inc_tree_parent(struct inc_tree *tree)
{
	return rcu_dereference_protected(tree->parent,
					 lockdep_is_held(&tree->inet->lock));
}

/**
 * inc_tree_put() - give up a reference
 * @tree: tree
 *
 * Context: any.
 */
void inc_tree_put(struct inc_tree *tree)
{
	if (!refcount_dec_and_test(&tree->ref))
		return;
	free_percpu(tree->stats);
	vfree(tree->slot_mem);
	kvfree(tree->slot);
	kvfree(tree->member);
	kvfree(tree->below);
	kvfree(tree->spans);
	kvfree(tree->at);
	kfree_rcu(tree, rcu);
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
		cfg->hold = INC_TREE_HOLD;
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
			       GFP_KERNEL);
	tree->spans = kvcalloc(cfg->ranks, sizeof(*tree->spans), GFP_KERNEL);
	tree->at = kvcalloc(ranks, sizeof(*tree->at), GFP_KERNEL);
	return tree->below && tree->spans && tree->at;
}

static struct inc_tree *tree_alloc(const struct inc_tree_cfg *cfg,
				   size_t slot_size, u16 own)
{
	struct inc_tree *tree = kzalloc_obj(*tree);

	if (!tree)
		return NULL;
	refcount_set(&tree->ref, 1);
	tree->member = kvcalloc(cfg->ranks, sizeof(*tree->member), GFP_KERNEL);
	tree->slot = kvcalloc(cfg->slots, sizeof(*tree->slot), GFP_KERNEL);
	/* Pages of their own: packets refer to them. */
	tree->slot_mem = vzalloc(slot_size * cfg->slots);
	tree->stats = inc_stats_alloc();
	if (!tree->member || !tree->slot || !tree->slot_mem || !tree->stats ||
	    !alloc_spans(tree, cfg, own)) {
		inc_tree_put(tree);
		return NULL;
	}
	return tree;
}

static void fail_work(struct work_struct *work);
static void scan(struct timer_list *t);

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

static int choose_id(struct inc_net *inet, struct inc_tree *tree)
{
	u32 id = tree->cfg.id;

	return xa_alloc(&inet->trees, &tree->cfg.id, tree,
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
		.collectives	= cfg->collectives,
		.dtypes		= cfg->dtypes,
		.ops		= cfg->ops,
		.by_arrival	= cfg->order == INC_ORDER_ARRIVAL,
		.leaf		= cfg->all,
	};
	if (!cfg->all && !cfg->below)
		return;
	geom->own.first = cfg->first;
	geom->own.n = cfg->below ? inc_span_sum(cfg->below, cfg->ranks) :
				   cfg->ranks;
	geom->all = cfg->all ?: geom->own.n;
}

/* Now that there is memory for them. */
static void init_spans(struct inc_tree *tree)
{
	if (!tree->below)
		return;
	if (inc_span_fill(tree->spans, tree->at, tree->below, tree->cfg.ranks,
			  tree->cfg.first))
		tree->geom.at = tree->at;
	tree->geom.span = tree->spans;
}

/**
 * inc_tree_new() - make a tree
 * @inet: switch
 * @user_cfg: settings, in range; an ID that is free
 * @extack: says why not
 *
 * Context: process, inc_net.lock held.
 * Return: the tree, or ERR_PTR: -EDQUOT it exceeds a quota, -ENOBUFS it does not
 * fit into the memory limit, -EBUSY no ID is left, -ENOMEM.
 */
struct inc_tree *inc_tree_new(struct inc_net *inet,
			      const struct inc_tree_cfg *user_cfg,
			      struct netlink_ext_ack *extack)
{
	struct inc_tree_cfg cfg = *user_cfg;
	struct inc_slot_geom geom;
	struct inc_tree *tree;
	size_t slot_size;
	u64 memory;
	int err;

	lockdep_assert_held(&inet->lock);
	fill_defaults(&cfg);
	init_geom(&geom, &cfg);
	slot_size = inc_slot_size(&geom);
	memory = sizeof(*tree) + cfg.ranks * sizeof(*tree->member) +
		 (u64)cfg.slots * (slot_size + sizeof(*tree->slot)) +
		 num_possible_cpus() * sizeof(struct inc_stats);

	err = inc_quota_check(inet, &cfg, memory +
			      cfg.ranks * (u64)inc_qp_memory(cfg.slots), extack);
	if (!err)
		err = inc_net_charge(inet, memory, extack);
	if (err)
		return ERR_PTR(err);
	err = inc_hook_register(inet);
	if (err)
		goto err_charge;
	err = -ENOMEM;
	tree = tree_alloc(&cfg, slot_size, geom.own.n);
	if (!tree)
		goto err_charge;

	tree->inet = inet;
	tree->cfg = cfg;
	tree->memory = memory;
	tree->state = INC_TREE_STATE_FORMING;
	tree->probed = jiffies;
	tree->scanned = jiffies;
	INIT_WORK(&tree->fail_work, fail_work);
	timer_setup(&tree->scan, scan, 0);
	timer_setup(&tree->late, inc_deliver_late, 0);
	inc_crc_shift_init(&tree->crc_shift[0], cfg.pmtu - INC_HDR_LEN);
	inc_crc_shift_init(&tree->crc_shift[1], cfg.pmtu);
	tree->cfg.below = NULL;
	tree->geom = geom;
	init_spans(tree);
	init_slots(tree, slot_size);
	if (geom.leaf) {
		struct inc_qp *qp = inc_qp_new_parent(tree, extack);

		err = PTR_ERR_OR_ZERO(qp);
		if (err)
			goto err_tree;
	}
	err = choose_id(inet, tree);
	if (err)
		goto err_parent;
	tree->geom.tree_id = tree->cfg.id;
	tree->epoch = ++inet->epoch;
	inet->ntrees++;
	inc_debugfs_tree_add(tree);
	if (geom.leaf)
		inc_debugfs_member_add(inc_tree_parent(tree));
	inc_nl_notify_tree(tree, INC_CMD_TREE_NEW_NTF);
	return tree;

err_parent:
	if (geom.leaf) {
		struct inc_qp *qp = inc_tree_parent(tree);

		inc_qp_unpublish(qp);
		inc_qp_destroy(qp);
	}
err_tree:
	inc_tree_put(tree);
err_charge:
	inc_net_uncharge(inet, memory);
	return ERR_PTR(err);
}

/**
 * inc_tree_set() - change what may change while a tree works
 * @tree: tree
 * @cfg: window, hold, min_rto, dead_time; 0 leaves one as it is
 *
 * Context: process, inc_net.lock held.
 */
void inc_tree_set(struct inc_tree *tree, const struct inc_tree_cfg *cfg)
{
	struct inc_qp *parent = inc_tree_parent(tree);
	u16 rank;

	lockdep_assert_held(&tree->inet->lock);
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
		inc_deliver_status(tree, i, msg_id, status);
	}
}

static void report(struct inc_qp *qp, u8 status, bool farewell)
{
	if (farewell)
		inc_send_farewell(qp, status);
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

	mutex_lock(&tree->inet->lock);
	first = tree->state != INC_TREE_STATE_FAILED;
	WRITE_ONCE(tree->state, INC_TREE_STATE_FAILED);
	if (first) {
		rcu_read_lock();
		fail_slots(tree, status);
		inc_up_abort(tree);
		rcu_read_unlock();
	}
	report_members(tree, status, first);
	/* A tree that is dismantled here is reported as such. */
	if (first && (status != INC_STATUS_TREE_GONE ||
		      inc_tree_find(tree->inet, tree->cfg.id) == tree))
		inc_nl_notify_tree(tree, INC_CMD_TREE_FAILED_NTF);
	rcu_read_lock();
	inc_deliver_kick(tree);
	inc_up_kick(tree);
	rcu_read_unlock();
	mutex_unlock(&tree->inet->lock);
	inc_tree_put(tree);
}

/* How often those that keep others waiting are asked whether they live. */
static unsigned long probe_interval(const struct inc_tree *tree)
{
	return 1 + msecs_to_jiffies(READ_ONCE(tree->cfg.dead_time) /
				    SCANS_PER_DEAD_TIME);
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
 * inc_tree_scan_kick() - somebody waits: keep an eye on who is missing
 * @tree: tree
 *
 * Context: softirq.
 */
void inc_tree_scan_kick(struct inc_tree *tree)
{
	if (!timer_pending(&tree->scan))
		mod_timer(&tree->scan, jiffies + inc_ask_least(tree));
}

/**
 * inc_tree_probe_members() - find out whether all members live
 * @tree: tree
 *
 * For who waits behind another switch, and not more often than if one waited
 * here. inc_deliver_kick() sends it.
 *
 * Context: BH, RCU read side.
 * Return: true if they are to be asked.
 */
bool inc_tree_probe_members(struct inc_tree *tree)
{
	unsigned long next = READ_ONCE(tree->probed) + probe_interval(tree) / 2;
	u16 rank;

	if (time_before(jiffies, next))
		return false;
	WRITE_ONCE(tree->probed, jiffies);
	WRITE_ONCE(tree->wanted, true);
	inc_tree_scan_kick(tree);
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		struct inc_qp *qp = rcu_dereference(tree->member[rank]);

		if (qp)
			inc_send_probe(qp);
	}
	return true;
}

/**
 * struct missing - who keeps others waiting
 * @late: a slot that is busy since before that is late, microseconds
 * @old: one that is busy since before that is old
 * @ranks: ranks that slots which are late lack
 * @any: one is old
 */
struct missing {
	u64	late, old;
	DECLARE_BITMAP(ranks, INC_MAX_RANKS);
	bool	any;
};

/* Adds those whom a slot lacks. Returns if it waits at all. */
static bool scan_slot(struct inc_tree_slot *ts, struct missing *m)
{
	const struct inc_slot *s = &ts->m;
	u8 state = READ_ONCE(ts->m.state);
	bool waits;
	u16 rank;

	if (state != INC_SLOT_STATE_BUSY && state != INC_SLOT_STATE_FAILED)
		return false;
	spin_lock(&ts->lock);
	waits = s->state == INC_SLOT_STATE_BUSY ||
		(s->state == INC_SLOT_STATE_FAILED &&
		 (s->begun < s->geom->ranks ||
		  (s->geom->leaf && !s->answered)));
	if (waits && s->started < m->late) {
		m->any |= s->started < m->old;
		for (rank = 0; rank < s->geom->ranks; rank++)
			if (inc_slot_lacks(s, rank))
				__set_bit(rank, m->ranks);
	}
	spin_unlock(&ts->lock);
	return waits;
}

/*
 * A member that is missing and has nothing in flight to it would never be
 * found dead: nothing is due from it. So it is asked. So is the parent, as the one
 * behind whom somebody may be missing.
 */
static void probe(struct inc_tree *tree, const struct missing *m)
{
	u16 rank;

	tree->scanned = jiffies;
	if (inc_up_probe(tree))
		inc_up_kick(tree);
	for_each_set_bit(rank, m->ranks, tree->cfg.ranks) {
		struct inc_qp *qp = rcu_dereference(tree->member[rank]);

		if (qp) {
			inc_send_probe(qp);
			inc_send_kick(qp);
		}
	}
}

static void scan(struct timer_list *t)
{
	struct inc_tree *tree = timer_container_of(tree, t, scan);
	u64 now = inc_now();
	struct missing m = {
		.late	= now - jiffies_to_usecs(inc_ask_least(tree)),
		.old	= now - jiffies_to_usecs(probe_interval(tree)),
	};
	bool waits = false;
	u16 i, rank;

	if (READ_ONCE(tree->error))
		return;
	for (i = 0; i < tree->cfg.slots; i++)
		waits |= scan_slot(&tree->slot[i], &m);
	if (waits)
		mod_timer(t, jiffies + inc_ask_least(tree));
	if (xchg(&tree->wanted, false))
		bitmap_set(m.ranks, 0, tree->cfg.ranks);

	rcu_read_lock();
	if (m.any && time_after_eq(jiffies, tree->scanned + probe_interval(tree)))
		probe(tree, &m);
	for_each_set_bit(rank, m.ranks, tree->cfg.ranks) {
		struct inc_qp *qp = rcu_dereference(tree->member[rank]);

		if (qp)
			inc_ask_waited(qp);
	}
	rcu_read_unlock();
}

/**
 * inc_tree_stats() - sum a tree's counters up
 * @tree: tree
 * @tree_sum: INC_STATS_MAX numbers, by INC_A_TREE_STATS_*; added to
 * @member_sum: INC_STATS_MAX numbers, by INC_A_MEMBER_STATS_*; added to
 *
 * Context: process, inc_net.lock held.
 */
void inc_tree_stats(struct inc_tree *tree, u64 *tree_sum, u64 *member_sum)
{
	u16 rank;
	int i;

	inc_stats_sum(tree->stats, tree_sum);
	for (i = 0; i < INC_STATS_MAX; i++)
		member_sum[i] += tree->gone[i];
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		struct inc_qp *qp = inc_qp_find(tree, rank);

		if (qp)
			inc_stats_sum(qp->stats, member_sum);
	}
}

/**
 * inc_tree_unpublish() - let nobody find a tree any more
 * @tree: tree; its QPs still work
 *
 * Context: process, inc_net.lock held.
 */
void inc_tree_unpublish(struct inc_tree *tree)
{
	lockdep_assert_held(&tree->inet->lock);
	xa_erase(&tree->inet->trees, tree->cfg.id);
	tree->inet->ntrees--;
	inc_debugfs_tree_del(tree);
}

static bool all_idle(struct inc_tree *tree)
{
	struct inc_qp *parent;
	bool idle;
	u16 rank;

	rcu_read_lock();
	parent = rcu_dereference(tree->parent);
	/* Without members it is not worth waiting for. */
	idle = !parent || !tree->nmembers || inc_send_idle(parent);
	for (rank = 0; rank < tree->cfg.ranks && idle; rank++) {
		struct inc_qp *qp = rcu_dereference(tree->member[rank]);

		idle = !qp || inc_send_idle(qp);
	}
	rcu_read_unlock();
	return idle;
}

static void linger(struct inc_tree *tree, unsigned int linger_ms)
{
	unsigned long until = jiffies + msecs_to_jiffies(linger_ms);

	while (time_before(jiffies, until) && !all_idle(tree))
		usleep_range(500, 2000);
}

/**
 * inc_tree_destroy() - end a tree that nobody can find
 * @tree: tree, unpublished; gone afterwards
 * @linger_ms: how long its members have to acknowledge that they were told
 *
 * Context: process, no lock held; may sleep.
 */
void inc_tree_destroy(struct inc_tree *tree, unsigned int linger_ms)
{
	struct inc_net *inet = tree->inet;
	struct inc_qp **qps;
	struct inc_qp *parent;
	u16 rank, n = 0;

	inc_tree_fail(tree, INC_STATUS_TREE_GONE);
	flush_work(&tree->fail_work);
	linger(tree, linger_ms);

	qps = kvcalloc(tree->cfg.ranks + 1, sizeof(*qps), GFP_KERNEL | __GFP_NOFAIL);
	mutex_lock(&inet->lock);
	for (rank = 0; rank < tree->cfg.ranks; rank++) {
		qps[n] = inc_qp_find(tree, rank);
		if (qps[n])
			inc_qp_unpublish(qps[n++]);
	}
	parent = inc_tree_parent(tree);
	if (parent) {
		inc_qp_unpublish(parent);
		qps[n++] = parent;
	}
	inc_nl_notify_tree(tree, INC_CMD_TREE_DEL_NTF);
	inc_net_uncharge(inet, tree->memory);
	mutex_unlock(&inet->lock);

	synchronize_net();
	timer_shutdown_sync(&tree->scan);
	timer_shutdown_sync(&tree->late);
	while (n)
		inc_qp_destroy(qps[--n]);
	kvfree(qps);
	/* A QP's timer may have reported its error until just now. */
	flush_work(&tree->fail_work);
	inc_tree_put(tree);
}
