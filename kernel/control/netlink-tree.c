// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rdma-inc": commands on trees.
 */
#include <linux/log2.h>
#include <net/genetlink.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <uapi/linux/rdma_inc.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "control/netlink-gen.h"
#include "control/netlink.h"
#include "control/teardown.h"
#include "control/tree_new.h"
#include "core/collective.h"
#include "core/rank_range.h"
#include "object/quota.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

/* Slots have to begin on a cache line in the members' addresses, too. */
#define MSG_SIZE_ALIGN	64
/* Limit, so that a tree fits into a message of a dump. */
#define MAX_BELOW	256U

/* Size of a message about a tree with @ranks members. */
static size_t tree_size(u16 ranks)
{
	return GENLMSG_DEFAULT_SIZE + ranks * nla_total_size(sizeof(u16));
}

static bool pmtu_valid(u16 pmtu)
{
	return pmtu >= 256 && pmtu <= 4096 && is_power_of_2(pmtu);
}

/* A mask must not be empty, nor name anything that is not offered. */
static int parse_mask(const struct genl_info *info, int attr, u32 offered,
		      u32 *mask)
{
	const struct nlattr *nla = info->attrs[attr];

	if (!nla)
		return 0;
	*mask = nla_get_u32(nla);
	if (!*mask) {
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "empty mask: leave it out for all that is offered");
		return -EINVAL;
	}
	if (*mask & ~offered) {
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "bits 0x%x are not offered, only 0x%x",
				       *mask & ~offered, offered);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int parse_masks(const struct genl_info *info, struct inc_tree_cfg *cfg)
{
	return parse_mask(info, RDMA_INC_A_TREE_COLLECTIVES, inc_coll_mask(),
			  &cfg->collectives) ?:
	       parse_mask(info, RDMA_INC_A_TREE_DTYPES, inc_coll_dtype_mask(),
			  &cfg->dtypes) ?:
	       parse_mask(info, RDMA_INC_A_TREE_OPS, inc_coll_op_mask(),
			  &cfg->ops);
}

static int parse_geometry(const struct genl_info *info,
			  struct inc_tree_cfg *cfg)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *nla;

	cfg->members = nla_get_u16(attrs[RDMA_INC_A_TREE_RANKS]);

	nla = attrs[RDMA_INC_A_TREE_SLOTS];
	if (nla) {
		cfg->slots = nla_get_u16(nla);
		if (!is_power_of_2(cfg->slots)) {
			NL_SET_BAD_ATTR(info->extack, nla);
			NL_SET_ERR_MSG_MOD(info->extack,
					   "slots has to be a power of two");
			return -EINVAL;
		}
	}

	nla = attrs[RDMA_INC_A_TREE_MSG_SIZE];
	if (nla) {
		cfg->msg_size = nla_get_u32(nla);
		if (cfg->msg_size % MSG_SIZE_ALIGN) {
			NL_SET_BAD_ATTR(info->extack, nla);
			NL_SET_ERR_MSG_MOD(info->extack,
					   "msg-size has to be a multiple of 64");
			return -EINVAL;
		}
	}

	nla = attrs[RDMA_INC_A_TREE_PMTU];
	if (nla) {
		cfg->pmtu = nla_get_u16(nla);
		if (!pmtu_valid(cfg->pmtu)) {
			NL_SET_BAD_ATTR(info->extack, nla);
			NL_SET_ERR_MSG_MOD(info->extack,
					   "pmtu has to be 256, 512, 1024, 2048 or 4096");
			return -EINVAL;
		}
	}

	if (attrs[RDMA_INC_A_TREE_FIRST_MSG_ID])
		cfg->first_msg_id =
			nla_get_u32(attrs[RDMA_INC_A_TREE_FIRST_MSG_ID]);
	if (attrs[RDMA_INC_A_TREE_ORDER])
		cfg->order = nla_get_u8(attrs[RDMA_INC_A_TREE_ORDER]);
	if (attrs[RDMA_INC_A_TREE_ECN])
		cfg->ecn = nla_get_u8(attrs[RDMA_INC_A_TREE_ECN]);
	return 0;
}

/*
 * ECN's bits have an attribute of their own: only packets with data may declare it
 * (RFC 3168, section 6.1.4).
 */
static int parse_traffic_class(const struct genl_info *info,
			       struct inc_tree_cfg *cfg)
{
	const struct nlattr *nla = info->attrs[RDMA_INC_A_TREE_TRAFFIC_CLASS];

	if (!nla)
		return 0;
	cfg->traffic_class = nla_get_u8(nla);
	if (!(cfg->traffic_class & INET_ECN_MASK))
		return 0;
	NL_SET_BAD_ATTR(info->extack, nla);
	NL_SET_ERR_MSG_MOD(info->extack,
			   "traffic-class has to be a multiple of 4: the lowest two bits are ECN's");
	return -EINVAL;
}

/* Parse below: one entry per member, or none at all. */
static int parse_below(const struct genl_info *info, struct inc_tree_cfg *cfg)
{
	struct nlattr *nla;
	u16 n = 0, *below;
	int rem;

	if (!info->attrs[RDMA_INC_A_TREE_BELOW])
		return 0;
	if (cfg->members > MAX_BELOW) {
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_TREE_BELOW]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "no more than %u members if switches are among them",
				       MAX_BELOW);
		return -EINVAL;
	}
	below = kvcalloc(cfg->members, sizeof(*below), GFP_KERNEL_ACCOUNT);
	if (!below)
		return -ENOMEM;
	cfg->below = below;
	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nla) != RDMA_INC_A_TREE_BELOW)
			continue;
		if (n < cfg->members)
			below[n] = nla_get_u16(nla);
		n++;
	}
	if (n == cfg->members)
		return 0;
	NL_SET_BAD_ATTR(info->extack, info->attrs[RDMA_INC_A_TREE_BELOW]);
	NL_SET_ERR_MSG_FMT_MOD(info->extack, "below is given for %u of %u members",
			       n, cfg->members);
	return -EINVAL;
}

/* Parse the place of the switch among others. */
static int parse_levels(const struct genl_info *info, struct inc_tree_cfg *cfg)
{
	struct nlattr **attrs = info->attrs;
	u32 own;
	int err;

	if (attrs[RDMA_INC_A_TREE_JOB_RANKS])
		cfg->job_ranks = nla_get_u16(attrs[RDMA_INC_A_TREE_JOB_RANKS]);
	if (attrs[RDMA_INC_A_TREE_FIRST_RANK])
		cfg->first_rank =
			nla_get_u16(attrs[RDMA_INC_A_TREE_FIRST_RANK]);
	err = parse_below(info, cfg);
	if (err)
		return err;
	own = cfg->below ? inc_rank_range_sum(cfg->below, cfg->members) :
			   cfg->members;
	if (cfg->first_rank && !cfg->job_ranks) {
		NL_SET_BAD_ATTR(info->extack,
				attrs[RDMA_INC_A_TREE_FIRST_RANK]);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "first-rank needs job-ranks, too");
		return -EINVAL;
	}
	if (cfg->first_rank + own > (cfg->job_ranks ?: RDMA_INC_MAX_RANKS)) {
		NL_SET_BAD_ATTR(info->extack,
				attrs[RDMA_INC_A_TREE_JOB_RANKS] ?:
					attrs[RDMA_INC_A_TREE_BELOW]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "ranks %u to %u: there are no more than %u",
				       cfg->first_rank,
				       cfg->first_rank + own - 1,
				       cfg->job_ranks ?: RDMA_INC_MAX_RANKS);
		return -EINVAL;
	}
	if (cfg->below && !cfg->job_ranks && cfg->members < 2) {
		NL_SET_BAD_ATTR(info->extack, attrs[RDMA_INC_A_TREE_BELOW]);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "a root with switches below it has two members at least");
		return -EINVAL;
	}
	return 0;
}

/* Parse settings that may change while a tree works. */
static int parse_tunables(const struct genl_info *info,
			  struct inc_tree_cfg *cfg)
{
	struct nlattr **attrs = info->attrs;
	u32 dead_time, min_rto;

	if (attrs[RDMA_INC_A_TREE_WINDOW]) {
		cfg->window = nla_get_u16(attrs[RDMA_INC_A_TREE_WINDOW]);
		cfg->window_given = true;
	}
	if (attrs[RDMA_INC_A_TREE_HOLD])
		cfg->hold = nla_get_u32(attrs[RDMA_INC_A_TREE_HOLD]);
	if (attrs[RDMA_INC_A_TREE_MIN_RTO])
		cfg->min_rto_ms = nla_get_u32(attrs[RDMA_INC_A_TREE_MIN_RTO]);
	if (attrs[RDMA_INC_A_TREE_DEAD_TIME])
		cfg->dead_time_ms =
			nla_get_u32(attrs[RDMA_INC_A_TREE_DEAD_TIME]);
	if (attrs[RDMA_INC_A_TREE_PRIORITY])
		cfg->priority = nla_get_u8(attrs[RDMA_INC_A_TREE_PRIORITY]);
	if (attrs[RDMA_INC_A_TREE_CNP_INTERVAL])
		cfg->cnp_interval_us =
			nla_get_u32(attrs[RDMA_INC_A_TREE_CNP_INTERVAL]);

	min_rto = cfg->min_rto_ms ?: RDMA_INC_DEFAULT_MIN_RTO;
	dead_time = cfg->dead_time_ms ?: RDMA_INC_DEFAULT_DEAD_TIME;
	if (min_rto >= dead_time) {
		NL_SET_BAD_ATTR(info->extack, attrs[RDMA_INC_A_TREE_MIN_RTO] ?:
				attrs[RDMA_INC_A_TREE_DEAD_TIME]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "min-rto, %u ms, has to be below dead-time, %u ms",
				       min_rto, dead_time);
		return -EINVAL;
	}
	return 0;
}

/* The tree ends with the socket that asks for it: see inc_nl_end_owned(). */
static int own_tree(struct inc_switch *sw, u32 portid, struct inc_tree_cfg *cfg)
{
	cfg->owner = portid;
	return xa_err(xa_store(&sw->owners, portid, xa_mk_value(1),
			       GFP_KERNEL_ACCOUNT));
}

static struct inc_tree *new_locked(struct inc_switch *sw,
				   const struct inc_tree_cfg *cfg,
				   struct genl_info *info, struct sk_buff *msg)
{
	struct inc_tree *tree;

	if (!inc_switch_may_have_trees(sw)) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "not permitted in a user namespace: see the module's parameter user_namespaces");
		return ERR_PTR(-EPERM);
	}
	if (cfg->id && inc_tree_find(sw, cfg->id)) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[RDMA_INC_A_TREE_ID]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "tree %u exists; without id one is chosen",
				       cfg->id);
		return ERR_PTR(-EEXIST);
	}
	tree = inc_tree_new(sw, cfg, info->extack);
	/* Cannot fail: the message is large enough for any tree. */
	if (!IS_ERR(tree))
		WARN_ON_ONCE(inc_nl_fill_tree(msg, info, 0, tree, true));
	return tree;
}

/**
 * rdma_inc_nl_tree_new_doit() - RDMA_INC_CMD_TREE_NEW
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong; -EPERM:
 * a user namespace may not have trees; -EOPNOTSUPP: something is not offered;
 * -EEXIST: the ID is taken; -EDQUOT: over a quota; -ENOBUFS: over the memory
 * limit; -EAGAIN: no room for the reply; -ENOMEM.
 */
int rdma_inc_nl_tree_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_tree_cfg cfg = { .cnp_interval_us = RDMA_INC_DEFAULT_CNP_INTERVAL };
	struct inc_tree *tree;
	struct sk_buff *msg;
	int err = 0;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_TREE_RANKS))
		return -EINVAL;
	if (info->attrs[RDMA_INC_A_TREE_ID])
		cfg.id = nla_get_u32(info->attrs[RDMA_INC_A_TREE_ID]);
	if (info->attrs[RDMA_INC_A_TREE_OWNED] &&
	    nla_get_u8(info->attrs[RDMA_INC_A_TREE_OWNED]))
		err = own_tree(sw, info->snd_portid, &cfg);
	if (err)
		return err;
	err = parse_geometry(info, &cfg) ?: parse_masks(info, &cfg) ?:
	      parse_tunables(info, &cfg) ?: parse_traffic_class(info, &cfg) ?:
	      parse_levels(info, &cfg);
	if (err)
		goto out;
	err = -ENOMEM;
	msg = genlmsg_new(tree_size(cfg.members), GFP_KERNEL);
	if (!msg)
		goto out;

	mutex_lock(&sw->lock);
	tree = new_locked(sw, &cfg, info, msg);
	err = PTR_ERR_OR_ZERO(tree);
	if (!err) {
		err = genlmsg_reply(msg, info);
		msg = NULL;
		/* Without room for the reply, nobody would learn the ID. */
		if (err)
			inc_tree_leave(tree, 0);
	}
	mutex_unlock(&sw->lock);
	nlmsg_free(msg);
out:
	kvfree(cfg.below);
	return err;
}

static bool sets_something(const struct genl_info *info)
{
	return info->attrs[RDMA_INC_A_TREE_PRIORITY] ||
	       info->attrs[RDMA_INC_A_TREE_CNP_INTERVAL] ||
	       info->attrs[RDMA_INC_A_TREE_WINDOW] ||
	       info->attrs[RDMA_INC_A_TREE_HOLD] ||
	       info->attrs[RDMA_INC_A_TREE_MIN_RTO] ||
	       info->attrs[RDMA_INC_A_TREE_DEAD_TIME];
}

static int set_locked(struct inc_switch *sw, const struct genl_info *info)
{
	struct inc_tree_cfg cfg;
	struct inc_tree *tree;
	int err;

	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_TREE_ID);
	if (IS_ERR(tree))
		return PTR_ERR(tree);
	cfg = tree->cfg;
	err = parse_tunables(info, &cfg);
	if (!err && cfg.hold > tree->cfg.hold)
		err = inc_quota_check_hold(sw, &cfg, tree->below, info->extack);
	return err ? err : inc_tree_set(tree, &cfg, info->extack);
}

/**
 * rdma_inc_nl_tree_set_doit() - RDMA_INC_CMD_TREE_SET
 * @skb: request
 * @info: parsed
 *
 * Return: 0; -EINVAL: nothing to change, or a wrong value; -ENOENT: no such
 * tree; -EDQUOT: over a quota; -ENOBUFS: over the memory limit; -ENOMEM.
 */
int rdma_inc_nl_tree_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_TREE_ID))
		return -EINVAL;
	if (!sets_something(info)) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "nothing to change: give window, hold, min-rto or dead-time");
		return -EINVAL;
	}

	mutex_lock(&sw->lock);
	err = set_locked(sw, info);
	mutex_unlock(&sw->lock);
	return err;
}

/**
 * rdma_inc_nl_tree_del_doit() - RDMA_INC_CMD_TREE_DEL
 * @skb: request
 * @info: parsed
 *
 * The tree is unpublished then, and its ID is free. RDMA_INC_CMD_TREE_DEL_NTF
 * follows when its members know and its memory is released.
 *
 * Return: 0; -EINVAL: the ID is missing; -ENOENT: no such tree.
 */
int rdma_inc_nl_tree_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_tree *tree;

	mutex_lock(&sw->lock);
	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_TREE_ID);
	if (!IS_ERR(tree))
		inc_tree_leave(tree, tree->cfg.dead_time_ms);
	mutex_unlock(&sw->lock);
	return PTR_ERR_OR_ZERO(tree);
}

/**
 * inc_nl_end_owned() - delete the trees of a netlink socket that is gone
 * @sw: switch
 * @portid: the socket's port ID, not 0
 *
 * Sockets of all families of generic netlink come here, of any user. Only users
 * with trees of their own wait for others, and keep others waiting.
 *
 * Context: process; may sleep; takes sw->lock.
 */
void inc_nl_end_owned(struct inc_switch *sw, u32 portid)
{
	struct inc_tree *tree;
	unsigned long id;

	if (!xa_load(&sw->owners, portid))
		return;
	xa_erase(&sw->owners, portid);
	mutex_lock(&sw->lock);
	xa_for_each(&sw->trees, id, tree)
		if (tree->cfg.owner == portid)
			inc_tree_leave(tree, tree->cfg.dead_time_ms);
	mutex_unlock(&sw->lock);
}

/**
 * rdma_inc_nl_tree_get_doit() - RDMA_INC_CMD_TREE_GET for one tree
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: the ID is missing; -ENOENT: no such
 * tree; -ENOMEM.
 */
int rdma_inc_nl_tree_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_tree *tree;
	struct sk_buff *msg;
	int err;

	msg = genlmsg_new(tree_size(RDMA_INC_MAX_RANKS), GFP_KERNEL);
	if (!msg)
		return -ENOMEM;

	mutex_lock(&sw->lock);
	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_TREE_ID);
	err = IS_ERR(tree) ? PTR_ERR(tree) :
	      inc_nl_fill_tree(msg, info, 0, tree, true);
	mutex_unlock(&sw->lock);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

static int dump_tree(struct sk_buff *skb, struct netlink_callback *cb,
		     struct inc_tree *tree, struct inc_nl_dump *d)
{
	return inc_nl_fill_tree(skb, genl_info_dump(cb), NLM_F_MULTI, tree,
				true);
}

/**
 * rdma_inc_nl_tree_get_dumpit() - RDMA_INC_CMD_TREE_GET for all trees
 * @skb: message
 * @cb: dump
 *
 * Return: bytes in @skb, 0 at the end, or -errno.
 */
int rdma_inc_nl_tree_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return inc_nl_dump_trees(skb, cb, dump_tree);
}
