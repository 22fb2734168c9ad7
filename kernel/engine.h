/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packet's walk: responder, slot and requester are brought together here
 * and nowhere else.
 */
#ifndef _INC_ENGINE_H
#define _INC_ENGINE_H

#include <linux/types.h>

struct inc_msg;
struct inc_pkt;
struct inc_qp;
struct inc_tree;
struct sk_buff;
struct timer_list;

void inc_engine_rx(struct inc_qp *qp, struct sk_buff *skb,
		   const struct inc_pkt *pkt);
void inc_engine_ack_timer(struct timer_list *t);
void inc_engine_deliver(struct inc_tree *tree, u16 slot,
			const struct inc_msg *msg, u16 ready);
void inc_engine_tell(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status);
void inc_engine_kick(struct inc_tree *tree);

#endif /* _INC_ENGINE_H */
