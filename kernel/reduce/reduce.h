/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Element-wise reduction of two vectors, the arithmetic of a collective.
 *
 * Leaf layer: no locks, no allocation, no skb. Also compiled in user space.
 */
#ifndef _INC_REDUCE_H
#define _INC_REDUCE_H

#include <linux/types.h>

/**
 * DOC: reduction semantics
 *
 * dst[i] = a[i] op b[i] for 0 <= i < nelem. Operand @a is the left one, it
 * comes from the lower ranks. All implementations of a row give the same
 * bits for the same input, whatever the length, alignment and CPU: that is
 * what makes a tree's results reproducible.
 *
 * Elements are little-endian. None of the three buffers need be aligned.
 * @dst may be the same pointer as @a or @b; overlap of any other kind is not
 * allowed.
 *
 * Integers: sum and product wrap modulo 2^width (two's complement). Logical
 * operations take every value but 0 for true and give 0 or 1.
 *
 * Floating point, IEEE 754 binary formats:
 *
 * - sum rounds to nearest, ties to even; subnormals are kept as operands and
 *   results (no FTZ, no DAZ); x + (-x) = +0, (-0) + (-0) = -0.
 * - NaN, in sum, min and max: if @a is a NaN the result is @a made quiet (top
 *   bit of the fraction set, sign and payload kept), else if @b is a NaN it is
 *   @b made quiet. Infinities of different sign add to the default NaN: sign
 *   and quiet bit set, payload 0 (binary32: 0xffc00000). This is what
 *   x86 documents for SSE's addps, with @a as first source.
 * - min and max order the zeros: -0 < +0. So the result depends on the order
 *   of the operands only if both are NaNs: IEEE 754-2019 minimum, maximum.
 *
 * No exception flag is reported to anyone.
 */

/**
 * typedef inc_reduce_fn - one reduction kernel
 * @dst: result, nelem elements
 * @a: left operand, nelem elements
 * @b: right operand, nelem elements
 * @nelem: number of elements, from 0
 */
typedef void (*inc_reduce_fn)(void *dst, const void *a, const void *b,
			      unsigned int nelem);

/**
 * struct inc_reduce_ops - how one data type is reduced by one operation
 * @generic: integer instructions only, may be called in any context
 * @simd: fastest kernel of this CPU, or NULL; only inside an FPU section
 * @simd_min: fewest elements for which @simd is worth an FPU section
 * @size: bytes of an element
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 */
struct inc_reduce_ops {
	inc_reduce_fn	generic;
	inc_reduce_fn	simd;
	unsigned int	simd_min;
	u8		size;
	u8		dtype;
	u8		op;
};

void inc_reduce_init(void);
const char *inc_reduce_impl(void);
unsigned int inc_dtype_size(u8 dtype);
const struct inc_reduce_ops *inc_reduce_lookup(u8 dtype, u8 op);
void inc_reduce(const struct inc_reduce_ops *ops, void *dst, const void *a,
		const void *b, unsigned int nelem);

#endif /* _INC_REDUCE_H */
