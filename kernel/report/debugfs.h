/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debugfs: why a collective is stuck, in words. No interface that programs may
 * rely on; they use netlink.
 */
#ifndef _INC_DEBUGFS_H
#define _INC_DEBUGFS_H

#include <linux/types.h>

struct inc_switch;
struct inc_qp;
struct inc_tree;

void inc_debugfs_init(void);
void inc_debugfs_exit(void);
void inc_debugfs_net_init(struct inc_switch *sw);
void inc_debugfs_net_exit(struct inc_switch *sw);
void inc_debugfs_tree_add(struct inc_tree *tree);
void inc_debugfs_tree_del(struct inc_tree *tree);
u64 inc_debugfs_tree_memory(const struct inc_switch *sw);
u64 inc_debugfs_member_memory(const struct inc_switch *sw);

#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)
void inc_debugfs_member_add(struct inc_qp *qp);
void inc_debugfs_member_del(struct inc_qp *qp);
#else
/* Of members there are faults, and nothing else. */
static inline void inc_debugfs_member_add(struct inc_qp *qp)
{
}

static inline void inc_debugfs_member_del(struct inc_qp *qp)
{
}
#endif

#endif /* _INC_DEBUGFS_H */
