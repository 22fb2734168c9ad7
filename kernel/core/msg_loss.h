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
#define INC_GAP_MIN_LATE	3
#define INC_GAP_MAX_LATE	64

/**
 * struct inc_gap - what came of a member's messages, by message ID
 * @next: behind the newest that came
 * @looked: oldest that was not judged yet
 * @late: messages that may overtake another
 */
struct inc_gap {
	u32	next;
	u32	looked;
	u16	late;
};

void inc_gap_init(struct inc_gap *g, u32 first);
void inc_gap_came(struct inc_gap *g, u32 msg_id, bool overtaken);
bool inc_gap_judge(struct inc_gap *g, u32 *msg_id);

#endif /* _INC_MSG_LOSS_H */
