// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of lost messages of a UC member.
 */
#include <linux/kernel.h>

#include "core/msg_loss.h"

/**
 * inc_msg_loss_init() - initialize loss detection
 * @g: gap state
 * @first: first message ID
 */
void inc_msg_loss_init(struct inc_msg_loss *g, u32 first)
{
	g->next = first;
	g->looked = first;
	g->late = INC_MSG_LOSS_MIN_LATE;
}

/**
 * inc_msg_loss_came() - record a message that arrived for the first time
 * @g: gap state
 * @msg_id: its ID, within the slots' window
 * @overtaken: its packet's PSN is older than that of a packet that arrived
 *	earlier: it was not retransmitted, but reordered
 *
 * Context: the QP's receive lock is held.
 */
void inc_msg_loss_came(struct inc_msg_loss *g, u32 msg_id, bool overtaken)
{
	s32 ahead = msg_id - g->next;

	if (ahead >= 0)
		g->next = msg_id + 1;
	else if (overtaken && -ahead > g->late)
		g->late = min(-ahead, INC_MSG_LOSS_MAX_LATE);
}

/**
 * inc_msg_loss_judge() - get a message that should have arrived by now
 * @g: gap state
 * @msg_id: its ID
 *
 * Each message is returned once. The caller knows whether it has arrived.
 *
 * Context: the QP's receive lock is held.
 * Return: true if there is one.
 */
bool inc_msg_loss_judge(struct inc_msg_loss *g, u32 *msg_id)
{
	if (g->next - g->looked <= g->late)
		return false;
	*msg_id = g->looked++;
	return true;
}
