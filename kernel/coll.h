/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The collectives, as rows of a table: what a request carries and what is
 * done with it.
 */
#ifndef _INC_COLL_H
#define _INC_COLL_H

#include <linux/types.h>

/**
 * struct inc_coll - a collective
 * @offered: this switch has it
 * @data: requests carry elements; else none may
 * @reduce: elements are reduced, so that type and operation matter
 * @rooted: the header's root means something; else it has to be 0
 */
struct inc_coll {
	bool	offered;
	bool	data;
	bool	reduce;
	bool	rooted;
};

const struct inc_coll *inc_coll_lookup(u8 collective);
u32 inc_coll_mask(void);
u32 inc_coll_dtype_mask(void);
u32 inc_coll_op_mask(void);

#endif /* _INC_COLL_H */
