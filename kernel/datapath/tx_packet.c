// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: find the route and build the whole packet, ICRC included.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/nexthop.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "core/icrc.h"
#include "core/payload.h"
#include "core/wire.h"
#include "datapath/flow.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_mtu.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"

#define TX_TTL	64

/* A payload up to this size is copied: cheaper than a reference to its page. */
#define TX_COPY_MAX	256
/* Pad and ICRC. */
#define TX_TRAILER_MAX	8

/* The next hop that the administrator has set for a route's device. */
static const struct fib_nh_common *find_nexthop(const struct fib_result *res,
						const struct net_device *dev)
{
	const struct fib_nh_common *nhc;
	int i;

	for (i = 0; i < fib_info_num_path(res->fi); i++) {
		nhc = fib_info_nhc(res->fi, i);
		if (nhc->nhc_dev == dev)
			return nhc;
	}
	return NULL;
}

/* The member's route. IPsec wraps it, and copies none of its flags. */
static const struct dst_entry *member_route(const struct dst_entry *dst)
{
#ifdef CONFIG_XFRM
	if (dst->xfrm)
		return container_of(dst, struct xfrm_dst, u.dst)->route;
#endif
	return dst;
}

/* One with a path MTU that an ICMP error has taught becomes so while in use. */
static bool is_redirected(const struct inc_qp *qp, const struct dst_entry *dst)
{
	const u32 ipv6 = RTF_CACHE | RTF_DYNAMIC;

	dst = member_route(dst);
	if (qp->cfg.family == AF_INET)
		return dst_rtable(dst)->rt_flags & RTCF_REDIRECTED;
	return (dst_rt6_info(dst)->rt6i_flags & ipv6) == ipv6;
}

/*
 * A route as if no ICMP redirect had come, which anyone can forge: results
 * would go to whom it names. As for path MTUs, there is nothing to be learned.
 * Returns NULL if there is no such route. RCU's read lock is held.
 */
static struct dst_entry *undo_ipv4(struct net *net, struct flowi4 *fl4,
				   const struct rtable *rt)
{
	const struct fib_nh_common *nhc = NULL;
	struct fib_result res;
	struct rtable *own;

	if (!fib_lookup(net, fl4, &res, 0) && res.fi)
		nhc = find_nexthop(&res, rt->dst.dev);
	if (!nhc)
		return NULL;
	own = rt_dst_alloc(rt->dst.dev, 0, RTN_UNICAST,
			   rt->dst.flags & DST_NOXFRM);
	if (!own)
		return NULL;
	own->dst.output = rt->dst.output;
	own->dst.lwtstate = lwtstate_get(rt->dst.lwtstate);
	if (nhc->nhc_gw_family && nhc->nhc_scope == RT_SCOPE_LINK) {
		own->rt_uses_gateway = 1;
		own->rt_gw_family = nhc->nhc_gw_family;
		if (nhc->nhc_gw_family == AF_INET)
			own->rt_gw4 = nhc->nhc_gw.ipv4;
		else
			own->rt_gw6 = nhc->nhc_gw.ipv6;
	}
	return &own->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
struct nexthop_search {
	const struct net_device *dev;
	const struct fib6_nh *found;
};

static int match_nexthop(struct fib6_nh *nh, void *arg)
{
	struct nexthop_search *s = arg;

	if (nh->fib_nh_dev == s->dev)
		s->found = nh;
	return !!s->found;
}

static struct dst_entry *undo_ipv6(struct net *net, const struct rt6_info *rt)
{
	struct fib6_info *from = rcu_dereference(rt->from);
	struct nexthop_search s = { .dev = rt->dst.dev };
	struct rt6_info *own;

	if (from && from->nh)
		nexthop_for_each_fib6_nh(from->nh, match_nexthop, &s);
	else if (from)
		match_nexthop(from->fib6_nh, &s);
	if (!s.found)
		return NULL;
	own = ip6_dst_alloc(net, rt->dst.dev, rt->dst.flags & DST_NOXFRM);
	if (!own)
		return NULL;
	own->dst.output = rt->dst.output;
	own->dst.lwtstate = lwtstate_get(rt->dst.lwtstate);
	own->rt6i_idev = in6_dev_get(rt->dst.dev);
	if (s.found->fib_nh_gw_family) {
		own->rt6i_flags = RTF_GATEWAY;
		own->rt6i_gateway = s.found->fib_nh_gw6;
	}
	return &own->dst;
}
#else
static struct dst_entry *undo_ipv6(struct net *net, const struct rt6_info *rt)
{
	return NULL;
}
#endif

/*
 * Undo it before IPsec looks at the route. Consumes @dst. Its device cannot
 * find the result when it goes: for one packet only.
 */
static struct dst_entry *undo_redirect(struct inc_qp *qp, struct flowi *fl,
				       struct dst_entry *dst)
{
	const struct dst_entry *route = member_route(dst);
	struct net *net = qp->sw->net;
	struct dst_entry *own;

	rcu_read_lock();
	own = qp->cfg.family == AF_INET ?
	      undo_ipv4(net, &fl->u.ip4, dst_rtable(route)) :
	      undo_ipv6(net, dst_rt6_info(route));
	rcu_read_unlock();
	dst_release(dst);
	if (!own)
		return NULL;
	own = xfrm_lookup_route(net, own, fl, NULL, 0);
	return IS_ERR(own) ? NULL : own;
}

static struct dst_entry *find_route_ipv4(struct inc_qp *qp)
{
	struct flowi4 fl4 = inc_flow_ipv4(qp);
	struct rtable *rt;

	rt = ip_route_output_flow(qp->sw->net, &fl4, NULL);
	if (IS_ERR(rt))
		return NULL;
	if (!qp->cfg.local.s6_addr32[3])
		qp->cfg.local.s6_addr32[3] = fl4.saddr;
	if (unlikely(is_redirected(qp, &rt->dst)))
		return undo_redirect(qp, flowi4_to_flowi(&fl4), &rt->dst);
	dst_cache_set_ip4(&qp->dst, &rt->dst, qp->cfg.local.s6_addr32[3]);
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
/* An address of the route's VRF, or of none. */
static bool is_ours_ipv6(const struct inc_qp *qp, const struct in6_addr *addr,
			 const struct net_device *dev)
{
	return ipv6_chk_addr(qp->sw->net, addr, dev, 0) ||
	       ipv6_chk_addr(qp->sw->net, addr, NULL, 0);
}
#endif

static struct dst_entry *find_route_ipv6(struct inc_qp *qp)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = inc_flow_ipv6(qp);
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(qp->sw->net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return NULL;
	/* IPv4's lookup fails if the source address is not ours. */
	if (!ipv6_addr_any(&qp->cfg.local) &&
	    !is_ours_ipv6(qp, &qp->cfg.local, dst->dev)) {
		dst_release(dst);
		return NULL;
	}
	if (ipv6_addr_any(&qp->cfg.local))
		qp->cfg.local = fl6.saddr;
	if (unlikely(is_redirected(qp, dst)))
		return undo_redirect(qp, flowi6_to_flowi(&fl6), dst);
	dst_cache_set_ip6(&qp->dst, dst, &qp->cfg.local);
	return dst;
#else
	return NULL;
#endif
}

/*
 * Returns a reference to the route, or NULL. BH are off. The first route found
 * determines our address, unless the administrator has set one.
 */
static struct dst_entry *find_route(struct inc_qp *qp)
{
	int genid = inc_flow_genid(qp);
	struct dst_entry *dst = NULL;

	if (READ_ONCE(qp->genid) == genid)
		dst = dst_cache_get(&qp->dst);
	if (likely(dst && !is_redirected(qp, dst)))
		return dst;
	dst_release(dst);
	dst = qp->cfg.family == AF_INET ? find_route_ipv4(qp) :
					  find_route_ipv6(qp);
	if (!dst)
		return NULL;
	WRITE_ONCE(qp->iif, dst->dev->ifindex);
	WRITE_ONCE(qp->genid, genid);
	return dst;
}

static unsigned int ip_hdr_len(const struct inc_qp *qp)
{
	return qp->cfg.family == AF_INET ? sizeof(struct iphdr) :
					   sizeof(struct ipv6hdr);
}

/* Upper bound of a packet from the IP header on. */
static unsigned int packet_len(const struct inc_qp *qp,
			       unsigned int payload_len)
{
	return ip_hdr_len(qp) + sizeof(struct udphdr) + INC_MAX_TRANSPORT_HDR +
	       payload_len + IB_ICRC_BYTES;
}

/* Does the longest packet of the tree fit? */
static int check_mtu(const struct inc_qp *qp, struct dst_entry *dst,
		     struct netlink_ext_ack *extack)
{
	unsigned int need = packet_len(qp, qp->tree->cfg.pmtu);
	struct inc_mtu mtu;

	inc_mtu_way(qp, dst, &mtu);
	if (need <= mtu.bytes)
		return 0;
	NL_SET_ERR_MSG_FMT_MOD(extack,
			       "pmtu %u needs an MTU of %u, %s has %u",
			       qp->tree->cfg.pmtu, need, mtu.name, mtu.bytes);
	return -EMSGSIZE;
}

/**
 * inc_tx_too_long() - check whether a packet does not fit the way to a member
 * @qp: QP
 * @payload_len: bytes of its payload
 *
 * MTUs may change while members are connected, and a bridge silently drops packets
 * that are too long for a port: the packet is lost each time.
 *
 * Context: BH off; no lock held.
 * Return: true if a device on the way takes no packet of this length.
 */
bool inc_tx_too_long(struct inc_qp *qp, unsigned int payload_len)
{
	struct dst_entry *dst = find_route(qp);
	struct inc_mtu mtu;

	if (!dst)
		return false;
	inc_mtu_way(qp, dst, &mtu);
	dst_release(dst);
	return packet_len(qp, ALIGN(payload_len, 4)) > mtu.bytes;
}

/**
 * inc_tx_source() - find the route to a new member, and thereby our address
 * @qp: unpublished QP; its cfg.local is filled in if unspecified
 * @extack: set to the reason for an error
 *
 * Context: process.
 * Return: 0, -ENETUNREACH if there is no route, -EMSGSIZE if the MTU of its
 * interface, or of the bridge's port behind it, is too small for the tree's
 * packets.
 */
int inc_tx_source(struct inc_qp *qp, struct netlink_ext_ack *extack)
{
	struct dst_entry *dst;
	int err;

	local_bh_disable();
	dst = find_route(qp);
	local_bh_enable();
	if (!dst) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "no route to the %s's address",
				       qp->uplink ? "parent" : "member");
		return -ENETUNREACH;
	}
	err = check_mtu(qp, dst, extack);
	dst_release(dst);
	return err;
}

/* @len: bytes after the IP header */
static void put_ipv4(struct sk_buff *skb, const struct inc_qp *qp, u8 tos,
		     unsigned int len, u16 id)
{
	struct iphdr *ih = ip_hdr(skb);

	*ih = (struct iphdr) {
		.version	= IPVERSION,
		.ihl		= sizeof(*ih) / 4,
		.tos		= tos,
		.tot_len	= htons(sizeof(*ih) + len),
		.id		= htons(id),
		.frag_off	= htons(IP_DF),
		.ttl		= TX_TTL,
		.protocol	= IPPROTO_UDP,
		.saddr		= qp->cfg.local.s6_addr32[3],
		.daddr		= qp->cfg.peer.s6_addr32[3],
	};
	skb->protocol = htons(ETH_P_IP);
}

static void put_ipv6(struct sk_buff *skb, const struct inc_qp *qp, u8 tos,
		     unsigned int len)
{
	struct ipv6hdr *ih = ipv6_hdr(skb);

	*ih = (struct ipv6hdr) {
		.payload_len	= htons(len),
		.nexthdr	= IPPROTO_UDP,
		.hop_limit	= TX_TTL,
		.saddr		= qp->cfg.local,
		.daddr		= qp->cfg.peer,
	};
	ip6_flow_hdr(ih, tos, 0);
	skb->protocol = htons(ETH_P_IPV6);
}

/* Only packets with data may be ECT(0) (RFC 3168, section 6.1.4). */
static bool has_data(const struct inc_pkt *pkt)
{
	return pkt->opcode != IB_OPCODE_RC_ACKNOWLEDGE &&
	       pkt->opcode != INC_OPCODE_CNP;
}

/*
 * Put the headers of @pkt into @skb, which has room for them. The UDP checksum
 * is 0, as RoCEv2 allows for both versions of IP: the ICRC protects more. The
 * IP header is final, for the ICRC covers its length, ID and fragment field.
 * @id: see tx_gso.c. Returns their CRC.
 */
static u32 put_headers(const struct inc_qp *qp, const struct inc_pkt *pkt,
		       struct sk_buff *skb, u16 id)
{
	unsigned int ip_len = ip_hdr_len(qp), transport;
	struct udphdr *uh;
	unsigned int len;
	u8 tos;

	skb_reset_network_header(skb);
	skb_put(skb, ip_len);
	skb_set_transport_header(skb, ip_len);
	uh = skb_put(skb, sizeof(*uh));
	transport = inc_wire_build(skb_tail_pointer(skb), pkt);
	skb_put(skb, transport);

	len = sizeof(*uh) + transport + pkt->payload_len + pkt->pad +
	      IB_ICRC_BYTES;
	uh->source = qp->sport;
	uh->dest = htons(INC_UDP_PORT);
	uh->len = htons(len);
	uh->check = 0;
	tos = has_data(pkt) ? qp->data_class : qp->traffic_class;
	if (ip_len == sizeof(struct iphdr))
		put_ipv4(skb, qp, tos, len, id);
	else
		put_ipv6(skb, qp, tos, len);
	return inc_icrc(skb->data, ip_len, skb->len);
}

#define SHINFO_SIZE	SKB_DATA_ALIGN(sizeof(struct skb_shared_info))

/* A packet whose buffer has @size bytes, and @behind after its end. */
static struct sk_buff *alloc_frag(unsigned int size, unsigned int behind)
{
	unsigned int end = SKB_DATA_ALIGN(size) + SHINFO_SIZE;
	void *buf = napi_alloc_frag(end + behind);
	struct sk_buff *skb;

	if (!buf)
		return NULL;
	skb = napi_build_skb(buf, end);
	if (!skb)
		skb_free_frag(buf);
	return skb;
}

static bool fits_frag(unsigned int size, unsigned int behind)
{
	return SKB_DATA_ALIGN(size) + SHINFO_SIZE + behind <= PAGE_SIZE;
}

/* Allocate a packet that has its payload. */
static struct sk_buff *alloc_whole(unsigned int size)
{
	return fits_frag(size, 0) ? alloc_frag(size, 0) : alloc_skb(size, GFP_ATOMIC);
}

/*
 * Allocate a packet whose payload is in shared pages: its own are the headers,
 * and a trailer of pad and ICRC, which lies after the end of its buffer.
 * @room: of the buffer for the payload, if the allocator does not care.
 */
static struct sk_buff *alloc_paged(unsigned int size, unsigned int room)
{
	return alloc_frag(fits_frag(size + room, TX_TRAILER_MAX) ? size + room : size,
			  TX_TRAILER_MAX);
}

static void add_page(struct sk_buff *skb, struct page *page, unsigned int off,
		     unsigned int len)
{
	get_page(page);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, off, len, len);
	/* A switch on this machine that receives it must not reduce there. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
}

/* The page of a slot's memory, see tree_mem.c. */
static struct page *slot_page(const void *mem)
{
	return is_vmalloc_addr(mem) ? vmalloc_to_page(mem) : virt_to_page(mem);
}

/*
 * Add the payload by reference, and the trailer. Returns the trailer. A payload
 * that only one member gets may cross a page boundary.
 */
static u8 *ref_pages(struct sk_buff *skb, const void *payload, unsigned int len,
		     unsigned int trailer_len)
{
	u8 *trailer = (u8 *)skb_shinfo(skb) + SHINFO_SIZE;
	struct page *page;

	while (len) {
		unsigned int off = offset_in_page(payload);
		unsigned int part = min_t(unsigned int, len, PAGE_SIZE - off);

		add_page(skb, slot_page(payload), off, part);
		payload += part;
		len -= part;
	}
	page = virt_to_head_page(trailer);
	add_page(skb, page, trailer - (u8 *)page_address(page), trailer_len);
	/* Anyone that changes the payload has to copy it. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return trailer;
}

/* The same by copying. @payload is NULL for zeros. */
static u8 *add_copy(struct sk_buff *skb, const void *payload, unsigned int len,
		    unsigned int trailer_len)
{
	if (payload)
		skb_put_data(skb, payload, len);
	else
		skb_put_zero(skb, len);
	return skb_put(skb, trailer_len);
}

/*
 * A receiver on this machine that linearizes a packet need not allocate another
 * buffer if there is room in this one. Its device takes lists, see may_join().
 */
static unsigned int linear_room(const struct dst_entry *dst, unsigned int len)
{
	return dst->dev->features & NETIF_F_FRAGLIST ? len : 0;
}

/*
 * The CPU by which a device chooses one of its queues (XPS). Any CPU may send to a
 * member, but packets in the queues of several CPUs may be reordered. So the sender
 * is the one that receives from the member, as long as that is the same one.
 */
static void set_sender(struct sk_buff *skb, const struct inc_qp *qp)
{
#ifdef CONFIG_XPS
	skb->sender_cpu = READ_ONCE(qp->cpu) + 1;
#endif
}

/*
 * Build one more packet of a burst, except its pad and ICRC. Returns where they
 * belong, or NULL. @crc takes the CRC of the headers.
 */
static u8 *build_packet(struct inc_gso *b, struct inc_qp *qp,
			const struct inc_pkt *pkt, const void *payload,
			u32 *crc)
{
	unsigned int payload_len = pkt->payload_len;
	unsigned int trailer_len = pkt->pad + IB_ICRC_BYTES;
	bool paged = payload && payload_len > TX_COPY_MAX &&
		     offset_in_page(payload) + payload_len <= PAGE_SIZE;
	unsigned int reserve, len;
	struct dst_entry *dst;
	struct sk_buff *skb;

	if (!b->dst)
		b->dst = find_route(qp);
	dst = b->dst;
	if (!dst)
		goto err_route;
	len = packet_len(qp, payload_len + pkt->pad);
	if (len > inc_mtu_device(dst))
		goto err_route;
	reserve = LL_RESERVED_SPACE(dst->dev);
	len += reserve + dst->dev->needed_tailroom;
	skb = paged ? alloc_paged(len - payload_len, linear_room(dst, payload_len)) :
		      alloc_whole(len);
	if (!skb)
		goto err_mem;
	skb_reserve(skb, reserve);
	set_sender(skb, qp);
	skb->priority = READ_ONCE(qp->priority);
	*crc = put_headers(qp, pkt, skb, skb_queue_len(&b->packets));
	__skb_queue_tail(&b->packets, skb);
	return paged ? ref_pages(skb, payload, payload_len, trailer_len) :
		       add_copy(skb, payload, payload_len, trailer_len);

err_mem:
	inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_TX_NO_MEMORY);
	return NULL;
err_route:
	inc_stats_inc(qp->sw->stats, RDMA_INC_A_SWITCH_STATS_TX_ROUTE);
	return NULL;
}

/* Move a CRC over a payload of @len bytes, pad included. */
static u32 shift_crc(const struct inc_tree *tree, u32 crc, unsigned int len)
{
	if (len == tree->crc_shift[1].len)
		return inc_crc_shift(&tree->crc_shift[1], crc);
	if (len == tree->crc_shift[0].len)
		return inc_crc_shift(&tree->crc_shift[0], crc);
	return inc_crc_shift_any(crc, len);
}

/**
 * inc_tx_request() - build the packet of a request in flight
 * @b: burst that takes the packet; lost and counted without memory or route
 * @qp: QP
 * @wqe: what to send
 * @psn: its PSN
 * @ackreq: set AckReq
 *
 * Context: BH off; qp->tx.lock held.
 */
void inc_tx_request(struct inc_gso *b, struct inc_qp *qp,
		    const struct inc_wqe *wqe, u32 psn, bool ackreq)
{
	const struct inc_slot *s = &qp->tree->slot[wqe->slot].m;
	u32 payload_crc, crc;
	const void *payload;
	struct inc_pkt pkt;
	u8 *trailer;

	lockdep_assert_held(&qp->tx.lock);
	/* To clear all of it first takes longer, by "rep stos". */
	pkt.opcode = wqe->opcode;
	pkt.ackreq = ackreq;
	pkt.becn = false;
	pkt.pad = -wqe->len & 3;
	pkt.pkey = qp->cfg.pkey;
	pkt.payload_len = wqe->len;
	pkt.qpn = qp->cfg.peer_qpn;
	pkt.psn = psn;
	pkt.va = wqe->va;
	pkt.rkey = wqe->rkey;
	pkt.dmalen = wqe->dmalen;
	pkt.imm = wqe->imm;
	payload = inc_wqe_payload(s, wqe);
	payload_crc = inc_wqe_crc(s, wqe, payload);
	trailer = build_packet(b, qp, &pkt, payload, &crc);
	if (!trailer)
		return;
	crc = shift_crc(qp->tree, crc, wqe->len + pkt.pad) ^ payload_crc;
	memset(trailer, 0, pkt.pad);
	put_unaligned_le32(~crc, trailer + pkt.pad);
}

/* Send a packet without payload by itself. */
static void send_lone(struct inc_qp *qp, struct inc_pkt *pkt)
{
	struct inc_gso b;
	u8 *trailer;
	u32 crc;

	pkt->ackreq = false;
	pkt->pad = 0;
	pkt->pkey = qp->cfg.pkey;
	pkt->payload_len = 0;
	pkt->qpn = qp->cfg.peer_qpn;
	inc_gso_init(&b);
	trailer = build_packet(&b, qp, pkt, NULL, &crc);
	if (trailer)
		put_unaligned_le32(~crc, trailer);
	inc_gso_send(&b, qp);
	inc_gso_end(&b);
}

/* Does the acknowledgment sent now tell a switch that packets met congestion? */
static bool take_becn(struct inc_qp *qp)
{
	if (likely(!READ_ONCE(qp->tx.becn)))
		return false;
	WRITE_ONCE(qp->tx.becn, false);
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_CNPS);
	return true;
}

/**
 * inc_tx_aeth() - send an acknowledgment or NAK
 * @qp: QP
 * @syndrome: AETH syndrome
 * @psn: PSN of the acknowledgment
 * @msn: message sequence number
 *
 * Context: BH off; no lock held.
 */
void inc_tx_aeth(struct inc_qp *qp, u8 syndrome, u32 psn, u32 msn)
{
	struct inc_pkt pkt;

	/* As in inc_tx_request(). */
	pkt.opcode = IB_OPCODE_RC_ACKNOWLEDGE;
	pkt.becn = take_becn(qp);
	pkt.psn = psn;
	pkt.syndrome = syndrome;
	pkt.msn = msn;
	send_lone(qp, &pkt);
}

/**
 * inc_tx_cnp() - send a congestion notification packet
 * @qp: QP
 *
 * Context: BH off; no lock held.
 * Spec: IBTA 1.x, annex A17.9.3.
 */
void inc_tx_cnp(struct inc_qp *qp)
{
	struct inc_pkt pkt;

	pkt.opcode = INC_OPCODE_CNP;
	pkt.becn = true;
	pkt.psn = 0;
	send_lone(qp, &pkt);
}
