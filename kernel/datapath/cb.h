/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-packet state in skb->cb.
 */
#ifndef _INC_CB_H
#define _INC_CB_H

#include <linux/skbuff.h>

#include "core/responder.h"
#include "core/slot.h"

/**
 * struct inc_cb - the module's data in skb->cb
 * @part: payload, once the packet's message is known
 * @psn: PSN, while the packet is queued beyond a gap
 * @run: message that it belongs to, while it is queued
 */
struct inc_cb {
	struct inc_part		part;
	u32			psn;
	struct inc_responder_run	run;
};

static inline struct inc_cb *inc_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct inc_cb) > sizeof(skb->cb));
	return (struct inc_cb *)skb->cb;
}

/* The packet whose payload a part is. */
static inline struct sk_buff *inc_cb_skb(const struct inc_part *part)
{
	return container_of((char (*)[48])container_of(part, struct inc_cb, part),
			    struct sk_buff, cb);
}

#endif /* _INC_CB_H */
