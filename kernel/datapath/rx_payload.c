// SPDX-License-Identifier: GPL-2.0
/*
 * Have a packet's headers in front, and leave its payload where a driver has received
 * it: behind the headers, in page fragments, or partly here and there.
 *
 * The slot keeps the payload, and reduces in place. So a fragment that somebody
 * else reads or writes, which has SKBFL_SHARED_FRAG, is copied: of the page cache,
 * or of a slot of another switch on this machine.
 */
#include <linux/crc32.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "datapath/cb.h"
#include "datapath/fault.h"
#include "datapath/rx_payload.h"

/* Can the payload stay where it is: nobody else's, and mapped? */
static bool may_stay(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	int i;

	if (skb_has_frag_list(skb) || skb_has_shared_frag(skb) ||
	    !skb_frags_readable(skb))
		return false;
	for (i = 0; i < info->nr_frags; i++)
		if (PageHighMem(skb_frag_page(&info->frags[i])))
			return false;
	return true;
}

/* The pieces of a packet are noted in its buffer, instead of its headers. */
static struct inc_piece *pieces_of(const struct sk_buff *skb)
{
	return PTR_ALIGN((struct inc_piece *)skb->head,
			 __alignof__(struct inc_piece));
}

/* Is there room for that, @off bytes of headers from skb->data on included? */
static bool has_room(const struct sk_buff *skb, unsigned int off)
{
	/* Somebody who has a clone may look at the headers. */
	if (skb_cloned(skb))
		return false;
	/* One piece may be behind the headers. */
	return (u8 *)(pieces_of(skb) + skb_shinfo(skb)->nr_frags + 1) <=
	       skb->data + off;
}

/*
 * Bring the headers, @len bytes, from the first fragment to the linear part. No
 * clone has the same fragments.
 */
static bool pull_headers(struct sk_buff *skb, unsigned int len)
{
	unsigned int more = len - skb_headlen(skb);
	skb_frag_t *frag = &skb_shinfo(skb)->frags[0];

	if (len <= skb_headlen(skb))
		return true;
	if (skb_end_pointer(skb) - skb_tail_pointer(skb) < more ||
	    skb_frag_size(frag) <= more)
		return pskb_may_pull(skb, len);
	memcpy(skb_tail_pointer(skb), skb_frag_address(frag), more);
	skb->tail += more;
	skb->data_len -= more;
	skb_frag_off_add(frag, more);
	skb_frag_size_sub(frag, more);
	return true;
}

/*
 * Copy all into one buffer. The kernel goes on to count the fragments, which are
 * gone: the packet would seem far too large to wait, and be copied again.
 */
static int make_linear(struct sk_buff *skb)
{
	if (skb_linearize(skb))
		return -ENOMEM;
	/* Nobody is charged for it. */
	skb_orphan(skb);
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
	return 0;
}

/**
 * inc_rx_peek_far() - read headers of any packet, behind the first ones
 * @skb: packet
 * @off: as for inc_rx_peek()
 * @len: the same
 * @buf: the same
 *
 * Drivers leave the first headers in the buffer, and the others in a page.
 *
 * Context: any.
 * Return: as inc_rx_peek().
 */
const void *inc_rx_peek_far(const struct sk_buff *skb, unsigned int off,
			    unsigned int len, void *buf)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	const void *at = NULL;

	if (off == skb_headlen(skb) && skb_shinfo(skb)->nr_frags &&
	    len <= skb_frag_size(frag))
		at = skb_frag_address_safe(frag);
	return at ?: skb_header_pointer(skb, off, len, buf);
}

/**
 * inc_rx_gather() - have a packet's headers in one piece
 * @skb: packet, skb->data at its IP header, nothing behind its ICRC
 * @bth_off: offset of its BTH, which may be in a fragment
 *
 * Afterwards BTH and extended headers can be read from skb->data, and the payload
 * by inc_rx_piece(). A packet that is too short for its headers is linear.
 *
 * Context: softirq.
 * Return: 0, or -ENOMEM.
 */
int inc_rx_gather(struct sk_buff *skb, unsigned int bth_off)
{
	unsigned int head = bth_off + IB_BTH_BYTES;
	u8 buf[IB_BTH_BYTES];
	const u8 *bth;

	if (!skb_is_nonlinear(skb))
		return 0;
	/* Where there is room, copying the rest takes less than anything. */
	if (skb->len <= head || inc_fault_enabled() || !may_stay(skb) ||
	    skb->data_len <= skb_end_pointer(skb) - skb_tail_pointer(skb) ||
	    !has_room(skb, bth_off))
		return make_linear(skb);
	bth = inc_rx_peek(skb, bth_off, sizeof(buf), buf);
	head += inc_wire_ext_len(bth);
	if (skb->len <= head)
		return make_linear(skb);
	return pull_headers(skb, head) ? 0 : -ENOMEM;
}

/**
 * inc_rx_crc() - compute the CRC of bytes behind a packet's headers
 * @skb: packet that inc_rx_gather() has seen
 * @off: offset of the first one from skb->data
 * @len: number of bytes
 * @crc: CRC of the bytes before these
 *
 * Context: any.
 * Return: CRC of all.
 */
u32 inc_rx_crc(const struct sk_buff *skb, unsigned int off, unsigned int len,
	       u32 crc)
{
	unsigned int run;

	for (; len; off += run, len -= run) {
		const void *at = inc_rx_piece(skb, off, &run);

		run = min(run, len);
		crc = crc32_le(crc, at, run);
	}
	return crc;
}

/**
 * inc_rx_same() - compare bytes of two packets
 * @a: packet that inc_rx_gather() has seen
 * @b: another one
 * @off: offset of the first one from their skb->data
 * @len: number of bytes
 *
 * Context: any.
 * Return: true if they are the same.
 */
bool inc_rx_same(const struct sk_buff *a, const struct sk_buff *b,
		 unsigned int off, unsigned int len)
{
	unsigned int run, run_b;

	for (; len; off += run, len -= run) {
		const void *at = inc_rx_piece(a, off, &run);
		const void *at_b = inc_rx_piece(b, off, &run_b);

		run = min3(run, run_b, len);
		if (memcmp(at, at_b, run))
			return false;
	}
	return true;
}

/**
 * inc_rx_part() - make a packet's payload a part
 * @skb: packet that inc_rx_gather() has seen, skb->data at its BTH; its headers are
 *	not needed any more
 * @off: offset of the first byte from skb->data
 * @len: number of bytes
 *
 * Context: any.
 * Return: the part, in the packet's control block.
 */
struct inc_part *inc_rx_part(struct sk_buff *skb, unsigned int off,
			     unsigned int len)
{
	struct inc_part *part = &inc_cb(skb)->part;
	struct inc_piece *piece;
	unsigned int run = len;

	part->data = len ? inc_rx_piece(skb, off, &run) : skb->data;
	part->len = len;
	part->pieces = run < len;
	if (likely(!part->pieces))
		return part;
	piece = pieces_of(skb);
	part->piece = piece;
	for (; len; off += run, len -= run, piece++) {
		piece->at = inc_rx_piece(skb, off, &run);
		run = min(run, len);
		piece->len = run;
	}
	return part;
}
