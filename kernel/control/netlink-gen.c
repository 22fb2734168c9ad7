// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rdma-inc.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: selftests/style/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/linux/rdma_inc.h>

/* Integer value ranges */
static const struct netlink_range_validation rdma_inc_a_tree_msg_size_range = {
	.min	= 64ULL,
	.max	= RDMA_INC_MAX_MSG_SIZE,
};

static const struct netlink_range_validation rdma_inc_a_tree_hold_range = {
	.min	= 65536ULL,
	.max	= 1073741824ULL,
};

static const struct netlink_range_validation rdma_inc_a_tree_dead_time_range = {
	.min	= 10ULL,
	.max	= 60000ULL,
};

static const struct netlink_range_validation rdma_inc_a_tree_cnp_interval_range = {
	.max	= 1000000ULL,
};

static const struct netlink_range_validation rdma_inc_a_member_qpn_range = {
	.min	= 8388608ULL,
	.max	= 12582911ULL,
};

static const struct netlink_range_validation rdma_inc_a_member_psn_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation rdma_inc_a_member_ifindex_range = {
	.min	= 1ULL,
	.max	= 2147483647ULL,
};

static const struct netlink_range_validation rdma_inc_a_member_peer_qpn_range = {
	.min	= 2ULL,
	.max	= 16777214ULL,
};

static const struct netlink_range_validation rdma_inc_a_member_peer_psn_range = {
	.max	= 16777215ULL,
};

/* Common nested types */
const struct nla_policy rdma_inc_new_member_nl_policy[RDMA_INC_A_MEMBER_PEER_PSN + 1] = {
	[RDMA_INC_A_MEMBER_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
	[RDMA_INC_A_MEMBER_TRANSPORT] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_INC_A_MEMBER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_qpn_range),
	[RDMA_INC_A_MEMBER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_psn_range),
	[RDMA_INC_A_MEMBER_PKEY] = { .type = NLA_U16, },
	[RDMA_INC_A_MEMBER_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_ifindex_range),
	[RDMA_INC_A_MEMBER_PEER_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_qpn_range),
	[RDMA_INC_A_MEMBER_PEER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_psn_range),
};

/* RDMA_INC_CMD_SWITCH_SET - do */
static const struct nla_policy rdma_inc_switch_set_nl_policy[RDMA_INC_A_SWITCH_MAX_TREE_HOLD + 1] = {
	[RDMA_INC_A_SWITCH_MAX_TREES] = { .type = NLA_U32, },
	[RDMA_INC_A_SWITCH_MAX_RANKS] = { .type = NLA_U16, },
	[RDMA_INC_A_SWITCH_MAX_SLOTS] = { .type = NLA_U16, },
	[RDMA_INC_A_SWITCH_MAX_TREE_MEMORY] = { .type = NLA_UINT, },
	[RDMA_INC_A_SWITCH_MEMORY_LIMIT] = { .type = NLA_UINT, },
	[RDMA_INC_A_SWITCH_MAX_TREE_HOLD] = { .type = NLA_UINT, },
};

/* RDMA_INC_CMD_TREE_GET - do */
static const struct nla_policy rdma_inc_tree_get_nl_policy[RDMA_INC_A_TREE_ID + 1] = {
	[RDMA_INC_A_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RDMA_INC_CMD_TREE_NEW - do */
static const struct nla_policy rdma_inc_tree_new_nl_policy[RDMA_INC_A_TREE_CNP_INTERVAL + 1] = {
	[RDMA_INC_A_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_TREE_OWNED] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_INC_A_TREE_RANKS] = NLA_POLICY_RANGE(NLA_U16, 1, RDMA_INC_MAX_RANKS),
	[RDMA_INC_A_TREE_JOB_RANKS] = NLA_POLICY_RANGE(NLA_U16, 1, RDMA_INC_MAX_RANKS),
	[RDMA_INC_A_TREE_FIRST_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
	[RDMA_INC_A_TREE_BELOW] = NLA_POLICY_MAX(NLA_U16, RDMA_INC_MAX_RANKS),
	[RDMA_INC_A_TREE_SLOTS] = NLA_POLICY_RANGE(NLA_U16, 1, RDMA_INC_MAX_SLOTS),
	[RDMA_INC_A_TREE_MSG_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_msg_size_range),
	[RDMA_INC_A_TREE_PMTU] = NLA_POLICY_RANGE(NLA_U16, 256, 4096),
	[RDMA_INC_A_TREE_FIRST_MSG_ID] = { .type = NLA_U32, },
	[RDMA_INC_A_TREE_COLLECTIVES] = { .type = NLA_U32, },
	[RDMA_INC_A_TREE_DTYPES] = { .type = NLA_U32, },
	[RDMA_INC_A_TREE_OPS] = { .type = NLA_U32, },
	[RDMA_INC_A_TREE_ORDER] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_INC_A_TREE_TRAFFIC_CLASS] = { .type = NLA_U8, },
	[RDMA_INC_A_TREE_ECN] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_INC_A_TREE_PRIORITY] = NLA_POLICY_MAX(NLA_U8, 15),
	[RDMA_INC_A_TREE_CNP_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_cnp_interval_range),
	[RDMA_INC_A_TREE_WINDOW] = NLA_POLICY_RANGE(NLA_U16, 1, 256),
	[RDMA_INC_A_TREE_HOLD] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_hold_range),
	[RDMA_INC_A_TREE_MIN_RTO] = NLA_POLICY_RANGE(NLA_U32, 1, 10000),
	[RDMA_INC_A_TREE_DEAD_TIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_dead_time_range),
};

/* RDMA_INC_CMD_TREE_SET - do */
static const struct nla_policy rdma_inc_tree_set_nl_policy[RDMA_INC_A_TREE_CNP_INTERVAL + 1] = {
	[RDMA_INC_A_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_TREE_PRIORITY] = NLA_POLICY_MAX(NLA_U8, 15),
	[RDMA_INC_A_TREE_CNP_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_cnp_interval_range),
	[RDMA_INC_A_TREE_WINDOW] = NLA_POLICY_RANGE(NLA_U16, 1, 256),
	[RDMA_INC_A_TREE_HOLD] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_hold_range),
	[RDMA_INC_A_TREE_MIN_RTO] = NLA_POLICY_RANGE(NLA_U32, 1, 10000),
	[RDMA_INC_A_TREE_DEAD_TIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_tree_dead_time_range),
};

/* RDMA_INC_CMD_TREE_DEL - do */
static const struct nla_policy rdma_inc_tree_del_nl_policy[RDMA_INC_A_TREE_ID + 1] = {
	[RDMA_INC_A_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RDMA_INC_CMD_MEMBER_GET - do */
static const struct nla_policy rdma_inc_member_get_do_nl_policy[RDMA_INC_A_MEMBER_RANK + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
};

/* RDMA_INC_CMD_MEMBER_GET - dump */
static const struct nla_policy rdma_inc_member_get_dump_nl_policy[RDMA_INC_A_MEMBER_TREE_ID + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RDMA_INC_CMD_MEMBER_NEW - do */
static const struct nla_policy rdma_inc_member_new_nl_policy[RDMA_INC_A_MEMBER_PEER_PSN + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
	[RDMA_INC_A_MEMBER_TRANSPORT] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_INC_A_MEMBER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_qpn_range),
	[RDMA_INC_A_MEMBER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_psn_range),
	[RDMA_INC_A_MEMBER_PKEY] = { .type = NLA_U16, },
	[RDMA_INC_A_MEMBER_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_ifindex_range),
	[RDMA_INC_A_MEMBER_PEER_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_qpn_range),
	[RDMA_INC_A_MEMBER_PEER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_psn_range),
};

/* RDMA_INC_CMD_MEMBER_DEL - do */
static const struct nla_policy rdma_inc_member_del_nl_policy[RDMA_INC_A_MEMBER_RANK + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
};

/* RDMA_INC_CMD_PARENT_GET - do */
static const struct nla_policy rdma_inc_parent_get_nl_policy[RDMA_INC_A_MEMBER_TREE_ID + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RDMA_INC_CMD_PARENT_SET - do */
static const struct nla_policy rdma_inc_parent_set_nl_policy[RDMA_INC_A_MEMBER_PEER_RKEY + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_PKEY] = { .type = NLA_U16, },
	[RDMA_INC_A_MEMBER_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_qpn_range),
	[RDMA_INC_A_MEMBER_PEER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_psn_range),
	[RDMA_INC_A_MEMBER_PEER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_PEER_RKEY] = { .type = NLA_U32, },
};

/* RDMA_INC_CMD_SLOT_GET - do */
static const struct nla_policy rdma_inc_slot_get_do_nl_policy[RDMA_INC_A_SLOT_INDEX + 1] = {
	[RDMA_INC_A_SLOT_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_SLOT_INDEX] = { .type = NLA_U16, },
};

/* RDMA_INC_CMD_SLOT_GET - dump */
static const struct nla_policy rdma_inc_slot_get_dump_nl_policy[RDMA_INC_A_SLOT_TREE_ID + 1] = {
	[RDMA_INC_A_SLOT_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* RDMA_INC_CMD_MEMBER_SET - do */
static const struct nla_policy rdma_inc_member_set_nl_policy[RDMA_INC_A_MEMBER_PEER_PSN + 1] = {
	[RDMA_INC_A_MEMBER_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBER_RANK] = NLA_POLICY_MAX(NLA_U16, 1023),
	[RDMA_INC_A_MEMBER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_psn_range),
	[RDMA_INC_A_MEMBER_PKEY] = { .type = NLA_U16, },
	[RDMA_INC_A_MEMBER_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_ADDR] = NLA_POLICY_MIN_LEN(4),
	[RDMA_INC_A_MEMBER_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_qpn_range),
	[RDMA_INC_A_MEMBER_PEER_PSN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_inc_a_member_peer_psn_range),
};

/* RDMA_INC_CMD_MEMBERS_NEW - do */
static const struct nla_policy rdma_inc_members_new_nl_policy[RDMA_INC_A_MEMBERS_MEMBER + 1] = {
	[RDMA_INC_A_MEMBERS_TREE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_INC_A_MEMBERS_MEMBER] = NLA_POLICY_NESTED(rdma_inc_new_member_nl_policy),
};

/* Ops table for rdma_inc */
static const struct genl_split_ops rdma_inc_nl_ops[] = {
	{
		.cmd	= RDMA_INC_CMD_SWITCH_GET,
		.doit	= rdma_inc_nl_switch_get_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_SWITCH_SET,
		.doit		= rdma_inc_nl_switch_set_doit,
		.policy		= rdma_inc_switch_set_nl_policy,
		.maxattr	= RDMA_INC_A_SWITCH_MAX_TREE_HOLD,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_TREE_GET,
		.doit		= rdma_inc_nl_tree_get_doit,
		.policy		= rdma_inc_tree_get_nl_policy,
		.maxattr	= RDMA_INC_A_TREE_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= RDMA_INC_CMD_TREE_GET,
		.dumpit	= rdma_inc_nl_tree_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_INC_CMD_TREE_NEW,
		.doit		= rdma_inc_nl_tree_new_doit,
		.policy		= rdma_inc_tree_new_nl_policy,
		.maxattr	= RDMA_INC_A_TREE_CNP_INTERVAL,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_TREE_SET,
		.doit		= rdma_inc_nl_tree_set_doit,
		.policy		= rdma_inc_tree_set_nl_policy,
		.maxattr	= RDMA_INC_A_TREE_CNP_INTERVAL,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_TREE_DEL,
		.doit		= rdma_inc_nl_tree_del_doit,
		.policy		= rdma_inc_tree_del_nl_policy,
		.maxattr	= RDMA_INC_A_TREE_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBER_GET,
		.doit		= rdma_inc_nl_member_get_doit,
		.policy		= rdma_inc_member_get_do_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_RANK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBER_GET,
		.dumpit		= rdma_inc_nl_member_get_dumpit,
		.policy		= rdma_inc_member_get_dump_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_TREE_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBER_NEW,
		.doit		= rdma_inc_nl_member_new_doit,
		.policy		= rdma_inc_member_new_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_PEER_PSN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBER_DEL,
		.doit		= rdma_inc_nl_member_del_doit,
		.policy		= rdma_inc_member_del_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_RANK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_PARENT_GET,
		.doit		= rdma_inc_nl_parent_get_doit,
		.policy		= rdma_inc_parent_get_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_TREE_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_PARENT_SET,
		.doit		= rdma_inc_nl_parent_set_doit,
		.policy		= rdma_inc_parent_set_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_PEER_RKEY,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_SLOT_GET,
		.doit		= rdma_inc_nl_slot_get_doit,
		.policy		= rdma_inc_slot_get_do_nl_policy,
		.maxattr	= RDMA_INC_A_SLOT_INDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_SLOT_GET,
		.start		= rdma_inc_nl_slot_get_dump_start,
		.dumpit		= rdma_inc_nl_slot_get_dumpit,
		.done		= rdma_inc_nl_slot_get_dump_done,
		.policy		= rdma_inc_slot_get_dump_nl_policy,
		.maxattr	= RDMA_INC_A_SLOT_TREE_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBER_SET,
		.doit		= rdma_inc_nl_member_set_doit,
		.policy		= rdma_inc_member_set_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBER_PEER_PSN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_INC_CMD_MEMBERS_NEW,
		.doit		= rdma_inc_nl_members_new_doit,
		.policy		= rdma_inc_members_new_nl_policy,
		.maxattr	= RDMA_INC_A_MEMBERS_MEMBER,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group rdma_inc_nl_mcgrps[] = {
	[RDMA_INC_NLGRP_EVENTS] = { "events", .flags = GENL_MCAST_CAP_NET_ADMIN, },
};

struct genl_family rdma_inc_nl_family __ro_after_init = {
	.name		= RDMA_INC_FAMILY_NAME,
	.version	= RDMA_INC_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= rdma_inc_nl_ops,
	.n_split_ops	= ARRAY_SIZE(rdma_inc_nl_ops),
	.mcgrps		= rdma_inc_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(rdma_inc_nl_mcgrps),
};
