/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creation of trees. Process context, inc_switch.lock held. Errors are
 * explained in @extack; the caller names the attribute.
 */
#ifndef _INC_TREE_NEW_H
#define _INC_TREE_NEW_H

struct inc_switch;
struct inc_tree;
struct inc_tree_cfg;
struct netlink_ext_ack;

struct inc_tree *inc_tree_new(struct inc_switch *sw,
			      const struct inc_tree_cfg *cfg,
			      struct netlink_ext_ack *extack);
int inc_tree_set(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
		 struct netlink_ext_ack *extack);

#endif /* _INC_TREE_NEW_H */
