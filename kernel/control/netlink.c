// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rdma-inc": the switch itself, events, and the common
 * parts of the commands on trees, members and slots. The policy comes from
 * Documentation/netlink/specs/rdma-inc.yaml; only rules that YNL cannot express are
 * checked by hand.
 *
 * All commands except reads of slots run under inc_switch.lock, so that objects
 * found there stay until it is dropped. None waits for a member or a grace
 * period: registering or unregistering any family would wait for it, and so
 * stop generic netlink for the whole host.
 */
#include <linux/capability.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <uapi/linux/rdma_inc.h>

#include "control/netlink-gen.h"
#include "control/netlink.h"
#include "core/collective.h"
#include "core/reduce/reduce.h"
#include "object/budget.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/stats.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

MODULE_ALIAS_GENL_FAMILY(RDMA_INC_FAMILY_NAME);

/**
 * inc_nl_find_tree() - find the tree that an attribute names
 * @sw: switch; its lock is held
 * @info: request
 * @attr: the attribute
 *
 * Return: the tree, or an ERR_PTR with the extended ACK filled in: -EINVAL: the
 * attribute is missing, -ENOENT: no such tree.
 */
struct inc_tree *inc_nl_find_tree(struct inc_switch *sw,
				  const struct genl_info *info, int attr)
{
	struct inc_tree *tree;
	u32 id;

	if (GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);

	id = nla_get_u32(info->attrs[attr]);
	tree = inc_tree_find(sw, id);
	if (!tree) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack, "there is no tree %u", id);
		return ERR_PTR(-ENOENT);
	}
	return tree;
}

static int dump_filter(struct netlink_callback *cb, struct inc_switch *sw,
		       u32 *only)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct inc_tree *tree;

	/* Attribute 1 is the tree ID in all sets that a dump can filter by. */
	BUILD_BUG_ON(RDMA_INC_A_MEMBER_TREE_ID != 1 ||
		     RDMA_INC_A_SLOT_TREE_ID != 1);

	*only = 0;
	if (!info->attrs || !info->attrs[1])
		return 0;
	*only = nla_get_u32(info->attrs[1]);
	tree = inc_nl_find_tree(sw, info, 1);
	return PTR_ERR_OR_ZERO(tree);
}

/**
 * inc_nl_dump_trees() - dump objects of every tree, or of one
 * @skb: message
 * @cb: dump
 * @fn: dumps one tree; -EAGAIN if it has taken long, to continue after others
 *	have had the lock
 *
 * Context: process; may sleep; takes inc_switch.lock.
 * Return: bytes in @skb, 0 at the end; -ENOENT: the requested tree does not
 * exist; -EMSGSIZE: not even one object fits.
 */
int inc_nl_dump_trees(struct sk_buff *skb, struct netlink_callback *cb,
		      inc_nl_dump_fn fn)
{
	struct inc_switch *sw = inc_switch_get(sock_net(cb->skb->sk));
	struct inc_nl_dump *d = (struct inc_nl_dump *)cb->ctx;
	struct inc_tree *tree;
	unsigned long id;
	u32 only;
	int err;

	BUILD_BUG_ON(sizeof(*d) > sizeof(cb->ctx));

again:
	mutex_lock(&sw->lock);
	err = dump_filter(cb, sw, &only);
	if (err) {
		/* The tree is gone since the dump began: end the dump. */
		if (d->begun)
			err = 0;
		goto out;
	}
	d->tree = max_t(u64, d->tree, only);
	d->begun = true;
	if (d->tree > U32_MAX)
		goto out;

	xa_for_each_start(&sw->trees, id, tree, d->tree) {
		if (only && id != only)
			break;
		if (id != d->tree)
			d->next = 0;
		d->tree = id;
		err = fn(skb, cb, tree, d);
		if (err)
			goto out;
		d->tree = (u64)id + 1;
		d->next = 0;
	}
	d->tree = (u64)U32_MAX + 1;
out:
	mutex_unlock(&sw->lock);
	if (err == -EAGAIN) {
		cond_resched();
		goto again;
	}
	return err && (err != -EMSGSIZE || !skb->len) ? err : skb->len;
}

static int put_quota(struct sk_buff *skb, const struct inc_quota *q)
{
	if (nla_put_u32(skb, RDMA_INC_A_SWITCH_MAX_TREES, q->trees) ||
	    nla_put_u16(skb, RDMA_INC_A_SWITCH_MAX_RANKS, q->ranks) ||
	    nla_put_u16(skb, RDMA_INC_A_SWITCH_MAX_SLOTS, q->slots) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MAX_TREE_MEMORY,
			 q->tree_memory) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MAX_TREE_HOLD, q->tree_hold))
		return -EMSGSIZE;
	return 0;
}

static int put_hold(struct sk_buff *skb, struct inc_switch *sw)
{
	if (nla_put_uint(skb, RDMA_INC_A_SWITCH_HOLD_LIMIT,
			 inc_hold_limit(sw)) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_HOLD_GUARANTEED,
			 inc_hold_guaranteed(sw)) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_HELD, inc_hold_sum(sw)) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MEMORY_TAKEN,
			 sw->mem_used - atomic64_read(&sw->mem_reserved)))
		return -EMSGSIZE;
	return 0;
}

static int put_failure(struct sk_buff *skb, const struct inc_failure *f)
{
	u64 age = ktime_to_ms(ktime_get_boottime()) - f->at;

	if (!f->tree)
		return 0;
	if (nla_put_u32(skb, RDMA_INC_A_SWITCH_FAILED_TREE, f->tree) ||
	    nla_put_u8(skb, RDMA_INC_A_SWITCH_FAILED_STATUS, f->status) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_FAILED_AGE, age) ||
	    nla_put_u16(skb, RDMA_INC_A_SWITCH_FAILED_PMTU, f->pmtu))
		return -EMSGSIZE;
	if (!f->family)
		return 0;
	if ((!f->uplink &&
	     nla_put_u16(skb, RDMA_INC_A_SWITCH_FAILED_RANK, f->rank)) ||
	    nla_put_u8(skb, RDMA_INC_A_SWITCH_FAILED_ERROR, f->error))
		return -EMSGSIZE;
	return f->family == AF_INET ?
	       nla_put_in_addr(skb, RDMA_INC_A_SWITCH_FAILED_ADDR,
			       f->peer.s6_addr32[3]) :
	       nla_put_in6_addr(skb, RDMA_INC_A_SWITCH_FAILED_ADDR, &f->peer);
}

static int fill_switch(struct sk_buff *skb, const struct genl_info *info,
		       struct inc_switch *sw)
{
	u64 sum[INC_STATS_MAX] = {};
	void *hdr;

	hdr = genlmsg_iput(skb, info);
	if (!hdr)
		return -EMSGSIZE;

	inc_stats_sum(sw->stats, sum);
	if (nla_put_string(skb, RDMA_INC_A_SWITCH_VERSION,
			   INC_MODULE_VERSION) ||
	    nla_put_string(skb, RDMA_INC_A_SWITCH_REDUCE_IMPL,
			   inc_reduce_impl()) ||
	    nla_put_u32(skb, RDMA_INC_A_SWITCH_COLLECTIVES, inc_coll_mask()) ||
	    nla_put_u32(skb, RDMA_INC_A_SWITCH_DTYPES, inc_coll_dtype_mask()) ||
	    nla_put_u32(skb, RDMA_INC_A_SWITCH_OPS, inc_coll_op_mask()) ||
	    nla_put_u32(skb, RDMA_INC_A_SWITCH_TREES, sw->ntrees) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MEMORY_LIMIT, sw->mem_limit) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MEMORY_USED, sw->mem_used) ||
	    inc_nl_put_stats(skb, RDMA_INC_A_SWITCH_STATS, sum,
			     RDMA_INC_A_SWITCH_STATS_MAX) ||
	    inc_nl_put_stats(skb, RDMA_INC_A_SWITCH_GONE_TREE_STATS,
			     sw->gone_trees, RDMA_INC_A_TREE_STATS_MAX) ||
	    inc_nl_put_stats(skb, RDMA_INC_A_SWITCH_GONE_MEMBER_STATS,
			     sw->gone_members, RDMA_INC_A_MEMBER_STATS_MAX) ||
	    nla_put_u8(skb, RDMA_INC_A_SWITCH_HOOKED, sw->hooked) ||
	    put_quota(skb, &sw->quota) || put_hold(skb, sw) ||
	    put_failure(skb, &sw->failure) ||
	    nla_put_uint(skb, RDMA_INC_A_SWITCH_MEMORY_CEILING,
			 inc_budget_ceiling()) ||
	    nla_put_u32(skb, RDMA_INC_A_SWITCH_LEAVING,
			atomic_read(&sw->live) - sw->ntrees)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * rdma_inc_nl_switch_get_doit() - RDMA_INC_CMD_SWITCH_GET
 * @skb: request
 * @info: parsed
 *
 * Return: 0, or -ENOMEM.
 */
int rdma_inc_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct sk_buff *msg;
	int err;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;

	mutex_lock(&sw->lock);
	err = fill_switch(msg, info, sw);
	mutex_unlock(&sw->lock);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

static void parse_limits(struct nlattr **attrs, u64 *mem_limit,
			 struct inc_quota *q)
{
	if (attrs[RDMA_INC_A_SWITCH_MEMORY_LIMIT])
		*mem_limit =
			nla_get_uint(attrs[RDMA_INC_A_SWITCH_MEMORY_LIMIT]);
	if (attrs[RDMA_INC_A_SWITCH_MAX_TREES])
		q->trees = nla_get_u32(attrs[RDMA_INC_A_SWITCH_MAX_TREES]);
	if (attrs[RDMA_INC_A_SWITCH_MAX_RANKS])
		q->ranks = nla_get_u16(attrs[RDMA_INC_A_SWITCH_MAX_RANKS]);
	if (attrs[RDMA_INC_A_SWITCH_MAX_SLOTS])
		q->slots = nla_get_u16(attrs[RDMA_INC_A_SWITCH_MAX_SLOTS]);
	if (attrs[RDMA_INC_A_SWITCH_MAX_TREE_MEMORY])
		q->tree_memory =
			nla_get_uint(attrs[RDMA_INC_A_SWITCH_MAX_TREE_MEMORY]);
	if (attrs[RDMA_INC_A_SWITCH_MAX_TREE_HOLD])
		q->tree_hold =
			nla_get_uint(attrs[RDMA_INC_A_SWITCH_MAX_TREE_HOLD]);
}

/* 0 means no limit, and so is the highest value. */
static bool raises_limit(u64 old, u64 new)
{
	return old && (!new || new > old);
}

/*
 * Limits keep the administrator of a namespace, which may be any user, from
 * taking the whole host's memory. So only the host's administrator may raise
 * them.
 */
static int may_set(struct sk_buff *skb, const struct genl_info *info,
		   const struct inc_switch *sw, u64 mem_limit,
		   const struct inc_quota *q)
{
	const struct inc_quota *old = &sw->quota;
	int attr = 0;

	if (mem_limit > sw->mem_limit)
		attr = RDMA_INC_A_SWITCH_MEMORY_LIMIT;
	else if (raises_limit(old->trees, q->trees))
		attr = RDMA_INC_A_SWITCH_MAX_TREES;
	else if (raises_limit(old->ranks, q->ranks))
		attr = RDMA_INC_A_SWITCH_MAX_RANKS;
	else if (raises_limit(old->slots, q->slots))
		attr = RDMA_INC_A_SWITCH_MAX_SLOTS;
	else if (raises_limit(old->tree_memory, q->tree_memory))
		attr = RDMA_INC_A_SWITCH_MAX_TREE_MEMORY;
	else if (raises_limit(old->tree_hold, q->tree_hold))
		attr = RDMA_INC_A_SWITCH_MAX_TREE_HOLD;
	if (!attr || netlink_capable(skb, CAP_NET_ADMIN))
		return 0;
	NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	NL_SET_ERR_MSG_MOD(info->extack,
			   "not permitted: only the host's administrator raises limits");
	return -EPERM;
}

/**
 * rdma_inc_nl_switch_set_doit() - RDMA_INC_CMD_SWITCH_SET
 * @skb: request
 * @info: parsed
 *
 * A limit below the memory in use prevents new trees and members, and takes
 * nothing from existing ones.
 *
 * Quotas apply to trees made later; max-tree-hold to all trees.
 *
 * Return: 0; -EINVAL: nothing to change; -EPERM: a limit would be raised.
 */
int rdma_inc_nl_switch_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_quota quota;
	u64 mem_limit;
	int err;

	if (!info->attrs[RDMA_INC_A_SWITCH_MAX_TREES] &&
	    !info->attrs[RDMA_INC_A_SWITCH_MAX_RANKS] &&
	    !info->attrs[RDMA_INC_A_SWITCH_MAX_SLOTS] &&
	    !info->attrs[RDMA_INC_A_SWITCH_MAX_TREE_MEMORY] &&
	    !info->attrs[RDMA_INC_A_SWITCH_MAX_TREE_HOLD] &&
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_SWITCH_MEMORY_LIMIT))
		return -EINVAL;

	mutex_lock(&sw->lock);
	mem_limit = sw->mem_limit;
	quota = sw->quota;
	parse_limits(info->attrs, &mem_limit, &quota);
	err = may_set(skb, info, sw, mem_limit, &quota);
	if (!err) {
		sw->mem_limit = mem_limit;
		sw->quota = quota;
	}
	mutex_unlock(&sw->lock);
	return err;
}

/* A killed daemon cannot delete its trees: delete them with its socket. */
static int socket_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	const struct netlink_notify *n = data;

	if (event == NETLINK_URELEASE && n->protocol == NETLINK_GENERIC)
		inc_nl_end_owned(inc_switch_get(n->net), n->portid);
	return NOTIFY_DONE;
}

static struct notifier_block socket_nb = {
	.notifier_call	= socket_event,
};

/**
 * inc_nl_init() - register the family
 *
 * Context: process; may sleep. The namespaces' switches must exist already.
 * Return: 0 or -errno.
 */
int __init inc_nl_init(void)
{
	int err;

	BUILD_BUG_ON(INC_NL_EVENTS != RDMA_INC_NLGRP_EVENTS);
	err = netlink_register_notifier(&socket_nb);
	if (err)
		return err;
	err = genl_register_family(&rdma_inc_nl_family);
	if (err)
		netlink_unregister_notifier(&socket_nb);
	else
		inc_nl_set_family(&rdma_inc_nl_family);
	return err;
}

/**
 * inc_nl_exit() - unregister the family; no command runs after this
 *
 * Context: process; may sleep.
 */
void inc_nl_exit(void)
{
	inc_nl_set_family(NULL);
	genl_unregister_family(&rdma_inc_nl_family);
	netlink_unregister_notifier(&socket_nb);
}
