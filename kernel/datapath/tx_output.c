// SPDX-License-Identifier: GPL-2.0
/*
 * Complete packets take the ordinary way out, through netfilter, bridge and
 * queueing disciplines.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "datapath/fault.h"
#include "datapath/tx_output.h"
#include "object/qp.h"
#include "object/switch.h"

/* Bytes from the IP header on, of all packets in a GSO packet. */
static unsigned int wire_bytes(const struct sk_buff *skb)
{
	unsigned int hdr = skb_transport_offset(skb) + sizeof(struct udphdr);

	if (!skb_is_gso(skb))
		return skb->len;
	return skb->len + (skb_shinfo(skb)->gso_segs - 1) * hdr;
}

/**
 * inc_tx_xmit() - give a packet to the IP stack
 * @qp: QP
 * @skb: packet, or several as one GSO packet; has its route; consumed
 *
 * Context: BH off; no lock held.
 */
void inc_tx_xmit(struct inc_qp *qp, struct sk_buff *skb)
{
	inc_stats_add(qp->stats, RDMA_INC_A_MEMBER_STATS_TX_WIRE_BYTES,
		      wire_bytes(skb));
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
	int err;

	if (skb->protocol == htons(ETH_P_IP))
		err = ip_local_out(qp->sw->net, NULL, skb);
	else
		err = ip6_local_out(qp->sw->net, NULL, skb);
	if (net_xmit_eval(err))
		inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_TX_ERROR);
}
