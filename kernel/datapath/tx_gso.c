// SPDX-License-Identifier: GPL-2.0
/*
 * Packets to one member that are sent in one go leave together.
 *
 * Packets of the same length become one GSO packet: routing, netfilter, the
 * bridge and the queues see one instead of up to sixteen. A stage that cannot
 * pass it on as it is segments it: a real device, a shaper, or the receiver's
 * UDP. No payload is copied then: each packet is a buffer of its own, from the
 * BTH to the ICRC. The last may be shorter.
 *
 * The kernel puts the first packet's headers in front of the others. They may
 * have grown on the way, in this namespace or another one, by any number of
 * tags, labels and tunnels. skb_segment() copies the start of a buffer with too
 * little room for them. So this is UDP_L4 and not FRAGLIST, although that needs
 * no UDP checksum: skb_segment_list() writes without looking.
 *
 * Segmentation changes one field covered by the ICRC, the ID of the IPv4
 * header, which counts up from the first packet's. So packets get these IDs
 * from the beginning.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip6_checksum.h>
#include <net/udp.h>

#include "datapath/bypass.h"
#include "datapath/fault.h"
#include "datapath/tx_gso.h"
#include "datapath/tx_output.h"
#include "object/qp.h"

/* IP header to ICRC; more would not fit the length fields of IP and UDP. */
#define LEN_MAX	60000

/**
 * inc_gso_init() - initialize an empty burst
 * @b: burst
 */
void inc_gso_init(struct inc_gso *b)
{
	__skb_queue_head_init(&b->packets);
	b->dst = NULL;
	b->apart = false;
}

/**
 * inc_gso_end() - undo inc_gso_init()
 * @b: burst, its packets sent
 */
void inc_gso_end(struct inc_gso *b)
{
	dst_release(b->dst);
}

/* Bytes that a packet adds to the one that it joins. */
static unsigned int udp_payload(const struct sk_buff *skb)
{
	return skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
}

/* Append @skb after @last in the packet that begins with @head. */
static void append_packet(struct sk_buff *head, struct sk_buff *last,
			  struct sk_buff *skb)
{
	__skb_pull(skb, skb_transport_offset(skb) + sizeof(struct udphdr));
	/* Nobody else needs the room in front: the copy may be saved. */
	__skb_header_release(skb);
	if (last == head)
		skb_shinfo(head)->frag_list = skb;
	else
		last->next = skb;
	head->len += skb->len;
	head->data_len += skb->len;
	head->truesize += skb->truesize;
	skb_shinfo(head)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
}

/* Have the UDP checksum of each packet filled in when it becomes one. */
static void leave_checksum(struct sk_buff *head)
{
	unsigned int len = head->len - skb_transport_offset(head);
	struct udphdr *uh = udp_hdr(head);

	uh->len = htons(len);
	if (head->protocol == htons(ETH_P_IP))
		uh->check = ~udp_v4_check(len, ip_hdr(head)->saddr,
					  ip_hdr(head)->daddr, 0);
	else
		uh->check = ~udp_v6_check(len, &ipv6_hdr(head)->saddr,
					  &ipv6_hdr(head)->daddr, 0);
	skb_partial_csum_set(head, skb_transport_offset(head),
			     offsetof(struct udphdr, check));
}

/* Dequeue the packets that can be sent together. Returns them as one. */
static struct sk_buff *join_packets(struct sk_buff_head *packets)
{
	struct sk_buff *head = __skb_dequeue(packets), *last = head, *skb;
	unsigned int size = udp_payload(head), len = size;
	u16 segs = 1;

	/* Only the last may be shorter. */
	while (len == size && (skb = skb_peek(packets))) {
		len = udp_payload(skb);
		if (len > size || head->len + len > LEN_MAX)
			break;
		__skb_unlink(skb, packets);
		append_packet(head, last, skb);
		last = skb;
		segs++;
	}
	if (segs == 1)
		return head;

	skb_shinfo(head)->gso_size = size;
	skb_shinfo(head)->gso_segs = segs;
	skb_shinfo(head)->gso_type = SKB_GSO_UDP_L4;
	leave_checksum(head);
	return head;
}

/*
 * Faults are injected packet by packet. Retransmitted packets may have been
 * lost because a device on the path cannot segment them. So may packets on a
 * route that prepends headers by itself (MPLS, segment routing). And it costs
 * more to segment a burst right away than to send its packets one by one: a
 * bridge takes lists if one of its ports does.
 */
static bool may_join(const struct inc_gso *b)
{
	return skb_queue_len(&b->packets) > 1 && !b->apart &&
	       !inc_fault_enabled() && !b->dst->lwtstate &&
	       b->dst->dev->features & NETIF_F_FRAGLIST;
}

/**
 * inc_gso_send() - send the packets of a burst
 * @b: burst; empty afterwards
 * @qp: the member's QP
 *
 * Context: BH off, RCU read side; no lock held.
 */
void inc_gso_send(struct inc_gso *b, struct inc_qp *qp)
{
	struct net_device *port = NULL;
	struct sk_buff *skb;

	if (!skb_queue_empty(&b->packets) && !inc_fault_enabled())
		port = inc_bypass_port(qp, b->dst);
	while (!skb_queue_empty(&b->packets)) {
		skb = may_join(b) ? join_packets(&b->packets) :
				    __skb_dequeue(&b->packets);
		inc_tx_xmit(qp, skb, b->dst, port);
	}
	b->apart = false;
}
