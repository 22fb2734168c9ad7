/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of members that keep others waiting.
 */
#ifndef _INC_LIVENESS_H
#define _INC_LIVENESS_H

#include <linux/types.h>

struct inc_qp;
struct inc_tree;
struct timer_list;

void inc_liveness_timer(struct timer_list *t);

/* Data path: RCU read side. */
void inc_liveness_kick(struct inc_tree *tree);
bool inc_liveness_probe_members(struct inc_tree *tree);
bool inc_liveness_doubt(struct inc_qp *qp);

#endif /* _INC_LIVENESS_H */
