// SPDX-License-Identifier: GPL-2.0
/*
 * Have a packet's headers in front and its payload in one piece, without a copy
 * where a driver has received it so: the headers, or some of them, in the buffer,
 * and the rest in one page fragment.
 *
 * The slot keeps the payload, and reduces in place. So a fragment that somebody
 * else reads or writes, which has SKBFL_SHARED_FRAG, is copied: of the page cache,
 * or of a slot of another switch on this machine.
 */
#include <linux/skbuff.h>

#include "datapath/fault.h"
#include "datapath/rx_payload.h"

/* Is all behind the headers in one fragment, which is nobody else's? */
static bool in_one_piece(const struct sk_buff *skb, unsigned int head)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return skb_headlen(skb) == head && info->nr_frags == 1 &&
	       !skb_has_frag_list(skb) && !skb_has_shared_frag(skb) &&
	       skb_frags_readable(skb) &&
	       !PageHighMem(skb_frag_page(&info->frags[0]));
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
 * inc_rx_gather() - have a packet's payload in one piece
 * @skb: packet, skb->data at its IP header, nothing behind its ICRC
 * @bth_off: offset of its BTH, which may be in a fragment
 *
 * Afterwards BTH and extended headers can be read from skb->data, and the payload,
 * pad and ICRC by inc_rx_payload(). A packet that is too short for its headers is
 * linear.
 *
 * Context: softirq.
 * Return: 0, or -ENOMEM.
 */
int inc_rx_gather(struct sk_buff *skb, unsigned int bth_off)
{
	unsigned int head = bth_off + IB_BTH_BYTES;

	if (!skb_is_nonlinear(skb))
		return 0;
	/* Where there is room, copying the rest takes less than anything. */
	if (skb->len <= head || inc_fault_enabled() ||
	    skb->data_len <= skb_end_pointer(skb) - skb_tail_pointer(skb))
		return make_linear(skb);
	if (!pskb_may_pull(skb, head))
		return -ENOMEM;
	head += inc_wire_ext_len(skb->data + bth_off);
	if (skb->len <= head)
		return make_linear(skb);
	if (!pskb_may_pull(skb, head))
		return -ENOMEM;
	if (!skb_is_nonlinear(skb) || in_one_piece(skb, head))
		return 0;
	return make_linear(skb);
}
