/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Softirq batch: packets that a CPU receives before it does anything else.
 */
#ifndef _INC_BATCH_H
#define _INC_BATCH_H

#include <linux/types.h>

struct inc_qp;

int inc_batch_init(void (*end)(struct inc_qp *qp));
void inc_batch_exit(void);
void inc_batch_note(const struct inc_qp *qp);
bool inc_batch_continues(struct inc_qp *qp);
void inc_batch_send(struct inc_qp *qp, u64 now);
void inc_batch_leave(struct inc_qp *qp);

#endif /* _INC_BATCH_H */
