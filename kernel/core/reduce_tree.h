/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order in which the ranks' parts of a chunk are reduced.
 */
#ifndef _INC_REDUCE_TREE_H
#define _INC_REDUCE_TREE_H

#include <linux/types.h>

#include "core/layout.h"

struct inc_part;
struct inc_slot;

bool inc_reduce_by_blocks(const struct inc_slot *s);
bool inc_reduce_pairwise(struct inc_slot *s, u16 member,
			 struct inc_rank_range from, u16 chunk,
			 struct inc_part *part);
bool inc_reduce_by_arrival(struct inc_slot *s, u16 chunk,
			   struct inc_part *part);

#endif /* _INC_REDUCE_TREE_H */
