/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What follows inc_tree_fail().
 */
#ifndef _INC_TREE_FAIL_H
#define _INC_TREE_FAIL_H

struct work_struct;

void inc_tree_fail_work(struct work_struct *work);

#endif /* _INC_TREE_FAIL_H */
