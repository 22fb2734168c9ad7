// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of the hosts: requests and acknowledgments are built, results are
 * checked. The elements are small whole numbers as fp32, whose sum is exact in
 * any order; so each result is known.
 */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <rdma/ib_hdrs.h>
#include <rdma/ib_pack.h>

#include <linux/rdma_inc_proto.h>

#include "pktgen.h"

#define PKEY		0xffff
#define PSN_MASK	0xffffff
/* Room for the pattern from any element of it on. */
#define REPEATED	(PG_PATTERN + PG_PMTU_MAX / 4)
/* How much of a packet drivers put into the linear part: up to UDP. */
#define HEAD_LEN	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct udphdr))
#define HEAD_ROOM	256	/* bytes of the buffer before a fragment */
#define AETH_ACK	0x1f

static __le32 pattern[REPEATED];

/* The one frame that is being built or checked. */
static u8 frame[PG_FRAME_MAX];

/* @v is less than 2^24. */
static __le32 to_fp32(u32 v)
{
	unsigned int e;

	if (!v)
		return 0;
	e = __fls(v);
	return cpu_to_le32((127 + e) << 23 | ((v << (23 - e)) & 0x7fffff));
}

/* Where in the pattern a rank's element lies; rank 0 is the sum's, too. */
static u32 find_place(u32 rank, u32 msg_id, u32 element)
{
	return (3 * rank + msg_id + element) % PG_PATTERN;
}

/**
 * pg_packet_init() - prepare the elements
 *
 * Context: any.
 */
void pg_packet_init(void)
{
	u32 i;

	for (i = 0; i < REPEATED; i++)
		pattern[i] = to_fp32(i % PG_PATTERN);
}

/**
 * pg_packet_sums() - compute the results of a tree
 * @tree: tree; its @sum is set, to be freed by kfree()
 *
 * Context: process.
 * Return: 0, or -ENOMEM.
 */
int pg_packet_sums(struct pg_tree *tree)
{
	u32 i, rank, sum;

	tree->sum = kcalloc(REPEATED, sizeof(*tree->sum), GFP_KERNEL);
	if (!tree->sum)
		return -ENOMEM;
	for (i = 0; i < REPEATED; i++) {
		sum = 0;
		for (rank = 0; rank < tree->ranks; rank++)
			sum += find_place(rank, 0, i);
		tree->sum[i] = to_fp32(sum);
	}
	return 0;
}

/**
 * pg_packet_count() - count the packets of a request
 * @tree: tree
 * @len: bytes of its data
 *
 * Return: their number.
 */
u32 pg_packet_count(const struct pg_tree *tree, u32 len)
{
	return DIV_ROUND_UP(INC_HDR_LEN + len, tree->pmtu);
}

static void put_mac(u8 *mac, __be32 addr)
{
	/* Locally administered. */
	mac[0] = 0x02;
	mac[1] = 0x70;
	memcpy(mac + 2, &addr, sizeof(addr));
}

/* @ip: frame's IP header; @len: bytes from there up to the ICRC */
static u32 compute_icrc(const u8 *ip, unsigned int len)
{
	u8 head[8 + sizeof(struct iphdr) + sizeof(struct udphdr) + IB_BTH_BYTES];
	struct iphdr *ih = (struct iphdr *)(head + 8);
	struct udphdr *uh = (struct udphdr *)(ih + 1);
	const unsigned int masked = sizeof(head) - 8;

	memset(head, 0xff, 8);
	memcpy(ih, ip, masked);
	ih->tos = 0xff;
	ih->ttl = 0xff;
	ih->check = (__force __sum16)0xffff;
	uh->check = (__force __sum16)0xffff;
	((u8 *)(uh + 1))[4] = 0xff;
	return ~crc32_le(crc32_le(~0, head, sizeof(head)), ip + masked,
			 len - masked);
}

/* Ethernet, IP and UDP; @len: bytes from the BTH on, ICRC included */
static void put_headers(const struct pg_member *m, unsigned int len)
{
	struct ethhdr *eth = (struct ethhdr *)frame;
	struct iphdr *ih = (struct iphdr *)(eth + 1);
	struct udphdr *uh = (struct udphdr *)(ih + 1);
	const struct net_device *bridge;

	rcu_read_lock();
	bridge = netdev_master_upper_dev_get_rcu(m->dev);
	if (bridge)
		ether_addr_copy(eth->h_dest, bridge->dev_addr);
	rcu_read_unlock();
	put_mac(eth->h_source, m->addr);
	eth->h_proto = htons(ETH_P_IP);
	len += sizeof(*uh);
	*ih = (struct iphdr) {
		.version	= IPVERSION,
		.ihl		= sizeof(*ih) / 4,
		.tot_len	= htons(sizeof(*ih) + len),
		.frag_off	= htons(IP_DF),
		.ttl		= 64,
		.protocol	= IPPROTO_UDP,
		.saddr		= m->addr,
		.daddr		= m->local,
	};
	ih->check = ip_fast_csum(ih, ih->ihl);
	*uh = (struct udphdr) {
		.source	= htons(0xc000 | (m->qpn & 0x3fff)),
		.dest	= htons(INC_UDP_PORT),
		.len	= htons(len),
	};
}

static void put_bth(const struct pg_member *m, u8 opcode, u32 psn, bool ackreq)
{
	struct ib_other_headers *oh = (struct ib_other_headers *)(frame +
								  HEAD_LEN);

	oh->bth[0] = cpu_to_be32((u32)opcode << 24 | IB_BTH_MIG_REQ | PKEY);
	oh->bth[1] = cpu_to_be32(m->peer_qpn);
	oh->bth[2] = cpu_to_be32((ackreq ? IB_BTH_REQ_ACK : 0) | psn);
}

/* @len: bytes of the frame, less the ICRC. Returns that of all. */
static unsigned int finish_frame(const struct pg_member *m, unsigned int len)
{
	__le32 crc;

	put_headers(m, len + 4 - HEAD_LEN);
	crc = cpu_to_le32(compute_icrc(frame + ETH_HLEN, len - ETH_HLEN));
	memcpy(frame + len, &crc, sizeof(crc));
	return len + sizeof(crc);
}

static bool add_frags(struct sk_buff *skb, const u8 *data, unsigned int len,
		      unsigned int frag)
{
	while (len) {
		unsigned int part = min(len, frag);
		struct page *page;
		void *buf;

		if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
			return false;
		buf = napi_alloc_frag(frag);
		if (!buf)
			return false;
		memcpy(buf, data, part);
		page = virt_to_head_page(buf);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
				buf - page_address(page), part, frag);
		data += part;
		len -= part;
	}
	return true;
}

/* Where a driver receives @head bytes: a page fragment, if they fit one. */
static struct sk_buff *alloc_head(unsigned int head)
{
	unsigned int room = NET_SKB_PAD + NET_IP_ALIGN + head;
	unsigned int size = SKB_DATA_ALIGN(room) +
			    SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *buf;

	if (size > PAGE_SIZE)
		return __alloc_skb(room, GFP_ATOMIC,
				   SKB_ALLOC_RX | SKB_ALLOC_NAPI, NUMA_NO_NODE);
	buf = napi_alloc_frag(size);
	if (!buf)
		return NULL;
	skb = napi_build_skb(buf, size);
	if (!skb)
		skb_free_frag(buf);
	return skb;
}

/* The frame as a driver receives it. */
static struct sk_buff *receive_frame(const struct pg_member *m, unsigned int len,
				     unsigned int frag)
{
	unsigned int head = frag ? min_t(unsigned int, len, HEAD_LEN) : len;
	/* The head of a packet in fragments is as large as drivers have it. */
	struct sk_buff *skb = alloc_head(frag ? HEAD_ROOM : head);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put_data(skb, frame, head);
	if (!add_frags(skb, frame + head, len - head, frag)) {
		kfree_skb(skb);
		return NULL;
	}
	skb->protocol = eth_type_trans(skb, m->dev);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return skb;
}

static u8 choose_opcode(u32 index, u32 count)
{
	if (count == 1)
		return IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
	if (!index)
		return IB_OPCODE_RC_RDMA_WRITE_FIRST;
	if (index < count - 1)
		return IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
	return IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE;
}

static u8 *put_reth(u8 *p, u64 va, u32 rkey, u32 len)
{
	struct ib_reth reth;

	put_ib_reth_vaddr(va, &reth);
	reth.rkey = cpu_to_be32(rkey);
	reth.length = cpu_to_be32(len);
	memcpy(p, &reth, sizeof(reth));
	return p + sizeof(reth);
}

/* The INC header. The result address tells message and offset. */
static u8 *put_inc(u8 *p, const struct pg_member *m, const struct pg_request *r)
{
	struct inc_hdr hdr = {
		.version	= INC_VERSION,
		.collective	= INC_COLL_ALLREDUCE,
		.dtype		= INC_DTYPE_FP32,
		.op		= INC_OP_SUM,
		.tree_id	= cpu_to_be32(m->tree->id),
		.msg_id		= cpu_to_be32(r->msg_id),
		.nelem		= cpu_to_be32(r->len / 4),
		.result_rkey	= cpu_to_be32(m->qpn),
		.result_va	= cpu_to_be64((u64)r->msg_id << 32),
	};

	memcpy(p, &hdr, sizeof(hdr));
	return p + sizeof(hdr);
}

/**
 * pg_packet_request() - build the next packet of a member
 * @m: member
 * @r: packet
 *
 * Context: BH off.
 * Return: packet as a driver gives it to the kernel, or NULL without memory.
 */
struct sk_buff *pg_packet_request(struct pg_member *m,
				  const struct pg_request *r)
{
	const struct pg_tree *t = m->tree;
	u32 count = pg_packet_count(t, r->len);
	u32 begin = r->index ? r->index * t->pmtu - INC_HDR_LEN : 0;
	u32 end = min((r->index + 1) * t->pmtu - INC_HDR_LEN, r->len);
	bool last = r->index == count - 1;
	u8 *p = frame + HEAD_LEN + IB_BTH_BYTES;

	put_bth(m, choose_opcode(r->index, count) | (t->uc ? IB_OPCODE_UC : 0),
		m->psn, last && !t->uc);
	m->psn = (m->psn + 1) & PSN_MASK;
	if (!r->index)
		p = put_reth(p, (u64)(r->msg_id % t->slots) * t->msg_size,
			     m->rkey, INC_HDR_LEN + r->len);
	if (last) {
		__be32 imm = cpu_to_be32(r->msg_id & INC_IMM_MSG_ID_MASK);

		memcpy(p, &imm, sizeof(imm));
		p += sizeof(imm);
	}
	if (!r->index)
		p = put_inc(p, m, r);
	memcpy(p, pattern + find_place(m->rank, r->msg_id, begin / 4), end - begin);
	p += end - begin;
	return receive_frame(m, finish_frame(m, p - frame), r->frag);
}

/**
 * pg_packet_ack() - build an acknowledgment
 * @m: member that sends it
 * @psn: PSN that it acknowledges
 *
 * Context: BH off.
 * Return: as pg_packet_request().
 */
struct sk_buff *pg_packet_ack(struct pg_member *m, u32 psn)
{
	__be32 aeth = cpu_to_be32(AETH_ACK << IB_AETH_CREDIT_SHIFT | m->msn);
	u8 *p = frame + HEAD_LEN + IB_BTH_BYTES;

	put_bth(m, IB_OPCODE_RC_ACKNOWLEDGE, psn, false);
	memcpy(p, &aeth, sizeof(aeth));
	p += sizeof(aeth);
	return receive_frame(m, finish_frame(m, p - frame), 0);
}

/**
 * pg_packet_result() - build a packet of the result that a parent answers with
 * @r: which part
 * @frag: as in struct pg_request
 *
 * Only its child's members have anything but zeros.
 *
 * Context: BH off.
 * Return: as pg_packet_request().
 */
struct sk_buff *pg_packet_result(const struct pg_reply *r, u32 frag)
{
	u8 *p = frame + HEAD_LEN + IB_BTH_BYTES;
	struct pg_member *m = r->m;
	__be32 imm = cpu_to_be32(m->up.msg_id & INC_IMM_MSG_ID_MASK);

	put_bth(m, r->last ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
		IB_OPCODE_RC_RDMA_WRITE_ONLY, m->psn, r->last);
	m->psn = (m->psn + 1) & PSN_MASK;
	p = put_reth(p, m->up.va + r->off, m->up.rkey, r->len);
	if (r->last) {
		memcpy(p, &imm, sizeof(imm));
		p += sizeof(imm);
	}
	memcpy(p, m->tree->sum + find_place(0, m->up.msg_id, r->off / 4), r->len);
	p += r->len;
	return receive_frame(m, finish_frame(m, p - frame), frag);
}

/**
 * pg_packet_address() - address a packet to another host instead of the bridge
 * @skb: packet
 * @to: member on that host
 *
 * Context: any.
 */
void pg_packet_address(struct sk_buff *skb, const struct pg_member *to)
{
	put_mac(eth_hdr(skb)->h_dest, to->addr);
	skb->pkt_type = PACKET_OTHERHOST;
}

/* A packet of a result: the BTH and what follows, @len bytes without ICRC. */
static bool check_result(struct pg_member *m, const u8 *bth, unsigned int len,
			 struct pg_counts *c)
{
	/* Over UC the status is a mark. */
	const u32 known = m->tree->uc ? INC_IMM_MSG_ID_MASK : U32_MAX;
	const struct ib_other_headers *oh = (const void *)bth;
	u64 va = get_ib_reth_vaddr((struct ib_reth *)&oh->u.rc.reth);
	u32 msg_id = va >> 32, off = va;
	unsigned int hdr = IB_BTH_BYTES + sizeof(struct ib_reth);

	if ((ib_bth_get_opcode((struct ib_other_headers *)oh) & ~IB_OPCODE_UC) ==
	    IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE) {
		if ((be32_to_cpu(oh->u.rc.imm_data) & known) !=
		    (msg_id & INC_IMM_MSG_ID_MASK))
			return false;
		hdr += 4;
	}
	if (len < hdr)
		return false;
	len -= hdr;
	c->bytes += len;
	return be32_to_cpu(oh->u.rc.reth.rkey) == m->qpn && len <= PG_PMTU_MAX &&
	       !memcmp(bth + hdr, m->tree->sum + find_place(0, msg_id, off / 4), len);
}

/* A packet of a child's request, as check_result(). */
static bool check_request(struct pg_member *m, const u8 *bth, unsigned int len,
			  struct pg_reply *r)
{
	u8 opcode = ib_bth_get_opcode((struct ib_other_headers *)bth);
	bool only = opcode == IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
	bool first = only || opcode == IB_OPCODE_RC_RDMA_WRITE_FIRST;
	const u8 *p = bth + IB_BTH_BYTES;
	struct inc_hdr hdr;

	r->last = only || opcode == IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE;
	p += (first ? sizeof(struct ib_reth) : 0) + (r->last ? sizeof(__be32) : 0);
	if (first) {
		memcpy(&hdr, p, sizeof(hdr));
		p += sizeof(hdr);
		m->up.msg_id = be32_to_cpu(hdr.msg_id);
		m->up.va = be64_to_cpu(hdr.result_va);
		m->up.rkey = be32_to_cpu(hdr.result_rkey);
		m->up.off = 0;
	}
	r->off = m->up.off;
	r->len = bth + len - p;
	m->up.off += r->len;
	return p < bth + len && r->len <= PG_PMTU_MAX &&
	       !memcmp(p, m->tree->sum + find_place(0, m->up.msg_id, r->off / 4),
		       r->len);
}

/* Returns whether the packet is in order, or not the first of its kind. */
static bool take_write(struct pg_member *m, const u8 *bth, unsigned int len,
		       struct pg_counts *c, struct pg_reply *r)
{
	struct ib_other_headers *oh = (struct ib_other_headers *)bth;

	r->psn = ib_bth_get_psn(oh) & PSN_MASK;
	r->ack = ib_bth_get_ackreq(oh);
	if (r->psn != m->epsn) {
		c->repeats++;
		return ((m->epsn - r->psn) & PSN_MASK) < PSN_MASK / 2;
	}
	m->epsn = (m->epsn + 1) & PSN_MASK;
	m->msn = (m->msn + 1) & PSN_MASK;
	if (m == m->tree->parent)
		return check_request(m, bth, len, r);
	c->results++;
	return check_result(m, bth, len, c);
}

static bool is_write(const struct pg_member *m, u8 opcode)
{
	switch (opcode) {
	case IB_OPCODE_RC_RDMA_WRITE_ONLY:
		return m != m->tree->parent;
	case IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE:
		return true;
	case IB_OPCODE_RC_RDMA_WRITE_FIRST:
	case IB_OPCODE_RC_RDMA_WRITE_MIDDLE:
	case IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE:
		return m == m->tree->parent;
	}
	return false;
}

/* @bth: BTH and what follows, @len bytes without ICRC */
static bool check_transport(const u8 *bth, unsigned int len,
			    struct pg_counts *c, struct pg_reply *r)
{
	struct ib_other_headers *oh = (struct ib_other_headers *)bth;
	struct pg_member *m = pg_member_by_qpn(ib_bth_get_qpn(oh));
	u8 opcode;

	if (!m)
		return false;
	r->m = m;
	/* Children and their parents have RC QPs. */
	opcode = ib_bth_get_opcode(oh) ^
		 (m->tree->uc && m != m->tree->parent ? IB_OPCODE_UC : 0);
	if (opcode == IB_OPCODE_RC_ACKNOWLEDGE) {
		c->acks++;
		return be32_to_cpu(oh->u.aeth) >> IB_AETH_CREDIT_SHIFT <=
		       AETH_ACK;
	}
	return is_write(m, opcode) && take_write(m, bth, len, c, r);
}

static bool is_udp(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) &&
	       ip_hdr(skb)->protocol == IPPROTO_UDP;
}

/**
 * pg_packet_member() - find out whom a packet is for
 * @skb: packet, skb->data at its Ethernet header
 *
 * Context: BH off.
 * Return: the member, or NULL.
 */
struct pg_member *pg_packet_member(const struct sk_buff *skb)
{
	struct ib_other_headers oh;

	if (!is_udp(skb) || skb_copy_bits(skb, HEAD_LEN, &oh, IB_BTH_BYTES))
		return NULL;
	return pg_member_by_qpn(ib_bth_get_qpn(&oh));
}

/**
 * pg_packet_check() - check a packet that a host would receive
 * @skb: packet, skb->data at its Ethernet header; not GSO
 * @c: counted here
 * @r: set to what it is answered with
 *
 * Context: BH off.
 * Return: true if it is what was expected.
 */
bool pg_packet_check(const struct sk_buff *skb, struct pg_counts *c,
		     struct pg_reply *r)
{
	const struct iphdr *ih = (struct iphdr *)(frame + ETH_HLEN);
	const unsigned int least = HEAD_LEN + IB_BTH_BYTES + 4 + 4;
	unsigned int len = skb->len;
	__le32 crc;

	*r = (struct pg_reply) {};
	/* The bridge host speaks for itself, too. */
	if (!is_udp(skb))
		return true;
	if (len < least || len > sizeof(frame) ||
	    skb_copy_bits(skb, 0, frame, len) ||
	    ntohs(ih->tot_len) != len - ETH_HLEN)
		return false;
	len -= sizeof(crc);
	memcpy(&crc, frame + len, sizeof(crc));
	return le32_to_cpu(crc) == compute_icrc(frame + ETH_HLEN, len - ETH_HLEN) &&
	       check_transport(frame + HEAD_LEN, len - HEAD_LEN, c, r);
}
