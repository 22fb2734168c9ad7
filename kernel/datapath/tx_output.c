// SPDX-License-Identifier: GPL-2.0
/*
 * Complete packets take the ordinary way out, through netfilter, bridge and
 * queueing disciplines, or a short one that comes to the same (bypass.c).
 *
 * Only the device limits their size. Path MTUs are learned from ICMP messages,
 * which anyone can forge, and a RoCEv2 packet cannot be made shorter: one such
 * message would end a job. IP asks a packet's socket whether it believes them,
 * so the switch has one.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "datapath/bypass.h"
#include "datapath/fault.h"
#include "datapath/tx_output.h"
#include "object/qp.h"
#include "object/switch.h"

/**
 * inc_tx_init() - make the socket of the packets of a switch
 * @sw: its net is set
 *
 * The socket is not bound and receives nothing.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int inc_tx_init(struct inc_switch *sw)
{
	int family = ipv6_mod_enabled() ? AF_INET6 : AF_INET;
	int err;

	err = inet_ctl_sock_create(&sw->sk, family, SOCK_DGRAM, IPPROTO_UDP,
				   sw->net);
	if (err)
		return err;
	inet_sk(sw->sk)->pmtudisc = IP_PMTUDISC_INTERFACE;
	if (family == AF_INET6)
		inet6_sk(sw->sk)->pmtudisc = IPV6_PMTUDISC_INTERFACE;
	return 0;
}

/**
 * inc_tx_exit() - undo inc_tx_init()
 * @sw: switch that sends nothing any more
 *
 * Context: process.
 */
void inc_tx_exit(struct inc_switch *sw)
{
	inet_ctl_sock_destroy(sw->sk);
}

/* Bytes from the IP header on, of all packets in a GSO packet. */
static unsigned int wire_bytes(const struct sk_buff *skb)
{
	unsigned int hdr = skb_transport_offset(skb) + sizeof(struct udphdr);

	if (!skb_is_gso(skb))
		return skb->len;
	return skb->len + (skb_shinfo(skb)->gso_segs - 1) * hdr;
}

static void count_error(struct inc_qp *qp, int err)
{
	if (net_xmit_eval(err))
		inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_TX_ERROR);
}

/**
 * inc_tx_xmit() - send a packet by the IP stack, or past it
 * @qp: QP
 * @skb: packet, or several as one GSO packet; consumed
 * @dst: its route
 * @port: from inc_bypass_port(); NULL while faults are injected
 *
 * Context: BH off, RCU read side; no lock held.
 */
void inc_tx_xmit(struct inc_qp *qp, struct sk_buff *skb, struct dst_entry *dst,
		 struct net_device *port)
{
	inc_qp_count_n(qp, RDMA_INC_A_MEMBER_STATS_TX_WIRE_BYTES,
		       wire_bytes(skb));
	if (port) {
		count_error(qp, inc_bypass_xmit(qp, skb, dst->dev, port));
		return;
	}
	skb_dst_set(skb, dst_clone(dst));
	if (inc_fault_enabled() && inc_fault_tx(qp, skb, inc_tx_output))
		return;
	inc_tx_output(qp, skb);
}

/**
 * inc_tx_output() - output a packet that has been counted and fault-injected
 * @qp: QP
 * @skb: packet; consumed
 *
 * Context: BH off; no lock held.
 */
void inc_tx_output(struct inc_qp *qp, struct sk_buff *skb)
{
	struct sock *sk = qp->sw->sk;
	bool ipv4 = skb->protocol == htons(ETH_P_IP);
	bool ipsec = dst_xfrm(skb_dst(skb));
	int err;

	/*
	 * IPv4 takes the socket as an argument. IPv6 and the output after IPsec
	 * look at the packet's, at the price of a reference. ESP charges its
	 * headers to the socket, so the whole packet must be charged: a mere
	 * reference would leak that charge, and the socket.
	 */
	if (ipsec) {
		skb_set_owner_w(skb, sk);
		/* A tunnel asks nobody; that it fits was found out before. */
		skb->ignore_df = 1;
	} else if (!ipv4 && !skb_set_owner_sk_safe(skb, sk)) {
		WARN_ON_ONCE(1);
	}
	err = ipv4 ? ip_local_out(qp->sw->net, sk, skb) :
		     ip6_local_out(qp->sw->net, sk, skb);
	count_error(qp, err);
}
