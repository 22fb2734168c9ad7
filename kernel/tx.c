// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: the whole packet, ICRC included, is made here; then it takes the
 * ordinary way out, through routing, netfilter, bridge and queueing
 * disciplines.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "fault.h"
#include "icrc.h"
#include "inc.h"
#include "qp.h"
#include "trace.h"
#include "tree.h"
#include "tx.h"
#include "wire.h"

#define TX_TTL	64

static struct dst_entry *route_ipv4(struct inc_qp *qp)
{
	struct flowi4 fl4 = {
		.daddr		= qp->cfg.peer.s6_addr32[3],
		.saddr		= qp->cfg.local.s6_addr32[3],
		.flowi4_proto	= IPPROTO_UDP,
		.fl4_sport	= qp->sport,
		.fl4_dport	= htons(INC_UDP_PORT),
	};
	struct rtable *rt;

	rt = ip_route_output_flow(qp->inet->net, &fl4, NULL);
	if (IS_ERR(rt))
		return NULL;
	if (!qp->cfg.local.s6_addr32[3])
		qp->cfg.local.s6_addr32[3] = fl4.saddr;
	return &rt->dst;
}

static struct dst_entry *route_ipv6(struct inc_qp *qp)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.daddr		= qp->cfg.peer,
		.saddr		= qp->cfg.local,
		.flowi6_proto	= IPPROTO_UDP,
		.fl6_sport	= qp->sport,
		.fl6_dport	= htons(INC_UDP_PORT),
	};
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(qp->inet->net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return NULL;
	if (ipv6_addr_any(&qp->cfg.local))
		qp->cfg.local = fl6.saddr;
	return dst;
#else
	return NULL;
#endif
}

/*
 * A reference to the route, or NULL. BH are off. The first route that is found
 * chooses our address, if the administrator did not.
 */
static struct dst_entry *route(struct inc_qp *qp)
{
	struct dst_entry *dst = dst_cache_get(&qp->dst);

	if (dst)
		return dst;
	if (qp->cfg.family == AF_INET) {
		dst = route_ipv4(qp);
		if (dst)
			dst_cache_set_ip4(&qp->dst, dst,
					  qp->cfg.local.s6_addr32[3]);
		return dst;
	}
	dst = route_ipv6(qp);
#if IS_ENABLED(CONFIG_IPV6)
	if (dst)
		dst_cache_set_ip6(&qp->dst, dst, &qp->cfg.local);
#endif
	return dst;
}

/**
 * inc_tx_source() - find the route to a new member, and with it our address
 * @qp: QP that nobody knows of yet; its cfg.local is filled in if unspecified
 *
 * Context: process.
 * Return: 0, or -ENETUNREACH if there is no route.
 */
int inc_tx_source(struct inc_qp *qp)
{
	struct dst_entry *dst;

	local_bh_disable();
	dst = route(qp);
	local_bh_enable();
	if (!dst)
		return -ENETUNREACH;
	dst_release(dst);
	return 0;
}

static unsigned int ip_hdr_len(const struct inc_qp *qp)
{
	return qp->cfg.family == AF_INET ? sizeof(struct iphdr) :
					   sizeof(struct ipv6hdr);
}

static void put_ipv4(struct sk_buff *skb, const struct inc_qp *qp)
{
	struct iphdr *ih = ip_hdr(skb);

	*ih = (struct iphdr) {
		.version	= IPVERSION,
		.ihl		= sizeof(*ih) / 4,
		.tot_len	= htons(skb->len),
		.frag_off	= htons(IP_DF),
		.ttl		= TX_TTL,
		.protocol	= IPPROTO_UDP,
		.saddr		= qp->cfg.local.s6_addr32[3],
		.daddr		= qp->cfg.peer.s6_addr32[3],
	};
	skb->protocol = htons(ETH_P_IP);
}

static void put_ipv6(struct sk_buff *skb, const struct inc_qp *qp)
{
	struct ipv6hdr *ih = ipv6_hdr(skb);

	*ih = (struct ipv6hdr) {
		.version	= 6,
		.payload_len	= htons(skb->len - sizeof(*ih)),
		.nexthdr	= IPPROTO_UDP,
		.hop_limit	= TX_TTL,
		.saddr		= qp->cfg.local,
		.daddr		= qp->cfg.peer,
	};
	skb->protocol = htons(ETH_P_IPV6);
}

/*
 * Headers for @pkt in front of room for its payload. The UDP checksum is 0,
 * as RoCEv2 allows for both versions of IP: the ICRC protects more. The IP
 * header is final, for the ICRC covers its length, ID and fragment field.
 */
static struct sk_buff *build(struct inc_qp *qp, const struct inc_pkt *pkt,
			     u8 **payload, u32 *crc)
{
	unsigned int ip_len = ip_hdr_len(qp);
	unsigned int trailer = pkt->payload_len + pkt->pad + IB_ICRC_BYTES;
	struct dst_entry *dst = route(qp);
	unsigned int reserve, transport, len;
	struct sk_buff *skb;
	struct udphdr *uh;

	if (!dst)
		goto err_route;
	len = ip_len + sizeof(*uh) + INC_MAX_TRANSPORT_HDR + trailer;
	if (len > dst_mtu(dst))
		goto err_mtu;
	reserve = LL_RESERVED_SPACE(dst->dev);
	skb = alloc_skb(reserve + len + dst->dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		goto err_mem;
	skb_dst_set(skb, dst);
	skb_reserve(skb, reserve);
	skb_reset_network_header(skb);
	skb_put(skb, ip_len);
	skb_set_transport_header(skb, ip_len);
	uh = skb_put(skb, sizeof(*uh));
	transport = inc_wire_build(skb_tail_pointer(skb), pkt);
	skb_put(skb, transport);
	*payload = skb_put(skb, trailer);

	uh->source = qp->sport;
	uh->dest = htons(INC_UDP_PORT);
	uh->len = htons(skb->len - ip_len);
	uh->check = 0;
	if (ip_len == sizeof(struct iphdr))
		put_ipv4(skb, qp);
	else
		put_ipv6(skb, qp);
	*crc = inc_icrc_hdr(skb_network_header(skb), ip_len, uh, transport);
	return skb;

err_mem:
	inc_stats_inc(qp->inet->stats, INC_A_SWITCH_STATS_TX_NO_MEMORY);
	dst_release(dst);
	return NULL;
err_mtu:
	dst_release(dst);
err_route:
	inc_stats_inc(qp->inet->stats, INC_A_SWITCH_STATS_TX_ROUTE);
	return NULL;
}

/*
 * Copy a chunk's result behind its headers and move their CRC over it. The
 * slot may be at its next message already: then the member, which took part
 * in that, has had this result, only its acknowledgment was lost. What is in
 * the repetition does not matter; zeros do.
 */
static u32 put_result(struct inc_qp *qp, const struct inc_wqe *w, u8 *to,
		      unsigned int pad, u32 crc)
{
	struct inc_tree *tree = qp->tree;
	const struct inc_slot *s = &tree->slot[w->slot].m;
	u16 idx = inc_chunk_at(&tree->geom, w->off);
	const struct inc_chunk *chunk = &s->chunk[idx];
	const struct inc_crc_shift *shift;

	memset(to + w->len, 0, pad);
	if (READ_ONCE(chunk->msg_id) != w->msg_id) {
		memset(to, 0, w->len);
		return crc32_le(crc, to, w->len + pad);
	}
	memcpy(to, s->result + w->off, w->len);
	shift = &tree->crc_shift[idx ? 1 : 0];
	if (w->shared && w->len == shift->len)
		return inc_crc_shift(shift, crc) ^ chunk->crc;
	return crc32_le(crc, to, w->len + pad);
}

/**
 * inc_tx_request() - make the packet of a request in flight
 * @qp: QP
 * @wqe: what to send
 * @psn: its PSN
 * @ackreq: ask for an acknowledgment
 *
 * Context: BH off; qp->tx_lock held.
 * Return: the packet, or NULL, counted.
 */
struct sk_buff *inc_tx_request(struct inc_qp *qp, const struct inc_wqe *wqe,
			       u32 psn, bool ackreq)
{
	struct inc_pkt pkt = {
		.opcode		= wqe->opcode,
		.ackreq		= ackreq,
		.pad		= -wqe->len & 3,
		.pkey		= qp->cfg.pkey,
		.payload_len	= wqe->len,
		.qpn		= qp->cfg.peer_qpn,
		.psn		= psn,
		.va		= wqe->va,
		.rkey		= wqe->rkey,
		.dmalen		= wqe->len,
		.imm		= wqe->imm,
	};
	struct sk_buff *skb;
	u8 *payload;
	u32 crc;

	skb = build(qp, &pkt, &payload, &crc);
	if (!skb)
		return NULL;
	if (wqe->len)
		crc = put_result(qp, wqe, payload, pkt.pad, crc);
	put_unaligned_le32(~crc, payload + wqe->len + pkt.pad);
	return skb;
}

/**
 * inc_tx_ack() - send an acknowledgment or NAK
 * @qp: QP
 * @syndrome: AETH syndrome
 * @psn: PSN that it is about
 * @msn: message sequence number
 *
 * Context: BH off; no lock held.
 */
void inc_tx_ack(struct inc_qp *qp, u8 syndrome, u32 psn, u32 msn)
{
	struct inc_pkt pkt = {
		.opcode		= IB_OPCODE_RC_ACKNOWLEDGE,
		.pkey		= qp->cfg.pkey,
		.qpn		= qp->cfg.peer_qpn,
		.psn		= psn,
		.syndrome	= syndrome,
		.msn		= msn,
	};
	struct sk_buff *skb;
	u8 *payload;
	u32 crc;

	skb = build(qp, &pkt, &payload, &crc);
	if (!skb)
		return;
	put_unaligned_le32(~crc, payload);
	inc_tx_xmit(qp, skb);
}

/**
 * inc_tx_xmit() - give a packet to the IP stack
 * @qp: QP
 * @skb: packet; consumed
 *
 * Context: BH off; no lock held.
 */
void inc_tx_xmit(struct inc_qp *qp, struct sk_buff *skb)
{
	inc_stats_add(qp->stats, INC_A_MEMBER_STATS_TX_WIRE_BYTES, skb->len);
	if (inc_fault_enabled() && inc_fault_tx(qp, skb))
		return;
	inc_tx_output(qp, skb);
}

/**
 * inc_tx_output() - the same for a packet that was counted, and has met its
 *	faults
 * @qp: QP
 * @skb: packet; consumed
 *
 * Context: BH off; no lock held.
 */
void inc_tx_output(struct inc_qp *qp, struct sk_buff *skb)
{
	int err;

	if (skb->protocol == htons(ETH_P_IP))
		err = ip_local_out(qp->inet->net, NULL, skb);
	else
		err = ip6_local_out(qp->inet->net, NULL, skb);
	if (net_xmit_eval(err))
		inc_stats_inc(qp->inet->stats, INC_A_SWITCH_STATS_TX_ERROR);
}
