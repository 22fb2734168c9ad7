/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rdma-inc.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: selftests/style/ynl-regen.sh */

#ifndef _LINUX_RDMA_INC_GEN_H
#define _LINUX_RDMA_INC_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rdma_inc.h>

/* Common nested types */
extern const struct nla_policy rdma_inc_new_member_nl_policy[RDMA_INC_A_MEMBER_PEER_PSN + 1];

int rdma_inc_nl_slot_get_dump_start(struct netlink_callback *cb);
int rdma_inc_nl_slot_get_dump_done(struct netlink_callback *cb);

int rdma_inc_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_switch_set_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_tree_get_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_tree_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int rdma_inc_nl_tree_new_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_tree_set_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_tree_del_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_member_get_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_member_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int rdma_inc_nl_member_new_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_member_del_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_parent_get_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_parent_set_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_slot_get_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_slot_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int rdma_inc_nl_member_set_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_inc_nl_members_new_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	RDMA_INC_NLGRP_EVENTS,
};

extern struct genl_family rdma_inc_nl_family;

#endif /* _LINUX_RDMA_INC_GEN_H */
