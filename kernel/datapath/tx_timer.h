/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retransmission.
 */
#ifndef _INC_TX_TIMER_H
#define _INC_TX_TIMER_H

struct timer_list;

void inc_tx_timer(struct timer_list *t);

#endif /* _INC_TX_TIMER_H */
