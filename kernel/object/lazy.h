/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of members and slots that is charged when they are made, and taken when
 * it is first needed.
 */
#ifndef _INC_LAZY_H
#define _INC_LAZY_H

#include <linux/types.h>

#include "object/qp.h"

struct inc_tree;
struct inc_tree_cfg;

/* What is charged for it. */
u64 inc_lazy_qp_memory(const struct inc_tree_cfg *cfg);
u64 inc_lazy_ring_memory(u32 entries);

void inc_lazy_qp_init(struct inc_qp *qp);
void inc_lazy_qp_free(struct inc_qp *qp);

/*
 * Does a member need more memory before another of its messages begins, or before a
 * result is queued once more? qp->rx.lock is held, or the answer is a hint.
 */
static inline bool inc_lazy_cramped(const struct inc_qp *qp)
{
	/* Only its own packets, under rx.lock, use more of what it has. */
	return data_race(inc_resultq_cramped(&qp->tx.results));
}

/* The data path. */
bool inc_lazy_reserved(const struct inc_qp *qp, u32 msg_id);
bool inc_lazy_take(struct inc_qp *qp, u16 slot, bool now);
bool inc_lazy_ring(struct inc_qp *qp);

/* Process context. */
void inc_lazy_percpu(struct inc_qp *qp);

#endif /* _INC_LAZY_H */
