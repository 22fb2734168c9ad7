/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_DYING_H
#define INC_LIB_DYING_H

#include <stdbool.h>

struct ibv_qp;
struct inc_dying;

int inc_qp_destroy(struct ibv_qp *qp, int ms, struct inc_dying **dying);
bool inc_dying_over(struct inc_dying **dying);
void inc_dying_then(struct inc_dying *dying, void (*then)(void *arg), void *arg);

#endif /* INC_LIB_DYING_H */
