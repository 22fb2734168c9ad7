/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits of one tree on a shared switch.
 */
#ifndef _INC_QUOTA_H
#define _INC_QUOTA_H

#include <linux/types.h>

struct inc_switch;
struct inc_tree_cfg;
struct netlink_ext_ack;

/**
 * inc_quota_switch_hold() - get the bytes that a member that is a switch may hold
 * @hold: bytes that one rank may hold
 * @ranks: ranks below it
 *
 * A switch sends the data of its own members, and twice as much for wide sums.
 *
 * Return: bytes.
 */
static inline u64 inc_quota_switch_hold(u64 hold, u16 ranks)
{
	return 2 * hold * ranks;
}

int inc_quota_check_hold(const struct inc_switch *sw,
			 const struct inc_tree_cfg *cfg, const u16 *below,
			 struct netlink_ext_ack *extack);
int inc_quota_check_memory(const struct inc_switch *sw, u64 memory,
			   struct netlink_ext_ack *extack);
int inc_quota_check(const struct inc_switch *sw, const struct inc_tree_cfg *cfg,
		    u64 memory, struct netlink_ext_ack *extack);

#endif /* _INC_QUOTA_H */
