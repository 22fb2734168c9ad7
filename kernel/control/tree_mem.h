/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of trees.
 */
#ifndef _INC_TREE_MEM_H
#define _INC_TREE_MEM_H

#include <linux/types.h>

struct inc_switch;
struct inc_tree;
struct inc_tree_cfg;

struct inc_tree *inc_tree_alloc(const struct inc_tree_cfg *cfg,
				size_t slot_size, u16 own);
void inc_tree_free(struct inc_tree *tree);
u64 inc_tree_memory(const struct inc_switch *sw, const struct inc_tree_cfg *cfg,
		    size_t slot_size, u16 own);

/* Process context, inc_switch.lock not held. */
void inc_tree_put(struct inc_tree *tree);

#endif /* _INC_TREE_MEM_H */
