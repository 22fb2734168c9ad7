/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "rdma-inc": messages and events about trees and members.
 */
#ifndef _INC_NOTIFY_H
#define _INC_NOTIFY_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct inc_blamed;
struct inc_qp;
struct inc_tree;
struct sk_buff;

/* The events' group: the only one of the family. */
#define INC_NL_EVENTS	0

void inc_nl_set_family(const struct genl_family *f);
void inc_nl_notify_tree(struct inc_tree *tree, u8 cmd);
void inc_nl_notify_member(struct inc_qp *qp, u8 cmd);
void inc_nl_notify_silent(struct inc_qp *qp);
void inc_nl_notify_blamed(struct inc_tree *tree, const struct inc_blamed *b);

/* Also for replies. */
int inc_nl_put_stats(struct sk_buff *skb, int attr, const u64 *sum, int max);
int inc_nl_put_wrong(struct sk_buff *skb, u16 wrong, u16 unlike);
int inc_nl_fill_tree(struct sk_buff *skb, const struct genl_info *info,
		     int flags, struct inc_tree *tree, bool stats);
int inc_nl_put_made(struct sk_buff *skb, int attr, struct inc_qp *qp);
int inc_nl_fill_member(struct sk_buff *skb, const struct genl_info *info,
		       int flags, struct inc_qp *qp);

#endif /* _INC_NOTIFY_H */
