/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loops over single elements, shared by int.c, softfp.c and pair.c.
 */
#ifndef _INC_REDUCE_SCALAR_H
#define _INC_REDUCE_SCALAR_H

#include <linux/unaligned.h>

/*
 * The operation @name on two elements of @type, and its kernel; @expr is of a
 * and b. Written after "static __always_inline u64".
 */
#define ROW(name, type, expr)						\
name ## _elem(type a, type b)						\
{									\
	return expr;							\
}									\
									\
static void name(void *dst, const void *a, const void *b,		\
		 unsigned int nelem)					\
{									\
	for (unsigned int i = 0; i < nelem; i++) {			\
		const type x = get_unaligned((const type *)a + i);	\
		const type y = get_unaligned((const type *)b + i);	\
									\
		put_unaligned((type)name ## _elem(x, y),		\
			      (type *)dst + i);			\
	}								\
}

/* The same for one operand a, divided by div in place. */
#define DIV_ROW(name, type, expr)					\
name ## _elem(type a, u32 div)						\
{									\
	return expr;							\
}									\
									\
static void name(void *dst, unsigned int nelem, u32 div)		\
{									\
	for (unsigned int i = 0; i < nelem; i++) {			\
		type *p = (type *)dst + i;				\
									\
		put_unaligned((type)name ## _elem(get_unaligned(p), div), p); \
	}								\
}

#endif /* _INC_REDUCE_SCALAR_H */
