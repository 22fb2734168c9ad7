/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creation and teardown of QPs. Process context, inc_switch.lock held.
 */
#ifndef _INC_MEMBER_H
#define _INC_MEMBER_H

#include <linux/types.h>

struct inc_member_cfg;
struct inc_qp;
struct inc_switch;
struct inc_tree;
struct inc_tree_cfg;
struct netlink_ext_ack;

int inc_member_cache_init(void);
void inc_member_cache_exit(void);

u64 inc_member_memory(const struct inc_switch *sw,
		      const struct inc_tree_cfg *cfg, bool parent);
int inc_member_grow(struct inc_qp *qp, const struct inc_tree_cfg *cfg,
		    struct netlink_ext_ack *extack);
struct inc_qp *inc_member_new(struct inc_tree *tree,
			      const struct inc_member_cfg *cfg,
			      struct netlink_ext_ack *extack);
void inc_member_begin(struct inc_tree *tree);
struct inc_qp *inc_member_new_parent(struct inc_tree *tree,
				     struct netlink_ext_ack *extack);
int inc_member_set(struct inc_qp *qp, const struct inc_member_cfg *cfg,
		   struct netlink_ext_ack *extack);
int inc_member_connect(struct inc_qp *qp, const struct inc_member_cfg *cfg,
		       struct netlink_ext_ack *extack);
/* Hides a QP, which is freed by itself a grace period later. */
void inc_member_unpublish(struct inc_qp *qp);
/* Removes one member as above; the tree fails if it was used. */
void inc_member_del(struct inc_qp *qp);

#endif /* _INC_MEMBER_H */
