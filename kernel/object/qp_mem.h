/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-demand memory: charged when a member is made, allocated on first use.
 */
#ifndef _INC_QP_MEM_H
#define _INC_QP_MEM_H

#include <linux/limits.h>
#include <linux/types.h>

#include "object/qp.h"

struct inc_tree;
struct inc_tree_cfg;

/* No slot: only the member needs memory. */
#define INC_QP_MEM_NO_SLOT	U16_MAX

/* Charged for a QP. */
u64 inc_qp_mem_on_demand(const struct inc_tree_cfg *cfg);

void inc_qp_mem_tree_init(struct inc_tree *tree);
void inc_qp_mem_init(struct inc_qp *qp);
void inc_qp_mem_free(struct inc_qp *qp);

/*
 * Does a member need more memory before another of its messages begins, or before a
 * result is queued once more? qp->rx.lock is held, or the answer is a hint.
 */
static inline bool inc_qp_mem_needed(const struct inc_qp *qp)
{
	/* Only its own packets, under rx.lock, use more entries. */
	return data_race(inc_resultq_must_grow(&qp->tx.results));
}

/* The data path. */
bool inc_qp_mem_last_entry(const struct inc_qp *qp, u32 msg_id);
bool inc_qp_mem_take(struct inc_qp *qp, u16 slot, bool now);
bool inc_qp_mem_grow_ring(struct inc_qp *qp);

/* Process context. */
void inc_qp_mem_percpu(struct inc_qp *qp);

#endif /* _INC_QP_MEM_H */
