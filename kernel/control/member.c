// SPDX-License-Identifier: GPL-2.0
/*
 * Members' QPs, and child switches' QPs to their parents: creation, connection,
 * teardown.
 *
 * Teardown: unpublish, wait for the readers (object/parting.c), shut the timers
 * down, free. object/qp.c lists who may hold a QP.
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "compat.h"
#include "control/member.h"
#include "control/tree_fail.h"
#include "control/tree_mem.h"
#include "core/psn.h"
#include "core/uplink_queue.h"
#include "datapath/ack_delay.h"
#include "datapath/batch.h"
#include "datapath/fault.h"
#include "datapath/ooo_queue.h"
#include "datapath/rx_rc.h"
#include "datapath/solicit.h"
#include "datapath/tx_packet.h"
#include "datapath/tx_queue.h"
#include "datapath/tx_timer.h"
#include "datapath/uplink_tx.h"
#include "object/budget.h"
#include "object/hold.h"
#include "object/mem.h"
#include "object/parting.h"
#include "object/qp.h"
#include "object/qp_mem.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/notify.h"

/* In a range half in use, 64 draws all fail with a chance of 2^-64. */
#define MAX_DRAWS	64

/* Buckets for each QP in the hash table of QPNs, while it grows. */
#define QPN_BUCKETS	4

/**
 * inc_member_memory() - compute the memory that a QP takes at most
 * @sw: switch
 * @cfg: its tree, defaults filled in
 * @parent: a child's QP to its parent, not a member's
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_member_memory(const struct inc_switch *sw,
		      const struct inc_tree_cfg *cfg, bool parent)
{
	return inc_mem_cache(sizeof(struct inc_qp)) +
	       QPN_BUCKETS * sizeof(void *) + inc_qp_mem_on_demand(cfg) +
	       inc_debugfs_member_memory(sw) +
	       (parent ? inc_uplink_memory(cfg->slots) : 0);
}

static struct kmem_cache *qp_cache;

/**
 * inc_member_cache_init() - make the cache of QPs
 *
 * Context: process, before any member exists.
 * Return: 0 or -ENOMEM.
 */
int __init inc_member_cache_init(void)
{
	qp_cache = KMEM_CACHE(inc_qp, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return qp_cache ? 0 : -ENOMEM;
}

/**
 * inc_member_cache_exit() - undo inc_member_cache_init()
 */
void inc_member_cache_exit(void)
{
	kmem_cache_destroy(qp_cache);
}

static void free_qp(struct inc_qp *qp)
{
	inc_qp_mem_free(qp);
	inc_uplink_free(qp->uplink);
	kmem_cache_free(qp_cache, qp);
}

/* True also for a child's QP without a parent, which inc_qp_lookup() skips. */
static bool qpn_taken(struct inc_switch *sw, u32 qpn)
{
	return rhashtable_lookup_fast(&sw->qps, &qpn, inc_qpn_params);
}

/*
 * Draw a number that cannot be guessed: to forge a member's packets one has to
 * know it, and old packets find no QP. At most half of the range is in use, so
 * a few draws are enough.
 */
static int draw_qpn(struct inc_switch *sw, struct inc_qp *qp)
{
	int draws;

	for (draws = 0; draws < MAX_DRAWS; draws++) {
		qp->qpn = get_random_u32_inclusive(INC_QPN_MIN, INC_QPN_MAX);
		if (!qpn_taken(sw, qp->qpn))
			return 0;
	}
	return -EBUSY;
}

/*
 * Use the requested number, or a random one. It stays free until
 * inc_switch.lock is released.
 */
static int choose_qpn(struct inc_switch *sw, struct inc_qp *qp,
		      struct netlink_ext_ack *extack)
{
	int err;

	if (!qp->cfg.qpn) {
		err = draw_qpn(sw, qp);
		if (err)
			NL_SET_ERR_MSG_MOD(extack, "no QPN is left");
	} else {
		qp->qpn = qp->cfg.qpn;
		err = qpn_taken(sw, qp->qpn) ? -EADDRINUSE : 0;
		if (err)
			NL_SET_ERR_MSG_MOD(extack, "the QPN is in use");
	}
	/* RoCEv2 entropy for ECMP, as rxe does: 0xc000 ... 0xffff by QPN. */
	qp->sport = htons(0xc000 | (qp->qpn & 0x3fff));
	return err;
}

/* May a member have the requested transport? */
static int check_transport(const struct inc_tree *tree,
			   const struct inc_member_cfg *cfg,
			   struct netlink_ext_ack *extack)
{
	if (cfg->transport != RDMA_INC_TRANSPORT_UC)
		return 0;
	if (tree->below && tree->below[cfg->index]) {
		NL_SET_ERR_MSG_MOD(extack,
				   "this member is a switch (below): it needs transport rc");
		return -EOPNOTSUPP;
	}
	if (tree->cfg.msg_size > tree->cfg.pmtu) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "UC needs messages of one packet: msg-size is %u, pmtu %u",
				       tree->cfg.msg_size, tree->cfg.pmtu);
		return -EMSGSIZE;
	}
	return 0;
}

/* Let a QP that has sent nothing begin with a PSN. */
static void restart_requester(struct inc_qp *qp, u32 psn)
{
	struct inc_requester *r = &qp->tx.requester;

	spin_lock_bh(&qp->tx.lock);
	qp->tx.uc_psn = psn;
	inc_requester_init(r, r->ring, r->mask + 1, psn);
	spin_unlock_bh(&qp->tx.lock);
	inc_qp_tune(qp);
}

static void init_qp(struct inc_qp *qp, struct inc_tree *tree,
		    const struct inc_member_cfg *cfg)
{
	qp->sw = tree->sw;
	qp->tree = tree;
	qp->cfg = *cfg;
	inc_qp_mem_init(qp);
	qp->state = RDMA_INC_MEMBER_STATE_RTS;
	qp->traffic_class = tree->cfg.traffic_class;
	qp->data_class = tree->cfg.traffic_class;
	if (tree->cfg.ecn == RDMA_INC_ECN_ECT0)
		qp->data_class |= INET_ECN_ECT_0;
	qp->priority = tree->cfg.priority;
	qp->rx.next_msg_id = tree->cfg.first_msg_id;
	qp->rx.beyond = tree->cfg.first_msg_id;
	qp->last_rx = jiffies;
	/* Longer ago than any interval. */
	qp->cnp_at = inc_now() - USEC_PER_SEC;
	qp->rx.silent_since = jiffies;
	qp->rx.batch_cpu = -1;
	if (!cfg->has_psn)
		qp->cfg.psn = get_random_u32() & INC_PSN_MASK;

	spin_lock_init(&qp->rx.lock);
	spin_lock_init(&qp->tx.lock);
	__skb_queue_head_init(&qp->rx.ooo);
	INIT_WORK(&qp->tx.more, inc_txq_more);
	INIT_WORK(&qp->rx.more, inc_rx_more);
	timer_setup(&qp->tx.timer, inc_tx_timer, 0);
	timer_setup(&qp->rx.ack_timer, inc_ack_timer, 0);
	timer_setup(&qp->rx.solicit_timer, inc_solicit_timer, 0);

	qp->rx.responder = (struct inc_responder) {
		.epsn	= cfg->peer_psn,
		.rkey	= get_random_u32(),
		.stride	= tree->cfg.msg_size,
		.slots	= tree->cfg.slots,
		.pmtu	= tree->cfg.pmtu,
	};
	inc_msg_loss_init(&qp->rx.loss, tree->cfg.first_msg_id,
			  tree->cfg.slots);
	restart_requester(qp, qp->cfg.psn);
}

/* Charge for a QP and make it, but for its number. */
static struct inc_qp *make_qp(struct inc_tree *tree,
			      const struct inc_member_cfg *cfg, bool parent,
			      struct netlink_ext_ack *extack)
{
	u64 memory = inc_member_memory(tree->sw, &tree->cfg, parent);
	struct inc_qp *qp;
	int err;

	err = inc_budget_charge(tree->sw, memory, extack);
	if (err)
		return ERR_PTR(err);
	qp = kmem_cache_zalloc(qp_cache, GFP_KERNEL);
	if (!qp) {
		inc_budget_uncharge(tree->sw, memory);
		return ERR_PTR(-ENOMEM);
	}
	init_qp(qp, tree, cfg);
	qp->memory = memory;
	inc_budget_reserve(tree->sw, &qp->mem.reserved,
			   inc_qp_mem_on_demand(&tree->cfg));
	return qp;
}

/**
 * inc_member_grow() - charge for a larger window
 * @qp: QP of a member, or to the parent, that its tree has
 * @cfg: settings of the tree, with the window to be
 * @extack: set to the reason for an error
 *
 * The charge stays when the window becomes smaller again.
 *
 * Context: process, inc_switch.lock held.
 * Return: 0 or -ENOBUFS over the memory limit.
 */
int inc_member_grow(struct inc_qp *qp, const struct inc_tree_cfg *cfg,
		    struct netlink_ext_ack *extack)
{
	u64 memory = inc_member_memory(qp->sw, cfg, qp->uplink);
	u64 more = memory - qp->memory;
	int err;

	lockdep_assert_held(&qp->sw->lock);
	if (memory <= qp->memory)
		return 0;
	err = inc_budget_charge(qp->sw, more, extack);
	if (err)
		return err;
	qp->memory = memory;
	qp->tree->mem.charged += more;
	inc_budget_reserve(qp->sw, &qp->mem.reserved, more);
	return 0;
}

/* Undo make_qp(). */
static void discard_qp(struct inc_qp *qp)
{
	inc_budget_uncharge(qp->sw, qp->memory);
	free_qp(qp);
}

/*
 * A QP that is reserved has a number and a key, but no peer: it is in the state
 * INIT, where inc_qp_lookup() does not find it (IBTA 10.3.1).
 */
static bool has_peer(const struct inc_member_cfg *cfg)
{
	return cfg->family;
}

/* Let packets find the QP by its number; the tree has one more reference. */
static int publish_qp(struct inc_qp *qp)
{
	struct inc_tree *tree = qp->tree;
	int err;

	err = rhashtable_insert_fast(&qp->sw->qps, &qp->node, inc_qpn_params);
	if (err)
		return err;
	tree->mem.charged += qp->memory;
	refcount_inc(&tree->ref);
	return 0;
}

/**
 * inc_member_begin() - have a tree take messages if all its members are there
 * @tree: tree
 *
 * Members that may be taken back are not: a message may have begun by then.
 *
 * Context: process, inc_switch.lock held.
 */
void inc_member_begin(struct inc_tree *tree)
{
	lockdep_assert_held(&tree->sw->lock);
	if (tree->nmembers < tree->cfg.members)
		return;
	WRITE_ONCE(tree->state, RDMA_INC_TREE_STATE_READY);
	inc_nl_notify_tree(tree, RDMA_INC_CMD_TREE_READY_NTF);
}

/**
 * inc_member_new() - add a member to a tree; inc_member_begin() has to follow
 * @tree: tree
 * @cfg: settings, checked for form; a rank of the tree. Without a family, the
 *	member waits for inc_member_set()
 * @extack: set to the reason for an error
 *
 * Context: process, inc_switch.lock held.
 * Return: the QP, or ERR_PTR: -EEXIST rank taken, -EADDRINUSE QPN taken,
 * -EPIPE tree failed, -EMSGSIZE messages too long for UC, or packets for the
 * way to the member, -EOPNOTSUPP UC for a switch, -ENETUNREACH no route to the
 * member, -ENOBUFS over the memory limit, -ENOMEM.
 */
struct inc_qp *inc_member_new(struct inc_tree *tree,
			      const struct inc_member_cfg *cfg,
			      struct netlink_ext_ack *extack)
{
	struct inc_switch *sw = tree->sw;
	struct inc_qp *qp;
	int err;

	lockdep_assert_held(&sw->lock);
	if (inc_qp_find(tree, cfg->index)) {
		NL_SET_ERR_MSG_MOD(extack, "rank has a member already");
		return ERR_PTR(-EEXIST);
	}
	if (READ_ONCE(tree->error)) {
		NL_SET_ERR_MSG_MOD(extack, "tree has failed, make a new one");
		return ERR_PTR(-EPIPE);
	}
	err = check_transport(tree, cfg, extack);
	if (err)
		return ERR_PTR(err);

	qp = make_qp(tree, cfg, false, extack);
	if (IS_ERR(qp))
		return qp;
	qp->is_switch = tree->below && tree->below[cfg->index];
	if (qp->is_switch)
		qp->rx.responder.max_len = inc_geom_buffer(&tree->geom) *
			inc_msg_max_planes(&tree->geom,
					   inc_geom_ranks(&tree->geom,
							  cfg->index));
	err = choose_qpn(sw, qp, extack);
	if (err)
		goto err_discard;
	if (has_peer(cfg))
		err = inc_tx_source(qp, extack);
	else
		qp->state = RDMA_INC_MEMBER_STATE_INIT;
	if (err)
		goto err_discard;
	err = publish_qp(qp);
	if (err)
		goto err_discard;

	rcu_assign_pointer(tree->member_qp[cfg->index], qp);
	inc_fault_show(qp);
	inc_nl_notify_member(qp, RDMA_INC_CMD_MEMBER_NEW_NTF);
	if (has_peer(cfg))
		tree->nmembers++;
	return qp;

err_discard:
	discard_qp(qp);
	return ERR_PTR(err);
}

/**
 * inc_member_new_parent() - create a child's QP to its parent
 * @tree: tree that is not published yet
 * @extack: set to the reason for an error
 *
 * Context: process, inc_switch.lock held.
 * Return: the QP, to be connected by inc_member_connect(), or ERR_PTR: -ENOBUFS
 * over the memory limit, -EBUSY no QPN left, -ENOMEM.
 */
struct inc_qp *inc_member_new_parent(struct inc_tree *tree,
				     struct netlink_ext_ack *extack)
{
	const struct inc_member_cfg cfg = { .index = U16_MAX };
	struct inc_switch *sw = tree->sw;
	struct inc_qp *qp;
	int err;

	qp = make_qp(tree, &cfg, true, extack);
	if (IS_ERR(qp))
		return qp;
	qp->state = RDMA_INC_MEMBER_STATE_INIT;
	qp->rx.responder.results = true;
	qp->tx.requester.patient = true;
	inc_qp_mem_percpu(qp);
	err = -ENOMEM;
	qp->uplink = inc_uplink_alloc(tree);
	if (!qp->uplink)
		goto err_discard;
	err = choose_qpn(sw, qp, extack);
	if (err)
		goto err_discard;
	err = publish_qp(qp);
	if (err)
		goto err_discard;
	rcu_assign_pointer(tree->parent, qp);
	return qp;

err_discard:
	discard_qp(qp);
	return ERR_PTR(err);
}

/*
 * Give a QP in INIT its peer. If that has no address here, the QP is as before.
 * Packets may find it from now on.
 */
static int connect_qp(struct inc_qp *qp, const struct inc_member_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	const struct inc_member_cfg old = qp->cfg;
	int err;

	qp->cfg = *cfg;
	qp->cfg.index = old.index;
	qp->cfg.transport = old.transport;
	qp->cfg.ifindex = old.ifindex;
	qp->cfg.qpn = old.qpn;
	if (!cfg->has_psn)
		qp->cfg.psn = old.psn;
	err = inc_tx_source(qp, extack);
	if (err) {
		qp->cfg = old;
		return err;
	}
	qp->rx.responder.epsn = cfg->peer_psn;
	qp->last_rx = jiffies;
	qp->rx.silent_since = jiffies;
	if (cfg->has_psn)
		restart_requester(qp, cfg->psn);
	spin_lock_bh(&qp->tx.lock);
	/*
	 * A reader that finds the QP sees all of the above: pairs with
	 * inc_qp_lookup().
	 */
	smp_store_release(&qp->state, RDMA_INC_MEMBER_STATE_RTS);
	spin_unlock_bh(&qp->tx.lock);
	return 0;
}

/**
 * inc_member_set() - connect a member that was added without a peer
 * @qp: its QP
 * @cfg: settings of the peer, checked for form; @cfg->psn if has_psn
 * @extack: set to the reason for an error
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -EISCONN: it is or was connected; -EPIPE: the tree has failed;
 * -ENETUNREACH: no route; -EMSGSIZE: its MTU is too small.
 */
int inc_member_set(struct inc_qp *qp, const struct inc_member_cfg *cfg,
		   struct netlink_ext_ack *extack)
{
	struct inc_tree *tree = qp->tree;
	int err;

	lockdep_assert_held(&qp->sw->lock);
	if (qp->state != RDMA_INC_MEMBER_STATE_INIT) {
		NL_SET_ERR_MSG_MOD(extack, "the member has its peer already");
		return -EISCONN;
	}
	if (READ_ONCE(tree->error)) {
		NL_SET_ERR_MSG_MOD(extack, "tree has failed, make a new one");
		return -EPIPE;
	}
	err = connect_qp(qp, cfg, extack);
	if (err)
		return err;
	inc_nl_notify_member(qp, RDMA_INC_CMD_MEMBER_NEW_NTF);
	tree->nmembers++;
	inc_member_begin(tree);
	return 0;
}

/**
 * inc_member_connect() - connect a child's QP to its parent
 * @qp: QP made by inc_member_new_parent()
 * @cfg: settings, checked for form; the parent is the peer
 * @extack: set to the reason for an error
 *
 * Requests that have waited for the connection are sent now.
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -EISCONN: it is or was connected; -ENETUNREACH: no route;
 * -EMSGSIZE: its MTU is too small.
 */
int inc_member_connect(struct inc_qp *qp, const struct inc_member_cfg *cfg,
		       struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&qp->sw->lock);
	if (qp->state != RDMA_INC_MEMBER_STATE_INIT) {
		NL_SET_ERR_MSG_MOD(extack, "the tree has its parent already");
		return -EISCONN;
	}
	qp->uplink->rkey = cfg->peer_rkey;
	qp->uplink->result_rkey = qp->rx.responder.rkey;
	qp->uplink->tree_id = cfg->peer_tree_id;
	err = connect_qp(qp, cfg, extack);
	if (err)
		return err;
	inc_txq_kick(qp, inc_now());
	return 0;
}

/* The QP is unpublished, and its readers are done. */
static void end_qp(struct inc_parting *p)
{
	struct inc_qp *qp = container_of(p, struct inc_qp, parting);
	struct inc_tree *tree = qp->tree;
	struct inc_switch *sw = qp->sw;

	timer_shutdown_sync(&qp->tx.timer);
	timer_shutdown_sync(&qp->rx.ack_timer);
	timer_shutdown_sync(&qp->rx.solicit_timer);
	/* A packet that was held back may still be delivered. */
	inc_fault_free(qp);
	cancel_work_sync(&qp->rx.more);
	inc_batch_leave(qp);
	cancel_work_sync(&qp->tx.more);
	cancel_work_sync(&qp->mem.work);
	inc_ooo_purge(qp);
	inc_hold_drop(qp);
	mutex_lock(&sw->lock);
	inc_qp_stats_sum(qp, tree->gone);
	list_del(&qp->parted);
	tree->mem.charged -= qp->memory;
	inc_budget_uncharge(sw, qp->memory);
	mutex_unlock(&sw->lock);
	free_qp(qp);
	inc_tree_put(tree);
}

/**
 * inc_member_unpublish() - hide a QP from new readers
 * @qp: QP
 *
 * Context: process, inc_switch.lock held.
 */
void inc_member_unpublish(struct inc_qp *qp)
{
	struct inc_tree *tree = qp->tree;

	lockdep_assert_held(&qp->sw->lock);
	rhashtable_remove_fast(&qp->sw->qps, &qp->node, inc_qpn_params);
	inc_fault_hide(qp);
	if (qp->uplink) {
		RCU_INIT_POINTER(tree->parent, NULL);
	} else {
		RCU_INIT_POINTER(tree->member_qp[qp->cfg.index], NULL);
		if (has_peer(&qp->cfg))
			tree->nmembers--;
		inc_nl_notify_member(qp, RDMA_INC_CMD_MEMBER_DEL_NTF);
	}

	/* Pairs with start_message() of slot_io.c. */
	spin_lock_bh(&qp->rx.lock);
	spin_lock(&qp->tx.lock);
	WRITE_ONCE(qp->state, RDMA_INC_MEMBER_STATE_ERROR);
	spin_unlock(&qp->tx.lock);
	spin_unlock_bh(&qp->rx.lock);
	list_add_tail(&qp->parted, &tree->parted);
	inc_defer_free(qp->sw, &qp->parting, end_qp);
}

/**
 * inc_member_del() - remove one member from a tree that stays
 * @qp: its QP
 *
 * Once a message has begun, ranks cannot be replaced: the others get
 * INC_STATUS_MEMBER_LEFT.
 *
 * Context: process, inc_switch.lock held.
 */
void inc_member_del(struct inc_qp *qp)
{
	struct inc_tree *tree = qp->tree;
	bool connected = has_peer(&qp->cfg);

	inc_member_unpublish(qp);
	if (!connected)
		return;
	if (READ_ONCE(tree->used) && tree->nmembers) {
		inc_tree_note_lost(qp);
		inc_tree_fail(tree, INC_STATUS_MEMBER_LEFT);
	} else if (!READ_ONCE(tree->error)) {
		WRITE_ONCE(tree->state, RDMA_INC_TREE_STATE_FORMING);
	}
}
