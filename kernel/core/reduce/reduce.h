/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Element-wise reduction of two vectors, or of eight, the arithmetic of a collective.
 *
 * Core layer: no locks, no allocation, no skb. Also compiled in user space.
 */
#ifndef _INC_REDUCE_H
#define _INC_REDUCE_H

#include <linux/types.h>

/**
 * DOC: reduction semantics
 *
 * dst[i] = a[i] op b[i] for 0 <= i < nelem. Operand @a is the left one: it
 * comes from the lower ranks. All implementations of a row give the same bits
 * for the same input, whatever the length, alignment and CPU: this makes a
 * tree's results reproducible.
 *
 * Elements are little-endian. Buffers need not be aligned. @dst may be the same
 * pointer as @a or @b; any other overlap is not allowed.
 *
 * MPI defines which operation is valid for which type:
 *
 * ===================== =====================================================
 * integers              sum, prod, min, max, avg, logical and bitwise and,
 *                       or, exclusive or
 * fp16, bf16, fp32,     sum, prod, min, max, avg
 * fp64
 * pairs                 minloc, maxloc
 * ===================== =====================================================
 *
 * Integers: sum and product wrap modulo 2^width (two's complement). Logical
 * operations take every value except 0 as true and give 0 or 1. The average is
 * the sum, wrapped, divided by the number of ranks at the very end, rounded
 * toward zero.
 *
 * Floating point, IEEE 754 binary formats:
 *
 * - sum and product round to nearest, ties to even; subnormals are kept as
 *   operands and results (no FTZ, no DAZ); x + (-x) = +0, (-0) + (-0) = -0.
 * - the average is the sum, and one division by the number of ranks at the very
 *   end, rounded in the same way.
 * - NaN, in all of them: if @a is a NaN the result is @a made quiet (top bit of the
 *   fraction set, sign and payload kept); else if @b is a NaN it is @b made quiet.
 *   Infinities of different sign in a sum, and infinity times 0, give the default
 *   NaN: sign and quiet bit set, payload 0 (binary32: 0xffc00000). x86 documents
 *   the same for SSE's addps, with @a as first source.
 * - min and max order the zeros: -0 < +0. So the result depends on the order
 *   of the operands only if both are NaNs: IEEE 754-2019 minimum, maximum.
 *
 * Sum, product and average of binary16 and bfloat16 are computed in binary32,
 * by its rules above, and rounded once, to nearest even, when all ranks are in;
 * the average is divided in binary32 before that. An element is converted to
 * binary32 exactly, and a NaN's payload moves along with the top bits of the
 * fraction. On the way back the bits that do not fit are cut off, and the NaN
 * is quiet. See &struct inc_operand. Their min and max need only 16 bits.
 *
 * Pairs of a value and an index (see enum inc_dtype): minloc's value is min's,
 * maxloc's is max's, NaN and zeros included, with its index. Of equal values
 * (bit for bit, so that -0 and +0 differ) the one with the lower index is
 * taken. Of two NaNs it is @a, with @a's index. Padding of the result is 0.
 *
 * A single operand, the data of the only rank, is not changed by any of this.
 * No exception flag is reported.
 */

/**
 * struct inc_operand - a vector of 16-bit floats, or of their binary32 sums
 * @hi: the elements if @lo is NULL ("narrow"), else the upper 16 bits of the
 *	binary32 numbers
 * @lo: their lower 16 bits ("wide"), or NULL
 *
 * Two planes of the size of a narrow vector: so the sum of two narrow operands
 * fits in their place.
 */
struct inc_operand {
	void	*hi;
	void	*lo;
};

/**
 * typedef inc_reduce_fn - reduction kernel
 * @dst: result, nelem elements
 * @a: left operand, nelem elements
 * @b: right operand, nelem elements
 * @nelem: number of elements, from 0
 */
typedef void (*inc_reduce_fn)(void *dst, const void *a, const void *b,
			      unsigned int nelem);

/**
 * typedef inc_reduce_wide_fn - reduction kernel of a wide row
 * @dst: result
 * @a: left operand
 * @b: right operand
 * @nelem: number of elements, from 0
 * @div: divisor of a narrow result before it is rounded, or 1
 */
typedef void (*inc_reduce_wide_fn)(struct inc_operand dst, struct inc_operand a,
				   struct inc_operand b, unsigned int nelem,
				   u32 div);

/* Vectors that are reduced at once, if a CPU has the registers for that. */
#define INC_REDUCE_BLOCK	8

/**
 * typedef inc_reduce_block_fn - reduction kernel of eight vectors, of any row
 * @dst: result; its @lo is NULL, but in a wide row whose result is to stay wide
 * @src: operands, narrow ones in a wide row, each nelem elements; @dst's planes may be
 *	any of them, else overlap none
 * @nelem: number of elements, from 0
 * @div: divisor of a wide row's narrow result before it is rounded, or 1
 *
 * Neighbours are paired, then pairs, then pairs of pairs. So the result has the
 * bits of seven calls for two vectors, but intermediate results stay in registers.
 */
typedef void (*inc_reduce_block_fn)(struct inc_operand dst, void *const src[],
				    unsigned int nelem, u32 div);

/**
 * typedef inc_reduce_div_fn - kernel that divides a sum
 * @dst: nelem elements, divided in place
 * @nelem: number of elements, from 0
 * @div: divisor, from 2 to U16_MAX
 */
typedef void (*inc_reduce_div_fn)(void *dst, unsigned int nelem, u32 div);

/**
 * struct inc_reduce_ops - reduction of one data type by one operation
 * @generic: integer instructions only, may be called in any context; NULL in
 *	a wide row
 * @simd: fastest kernel of this CPU, or NULL; only inside an FPU section
 * @wide: as @generic, of a wide row; NULL in others
 * @wide_simd: as @simd, of a wide row
 * @block: as @simd, of either row, for eight vectors, or NULL
 * @div: integer instructions only; NULL in rows whose sums are not divided,
 *	and in wide ones
 * @div_simd: fastest of this CPU, or NULL; only inside an FPU section
 * @simd_min: minimum number of elements for which SIMD is worth an FPU section
 * @size: bytes of an element
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @ordered: the result's bits depend on which operands are paired, not only on
 *	their order
 */
struct inc_reduce_ops {
	inc_reduce_fn		generic;
	inc_reduce_fn		simd;
	inc_reduce_wide_fn	wide;
	inc_reduce_wide_fn	wide_simd;
	inc_reduce_block_fn	block;
	inc_reduce_div_fn	div;
	inc_reduce_div_fn	div_simd;
	unsigned int		simd_min;
	u8			size;
	u8			dtype;
	u8			op;
	bool			ordered;
};

void inc_reduce_init(void);
const char *inc_reduce_impl(void);
unsigned int inc_dtype_size(u8 dtype);
const struct inc_reduce_ops *inc_reduce_lookup(u8 dtype, u8 op);
void inc_reduce(const struct inc_reduce_ops *ops, void *dst, const void *a,
		const void *b, unsigned int nelem);
bool inc_reduce_begin(const struct inc_reduce_ops *ops, unsigned int nelem);
void inc_reduce_end(bool simd);
void inc_reduce_some(const struct inc_reduce_ops *ops, bool simd,
		     struct inc_operand dst, struct inc_operand a,
		     struct inc_operand b, unsigned int nelem,
		     unsigned int ranks);
void inc_reduce_block(const struct inc_reduce_ops *ops, bool simd,
		      struct inc_operand dst, void *const src[],
		      unsigned int nelem, unsigned int ranks);
void inc_reduce_wide(const struct inc_reduce_ops *ops, struct inc_operand dst,
		     struct inc_operand a, struct inc_operand b,
		     unsigned int nelem, unsigned int ranks);
void inc_reduce_finish(const struct inc_reduce_ops *ops, void *dst,
		       unsigned int nelem, unsigned int ranks);

#endif /* _INC_REDUCE_H */
