// SPDX-License-Identifier: GPL-2.0
/*
 * Bridge bypass. A bridge looks up the sender and the receiver of each frame, its VLAN
 * and the flags of its port, with the same result for all packets of a member: the
 * bridge's own device. So once it has passed a packet there, the next ones from the
 * same port and MAC address are taken before the bridge, for a jiffy; and results,
 * whose next hop has that address, are sent by that port, without the output of IP and
 * the bridge unless hooks or packet sockets look there.
 *
 * Then another packet goes through the bridge: its entry for the sender does not age,
 * and is learned again if another host has used the address; a port locked or blocked
 * meanwhile is respected. With VLAN filtering the bridge sees all packets, since it
 * counts them.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/sch_generic.h>
#include <rdma/ib_pack.h>

#include "datapath/bypass.h"
#include "datapath/flow.h"
#include "datapath/nexthop.h"
#include "datapath/rx_payload.h"
#include "object/qp.h"
#include "object/switch.h"

/* One in so many goes all the way, by its PSN: a count would have to be written. */
#define ALL_THE_WAY	128
/* How long it is known that there is a way, or none. */
#define KNOWN_TIME	(HZ / 20)

/* All of a MAC address in one word. */
static u64 load_addr(const u8 *addr)
{
	return (u64)get_unaligned((u32 *)addr) << 16 |
	       get_unaligned((u16 *)(addr + 4));
}

static void store_addr(u8 *addr, u64 word)
{
	put_unaligned((u32)(word >> 16), (u32 *)addr);
	put_unaligned((u16)word, (u16 *)(addr + 4));
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

/* Do results go where the member's packets come from? */
static bool leads_back(struct inc_qp *qp, const struct net_device *bridge,
		       u64 addr)
{
	struct dst_entry *dst = dst_cache_get(&qp->dst);
	u8 nexthop[ETH_ALEN];
	bool back;

	if (!dst)
		return false;
	back = dst->dev == bridge && !dst_xfrm(dst) && !dst->lwtstate &&
	       !netif_is_l3_slave(bridge) && inc_nexthop_addr(qp, dst, nexthop) &&
	       load_addr(nexthop) == addr;
	dst_release(dst);
	return back;
}

static void find_way(struct inc_qp *qp, const struct sk_buff *skb,
		     const struct net_device *port, u64 addr)
{
	WRITE_ONCE(qp->bypass.known, false);
	WRITE_ONCE(qp->bypass.back, false);
	WRITE_ONCE(qp->bypass.port, port->ifindex);
	WRITE_ONCE(qp->bypass.addr, addr);
	WRITE_ONCE(qp->bypass.since, jiffies);
	WRITE_ONCE(qp->bypass.genid, inc_flow_genid(qp));
	WRITE_ONCE(qp->bypass.known, knows_sender(skb, port));
	if (READ_ONCE(qp->bypass.known))
		WRITE_ONCE(qp->bypass.back, leads_back(qp, skb->dev, addr));
}

/**
 * inc_bypass_open() - note that the bridge has passed on a member's packet
 * @qp: the member's QP
 * @skb: packet in the bridge's local input, skb->dev is the bridge
 * @port: port at which it arrived
 *
 * Context: softirq, RCU read side.
 */
void inc_bypass_open(struct inc_qp *qp, const struct sk_buff *skb,
		     const struct net_device *port)
{
	u64 addr = load_addr(eth_hdr(skb)->h_source);

	if (inc_age(READ_ONCE(qp->bypass.since)) >= KNOWN_TIME ||
	    port->ifindex != READ_ONCE(qp->bypass.port) ||
	    addr != READ_ONCE(qp->bypass.addr))
		find_way(qp, skb, port, addr);
	WRITE_ONCE(qp->bypass.tick, jiffies);
}

/**
 * inc_bypass_pass() - would the bridge pass on a member's packet?
 * @qp: the member's QP
 * @skb: packet that has not entered the bridge, skb->dev is the port
 * @udp_off: offset of its UDP header
 *
 * Context: softirq, RCU read side.
 * Return: true if it has just passed one like this, and this one need not go
 * through it.
 */
bool inc_bypass_pass(const struct inc_qp *qp, const struct sk_buff *skb,
		     unsigned int udp_off)
{
	const struct ib_other_headers *oh;
	__be32 bth[3];

	if (!READ_ONCE(qp->bypass.known) ||
	    skb->dev->ifindex != READ_ONCE(qp->bypass.port) ||
	    inc_age(READ_ONCE(qp->bypass.tick)) ||
	    load_addr(eth_hdr(skb)->h_source) != READ_ONCE(qp->bypass.addr))
		return false;
	oh = inc_rx_peek(skb, udp_off + sizeof(struct udphdr), sizeof(bth), bth);
	return oh && ib_bth_get_psn((struct ib_other_headers *)oh) % ALL_THE_WAY;
}

/* Do hooks look at packets that IP and bridges send? */
static bool output_hooked(const struct net *net, u8 family)
{
	struct nf_hook_entries __rcu *const *hooks =
		family == AF_INET ? net->nf.hooks_ipv4 : net->nf.hooks_ipv6;

#ifdef CONFIG_NETFILTER_FAMILY_BRIDGE
	if (rcu_access_pointer(net->nf.hooks_bridge[NF_BR_LOCAL_OUT]) ||
	    rcu_access_pointer(net->nf.hooks_bridge[NF_BR_POST_ROUTING]))
		return true;
#endif
	return rcu_access_pointer(hooks[NF_INET_LOCAL_OUT]) ||
	       rcu_access_pointer(hooks[NF_INET_POST_ROUTING]);
}

/* Are packets sent by the bridge's own device captured, filtered or queued? */
static bool output_watched(struct net_device *bridge)
{
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(bridge->tcx_egress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(bridge->nf_hooks_egress))
		return true;
#endif
	return dev_nit_active(bridge) ||
	       rcu_dereference_bh(netdev_get_tx_queue(bridge, 0)->qdisc)->enqueue;
}

/**
 * inc_bypass_port() - find the port that a member's results leave by
 * @qp: the member's QP
 * @dst: its route
 *
 * Context: BH off, RCU read side.
 * Return: the port, for inc_bypass_xmit(); NULL if IP and the bridge have to
 * choose it.
 */
struct net_device *inc_bypass_port(const struct inc_qp *qp,
				   const struct dst_entry *dst)
{
	struct net *net = qp->sw->net;
	struct net_device *port;

	if (!READ_ONCE(qp->bypass.back) ||
	    inc_age(READ_ONCE(qp->bypass.since)) >= KNOWN_TIME ||
	    READ_ONCE(qp->genid) != READ_ONCE(qp->bypass.genid) ||
	    output_hooked(net, qp->cfg.family) || output_watched(dst->dev))
		return NULL;
	port = dev_get_by_index_rcu(net, READ_ONCE(qp->bypass.port));
	return port && netdev_master_upper_dev_get_rcu(port) == dst->dev ?
	       port : NULL;
}

/* Finish the IP header, as ip_local_out() does. */
static void finish_ip(struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP)) {
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	} else {
		ipv6_hdr(skb)->payload_len =
			htons(skb->len - sizeof(struct ipv6hdr));
	}
}

/**
 * inc_bypass_xmit() - send a packet by a bridge's port
 * @qp: QP of the member that it is for
 * @skb: packet, or several as one GSO packet, from its IP header on; consumed
 * @bridge: the bridge
 * @port: from inc_bypass_port()
 *
 * Context: BH off, RCU read side.
 * Return: as dev_queue_xmit().
 */
int inc_bypass_xmit(const struct inc_qp *qp, struct sk_buff *skb,
		    struct net_device *bridge, struct net_device *port)
{
	struct ethhdr *eth;

	finish_ip(skb);
	eth = skb_push(skb, sizeof(*eth));
	store_addr(eth->h_dest, READ_ONCE(qp->bypass.addr));
	ether_addr_copy(eth->h_source, bridge->dev_addr);
	eth->h_proto = skb->protocol;
	dev_sw_netstats_tx_add(bridge, 1, skb->len);
	skb->dev = port;
	if (!is_skb_forwardable(port, skb)) {
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	return dev_queue_xmit(skb);
}
