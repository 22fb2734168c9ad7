/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who keeps others waiting.
 */
#ifndef _INC_LIVENESS_H
#define _INC_LIVENESS_H

#include <linux/timer.h>
#include <linux/types.h>

struct inc_qp;
struct inc_tree;

/**
 * struct inc_wait - a count that has to grow, as somebody waits for that
 * @seen: what it was when last looked at
 * @waits: somebody waits
 * @since: jiffies since when it has not grown
 * @probed: jiffies when who has to do something about it was last asked whether he
 *	lives, or @since
 */
struct inc_wait {
	u32		seen;
	bool		waits;
	unsigned long	since;
	unsigned long	probed;
};

void inc_liveness_timer(struct timer_list *t);

/* Data path: RCU read side. */
void inc_liveness_kick(struct inc_tree *tree);
bool inc_liveness_probe_members(struct inc_tree *tree);
bool inc_liveness_doubt(struct inc_qp *qp);

#endif /* _INC_LIVENESS_H */
