/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the payload of a received packet lies: behind its headers, or in page
 * fragments, as drivers leave it there.
 */
#ifndef _INC_RX_PAYLOAD_H
#define _INC_RX_PAYLOAD_H

#include <linux/skbuff.h>
#include <linux/string.h>

#include "core/slot.h"
#include "core/wire.h"

int inc_rx_gather(struct sk_buff *skb, unsigned int bth_off);
u32 inc_rx_crc(const struct sk_buff *skb, unsigned int off, unsigned int len,
	       u32 crc);
bool inc_rx_same(const struct sk_buff *a, const struct sk_buff *b,
		 unsigned int off, unsigned int len);
struct inc_part *inc_rx_part(struct sk_buff *skb, unsigned int off,
			     unsigned int len);

const void *inc_rx_peek_far(const struct sk_buff *skb, unsigned int off,
			    unsigned int len, void *buf);

/**
 * inc_rx_peek() - read headers of any packet
 * @skb: packet
 * @off: offset of the first byte from skb->data
 * @len: number of bytes
 * @buf: room for so many, in case that they lie in several pieces
 *
 * Context: any.
 * Return: the first one, or NULL if the packet is too short.
 */
static inline const void *inc_rx_peek(const struct sk_buff *skb, unsigned int off,
				      unsigned int len, void *buf)
{
	if (likely(off + len <= skb_headlen(skb)))
		return skb->data + off;
	return inc_rx_peek_far(skb, off, len, buf);
}

/**
 * inc_rx_piece() - find bytes of a packet, wherever its header begins
 * @skb: packet that inc_rx_gather() has seen
 * @off: offset of the first one from skb->data, less than skb->len
 * @run: set to the number of bytes there
 *
 * Context: any.
 * Return: the first one.
 */
static inline void *inc_rx_piece(const struct sk_buff *skb, unsigned int off,
				 unsigned int *run)
{
	const skb_frag_t *frag;

	if (off < skb_headlen(skb)) {
		*run = skb_headlen(skb) - off;
		return skb->data + off;
	}
	off -= skb_headlen(skb);
	for (frag = skb_shinfo(skb)->frags; off >= skb_frag_size(frag); frag++)
		off -= skb_frag_size(frag);
	*run = skb_frag_size(frag) - off;
	return skb_frag_address(frag) + off;
}

/* Read the INC header, which begins the payload of a message. */
static inline void inc_rx_hdr(const struct sk_buff *skb,
			      const struct inc_pkt *pkt, struct inc_hdr *hdr)
{
	if (likely(pkt->hdr_len + sizeof(*hdr) <= skb_headlen(skb)))
		memcpy(hdr, skb->data + pkt->hdr_len, sizeof(*hdr));
	else
		skb_copy_bits(skb, pkt->hdr_len, hdr, sizeof(*hdr));
}

#endif /* _INC_RX_PAYLOAD_H */
