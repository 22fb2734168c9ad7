/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Solicit silent RC members.
 */
#ifndef _INC_SOLICIT_H
#define _INC_SOLICIT_H

#include <linux/timer.h>

struct inc_qp;
struct inc_tree;

void inc_solicit_watch(struct inc_qp *qp);
void inc_solicit_timer(struct timer_list *t);
void inc_solicit_waited(struct inc_qp *qp);
unsigned long inc_solicit_least(const struct inc_tree *tree);

#endif /* _INC_SOLICIT_H */
