/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The turn of a CPU: the packets that it receives before it does anything else.
 */
#ifndef _INC_TURN_H
#define _INC_TURN_H

#include <linux/types.h>

struct inc_qp;

int inc_turn_init(void (*end)(struct inc_qp *qp));
void inc_turn_exit(void);
void inc_turn_note(const struct inc_qp *qp);
bool inc_turn_goes_on(struct inc_qp *qp);
void inc_turn_send(struct inc_qp *qp, u64 now);
void inc_turn_leave(struct inc_qp *qp);

#endif /* _INC_TURN_H */
