/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that the members of a tree stand for, if some are switches.
 */
#ifndef _INC_RANK_RANGE_H
#define _INC_RANK_RANGE_H

#include <linux/types.h>

#include "core/layout.h"

u32 inc_rank_range_sum(const u16 *below, u16 members);
struct inc_rank_range inc_rank_block(struct inc_rank_range range, u16 all);
u16 inc_rank_range_fill(struct inc_rank_range *ranges, u16 *at,
			const u16 *below, u16 members, u16 first, u16 all);

#endif /* _INC_RANK_RANGE_H */
