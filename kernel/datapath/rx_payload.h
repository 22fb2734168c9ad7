/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the payload of a received packet lies: behind its headers, or by itself in
 * a page fragment, as drivers leave it there.
 */
#ifndef _INC_RX_PAYLOAD_H
#define _INC_RX_PAYLOAD_H

#include <linux/skbuff.h>

#include "core/wire.h"

int inc_rx_gather(struct sk_buff *skb, unsigned int bth_off);

/**
 * inc_rx_payload_at() - get the payload of a packet, wherever its header begins
 * @skb: packet that inc_rx_gather() has seen
 * @off: offset of what is behind the packet's headers from skb->data
 *
 * Context: any.
 * Return: its first byte; pad and ICRC follow the last one.
 */
static inline u8 *inc_rx_payload_at(const struct sk_buff *skb, unsigned int off)
{
	if (!skb_is_nonlinear(skb))
		return skb->data + off;
	return skb_frag_address(&skb_shinfo(skb)->frags[0]);
}

/**
 * inc_rx_payload() - get a packet's payload
 * @skb: packet that inc_rx_gather() has seen, skb->data at its BTH
 * @pkt: the packet, parsed
 *
 * Context: any.
 * Return: its first byte; pad and ICRC follow the last one.
 */
static inline u8 *inc_rx_payload(const struct sk_buff *skb,
				 const struct inc_pkt *pkt)
{
	return inc_rx_payload_at(skb, pkt->hdr_len);
}

#endif /* _INC_RX_PAYLOAD_H */
