/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that need not go through their bridge.
 */
#ifndef _INC_SHORTCUT_H
#define _INC_SHORTCUT_H

#include <linux/types.h>

struct dst_entry;
struct inc_qp;
struct net_device;
struct sk_buff;

void inc_shortcut_open(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct net_device *port);
bool inc_shortcut_pass(const struct inc_qp *qp, const struct sk_buff *skb,
		       unsigned int udp_off);
struct net_device *inc_shortcut_port(const struct inc_qp *qp,
				     const struct dst_entry *dst);
int inc_shortcut_xmit(const struct inc_qp *qp, struct sk_buff *skb,
		      struct net_device *bridge, struct net_device *port);

#endif /* _INC_SHORTCUT_H */
