/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of a UC member's messages were lost on their way to the switch: those
 * whose successors have come. A network that reorders makes it wait for more of
 * them.
 */
#ifndef _INC_MSG_LOSS_H
#define _INC_MSG_LOSS_H

#include <linux/types.h>

/* Messages that may overtake one before it is taken for lost. */
#define INC_MSG_LOSS_MIN_LATE	3
#define INC_MSG_LOSS_MAX_LATE	64

/**
 * struct inc_msg_loss - what came of a member's messages, by message ID
 * @next: behind the newest that came
 * @looked: oldest that was not judged yet
 * @late: messages that may overtake another
 */
struct inc_msg_loss {
	u32	next;
	u32	looked;
	u16	late;
};

void inc_msg_loss_init(struct inc_msg_loss *g, u32 first);
void inc_msg_loss_came(struct inc_msg_loss *g, u32 msg_id, bool overtaken);
bool inc_msg_loss_judge(struct inc_msg_loss *g, u32 *msg_id);

#endif /* _INC_MSG_LOSS_H */
