/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of the implementations, one per file, for reduce.c and for
 * tests that call a given one. No other file includes this.
 */
#ifndef _INC_REDUCE_IMPL_H
#define _INC_REDUCE_IMPL_H

#include <linux/types.h>

#include <uapi/linux/rdma_inc_proto.h>

#include "reduce.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "reduction kernels take elements as they lie in little-endian memory"
#endif

/**
 * struct inc_reduce_impl - an implementation for some types and operations
 * @name: human-readable name
 * @fpu: its kernels use vector registers: only inside an FPU section
 * @fn: kernels by enum inc_dtype and enum inc_op, NULL where there is none
 * @wide: kernels of wide rows
 * @block: kernels for eight vectors, of both
 * @div: kernels that divide, for the rows of INC_OP_AVG that are not wide
 */
struct inc_reduce_impl {
	const char		*name;
	bool			fpu;
	inc_reduce_fn		fn[INC_DTYPE_COUNT][INC_OP_COUNT];
	inc_reduce_wide_fn	wide[INC_DTYPE_COUNT][INC_OP_COUNT];
	inc_reduce_block_fn	block[INC_DTYPE_COUNT][INC_OP_COUNT];
	inc_reduce_div_fn	div[INC_DTYPE_COUNT];
};

/*
 * The rows of an integer type. Only min and max depend on signedness, so the
 * others are named by width (w) and shared by the signed and the unsigned type
 * (t).
 */
#define INC_REDUCE_INT_ROWS(w, t)		\
	[INC_OP_SUM]	= w ## _sum,		\
	[INC_OP_PROD]	= w ## _prod,		\
	[INC_OP_MIN]	= t ## _min,		\
	[INC_OP_MAX]	= t ## _max,		\
	[INC_OP_LAND]	= w ## _land,		\
	[INC_OP_LOR]	= w ## _lor,		\
	[INC_OP_LXOR]	= w ## _lxor,		\
	[INC_OP_BAND]	= w ## _band,		\
	[INC_OP_BOR]	= w ## _bor,		\
	[INC_OP_BXOR]	= w ## _bxor,		\
	[INC_OP_AVG]	= w ## _sum

#define INC_REDUCE_FP_ROWS(t)			\
	[INC_OP_SUM]	= t ## _sum,		\
	[INC_OP_PROD]	= t ## _prod,		\
	[INC_OP_MIN]	= t ## _min,		\
	[INC_OP_MAX]	= t ## _max,		\
	[INC_OP_AVG]	= t ## _sum

/* 16-bit floats: operations on 16 bits, and on more. */
#define INC_REDUCE_HALF_ROWS(t)			\
	[INC_OP_MIN]	= t ## _min,		\
	[INC_OP_MAX]	= t ## _max

#define INC_REDUCE_WIDE_ROWS(t)			\
	[INC_OP_SUM]	= t ## _sum,		\
	[INC_OP_PROD]	= t ## _prod,		\
	[INC_OP_AVG]	= t ## _sum

#define INC_REDUCE_PAIR_ROWS(t)			\
	[INC_OP_MINLOC]	= t ## _minloc,		\
	[INC_OP_MAXLOC]	= t ## _maxloc

/* int.c */
extern const struct inc_reduce_impl inc_reduce_int;
/* softfp.c */
extern const struct inc_reduce_impl inc_reduce_softfp;
/* pair.c */
extern const struct inc_reduce_impl inc_reduce_pair;
/* simd_sse2.c, simd_avx2.c; only with INC_REDUCE_X86 */
extern const struct inc_reduce_impl inc_reduce_sse2;
extern const struct inc_reduce_impl inc_reduce_avx2;

/* reduce.c */
void inc_reduce_init_row(struct inc_reduce_ops *ops, u8 dtype, u8 op, u8 size);
const struct inc_reduce_impl *inc_reduce_impl_at(unsigned int i);
void inc_reduce_by(const struct inc_reduce_impl *impl,
		   const struct inc_reduce_ops *ops, void *dst, const void *a,
		   const void *b, unsigned int nelem);
void inc_reduce_wide_by(const struct inc_reduce_impl *impl,
			const struct inc_reduce_ops *ops,
			struct inc_operand dst, struct inc_operand a,
			struct inc_operand b, unsigned int nelem,
			unsigned int ranks);
void inc_reduce_block_by(const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops, struct inc_operand dst,
			 void *const src[], unsigned int nelem,
			 unsigned int ranks);
void inc_reduce_finish_by(const struct inc_reduce_impl *impl,
			  const struct inc_reduce_ops *ops, void *dst,
			  unsigned int nelem, unsigned int ranks);

#endif /* _INC_REDUCE_IMPL_H */
