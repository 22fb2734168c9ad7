// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rdma-inc": messages about trees and members, and events to
 * listeners.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <uapi/linux/rdma_inc.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "object/blame.h"
#include "object/qp.h"
#include "object/snapshot.h"
#include "object/stats.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

/* Events may still occur when the family is already gone. */
static const struct genl_family *family;

/**
 * inc_nl_set_family() - enable or disable events
 * @f: the family, registered; or NULL
 *
 * Context: process.
 */
void inc_nl_set_family(const struct genl_family *f)
{
	WRITE_ONCE(family, f);
}

/**
 * inc_nl_put_stats() - append counters as a nest
 * @skb: message
 * @attr: attribute of the nest
 * @sum: counters, by attribute
 * @max: last attribute
 *
 * Return: 0 or -EMSGSIZE.
 */
int inc_nl_put_stats(struct sk_buff *skb, int attr, const u64 *sum, int max)
{
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= max; i++) {
		if (nla_put_uint(skb, i, sum[i])) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_tree_cfg(struct sk_buff *skb, const struct inc_tree_cfg *cfg)
{
	if (nla_put_u16(skb, RDMA_INC_A_TREE_SLOTS, cfg->slots) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_MSG_SIZE, cfg->msg_size) ||
	    nla_put_u16(skb, RDMA_INC_A_TREE_PMTU, cfg->pmtu) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_FIRST_MSG_ID, cfg->first_msg_id) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_COLLECTIVES, cfg->collectives) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_DTYPES, cfg->dtypes) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_OPS, cfg->ops) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_ORDER, cfg->order) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_TRAFFIC_CLASS,
		       cfg->traffic_class) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_ECN, cfg->ecn) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_PRIORITY,
		       READ_ONCE(cfg->priority)) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_CNP_INTERVAL,
			READ_ONCE(cfg->cnp_interval_us)) ||
	    nla_put_u16(skb, RDMA_INC_A_TREE_WINDOW, READ_ONCE(cfg->window)) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_HOLD, READ_ONCE(cfg->hold)) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_MIN_RTO,
			READ_ONCE(cfg->min_rto_ms)) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_DEAD_TIME,
			READ_ONCE(cfg->dead_time_ms)))
		return -EMSGSIZE;
	return 0;
}

/* Put its place among the switches of the job, and its owner. */
static int put_levels(struct sk_buff *skb, const struct inc_tree *tree)
{
	u16 i;

	if (tree->geom.child &&
	    (nla_put_u16(skb, RDMA_INC_A_TREE_JOB_RANKS, tree->cfg.job_ranks) ||
	     nla_put_u16(skb, RDMA_INC_A_TREE_FIRST_RANK,
			 tree->cfg.first_rank)))
		return -EMSGSIZE;
	for (i = 0; tree->below && i < tree->cfg.members; i++)
		if (nla_put_u16(skb, RDMA_INC_A_TREE_BELOW, tree->below[i]))
			return -EMSGSIZE;
	return nla_put_u8(skb, RDMA_INC_A_TREE_OWNED, !!tree->cfg.owner);
}

static int put_tree_stats(struct sk_buff *skb, struct inc_tree *tree)
{
	u64 member_sum[INC_STATS_MAX] = {};
	u64 tree_sum[INC_STATS_MAX] = {};

	inc_tree_stats(tree, tree_sum, member_sum);
	return nla_put_uint(skb, RDMA_INC_A_TREE_HELD,
			    inc_tree_held(tree)) ?:
	       inc_nl_put_stats(skb, RDMA_INC_A_TREE_STATS, tree_sum,
				RDMA_INC_A_TREE_STATS_MAX) ?:
	       inc_nl_put_stats(skb, RDMA_INC_A_TREE_MEMBER_STATS, member_sum,
				RDMA_INC_A_MEMBER_STATS_MAX);
}

/**
 * inc_nl_fill_tree() - append a message about a tree
 * @skb: message to append to
 * @info: request, or from genl_info_init_ntf()
 * @flags: of the message
 * @tree: tree
 * @stats: with counters; inc_switch.lock is held then
 *
 * Return: 0 or -EMSGSIZE.
 */
int inc_nl_fill_tree(struct sk_buff *skb, const struct genl_info *info,
		     int flags, struct inc_tree *tree, bool stats)
{
	void *hdr;

	hdr = __genlmsg_iput(skb, info, flags);
	if (!hdr)
		return -EMSGSIZE;

	if (nla_put_u32(skb, RDMA_INC_A_TREE_ID, tree->cfg.id) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_ROLE,
		       tree->geom.child ? RDMA_INC_ROLE_CHILD :
					 RDMA_INC_ROLE_ROOT) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_STATE, READ_ONCE(tree->state)) ||
	    nla_put_u8(skb, RDMA_INC_A_TREE_ERROR, READ_ONCE(tree->error)) ||
	    nla_put_u16(skb, RDMA_INC_A_TREE_RANKS, tree->cfg.members) ||
	    nla_put_u16(skb, RDMA_INC_A_TREE_MEMBERS,
			READ_ONCE(tree->nmembers)) ||
	    put_tree_cfg(skb, &tree->cfg) ||
	    nla_put_uint(skb, RDMA_INC_A_TREE_MEMORY, tree->mem.charged) ||
	    nla_put_u32(skb, RDMA_INC_A_TREE_EPOCH, tree->epoch) ||
	    (stats && (put_levels(skb, tree) || put_tree_stats(skb, tree)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int put_addr(struct sk_buff *skb, int attr, const struct inc_qp *qp,
		    const struct in6_addr *addr)
{
	if (qp->cfg.family == AF_INET)
		return nla_put_in_addr(skb, attr, addr->s6_addr32[3]);
	return nla_put_in6_addr(skb, attr, addr);
}

static int put_peer(struct sk_buff *skb, const struct inc_qp *qp)
{
	/* A QP has no peer before it is connected. */
	if (!qp->cfg.family)
		return 0;
	if (put_addr(skb, RDMA_INC_A_MEMBER_PEER_ADDR, qp, &qp->cfg.peer) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_PEER_QPN, qp->cfg.peer_qpn) ||
	    put_addr(skb, RDMA_INC_A_MEMBER_LOCAL_ADDR, qp, &qp->cfg.local) ||
	    nla_put_u16(skb, RDMA_INC_A_MEMBER_PKEY, qp->cfg.pkey))
		return -EMSGSIZE;
	return qp->uplink ? nla_put_u32(skb, RDMA_INC_A_MEMBER_PEER_TREE_ID,
					qp->cfg.peer_tree_id) : 0;
}

static int put_member_cfg(struct sk_buff *skb, const struct inc_qp *qp)
{
	const struct inc_tree_cfg *tree = &qp->tree->cfg;

	if (nla_put_u32(skb, RDMA_INC_A_MEMBER_TREE_ID, tree->id) ||
	    (!qp->uplink &&
	     nla_put_u16(skb, RDMA_INC_A_MEMBER_RANK, qp->cfg.index)) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_QPN, qp->qpn) ||
	    put_peer(skb, qp) ||
	    nla_put_u16(skb, RDMA_INC_A_MEMBER_SLOTS, tree->slots) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_MSG_SIZE, tree->msg_size) ||
	    nla_put_u16(skb, RDMA_INC_A_MEMBER_PMTU, tree->pmtu) ||
	    nla_put_u8(skb, RDMA_INC_A_MEMBER_TRANSPORT, qp->cfg.transport))
		return -EMSGSIZE;
	return qp->cfg.ifindex ? nla_put_u32(skb, RDMA_INC_A_MEMBER_IFINDEX,
					     qp->cfg.ifindex) : 0;
}

/* Anyone who knows these can write to the member's slots in its name. */
static int put_member_secrets(struct sk_buff *skb, const struct inc_qp *qp,
			      const struct inc_qp_snapshot *v)
{
	if (nla_put_u32(skb, RDMA_INC_A_MEMBER_PSN, qp->cfg.psn) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_TX_PSN, v->next) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_RX_PSN, v->epsn) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_RKEY, qp->rx.responder.rkey) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_PEER_PSN, qp->cfg.peer_psn))
		return -EMSGSIZE;
	return qp->uplink ? nla_put_u32(skb, RDMA_INC_A_MEMBER_PEER_RKEY,
					qp->cfg.peer_rkey) : 0;
}

static int put_member_state(struct sk_buff *skb,
			    const struct inc_qp_snapshot *v)
{
	if (nla_put_u8(skb, RDMA_INC_A_MEMBER_STATE, v->state) ||
	    nla_put_u8(skb, RDMA_INC_A_MEMBER_ERROR, v->error) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_NEXT_MSG_ID, v->next_msg_id) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_TX_IN_FLIGHT, v->pending) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_HELD, v->held) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_SRTT, v->srtt) ||
	    nla_put_u32(skb, RDMA_INC_A_MEMBER_LAST_RX, v->last_rx_ms))
		return -EMSGSIZE;
	return 0;
}

static int put_member_stats(struct sk_buff *skb, struct inc_qp *qp)
{
	u64 sum[INC_STATS_MAX] = {};

	inc_qp_stats_sum(qp, sum);
	return inc_nl_put_stats(skb, RDMA_INC_A_MEMBER_STATS, sum,
				RDMA_INC_A_MEMBER_STATS_MAX);
}

/**
 * inc_nl_put_made() - append a new member to a message about several
 * @skb: message to append to
 * @attr: attribute that it is nested in
 * @qp: its QP
 *
 * Context: process, inc_switch.lock held.
 * Return: 0 or -EMSGSIZE.
 */
int inc_nl_put_made(struct sk_buff *skb, int attr, struct inc_qp *qp)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	struct inc_qp_snapshot v;

	inc_qp_snapshot_get(qp, &v);
	if (!nest || put_member_cfg(skb, qp) || put_member_state(skb, &v) ||
	    put_member_secrets(skb, qp, &v))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * inc_nl_fill_member() - append a message about a member
 * @skb: message to append to
 * @info: request, or from genl_info_init_ntf()
 * @flags: of the message
 * @qp: its QP
 *
 * Events have no counters, R_Keys or PSNs: listeners must not learn these.
 *
 * Return: 0 or -EMSGSIZE.
 */
int inc_nl_fill_member(struct sk_buff *skb, const struct genl_info *info,
		       int flags, struct inc_qp *qp)
{
	struct inc_qp_snapshot v;
	void *hdr;

	hdr = __genlmsg_iput(skb, info, flags);
	if (!hdr)
		return -EMSGSIZE;

	inc_qp_snapshot_get(qp, &v);
	if (put_member_cfg(skb, qp) ||
	    put_member_state(skb, &v) ||
	    (!genl_info_is_ntf(info) && (put_member_secrets(skb, qp, &v) ||
					 put_member_stats(skb, qp)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * inc_nl_put_wrong() - append the rank whose request made a message fail
 * @skb: message
 * @wrong: rank, or INC_SLOT_NOBODY
 * @unlike: rank that it disagrees with, or INC_SLOT_NOBODY
 *
 * Return: 0 or -EMSGSIZE.
 */
int inc_nl_put_wrong(struct sk_buff *skb, u16 wrong, u16 unlike)
{
	if ((wrong != INC_SLOT_NOBODY &&
	     nla_put_u16(skb, RDMA_INC_A_SLOT_WRONG_RANK, wrong)) ||
	    (unlike != INC_SLOT_NOBODY &&
	     nla_put_u16(skb, RDMA_INC_A_SLOT_UNLIKE_RANK, unlike)))
		return -EMSGSIZE;
	return 0;
}

/* Fill a netlink message about a message that failed. */
static int fill_blamed(struct sk_buff *skb, const struct genl_info *info,
		       const struct inc_tree *tree, const struct inc_blamed *b)
{
	void *hdr;

	hdr = __genlmsg_iput(skb, info, 0);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RDMA_INC_A_SLOT_TREE_ID, tree->cfg.id) ||
	    nla_put_u32(skb, RDMA_INC_A_SLOT_EPOCH, tree->epoch) ||
	    nla_put_u16(skb, RDMA_INC_A_SLOT_INDEX, b->slot) ||
	    nla_put_u8(skb, RDMA_INC_A_SLOT_STATE,
		       RDMA_INC_SLOT_STATE_FAILED) ||
	    nla_put_u32(skb, RDMA_INC_A_SLOT_MSG_ID, b->msg_id) ||
	    nla_put_u8(skb, RDMA_INC_A_SLOT_STATUS, b->status) ||
	    inc_nl_put_wrong(skb, b->wrong, b->unlike)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static struct sk_buff *event_new(struct net *net, struct genl_info *info, u8 cmd,
				 gfp_t gfp)
{
	const struct genl_family *f = READ_ONCE(family);

	if (!f || !genl_has_listeners(f, net, INC_NL_EVENTS))
		return NULL;
	genl_info_init_ntf(info, f, cmd);
	return genlmsg_new(GENLMSG_DEFAULT_SIZE, gfp);
}

static void event_send(struct net *net, const struct genl_info *info,
		       struct sk_buff *msg, int err, gfp_t gfp)
{
	if (err)
		nlmsg_free(msg);
	else
		genlmsg_multicast_netns(info->family, net, msg, 0,
					INC_NL_EVENTS, gfp);
}

/**
 * inc_nl_notify_tree() - send an event about a tree
 * @tree: tree; the caller keeps it from being freed
 * @cmd: RDMA_INC_CMD_TREE_*_NTF
 *
 * Context: process; may sleep. inc_switch.lock may be held or not.
 */
void inc_nl_notify_tree(struct inc_tree *tree, u8 cmd)
{
	struct net *net = tree->sw->net;
	struct genl_info info;
	struct sk_buff *msg;

	msg = event_new(net, &info, cmd, GFP_KERNEL);
	if (msg)
		event_send(net, &info, msg,
			   inc_nl_fill_tree(msg, &info, 0, tree, false),
			   GFP_KERNEL);
}

static void notify_member(struct inc_qp *qp, u8 cmd, gfp_t gfp)
{
	struct net *net = qp->sw->net;
	struct genl_info info;
	struct sk_buff *msg;

	msg = event_new(net, &info, cmd, gfp);
	if (msg)
		event_send(net, &info, msg,
			   inc_nl_fill_member(msg, &info, 0, qp), gfp);
}

/**
 * inc_nl_notify_member() - send an event about a member
 * @qp: its QP; the caller keeps it from being freed
 * @cmd: RDMA_INC_CMD_MEMBER_*_NTF
 *
 * Context: process; may sleep. inc_switch.lock may be held or not; no lock of
 * the QP is held.
 */
void inc_nl_notify_member(struct inc_qp *qp, u8 cmd)
{
	notify_member(qp, cmd, GFP_KERNEL);
}

/**
 * inc_nl_notify_silent() - send an event about a member that has fallen silent
 * @qp: its QP
 *
 * Context: softirq, RCU read side, or the QP's timer; no lock of the QP is held.
 */
void inc_nl_notify_silent(struct inc_qp *qp)
{
	notify_member(qp, RDMA_INC_CMD_MEMBER_SILENT_NTF, GFP_ATOMIC);
}

/**
 * inc_nl_notify_blamed() - send an event about a rank that made a message fail
 * @tree: tree; the caller keeps it from being freed
 * @b: rank and message
 *
 * Context: process; may sleep.
 */
void inc_nl_notify_blamed(struct inc_tree *tree, const struct inc_blamed *b)
{
	struct net *net = tree->sw->net;
	struct genl_info info;
	struct sk_buff *msg;

	msg = event_new(net, &info, RDMA_INC_CMD_SLOT_FAILED_NTF, GFP_KERNEL);
	if (msg)
		event_send(net, &info, msg, fill_blamed(msg, &info, tree, b),
			   GFP_KERNEL);
}
