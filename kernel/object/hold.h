/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of packets that wait for other ranks, and the limits on it.
 */
#ifndef _INC_HOLD_H
#define _INC_HOLD_H

#include <linux/minmax.h>
#include <linux/skbuff.h>

struct inc_switch;
struct inc_qp;

/**
 * inc_hold_oversized() - check whether a packet's buffer is far too large
 * @skb: packet that may have to wait
 *
 * Waste up to the size of the largest ordinary buffer does not matter: it is
 * charged for.
 *
 * Return: true if a copy of it should wait instead.
 */
static inline bool inc_hold_oversized(const struct sk_buff *skb)
{
	return skb->truesize > max_t(u32, 2 * SKB_TRUESIZE(skb->len), PAGE_SIZE);
}

void inc_hold_drop(struct inc_qp *qp);

u64 inc_hold_limit(const struct inc_switch *sw);
u64 inc_hold_guaranteed(const struct inc_switch *sw);
u64 inc_hold_sum(struct inc_switch *sw);
void inc_hold_account(struct inc_qp *qp, s64 bytes);
u64 inc_hold_room(const struct inc_qp *qp);
struct sk_buff *inc_hold_copy(struct inc_qp *qp, const struct sk_buff *skb);

/* Data path: inc_qp.rx.lock held. */
void inc_hold_more(struct inc_qp *qp, u32 msg_id, u32 bytes);

/* Data path: inc_qp.tx.lock held. */
bool inc_hold_exceeded(const struct inc_qp *qp, u32 bytes);

#endif /* _INC_HOLD_H */
