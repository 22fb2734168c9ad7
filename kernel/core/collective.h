/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The collectives, as rows of a table: what a request carries and what is
 * done with it.
 */
#ifndef _INC_COLLECTIVE_H
#define _INC_COLLECTIVE_H

#include <linux/types.h>

/**
 * enum inc_coll_from - whose requests carry elements
 * @INC_FROM_NONE: nobody's
 * @INC_FROM_ALL: each rank's
 * @INC_FROM_ROOT: the root's
 */
enum inc_coll_from {
	INC_FROM_NONE,
	INC_FROM_ALL,
	INC_FROM_ROOT,
};

/**
 * enum inc_coll_to - who gets what of the result
 * @INC_TO_NONE: nobody anything
 * @INC_TO_ALL: each rank all of it
 * @INC_TO_ROOT: the root all of it
 * @INC_TO_OTHERS: each rank but the root all of it
 * @INC_TO_EACH: each rank its part, in the order of the ranks
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
 * @offered: this switch has it
 * @reduce: elements are reduced, so that type and operation matter
 * @rooted: the header's root means something; else it has to be 0
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
