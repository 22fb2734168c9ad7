/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child's link to its parent: gathered data is sent as a member's request.
 */
#ifndef _INC_UPLINK_TX_H
#define _INC_UPLINK_TX_H

#include <linux/types.h>

struct inc_msg;
struct inc_tree;
struct inc_uplink_queue;

struct inc_uplink_queue *inc_uplink_alloc(const struct inc_tree *tree);
void inc_uplink_free(struct inc_uplink_queue *q);
u64 inc_uplink_memory(u16 slots);

/* Data path: RCU read side. */
void inc_uplink_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_msg *msg, u16 gathered, bool wanted);
void inc_uplink_fail(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status);
void inc_uplink_abort(struct inc_tree *tree);

#endif /* _INC_UPLINK_TX_H */
