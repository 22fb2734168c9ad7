/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delayed acknowledgments.
 */
#ifndef _INC_ACK_DELAY_H
#define _INC_ACK_DELAY_H

#include <linux/types.h>

struct inc_qp;
struct timer_list;

bool inc_ack_delay(struct inc_qp *qp, u32 psn);
void inc_ack_timer(struct timer_list *t);
void inc_ack_lone(struct inc_qp *qp);

#endif /* _INC_ACK_DELAY_H */
