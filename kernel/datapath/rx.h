/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the netfilter hook to a parsed, checked packet of a known QP.
 */
#ifndef _INC_RX_H
#define _INC_RX_H

#include <linux/types.h>

struct inc_switch;
struct net_device;
struct sk_buff;

u32 inc_rx_qpn(const struct sk_buff *skb, unsigned int udp_off);
bool inc_rx_bypass(struct inc_switch *sw, struct sk_buff *skb,
		   unsigned int udp_off, u32 qpn, struct net_device *bridge);
bool inc_rx_early(struct inc_switch *sw, struct sk_buff *skb,
		  unsigned int udp_off, u32 qpn, const struct net_device *port);
bool inc_rx(struct inc_switch *sw, struct sk_buff *skb, unsigned int udp_off,
	    u32 qpn, bool plain);
bool inc_rx_cut(struct inc_switch *sw, const struct sk_buff *skb,
		unsigned int udp_off);

#endif /* _INC_RX_H */
