// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of lost messages of a UC member.
 */
#include <linux/kernel.h>

#include "core/msg_loss.h"

/**
 * inc_msg_loss_init() - initialize loss detection
 * @g: loss state
 * @first: first message ID
 * @slots: of the tree, a power of two
 */
void inc_msg_loss_init(struct inc_msg_loss *g, u32 first, u16 slots)
{
	*g = (struct inc_msg_loss) {
		.slots		= slots,
		.next		= first,
		.judged		= first,
		.reorder_window	= INC_MSG_LOSS_MIN_WINDOW,
	};
}

/**
 * inc_msg_loss_arrived() - record a message that arrived for the first time
 * @g: loss state
 * @msg_id: its ID, within the slots' window
 * @overtaken: a packet with a newer PSN arrived earlier: it was not retransmitted,
 *	but reordered
 *
 * Context: the QP's receive lock is held.
 */
void inc_msg_loss_arrived(struct inc_msg_loss *g, u32 msg_id, bool overtaken)
{
	s32 ahead = msg_id - g->next;

	if (ahead >= 0) {
		g->next = msg_id + 1;
		g->seen = ahead < INC_MSG_LOSS_SEEN - 1 ?
			  g->seen << (ahead + 1) | 1 : 1;
		return;
	}
	if (-ahead <= INC_MSG_LOSS_SEEN)
		g->seen |= 1ULL << (-ahead - 1);
	if (overtaken && -ahead > g->reorder_window)
		g->reorder_window = min(-ahead, INC_MSG_LOSS_MAX_WINDOW);
}

/**
 * inc_msg_loss_judge() - get a message that should have arrived by now
 * @g: loss state
 * @msg_id: its ID
 *
 * Each message is returned once, or not at all if the member's newest message is
 * all slots or more ahead of it. The caller knows whether it has arrived.
 *
 * Context: the QP's receive lock is held.
 * Return: true if there is one.
 */
bool inc_msg_loss_judge(struct inc_msg_loss *g, u32 *msg_id)
{
	if (g->next - g->judged <= g->reorder_window)
		return false;
	if (g->next - g->judged > g->slots)
		g->judged = g->next - g->slots;
	*msg_id = g->judged++;
	return true;
}
