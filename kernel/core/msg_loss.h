/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find a UC member's messages that were lost on their way to the switch: their
 * successors have arrived. If the network reorders, more successors are needed.
 */
#ifndef _INC_MSG_LOSS_H
#define _INC_MSG_LOSS_H

#include <linux/types.h>

/* Minimum number of messages that overtake one before it counts as lost. */
#define INC_MSG_LOSS_MIN_WINDOW	3
#define INC_MSG_LOSS_MAX_WINDOW	64
/*
 * Messages judged when one arrives. More than one, so that all that a burst of
 * losses took is judged soon; but the member chooses its message IDs, and the
 * answers to one packet have to be bounded.
 */
#define INC_MSG_LOSS_JUDGED	2
/* So many are remembered, so that few have to be looked up. */
#define INC_MSG_LOSS_SEEN	64

/**
 * struct inc_msg_loss - arrival of a member's messages, by message ID
 * @next: one after the newest that arrived
 * @seen: which of the last INC_MSG_LOSS_SEEN before @next arrived; bit 0 is the newest
 * @judged: oldest that is not judged yet
 * @reorder_window: number of messages that may overtake another
 * @slots: of the tree
 */
struct inc_msg_loss {
	u64	seen;
	u32	next;
	u32	judged;
	u16	reorder_window;
	u16	slots;
};

/* Is it known that a message before @next arrived? If not, it may have. */
static inline bool inc_msg_loss_seen(const struct inc_msg_loss *g, u32 msg_id)
{
	u32 back = g->next - 1 - msg_id;

	return back < INC_MSG_LOSS_SEEN && g->seen >> back & 1;
}

void inc_msg_loss_init(struct inc_msg_loss *g, u32 first, u16 slots);
void inc_msg_loss_arrived(struct inc_msg_loss *g, u32 msg_id, bool overtaken);
bool inc_msg_loss_judge(struct inc_msg_loss *g, u32 *msg_id);

#endif /* _INC_MSG_LOSS_H */
