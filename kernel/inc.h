/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch of one network namespace.
 */
#ifndef _INC_INC_H
#define _INC_INC_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "quota.h"
#include "stats.h"

struct dentry;
struct netlink_ext_ack;
struct workqueue_struct;

#define INC_MODULE_VERSION	"0.1.0"

/* Default of the memory that all trees of a namespace may take. */
#define INC_MEMORY_LIMIT	BIT_ULL(30)

/**
 * struct inc_net - the switch of one network namespace
 * @net: the namespace
 * @lock: guards the set of trees and members, @mem_limit, @mem_used, @quota,
 *	@epoch;
 *	outermost of the module's locks
 * @qps: QPs by QPN; written under @lock, read under RCU
 * @trees: trees by ID; written under @lock, read under RCU
 * @mem_limit: most bytes that trees may allocate
 * @mem_used: bytes that they have allocated
 * @quota: what a tree may take
 * @epoch: number of trees made so far
 * @ntrees: number of trees now
 * @next_qpn: where the search for a free QPN goes on
 * @hooked: the netfilter hooks are registered
 * @dying: the namespace goes away; nothing is added any more
 * @stats: counters of packets that reached no QP
 * @debugfs: directory, or NULL
 */
struct inc_net {
	struct net			*net;
	struct mutex			lock;	/* see above */
	struct xarray			qps;
	struct xarray			trees;
	u64				mem_limit;
	u64				mem_used;
	struct inc_quota		quota;
	u32				epoch;
	u32				ntrees;
	u32				next_qpn;
	bool				hooked;
	bool				dying;
	struct inc_stats __percpu	*stats;
	struct dentry			*debugfs;
};

struct inc_net *inc_net_get(const struct net *net);
int inc_net_charge(struct inc_net *inet, u64 bytes,
		   struct netlink_ext_ack *extack);
void inc_net_uncharge(struct inc_net *inet, u64 bytes);

/* Works of the data path; empty before the module's text goes away. */
extern struct workqueue_struct *inc_wq;

#endif /* _INC_INC_H */
