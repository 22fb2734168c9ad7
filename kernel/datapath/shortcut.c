// SPDX-License-Identifier: GPL-2.0
/*
 * A bridge looks up the sender and the receiver of each frame, its VLAN and what
 * its port allows, to come to the same end for all packets of a member: its own
 * device. So once it has passed a packet there, the packets that follow from the
 * same port and MAC address are taken before it, for a moment.
 *
 * Then another one goes all the way: the bridge keeps what it has learned of the
 * sender, however soon it forgets, and a port that has been locked or blocked
 * meanwhile is respected. With VLAN filtering the bridge sees all packets, for
 * it counts them.
 */
#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/unaligned.h>

#include "datapath/shortcut.h"
#include "object/qp.h"

/* How long a packet stands for those that follow, and how often one is tried. */
#define OPEN_TIME	(HZ / 20)

/* All of the sender's MAC address in one word. */
static u64 source_addr(const struct sk_buff *skb)
{
	const u8 *addr = eth_hdr(skb)->h_source;

	return (u64)get_unaligned((u32 *)addr) << 16 |
	       get_unaligned((u16 *)(addr + 4));
}

/* Has the bridge learned the sender at @port, and does it filter no VLANs? */
static bool knows_sender(const struct sk_buff *skb,
			 const struct net_device *port)
{
	struct net_device_path_ctx ctx = { .dev = skb->dev };
	struct net_device_path path = {};

	if (!skb->dev->netdev_ops->ndo_fill_forward_path)
		return false;
	ether_addr_copy(ctx.daddr, eth_hdr(skb)->h_source);
	return !skb->dev->netdev_ops->ndo_fill_forward_path(&ctx, &path) &&
	       ctx.dev == port && !path.bridge.vlan_id;
}

/**
 * inc_shortcut_open() - note that the bridge has passed on a member's packet
 * @qp: the member's QP
 * @skb: packet in the bridge's local input, skb->dev is the bridge
 * @port: port at which it arrived
 *
 * Context: softirq, RCU read side.
 */
void inc_shortcut_open(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct net_device *port)
{
	u64 addr = source_addr(skb);

	/* Also if it is closed: the question would be asked for each packet. */
	if (time_before(jiffies, READ_ONCE(qp->way.until)) &&
	    port->ifindex == READ_ONCE(qp->way.port) &&
	    addr == READ_ONCE(qp->way.addr))
		return;
	WRITE_ONCE(qp->way.open, false);
	WRITE_ONCE(qp->way.port, port->ifindex);
	WRITE_ONCE(qp->way.addr, addr);
	WRITE_ONCE(qp->way.until, jiffies + OPEN_TIME);
	WRITE_ONCE(qp->way.open, knows_sender(skb, port));
}

/**
 * inc_shortcut_is_open() - would the bridge pass on a member's packet?
 * @qp: the member's QP
 * @skb: packet that has not entered the bridge, skb->dev is the port
 *
 * Context: softirq, RCU read side.
 * Return: true if it has just passed one like this.
 */
bool inc_shortcut_is_open(const struct inc_qp *qp, const struct sk_buff *skb)
{
	return READ_ONCE(qp->way.open) &&
	       skb->dev->ifindex == READ_ONCE(qp->way.port) &&
	       time_before(jiffies, READ_ONCE(qp->way.until)) &&
	       source_addr(skb) == READ_ONCE(qp->way.addr);
}
