/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a tree's slots, in blocks.
 */
#ifndef _INC_SLOT_MEM_H
#define _INC_SLOT_MEM_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#include "object/tree.h"

bool inc_slot_mem_alloc(struct inc_tree *tree, const struct inc_tree_cfg *cfg,
			size_t slot_size);
void inc_slot_mem_free(struct inc_tree *tree);
u64 inc_slot_mem_index(const struct inc_tree_cfg *cfg, size_t slot_size);
u64 inc_slot_mem_blocks(const struct inc_tree_cfg *cfg, size_t slot_size);
bool inc_slot_mem_get(struct inc_tree *tree, u16 slot, gfp_t gfp);
bool inc_slot_mem_take(struct inc_tree *tree, struct inc_tree_slot *ts);

/* The result of a slot's message: from its last chunk to the last acknowledgment. */
void inc_slot_mem_unread(struct inc_tree *tree, struct inc_tree_slot *ts);
bool inc_slot_mem_read(struct inc_tree *tree, u32 msg_id);
void inc_slot_mem_put(struct inc_tree *tree, u32 msg_id);

/* May a slot that has no memory count on it? Another one may be faster. */
static inline bool inc_slot_mem_avail(const struct inc_tree *tree)
{
	return READ_ONCE(tree->slots_mem.free);
}

/* Also for other memory of several pages. */
void *inc_pages_alloc(size_t size, gfp_t gfp);
void inc_pages_free(void *mem, size_t size);

#endif /* _INC_SLOT_MEM_H */
