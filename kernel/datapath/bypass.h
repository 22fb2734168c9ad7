/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bridge bypass: packets that need not go through their bridge.
 */
#ifndef _INC_BYPASS_H
#define _INC_BYPASS_H

#include <linux/types.h>

struct dst_entry;
struct inc_qp;
struct net_device;
struct sk_buff;

void inc_bypass_open(struct inc_qp *qp, const struct sk_buff *skb,
		     const struct net_device *port);
bool inc_bypass_pass(const struct inc_qp *qp, const struct sk_buff *skb,
		     unsigned int udp_off);
struct net_device *inc_bypass_port(const struct inc_qp *qp,
				   const struct dst_entry *dst);
int inc_bypass_xmit(const struct inc_qp *qp, struct sk_buff *skb,
		    struct net_device *bridge, struct net_device *port);

#endif /* _INC_BYPASS_H */
