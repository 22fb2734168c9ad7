/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RC members that are silent are asked for what they owe.
 */
#ifndef _INC_SOLICIT_H
#define _INC_SOLICIT_H

#include <linux/timer.h>

struct inc_qp;
struct inc_tree;

void inc_ask_watch(struct inc_qp *qp);
void inc_ask_timer(struct timer_list *t);
void inc_ask_waited(struct inc_qp *qp);
unsigned long inc_ask_least(const struct inc_tree *tree);

#endif /* _INC_SOLICIT_H */
