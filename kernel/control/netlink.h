/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "inc": what the rest of the module calls, and what
 * the family's own files share.
 */
#ifndef _INC_NETLINK_H
#define _INC_NETLINK_H

#include <linux/types.h>

struct genl_info;
struct inc_blamed;
struct inc_switch;
struct inc_qp;
struct inc_tree;
struct netlink_callback;
struct sk_buff;

/* netlink.c */
int inc_nl_init(void);
void inc_nl_exit(void);
void inc_nl_notify_tree(struct inc_tree *tree, u8 cmd);
void inc_nl_notify_member(struct inc_qp *qp, u8 cmd);
void inc_nl_notify_blamed(struct inc_tree *tree, const struct inc_blamed *b);

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
int inc_nl_put_stats(struct sk_buff *skb, int attr, const u64 *sum, int max);

/* netlink-tree.c */
size_t inc_nl_tree_size(u16 ranks);
void inc_nl_end_owned(struct inc_switch *sw, u32 portid);
int inc_nl_fill_tree(struct sk_buff *skb, const struct genl_info *info,
		     int flags, struct inc_tree *tree, bool stats);

/* netlink-slot.c */
int inc_nl_fill_blamed(struct sk_buff *skb, const struct genl_info *info,
		       const struct inc_tree *tree, const struct inc_blamed *b);

/* netlink-member.c */
int inc_nl_fill_member(struct sk_buff *skb, const struct genl_info *info,
		       int flags, struct inc_qp *qp);

#endif /* _INC_NETLINK_H */
