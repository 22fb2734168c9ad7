// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks, local input, before everybody else. Packets to a QPN of
 * the switch end here; every other packet goes on untouched, to rdma_rxe's
 * socket or whoever wants it.
 */
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "hook.h"
#include "inc.h"
#include "rx.h"

static unsigned int hook_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	unsigned int udp_off = ip_hdrlen(skb);

	/* IP has reassembled fragments before this hook. */
	if (ip_hdr(skb)->protocol != IPPROTO_UDP ||
	    !inc_rx_is_ours(skb, udp_off))
		return NF_ACCEPT;

	inc_rx(inc_net_get(state->net), skb, udp_off,
	       udp_off == sizeof(struct iphdr));
	return NF_STOLEN;
}

static unsigned int hook_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	unsigned short frag_off = 0;
	unsigned int udp_off = 0;
	int flags = 0;

	/* The common case, without a walk through extension headers. */
	if (ipv6_hdr(skb)->nexthdr == IPPROTO_UDP)
		udp_off = sizeof(struct ipv6hdr);
	else if (ipv6_find_hdr(skb, &udp_off, IPPROTO_UDP, &frag_off,
			       &flags) < 0)
		return NF_ACCEPT;

	/* A later fragment has no UDP header to look at; without the first,
	 * which is taken here, it never becomes a packet.
	 */
	if (frag_off || !inc_rx_is_ours(skb, udp_off))
		return NF_ACCEPT;

	inc_rx(inc_net_get(state->net), skb, udp_off,
	       udp_off == sizeof(struct ipv6hdr));
	return NF_STOLEN;
}

static const struct nf_hook_ops hooks[] = {
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
 * inc_hook_register() - begin to take packets in a namespace
 * @inet: its switch
 *
 * Done with the first tree, so that a namespace without one pays nothing.
 *
 * Context: process, inc_net.lock held.
 * Return: 0, or -ENOMEM.
 */
int inc_hook_register(struct inc_net *inet)
{
	int err;

	if (inet->hooked)
		return 0;
	err = nf_register_net_hooks(inet->net, hooks, ARRAY_SIZE(hooks));
	inet->hooked = !err;
	return err;
}

/**
 * inc_hook_unregister() - take no more packets
 * @inet: switch of a namespace
 *
 * Context: process. A grace period later no packet is under way.
 */
void inc_hook_unregister(struct inc_net *inet)
{
	if (inet->hooked)
		nf_unregister_net_hooks(inet->net, hooks, ARRAY_SIZE(hooks));
	inet->hooked = false;
}
