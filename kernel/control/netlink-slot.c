// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rdma-inc": reading slots.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <uapi/linux/rdma_inc.h>

#include "control/netlink-gen.h"
#include "control/netlink.h"
#include "object/snapshot.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

/*
 * Any user may dump slots: limit on the ranks read under one hold of the lock.
 */
#define RANKS_PER_LOCK		4096

/* Size of a slot's message when all ranks are missing. */
#define SLOT_MSG_SIZE(ranks)	(256 + (ranks) * 2 * nla_total_size(sizeof(u16)))

static int put_missing(struct sk_buff *skb, const struct inc_slot_snapshot *v)
{
	u16 rank;

	for (rank = 0; rank < v->members; rank++) {
		if (inc_slot_snapshot_missing(v, rank) &&
		    nla_put_u16(skb, RDMA_INC_A_SLOT_MISSING, rank))
			return -EMSGSIZE;
	}
	for (rank = 0; rank < v->members; rank++) {
		u16 got = v->got[rank];

		if (inc_slot_snapshot_missing(v, rank) &&
		    nla_put_u16(skb, RDMA_INC_A_SLOT_MISSING_CHUNKS,
				got ? got - 1 : 0))
			return -EMSGSIZE;
	}
	return 0;
}

static int fill_slot(struct sk_buff *skb, const struct genl_info *info,
		     int flags, const struct inc_tree *tree,
		     const struct inc_slot_snapshot *v)
{
	void *hdr;

	hdr = __genlmsg_iput(skb, info, flags);
	if (!hdr)
		return -EMSGSIZE;

	if (nla_put_u32(skb, RDMA_INC_A_SLOT_TREE_ID, tree->cfg.id) ||
	    nla_put_u32(skb, RDMA_INC_A_SLOT_EPOCH, tree->epoch) ||
	    nla_put_u16(skb, RDMA_INC_A_SLOT_INDEX, v->index) ||
	    nla_put_u8(skb, RDMA_INC_A_SLOT_STATE, v->state) ||
	    nla_put_u32(skb, RDMA_INC_A_SLOT_MSG_ID, v->msg.msg_id))
		goto err_cancel;

	/* An idle slot knows only which message it expects. */
	if (v->state != RDMA_INC_SLOT_STATE_IDLE &&
	    (nla_put_u8(skb, RDMA_INC_A_SLOT_COLLECTIVE, v->msg.collective) ||
	     nla_put_u8(skb, RDMA_INC_A_SLOT_DTYPE, v->msg.dtype) ||
	     nla_put_u8(skb, RDMA_INC_A_SLOT_OP, v->msg.op) ||
	     nla_put_u8(skb, RDMA_INC_A_SLOT_STATUS, v->status) ||
	     nla_put_u32(skb, RDMA_INC_A_SLOT_NELEM, v->msg.nelem) ||
	     nla_put_u16(skb, RDMA_INC_A_SLOT_CHUNKS, v->msg.nchunks) ||
	     nla_put_u16(skb, RDMA_INC_A_SLOT_CHUNKS_DONE, v->ready) ||
	     nla_put_u32(skb, RDMA_INC_A_SLOT_AGE, v->age_ms) ||
	     put_missing(skb, v)))
		goto err_cancel;
	if (v->waits_parent &&
	    nla_put_u32(skb, RDMA_INC_A_SLOT_PARENT_AGE, v->parent_ms))
		goto err_cancel;
	if (v->state == RDMA_INC_SLOT_STATE_FAILED &&
	    inc_nl_put_wrong(skb, v->wrong, v->unlike))
		goto err_cancel;

	genlmsg_end(skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* Under inc_switch.lock. */
static int get_locked(struct inc_switch *sw, const struct genl_info *info,
		      struct sk_buff *msg, struct inc_slot_snapshot *v)
{
	struct inc_tree *tree;
	u16 index;

	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_SLOT_TREE_ID);
	if (IS_ERR(tree))
		return PTR_ERR(tree);
	index = nla_get_u16(info->attrs[RDMA_INC_A_SLOT_INDEX]);
	if (index >= tree->cfg.slots) {
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_SLOT_INDEX]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "slot %u: tree %u has slots 0 to %u",
				       index, tree->cfg.id,
				       tree->cfg.slots - 1);
		return -EINVAL;
	}
	inc_slot_snapshot_get(tree, array_index_nospec(index, tree->cfg.slots),
			      v);
	return fill_slot(msg, info, 0, tree, v);
}

/**
 * rdma_inc_nl_slot_get_doit() - RDMA_INC_CMD_SLOT_GET for one slot
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong;
 * -ENOENT: no such tree; -ENOMEM.
 */
int rdma_inc_nl_slot_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_slot_snapshot *v;
	struct sk_buff *msg;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_SLOT_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_SLOT_INDEX))
		return -EINVAL;

	v = inc_slot_snapshot_alloc(RDMA_INC_MAX_RANKS);
	if (!v)
		return -ENOMEM;
	msg = genlmsg_new(SLOT_MSG_SIZE(RDMA_INC_MAX_RANKS), GFP_KERNEL);
	if (!msg) {
		kfree(v);
		return -ENOMEM;
	}

	mutex_lock(&sw->lock);
	err = get_locked(sw, info, msg, v);
	mutex_unlock(&sw->lock);
	kfree(v);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

/**
 * rdma_inc_nl_slot_get_dump_start() - prepare a dump of slots
 * @cb: dump
 *
 * Return: 0 or -ENOMEM.
 */
int rdma_inc_nl_slot_get_dump_start(struct netlink_callback *cb)
{
	struct inc_nl_dump *d = (struct inc_nl_dump *)cb->ctx;

	cb->min_dump_alloc = SLOT_MSG_SIZE(RDMA_INC_MAX_RANKS);
	d->scratch = inc_slot_snapshot_alloc(RDMA_INC_MAX_RANKS);
	return d->scratch ? 0 : -ENOMEM;
}

/**
 * rdma_inc_nl_slot_get_dump_done() - clean up after a dump of slots
 * @cb: dump
 *
 * Return: 0.
 */
int rdma_inc_nl_slot_get_dump_done(struct netlink_callback *cb)
{
	struct inc_nl_dump *d = (struct inc_nl_dump *)cb->ctx;

	kfree(d->scratch);
	return 0;
}

static int dump_slots(struct sk_buff *skb, struct netlink_callback *cb,
		      struct inc_tree *tree, struct inc_nl_dump *d)
{
	u32 left = max(RANKS_PER_LOCK / tree->cfg.members, 1);
	struct inc_slot_snapshot *v = d->scratch;

	for (; d->next < tree->cfg.slots; d->next++) {
		int err;

		if (!left--)
			return -EAGAIN;
		inc_slot_snapshot_get(tree, d->next, v);
		if (!v->used)
			continue;
		err = fill_slot(skb, genl_info_dump(cb), NLM_F_MULTI, tree, v);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rdma_inc_nl_slot_get_dumpit() - RDMA_INC_CMD_SLOT_GET for all slots that were used
 * @skb: message
 * @cb: dump
 *
 * Return: bytes in @skb, 0 at the end, or -errno.
 */
int rdma_inc_nl_slot_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return inc_nl_dump_trees(skb, cb, dump_slots);
}
