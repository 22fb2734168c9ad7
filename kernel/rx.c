// SPDX-License-Identifier: GPL-2.0
/*
 * Receive border: nobody has looked at the UDP header yet, so its length and
 * checksum are checked here, then everything up to the ICRC. What passes
 * belongs to a QP of this switch, comes from its member and is undamaged.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "engine.h"
#include "fault.h"
#include "icrc.h"
#include "inc.h"
#include "qp.h"
#include "rx.h"
#include "trace.h"

/**
 * inc_rx_is_ours() - does a UDP packet go to an INC QPN
 * @skb: packet, skb->data at its IP header
 * @udp_off: offset of its UDP header
 *
 * A packet too short to say is not ours: rxe, or nobody, deals with it.
 *
 * Context: the netfilter hook.
 * Return: true if destination port and destination QPN are the switch's.
 */
bool inc_rx_is_ours(const struct sk_buff *skb, unsigned int udp_off)
{
	struct {
		struct udphdr	udp;
		__be32		bth[2];
	} buf, *hdr;
	u32 qpn;

	hdr = skb_header_pointer(skb, udp_off, sizeof(buf), &buf);
	if (!hdr || hdr->udp.dest != htons(INC_UDP_PORT))
		return false;
	qpn = be32_to_cpu(hdr->bth[1]) & IB_QPN_MASK;
	return qpn >= INC_QPN_MIN && qpn <= INC_QPN_MAX;
}

/* Returns 0, or the counter of what is wrong with the UDP datagram. */
static unsigned int check_udp(struct sk_buff *skb, unsigned int udp_off)
{
	const struct udphdr *uh;
	unsigned int len;

	if (skb_linearize(skb))
		return INC_A_SWITCH_STATS_RX_NO_MEMORY;

	uh = (struct udphdr *)(skb->data + udp_off);
	len = ntohs(uh->len);
	if (len < sizeof(*uh) || len > skb->len - udp_off)
		return INC_A_SWITCH_STATS_RX_SHORT;
	/* Bytes that IP carried beyond the datagram. */
	if (pskb_trim_rcsum(skb, udp_off + len))
		return INC_A_SWITCH_STATS_RX_NO_MEMORY;
	if (uh->check &&
	    nf_checksum(skb, NF_INET_LOCAL_IN, udp_off, IPPROTO_UDP,
			skb->protocol == htons(ETH_P_IP) ? AF_INET : AF_INET6))
		return INC_A_SWITCH_STATS_RX_UDP_CHECKSUM;
	return 0;
}

static unsigned int parse(const struct sk_buff *skb, unsigned int bth_off,
			  struct inc_pkt *pkt)
{
	switch (inc_wire_parse(skb->data + bth_off, skb->len - bth_off, pkt)) {
	case INC_WIRE_OK:
		return 0;
	case INC_WIRE_SHORT:
		return INC_A_SWITCH_STATS_RX_SHORT;
	case INC_WIRE_OPCODE:
		return INC_A_SWITCH_STATS_RX_OPCODE;
	case INC_WIRE_TVER:
		return INC_A_SWITCH_STATS_RX_BTH;
	}
	return INC_A_SWITCH_STATS_RX_OPCODE;
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

static bool icrc_ok(const struct sk_buff *skb, unsigned int udp_off,
		    const struct inc_pkt *pkt)
{
	const u8 *udp = skb->data + udp_off;
	const u8 *rest = udp + sizeof(struct udphdr) + pkt->hdr_len;
	const u8 *icrc = rest + pkt->payload_len + pkt->pad;
	u32 crc;

	crc = inc_icrc_hdr(skb->data, udp_off, udp, pkt->hdr_len);
	crc = crc32_le(crc, rest, pkt->payload_len + pkt->pad);
	return get_unaligned_le32(icrc) == ~crc;
}

static u8 transport_of(const struct inc_pkt *pkt)
{
	return pkt->uc ? INC_TRANSPORT_UC : INC_TRANSPORT_RC;
}

/* Cheap checks first: a stranger's packet is not worth a CRC. */
static unsigned int check(struct inc_net *inet, struct sk_buff *skb,
			  unsigned int udp_off, struct inc_pkt *pkt,
			  struct inc_qp **qpp)
{
	unsigned int err;
	struct inc_qp *qp;

	err = check_udp(skb, udp_off);
	if (err)
		return err;
	err = parse(skb, udp_off + sizeof(struct udphdr), pkt);
	if (err)
		return err;
	qp = inc_qp_lookup(inet, pkt->qpn);
	if (!qp)
		return INC_A_SWITCH_STATS_RX_NO_QP;
	if (transport_of(pkt) != qp->cfg.transport)
		return INC_A_SWITCH_STATS_RX_OPCODE;
	if (!from_member(skb, qp))
		return INC_A_SWITCH_STATS_RX_SOURCE;
	if (pkt->pkey != qp->cfg.pkey)
		return INC_A_SWITCH_STATS_RX_PKEY;
	if (inc_fault_enabled())
		inc_fault_rx_damage(qp, skb, udp_off + sizeof(struct udphdr));
	if (!icrc_ok(skb, udp_off, pkt))
		return INC_A_SWITCH_STATS_RX_ICRC;
	*qpp = qp;
	return 0;
}

/**
 * inc_rx() - take a packet to an INC QPN
 * @inet: switch
 * @skb: packet, skb->data at its IP header; consumed
 * @udp_off: offset of its UDP header
 * @plain: the IP header has neither options nor extensions, the packet is no
 *	fragment
 *
 * Context: softirq, RCU read side.
 */
void inc_rx(struct inc_net *inet, struct sk_buff *skb, unsigned int udp_off,
	    bool plain)
{
	struct inc_pkt pkt = {};
	struct inc_qp *qp;
	unsigned int err;

	/* The ICRC is not defined over options, and no RoCEv2 host sends any. */
	err = plain ? check(inet, skb, udp_off, &pkt, &qp) :
		      INC_A_SWITCH_STATS_RX_IP_OPTIONS;
	if (err) {
		inc_stats_inc(inet->stats, err);
		trace_inc_drop(inet, &pkt, err);
		kfree_skb_reason(skb, SKB_DROP_REASON_NETFILTER_DROP);
		return;
	}

	WRITE_ONCE(qp->last_rx, jiffies);
	inc_stats_add(qp->stats, INC_A_MEMBER_STATS_RX_WIRE_BYTES, skb->len);
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	__skb_pull(skb, udp_off + sizeof(struct udphdr));
	if (inc_fault_enabled() && inc_fault_rx(qp, skb))
		return;
	inc_engine_rx(qp, skb, &pkt);
}
