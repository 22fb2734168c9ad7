// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks. Packets to a QPN of the switch end here; every other packet
 * continues untouched, to rdma_rxe's socket or any other receiver.
 *
 * IP's local input, ahead of all other hooks, sees all of these packets.
 * Packets from a bridge, which most are, are already taken in the bridge's
 * local input, after all other hooks there: they need not climb through the
 * bridge's device and IP to get here. Most of these are even taken where they
 * enter the bridge (bypass.c), after all other hooks there, and if there are
 * no others in its local input. Anything unusual still takes the long way
 * through IP.
 */
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "compat.h"
#include "datapath/hook.h"
#include "datapath/rx.h"
#include "object/switch.h"

static unsigned int hook_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	unsigned int udp_off = ip_hdrlen(skb);
	u32 qpn;

	/* IP has reassembled fragments before this hook. */
	if (ip_hdr(skb)->protocol != IPPROTO_UDP)
		return NF_ACCEPT;
	qpn = inc_rx_qpn(skb, udp_off);
	if (!qpn ||
	    !inc_rx(priv, skb, udp_off, qpn, udp_off == sizeof(struct iphdr)))
		return NF_ACCEPT;
	return NF_STOLEN;
}

static unsigned int hook_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	unsigned short frag_off = 0;
	unsigned int udp_off = 0;
	int flags = 0;
	u32 qpn;

	/* The common case, without a walk through extension headers. */
	if (ipv6_hdr(skb)->nexthdr == IPPROTO_UDP)
		udp_off = sizeof(struct ipv6hdr);
	else if (ipv6_find_hdr(skb, &udp_off, IPPROTO_UDP, &frag_off,
			       &flags) < 0)
		return NF_ACCEPT;

	/* A later fragment has no UDP header to look at; without the first,
	 * which is taken here, it never becomes a packet.
	 */
	if (frag_off)
		return NF_ACCEPT;
	if (flags & IP6_FH_F_FRAG && inc_rx_cut(priv, skb, udp_off))
		return NF_DROP;
	qpn = inc_rx_qpn(skb, udp_off);
	if (!qpn || !inc_rx(priv, skb, udp_off, qpn,
			    udp_off == sizeof(struct ipv6hdr)))
		return NF_ACCEPT;
	return NF_STOLEN;
}

#if IS_ENABLED(CONFIG_BRIDGE) && IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)

/*
 * Offset of the UDP header after a plain and valid IP header, or 0. A driver may
 * have left them in a page.
 */
static unsigned int plain_ipv4(struct sk_buff *skb)
{
	const struct udphdr *uh;
	const struct iphdr *ih;

	if (!pskb_may_pull(skb, sizeof(*ih) + sizeof(*uh)))
		return 0;
	ih = ip_hdr(skb);
	uh = (const struct udphdr *)(ih + 1);
	if (ih->version != IPVERSION || ih->ihl != sizeof(*ih) / 4 ||
	    ih->protocol != IPPROTO_UDP || ip_is_fragment(ih) ||
	    ntohs(ih->tot_len) > skb->len ||
	    ntohs(ih->tot_len) != sizeof(*ih) + ntohs(uh->len) ||
	    ip_fast_csum(ih, sizeof(*ih) / 4))
		return 0;
	return sizeof(*ih);
}

static unsigned int plain_ipv6(struct sk_buff *skb)
{
	const struct ipv6hdr *ih;
	const struct udphdr *uh;

	if (!pskb_may_pull(skb, sizeof(*ih) + sizeof(*uh)))
		return 0;
	ih = ipv6_hdr(skb);
	uh = (const struct udphdr *)(ih + 1);
	if (ih->version != 6 ||
	    ih->nexthdr != IPPROTO_UDP || ih->payload_len != uh->len ||
	    ntohs(ih->payload_len) > skb->len - sizeof(*ih))
		return 0;
	return sizeof(*ih);
}

/* Does a packet socket of the list see this protocol? */
static bool is_listened(const struct list_head *sockets, __be16 protocol)
{
	struct packet_type *pt;

	list_for_each_entry_rcu(pt, sockets, list)
		if (pt->type == protocol)
			return true;
	return false;
}

/*
 * Is the traffic to the bridge's own device captured, filtered, or first shown
 * to other devices on it, as macvlans?
 */
static bool is_watched(struct net_device *dev, __be16 protocol)
{
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(dev->tcx_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(dev->nf_hooks_ingress))
		return true;
#endif
	return rcu_access_pointer(dev->xdp_prog) ||
	       rcu_access_pointer(dev->rx_handler) || dev_nit_active(dev) ||
	       is_listened(&dev->ptype_specific, protocol) ||
	       is_listened(inc_packet_sockets(dev), protocol);
}

/*
 * The QPN and the offset of the UDP header, or 0, of a frame for the bridge. It
 * may be VLAN-tagged, for another host, or GSO.
 */
static u32 bridged_qpn(struct sk_buff *skb, unsigned int *udp_off)
{
	if (skb->pkt_type != PACKET_HOST || skb_vlan_tag_present(skb) ||
	    skb_is_gso(skb))
		return 0;
	*udp_off = 0;
	if (skb->protocol == htons(ETH_P_IP))
		*udp_off = plain_ipv4(skb);
	else if (skb->protocol == htons(ETH_P_IPV6))
		*udp_off = plain_ipv6(skb);
	return *udp_off ? inc_rx_qpn(skb, *udp_off) : 0;
}

static unsigned int hook_bridge(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	unsigned int udp_off;
	u32 qpn = bridged_qpn(skb, &udp_off);

	if (!qpn || is_watched(skb->dev, skb->protocol) ||
	    !inc_rx_early(priv, skb, udp_off, qpn, state->in))
		return NF_ACCEPT;
	return NF_STOLEN;
}

/* Is ours the only hook in the bridges' local input? */
static bool alone_in_local_in(const struct net *net)
{
	const struct nf_hook_entries *e;

	e = rcu_dereference(net->nf.hooks_bridge[NF_BR_LOCAL_IN]);
	return e && e->num_hook_entries == 1;
}

/* Does br_netfilter keep account of the frame? */
static bool in_br_netfilter(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	return nf_bridge_info_exists(skb);
#else
	return false;
#endif
}

static unsigned int hook_port(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	struct net_device *bridge;
	unsigned int udp_off;
	u32 qpn = bridged_qpn(skb, &udp_off);

	if (!qpn || in_br_netfilter(skb) || !alone_in_local_in(state->net))
		return NF_ACCEPT;
	bridge = netdev_master_upper_dev_get_rcu(skb->dev);
	if (!bridge || !netif_is_bridge_master(bridge) ||
	    is_watched(bridge, skb->protocol) ||
	    !inc_rx_bypass(priv, skb, udp_off, qpn, bridge))
		return NF_ACCEPT;
	return NF_STOLEN;
}

#endif

static const struct nf_hook_ops hooks[] = {
#if IS_ENABLED(CONFIG_BRIDGE) && IS_ENABLED(CONFIG_NETFILTER_FAMILY_BRIDGE)
	{
		.hook		= hook_port,
		.pf		= NFPROTO_BRIDGE,
		.hooknum	= NF_BR_PRE_ROUTING,
		.priority	= NF_BR_PRI_LAST,
	},
	{
		.hook		= hook_bridge,
		.pf		= NFPROTO_BRIDGE,
		.hooknum	= NF_BR_LOCAL_IN,
		.priority	= NF_BR_PRI_LAST,
	},
#endif
	{
		.hook		= hook_ipv4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_FIRST,
	},
	{
		.hook		= hook_ipv6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_FIRST,
	},
};

/**
 * inc_hook_register() - start taking packets in a namespace
 * @sw: its switch
 *
 * Called with the first tree, so that a namespace without one pays nothing.
 *
 * Context: process, inc_switch.lock held.
 * Return: 0, or -ENOMEM.
 */
int inc_hook_register(struct inc_switch *sw)
{
	unsigned int i;
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(hooks) > INC_HOOKS);
	if (sw->hooked)
		return 0;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		sw->hooks[i] = hooks[i];
		sw->hooks[i].priv = sw;
	}
	err = nf_register_net_hooks(sw->net, sw->hooks, ARRAY_SIZE(hooks));
	sw->hooked = !err;
	return err;
}

/**
 * inc_hook_unregister() - stop taking packets
 * @sw: switch of a namespace
 *
 * Context: process. A grace period later no packet is being processed.
 */
void inc_hook_unregister(struct inc_switch *sw)
{
	if (sw->hooked)
		nf_unregister_net_hooks(sw->net, sw->hooks,
					ARRAY_SIZE(hooks));
	sw->hooked = false;
}
