// SPDX-License-Identifier: GPL-2.0
/*
 * Receive border: the UDP header has not been checked yet, so its length and
 * checksum are checked here, then everything up to the ICRC. A packet that
 * passes belongs to a QP of this switch, comes from its member and is
 * undamaged.
 *
 * The QP and the sender are found first, from the headers alone: a stranger's
 * packet is not worth a copy or a CRC.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "core/icrc.h"
#include "core/wire.h"
#include "datapath/bypass.h"
#include "datapath/engine.h"
#include "datapath/fault.h"
#include "datapath/ingress.h"
#include "datapath/rx.h"
#include "datapath/rx_payload.h"
#include "object/qp.h"
#include "object/switch.h"
#include "report/trace.h"

/* From the UDP header on. */
#define QPN_END	(sizeof(struct udphdr) + 8)

/**
 * inc_rx_qpn() - get the INC QPN that a UDP packet is for
 * @skb: packet, skb->data at its IP header
 * @udp_off: offset of its UDP header
 *
 * A packet too short to tell is not ours: it is left to rxe or any other
 * receiver.
 *
 * Context: the netfilter hook.
 * Return: the QPN, if it and the destination port are the switch's, else 0.
 */
u32 inc_rx_qpn(const struct sk_buff *skb, unsigned int udp_off)
{
	struct udphdr udp_buf;
	const struct udphdr *uh;
	__be32 bth_buf[2];
	const __be32 *bth;
	u32 qpn;

	uh = skb_header_pointer(skb, udp_off, sizeof(udp_buf), &udp_buf);
	if (!uh || uh->dest != htons(INC_UDP_PORT))
		return 0;
	bth = inc_rx_peek(skb, udp_off + sizeof(*uh), sizeof(bth_buf), bth_buf);
	if (!bth)
		return 0;
	qpn = be32_to_cpu(bth[1]) & IB_QPN_MASK;
	return qpn >= INC_QPN_MIN && qpn <= INC_QPN_MAX ? qpn : 0;
}

/* Returns 0, or the counter of the UDP datagram's error. */
static unsigned int check_udp(struct sk_buff *skb, unsigned int udp_off)
{
	const struct udphdr *uh;
	unsigned int len;
	__sum16 check;

	/* inc_rx_qpn() has seen more than this. */
	if (!pskb_may_pull(skb, udp_off + sizeof(*uh)))
		return RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY;
	uh = (struct udphdr *)(skb->data + udp_off);
	len = ntohs(uh->len);
	check = uh->check;
	if (len < sizeof(*uh) || len > skb->len - udp_off)
		return RDMA_INC_A_SWITCH_STATS_RX_SHORT;
	/* Bytes that IP carried beyond the datagram. */
	if (pskb_trim_rcsum(skb, udp_off + len))
		return RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY;
	if (check &&
	    nf_checksum(skb, NF_INET_LOCAL_IN, udp_off, IPPROTO_UDP,
			skb->protocol == htons(ETH_P_IP) ? AF_INET : AF_INET6))
		return RDMA_INC_A_SWITCH_STATS_RX_UDP_CHECKSUM;
	return 0;
}

static unsigned int parse_bth(const struct sk_buff *skb, unsigned int bth_off,
			      struct inc_pkt *pkt)
{
	switch (inc_wire_parse(skb->data + bth_off, skb->len - bth_off, pkt)) {
	case INC_WIRE_OK:
		return 0;
	case INC_WIRE_SHORT:
		return RDMA_INC_A_SWITCH_STATS_RX_SHORT;
	case INC_WIRE_OPCODE:
		return RDMA_INC_A_SWITCH_STATS_RX_OPCODE;
	case INC_WIRE_TVER:
		return RDMA_INC_A_SWITCH_STATS_RX_BTH;
	}
	return RDMA_INC_A_SWITCH_STATS_RX_OPCODE;
}

static bool from_member(const struct sk_buff *skb, const struct inc_qp *qp)
{
	if (skb->protocol == htons(ETH_P_IP))
		return qp->cfg.family == AF_INET &&
		       ip_hdr(skb)->saddr == qp->cfg.peer.s6_addr32[3] &&
		       ip_hdr(skb)->daddr == qp->cfg.local.s6_addr32[3];
	return qp->cfg.family == AF_INET6 &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &qp->cfg.peer) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &qp->cfg.local);
}

static bool icrc_ok(struct sk_buff *skb, unsigned int udp_off,
		    const struct inc_pkt *pkt)
{
	unsigned int hdr = udp_off + sizeof(struct udphdr) + pkt->hdr_len;
	unsigned int len = pkt->payload_len + pkt->pad + IB_ICRC_BYTES;
	u32 crc;

	/* Somebody who has a clone may look at the headers. */
	if (unlikely(skb_cloned(skb)))
		crc = inc_rx_crc(skb, hdr, len,
				 inc_icrc_hdr(skb->data, udp_off, hdr));
	else if (!skb_is_nonlinear(skb))
		crc = inc_icrc(skb->data, udp_off, hdr + len);
	else
		crc = inc_rx_crc(skb, hdr, len,
				 inc_icrc(skb->data, udp_off, hdr));
	return crc == INC_ICRC_GOOD;
}

/* A CNP is for QPs of all transports. */
static bool is_of_transport(const struct inc_pkt *pkt, u8 transport)
{
	u8 sent_by = pkt->uc ? RDMA_INC_TRANSPORT_UC : RDMA_INC_TRANSPORT_RC;

	return sent_by == transport || pkt->flags & INC_PKT_CNP;
}

/* Has a queue on the way marked it? The IP header is where skb->data is. */
static bool met_congestion(const struct sk_buff *skb)
{
	u8 tos = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->tos :
						    ipv6_get_dsfield(ipv6_hdr(skb));

	return INET_ECN_is_ce(tos);
}

/* Checks that read all of a packet, which comes from its QP's member. */
static unsigned int check_packet(struct inc_qp *qp, struct sk_buff *skb,
				 unsigned int udp_off, struct inc_pkt *pkt)
{
	unsigned int err;

	err = check_udp(skb, udp_off);
	if (err)
		return err;
	if (inc_rx_gather(skb, udp_off + sizeof(struct udphdr)))
		return RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY;
	err = parse_bth(skb, udp_off + sizeof(struct udphdr), pkt);
	if (err)
		return err;
	if (!is_of_transport(pkt, qp->cfg.transport))
		return RDMA_INC_A_SWITCH_STATS_RX_OPCODE;
	if (pkt->pkey != qp->cfg.pkey)
		return RDMA_INC_A_SWITCH_STATS_RX_PKEY;
	/* While the CRC is computed. The packets that follow find it then. */
	if ((pkt->flags & (INC_PKT_FIRST | INC_PKT_LAST)) == INC_PKT_FIRST)
		inc_qp_prefetch(qp);
	if (inc_fault_enabled())
		inc_fault_rx_damage(qp, skb, udp_off + sizeof(struct udphdr));
	if (!icrc_ok(skb, udp_off, pkt))
		return RDMA_INC_A_SWITCH_STATS_RX_ICRC;
	return 0;
}

static void drop_packet(struct inc_switch *sw, struct sk_buff *skb,
			const struct inc_pkt *pkt, unsigned int why)
{
	inc_stats_inc(sw->stats, why);
	trace_inc_drop(sw, pkt, why);
	kfree_skb_reason(skb, SKB_DROP_REASON_NETFILTER_DROP);
}

/* Faults may have damaged headers that were parsed before. */
static void rx_faulty(struct inc_qp *qp, struct sk_buff *skb)
{
	struct inc_pkt pkt = {};

	if (inc_wire_parse(skb->data, skb->len, &pkt) == INC_WIRE_OK)
		inc_engine_rx(qp, skb, &pkt);
	else
		kfree_skb(skb);
}

/* One plain packet from the member of @qp. */
static void rx_one(struct inc_qp *qp, struct sk_buff *skb, unsigned int udp_off)
{
	struct inc_pkt pkt;
	unsigned int err;

	/* Reported for a packet that is not parsed. */
	pkt.opcode = 0;
	pkt.qpn = qp->qpn;
	pkt.psn = 0;
	err = check_packet(qp, skb, udp_off, &pkt);
	if (err) {
		drop_packet(qp->sw, skb, &pkt, err);
		return;
	}

	pkt.ce = met_congestion(skb);
	inc_qp_count_n(qp, RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES, skb->len);
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	/* Do not hold IPsec states, for one, until the slot is done. */
	skb_ext_reset(skb);
	__skb_pull(skb, udp_off + sizeof(struct udphdr));
	if (inc_fault_enabled() && inc_fault_rx(qp, skb, rx_faulty))
		return;
	inc_engine_rx(qp, skb, &pkt);
}

/* One packet of a burst. All have the same ports, but QPNs may differ. */
static void rx_segment(struct inc_qp *qp, struct sk_buff *skb,
		       unsigned int udp_off)
{
	struct inc_pkt pkt = { .qpn = inc_rx_qpn(skb, udp_off) };
	struct inc_switch *sw = qp->sw;

	if (pkt.qpn != qp->qpn) {
		qp = inc_qp_lookup(sw, pkt.qpn);
		if (!qp || !from_member(skb, qp)) {
			drop_packet(sw, skb, &pkt, qp ?
			     RDMA_INC_A_SWITCH_STATS_RX_SOURCE :
			     RDMA_INC_A_SWITCH_STATS_RX_NO_QP);
			return;
		}
	}
	rx_one(qp, skb, udp_off);
}

/*
 * Several packets that another switch on this machine sent as one, or that GRO
 * merged.
 */
static void rx_burst(struct inc_qp *qp, struct sk_buff *skb,
		     unsigned int udp_off)
{
	struct inc_pkt pkt = { .qpn = qp->qpn };
	struct sk_buff *segs, *next;

	__skb_push(skb, -skb_mac_offset(skb));
	segs = __skb_gso_segment(skb, NETIF_F_SG | NETIF_F_IP_CSUM |
				 NETIF_F_IPV6_CSUM, false);
	if (IS_ERR_OR_NULL(segs)) {
		drop_packet(qp->sw, skb, &pkt,
			    RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, skb, next) {
		skb_mark_not_on_list(skb);
		__skb_pull(skb, skb_network_offset(skb));
		rx_segment(qp, skb, udp_off);
	}
}

/*
 * Packets that are not from the member get no further than this. Returns 0, or
 * the counter of the reason.
 */
static unsigned int admit_packet(const struct inc_qp *qp, struct sk_buff *skb,
				 bool plain)
{
	if (!from_member(skb, qp))
		return RDMA_INC_A_SWITCH_STATS_RX_SOURCE;
	/* The ICRC is not defined over options; no RoCEv2 host sends any. */
	if (!plain)
		return RDMA_INC_A_SWITCH_STATS_RX_IP_OPTIONS;
	return inc_ingress_check(qp, skb);
}

/**
 * inc_rx() - take a packet to an INC QPN
 * @sw: switch
 * @skb: packet, skb->data at its IP header; consumed if true
 * @udp_off: offset of its UDP header
 * @qpn: QPN from inc_rx_qpn()
 * @plain: the IP header has neither options nor extensions, the packet is no
 *	fragment
 *
 * Context: softirq, RCU read side.
 * Return: false if there is no such QP: the packet is not for this switch.
 */
bool inc_rx(struct inc_switch *sw, struct sk_buff *skb, unsigned int udp_off,
	    u32 qpn, bool plain)
{
	struct inc_qp *qp = inc_qp_lookup(sw, qpn);
	struct inc_pkt pkt = { .qpn = qpn };
	unsigned int err;

	if (!qp) {
		inc_stats_inc(sw->stats, RDMA_INC_A_SWITCH_STATS_RX_NO_QP);
		return false;
	}
	err = admit_packet(qp, skb, plain);
	if (err)
		drop_packet(sw, skb, &pkt, err);
	else if (skb_is_gso(skb))
		rx_burst(qp, skb, udp_off);
	else
		rx_one(qp, skb, udp_off);
	return true;
}

/**
 * inc_rx_bypass() - take a packet to one of our QPs before its bridge
 * @sw: switch
 * @skb: packet, skb->data at its IP header, which is plain and right; consumed
 *	if true
 * @udp_off: offset of its UDP header
 * @qpn: QPN from inc_rx_qpn()
 * @bridge: whose port it arrived at, and whose MAC address it is for
 *
 * Context: softirq, RCU read side.
 * Return: false if it has to continue through the bridge.
 */
bool inc_rx_bypass(struct inc_switch *sw, struct sk_buff *skb,
		   unsigned int udp_off, u32 qpn, struct net_device *bridge)
{
	struct inc_qp *qp = inc_qp_lookup(sw, qpn);

	if (!qp || !from_member(skb, qp) || !inc_ingress_early(qp, skb, bridge) ||
	    !inc_bypass_pass(qp, skb, udp_off))
		return false;
	skb->dev = bridge;
	dev_sw_netstats_rx_add(bridge, skb->len);
	rx_one(qp, skb, udp_off);
	return true;
}

/**
 * inc_rx_early() - take a packet to one of our QPs before IP has seen it
 * @sw: switch
 * @skb: packet, skb->data at its IP header, which is plain and right; consumed
 *	if true
 * @udp_off: offset of its UDP header
 * @qpn: QPN from inc_rx_qpn()
 * @port: port of the bridge that it arrived at
 *
 * Context: softirq, RCU read side.
 * Return: false if it has to continue to IP.
 */
bool inc_rx_early(struct inc_switch *sw, struct sk_buff *skb,
		  unsigned int udp_off, u32 qpn, const struct net_device *port)
{
	struct inc_qp *qp = inc_qp_lookup(sw, qpn);

	if (!qp || !from_member(skb, qp) ||
	    !inc_ingress_early(qp, skb, skb->dev))
		return false;
	inc_bypass_open(qp, skb, port);
	rx_one(qp, skb, udp_off);
	return true;
}

/**
 * inc_rx_cut() - recognize an IPv6 fragment too short to hold a QPN
 * @sw: switch
 * @skb: packet with a fragment header, skb->data at its IP header
 * @udp_off: offset of its UDP header
 *
 * IP reassembles fragments after the hook. If the first one ends before the
 * QPN, the reassembled packet would get past the switch. IP itself drops one
 * that ends in the UDP header.
 *
 * Context: softirq, RCU read side.
 * Return: true if it is such a fragment, which is counted; drop it.
 */
bool inc_rx_cut(struct inc_switch *sw, const struct sk_buff *skb,
		unsigned int udp_off)
{
	struct udphdr buf, *uh;

	uh = skb_header_pointer(skb, udp_off, sizeof(buf), &buf);
	if (!uh || uh->dest != htons(INC_UDP_PORT) ||
	    skb->len >= udp_off + QPN_END)
		return false;
	inc_stats_inc(sw->stats, RDMA_INC_A_SWITCH_STATS_RX_IP_OPTIONS);
	return true;
}
