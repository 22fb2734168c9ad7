/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Works that inc_tree_fail() and inc_tree_sweep() queue.
 */
#ifndef _INC_TREE_FAIL_H
#define _INC_TREE_FAIL_H

struct inc_qp;
struct work_struct;

void inc_tree_note_lost(const struct inc_qp *qp);
void inc_tree_fail_work(struct work_struct *work);
void inc_tree_sweep_work(struct work_struct *work);

#endif /* _INC_TREE_FAIL_H */
