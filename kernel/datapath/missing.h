/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of members that keep others waiting.
 */
#ifndef _INC_MISSING_H
#define _INC_MISSING_H

#include <linux/types.h>

struct inc_qp;
struct inc_tree;
struct timer_list;

void inc_missing_timer(struct timer_list *t);

/* Data path: RCU read side. */
void inc_missing_watch(struct inc_tree *tree);
bool inc_missing_probe_members(struct inc_tree *tree);
void inc_missing_memory(struct inc_qp *qp);

#endif /* _INC_MISSING_H */
