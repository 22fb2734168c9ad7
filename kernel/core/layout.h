/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the elements of each rank lie in a message's result buffer, and which
 * part of that buffer each rank gets. Here the collectives differ.
 */
#ifndef _INC_LAYOUT_H
#define _INC_LAYOUT_H

#include <linux/types.h>

struct inc_coll;

/**
 * struct inc_rank_range - ranks that a member or switch stands for
 * @first: first rank
 * @n: number of ranks
 */
struct inc_rank_range {
	u16	first;
	u16	n;
};

/**
 * struct inc_layout - parameters of a message's layout
 * @coll: its collective
 * @all: number of ranks that take part
 * @own: ranks of @all below this switch; all of them at the root
 * @root: root rank
 * @block: bytes of as many elements as the header says
 */
struct inc_layout {
	const struct inc_coll	*coll;
	u16			all;
	struct inc_rank_range	own;
	u16			root;
	u64			block;
};

u64 inc_layout_in(const struct inc_layout *l, struct inc_rank_range from);
u64 inc_layout_len(const struct inc_layout *l);
u32 inc_layout_out(const struct inc_layout *l, struct inc_rank_range within,
		   struct inc_rank_range to, u32 *off);
u32 inc_layout_run(const struct inc_layout *l, struct inc_rank_range from,
		   u32 off, u32 len, u32 *to);

#endif /* _INC_LAYOUT_H */
