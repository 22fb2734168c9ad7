/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debugfs: why a collective is stuck, in words. Not an interface for programs;
 * they use netlink.
 */
#ifndef _INC_DEBUGFS_H
#define _INC_DEBUGFS_H

#include <linux/types.h>

struct inc_switch;
struct inc_tree;

void inc_debugfs_init(void);
void inc_debugfs_exit(void);
void inc_debugfs_net_init(struct inc_switch *sw);
void inc_debugfs_net_exit(struct inc_switch *sw);
void inc_debugfs_tree_add(struct inc_tree *tree);
void inc_debugfs_tree_del(struct inc_tree *tree);
u64 inc_debugfs_tree_memory(const struct inc_switch *sw);
u64 inc_debugfs_member_memory(const struct inc_switch *sw);

#endif /* _INC_DEBUGFS_H */
