/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table of the collectives: the content of a request, and its processing.
 */
#ifndef _INC_COLLECTIVE_H
#define _INC_COLLECTIVE_H

#include <linux/types.h>

/**
 * enum inc_coll_from - ranks whose requests carry elements
 * @INC_FROM_NONE: none
 * @INC_FROM_ALL: all ranks
 * @INC_FROM_ROOT: the root
 */
enum inc_coll_from {
	INC_FROM_NONE,
	INC_FROM_ALL,
	INC_FROM_ROOT,
};

/**
 * enum inc_coll_to - distribution of the result
 * @INC_TO_NONE: nothing to any rank
 * @INC_TO_ALL: all of it to each rank
 * @INC_TO_ROOT: all of it to the root
 * @INC_TO_OTHERS: all of it to each rank except the root
 * @INC_TO_EACH: its part to each rank, in the order of the ranks
 */
enum inc_coll_to {
	INC_TO_NONE,
	INC_TO_ALL,
	INC_TO_ROOT,
	INC_TO_OTHERS,
	INC_TO_EACH,
};

/**
 * struct inc_coll - a collective
 * @offered: this switch offers it
 * @reduce: elements are reduced, so that type and operation matter
 * @rooted: the header's root is used; else it has to be 0
 * @blocks: a request with elements has a block for each rank
 * @from: enum inc_coll_from
 * @to: enum inc_coll_to
 */
struct inc_coll {
	bool	offered;
	bool	reduce;
	bool	rooted;
	bool	blocks;
	u8	from;
	u8	to;
};

const struct inc_coll *inc_coll_lookup(u8 collective);
u32 inc_coll_mask(void);
u32 inc_coll_dtype_mask(void);
u32 inc_coll_op_mask(void);

#endif /* _INC_COLLECTIVE_H */
