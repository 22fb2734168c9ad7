/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "inc": what the rest of the module calls, and what
 * the family's own files share.
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
 * struct inc_nl_dump - where a dump goes on, in netlink_callback.ctx
 * @tree: ID of the tree that comes next; IDs only grow during a dump, so that
 *	no tree comes twice and none that stays is left out
 * @next: rank or slot of it that comes next
 * @begun: something of the dump was sent already
 * @scratch: memory of the dump
 */
struct inc_nl_dump {
	u64	tree;
	u32	next;
	bool	begun;
	void	*scratch;
};

/* Dumps @tree from d->next on; 0 when all of it is done, or -EMSGSIZE. */
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
