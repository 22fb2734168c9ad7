/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the netfilter hook to a parsed, checked packet of a known QP.
 */
#ifndef _INC_RX_H
#define _INC_RX_H

#include <linux/skbuff.h>

#include "core/responder.h"
#include "core/slot.h"
#include "core/wire.h"

struct inc_switch;

/**
 * struct inc_cb - what the module keeps in skb->cb
 * @part: payload, once the packet's message is known
 * @psn: PSN, while the packet is kept beyond a hole
 * @run: message that it belongs to, meanwhile
 */
struct inc_cb {
	struct inc_part		part;
	u32			psn;
	struct inc_responder_run	run;
};

static inline struct inc_cb *inc_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct inc_cb) > sizeof(skb->cb));
	return (struct inc_cb *)skb->cb;
}

u32 inc_rx_qpn(const struct sk_buff *skb, unsigned int udp_off);
bool inc_rx_early(struct inc_switch *sw, struct sk_buff *skb,
		  unsigned int udp_off, u32 qpn);
bool inc_rx(struct inc_switch *sw, struct sk_buff *skb, unsigned int udp_off,
	    u32 qpn, bool plain);
bool inc_rx_cut(struct inc_switch *sw, const struct sk_buff *skb,
		unsigned int udp_off);

#endif /* _INC_RX_H */
