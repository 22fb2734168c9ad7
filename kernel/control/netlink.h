/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "rdma-inc": interface to the rest of the module, and among
 * the family's own files.
 */
#ifndef _INC_NETLINK_H
#define _INC_NETLINK_H

#include <linux/types.h>

struct genl_info;
struct inc_switch;
struct inc_tree;
struct netlink_callback;
struct sk_buff;

/* netlink.c */
int inc_nl_init(void);
void inc_nl_exit(void);

/*
 * The rest is for netlink*.c.
 */

/**
 * struct inc_nl_dump - position of a dump, in netlink_callback.ctx
 * @tree: ID of the next tree; IDs only grow during a dump, so that no tree is
 *	dumped twice and none that stays is left out
 * @next: next rank or slot of that tree
 * @begun: part of the dump was sent already
 * @scratch: memory of the dump
 */
struct inc_nl_dump {
	u64	tree;
	u32	next;
	bool	begun;
	void	*scratch;
};

/* Dump @tree from d->next on. Returns 0 when it is complete, or -EMSGSIZE. */
typedef int (*inc_nl_dump_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			      struct inc_tree *tree, struct inc_nl_dump *d);

/* netlink.c */
int inc_nl_dump_trees(struct sk_buff *skb, struct netlink_callback *cb,
		      inc_nl_dump_fn fn);
struct inc_tree *inc_nl_find_tree(struct inc_switch *sw,
				  const struct genl_info *info, int attr);

/* netlink-tree.c */
void inc_nl_end_owned(struct inc_switch *sw, u32 portid);

#endif /* _INC_NETLINK_H */
