/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch of one network namespace.
 */
#ifndef _INC_SWITCH_H
#define _INC_SWITCH_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "object/failure.h"
#include "object/stats.h"

struct dentry;
struct inc_share;
struct sock;

/* Bridge, IPv4, IPv6. */
#define INC_HOOKS	4

/**
 * struct inc_quota - limits for trees; 0 is no limit
 * @trees: number of trees
 * @ranks: ranks of a tree
 * @slots: slots of a tree
 * @tree_memory: bytes of a tree with all its members
 * @tree_hold: bytes of packets that wait in a tree; applies to existing trees,
 *	too; changed with WRITE_ONCE()
 */
struct inc_quota {
	u32	trees;
	u16	ranks;
	u16	slots;
	u64	tree_memory;
	u64	tree_hold;
};

/**
 * struct inc_switch - the switch of one network namespace
 * @net: the namespace
 * @share: limits shared by all namespaces of its user
 * @sk: socket of the packets sent, see tx_output.c
 * @lock: guards the set of trees and members, @mem_limit, @mem_used, @quota,
 *	@epoch, @leaving, @parting, @parted, @failure; outermost of the module's locks
 * @qps: QPs by QPN; written under @lock, read under RCU
 * @trees: trees by ID; written under @lock, read under RCU
 * @owners: port IDs of open netlink sockets that have made trees which end with
 *	them
 * @mem_limit: maximum number of bytes that trees may allocate
 * @mem_used: bytes that are charged to them
 * @mem_reserved: bytes of @mem_used that they have not taken yet, see qp_mem.c
 * @quota: limits of a tree
 * @epoch: number of trees made so far
 * @ntrees: number of trees now; written under @lock
 * @live: trees that are not freed, including unpublished ones
 * @hooks: the netfilter hooks, which refer to the switch
 * @hooked: they are registered
 * @dying: the namespace is going away; nothing is added any more
 * @leaving: deleted trees whose members are being told
 * @parting: unpublished objects that wait for the next grace period
 * @parted: objects that wait for the running grace period
 * @reap: runs after that grace period and frees @parted
 * @stats: counters of packets that reached no QP
 * @gone_trees: sum of the counters of trees that are gone
 * @gone_members: sum of the counters of their members
 * @failure: of the tree that failed last
 * @debugfs: directory, or NULL
 */
struct inc_switch {
	struct net			*net;
	struct inc_share		*share;
	struct sock			*sk;
	struct mutex			lock;	/* see above */
	struct rhashtable		qps;
	struct xarray			trees;
	struct xarray			owners;
	u64				mem_limit;
	u64				mem_used;
	atomic64_t			mem_reserved;
	struct inc_quota		quota;
	u32				epoch;
	u32				ntrees;
	atomic_t			live;
	struct nf_hook_ops		hooks[INC_HOOKS];
	bool				hooked;
	bool				dying;
	struct list_head		leaving;
	struct list_head		parting;
	struct list_head		parted;
	struct rcu_work			reap;
	struct inc_stats __percpu	*stats;
	u64				gone_trees[INC_STATS_MAX];
	u64				gone_members[INC_STATS_MAX];
	struct inc_failure		failure;
	struct dentry			*debugfs;
};

struct inc_switch *inc_switch_get(const struct net *net);
bool inc_switch_may_have_trees(const struct inc_switch *sw);

extern unsigned int inc_netns_id;

/* Works of the data path; drained before the module is unloaded. */
extern struct workqueue_struct *inc_wq;

#endif /* _INC_SWITCH_H */
