// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: several trees share a switch, and none may take all of it. They are
 * checked when a tree is made, for all its members, so that a job is refused at
 * once and not when its last rank joins; and when it is to get more.
 */
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/netlink.h>

#include "object/quota.h"
#include "object/switch.h"
#include "object/tree.h"

/**
 * inc_quota_check_hold() - check the hold of members that are switches
 * @sw: switch
 * @cfg: settings of a tree, defaults filled in
 * @below: its ranks below each member, or NULL
 * @extack: names the quota, if exceeded, and by how much
 *
 * Such a member is not made to wait when the tree holds much, see hold.c. So
 * the quota has to have room for all that it may hold.
 *
 * Context: process, inc_switch.lock held.
 * Return: 0 or -EDQUOT.
 */
int inc_quota_check_hold(const struct inc_switch *sw,
			 const struct inc_tree_cfg *cfg, const u16 *below,
			 struct netlink_ext_ack *extack)
{
	u64 quota = sw->quota.tree_hold, bytes = 0;
	u16 i;

	lockdep_assert_held(&sw->lock);
	for (i = 0; below && i < cfg->members; i++)
		bytes += inc_quota_switch_hold(cfg->hold, below[i]);
	if (!quota || bytes <= quota)
		return 0;
	NL_SET_ERR_MSG_FMT_MOD(extack,
			       "max-tree-hold: switches hold %llu KiB, %llu KiB are allowed",
			       (bytes + 1023) >> 10, quota >> 10);
	return -EDQUOT;
}

/**
 * inc_quota_check_memory() - check the memory of a tree against its quota
 * @sw: switch
 * @memory: bytes that the tree takes with all its members
 * @extack: names the quota, if exceeded, and by how much
 *
 * Context: process, inc_switch.lock held.
 * Return: 0 or -EDQUOT.
 */
int inc_quota_check_memory(const struct inc_switch *sw, u64 memory,
			   struct netlink_ext_ack *extack)
{
	u64 quota = sw->quota.tree_memory;

	lockdep_assert_held(&sw->lock);
	if (!quota || memory <= quota)
		return 0;
	NL_SET_ERR_MSG_FMT_MOD(extack,
			       "max-tree-memory: %llu KiB needed, %llu KiB are allowed",
			       (memory + 1023) >> 10, quota >> 10);
	return -EDQUOT;
}

/**
 * inc_quota_check() - check a new tree against the quotas
 * @sw: switch
 * @cfg: settings of the tree, defaults filled in
 * @memory: bytes that the tree takes with all its members
 * @extack: names the quota that it would exceed, and by how much
 *
 * Context: process, inc_switch.lock held.
 * Return: 0 or -EDQUOT.
 */
int inc_quota_check(const struct inc_switch *sw, const struct inc_tree_cfg *cfg,
		    u64 memory, struct netlink_ext_ack *extack)
{
	const struct inc_quota *q = &sw->quota;

	lockdep_assert_held(&sw->lock);
	if (q->trees && sw->ntrees >= q->trees) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "max-trees: %u trees are there, %u are allowed",
				       sw->ntrees, q->trees);
		return -EDQUOT;
	}
	if (q->ranks && cfg->members > q->ranks) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "max-ranks: %u ranks wanted, %u are allowed",
				       cfg->members, q->ranks);
		return -EDQUOT;
	}
	if (q->slots && cfg->slots > q->slots) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "max-slots: %u slots wanted, %u are allowed",
				       cfg->slots, q->slots);
		return -EDQUOT;
	}
	return inc_quota_check_memory(sw, memory, extack) ?:
	       inc_quota_check_hold(sw, cfg, cfg->below, extack);
}
