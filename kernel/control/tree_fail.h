/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that inc_tree_fail() queues.
 */
#ifndef _INC_TREE_FAIL_H
#define _INC_TREE_FAIL_H

struct work_struct;

void inc_tree_fail_work(struct work_struct *work);

#endif /* _INC_TREE_FAIL_H */
