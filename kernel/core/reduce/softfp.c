// SPDX-License-Identifier: GPL-2.0
/*
 * Floating-point reductions by integer arithmetic only: for every CPU and every
 * context. The results have the same bits as the SIMD files'.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include "reduce_impl.h"
#include "scalar.h"
#include "softfp.h"

enum {
	f16_prec = 11,	f16_width = 16,
	bf16_prec = 8,	bf16_width = 16,
	f32_prec = 24,	f32_width = 32,
	f64_prec = 53,	f64_width = 64,
};

#define DEFINE_ORDER(t, type)						\
static __always_inline u64						\
ROW(t ## _min, type, fp_pick(a, b, false, t ## _prec, t ## _width))	\
static __always_inline u64						\
ROW(t ## _max, type, fp_pick(a, b, true, t ## _prec, t ## _width))

#define DEFINE_FP(t, type)						\
static __always_inline u64						\
ROW(t ## _sum, type, fp_add(a, b, t ## _prec, t ## _width))		\
static __always_inline u64						\
ROW(t ## _prod, type, fp_mul(a, b, t ## _prec, t ## _width))		\
static __always_inline u64						\
DIV_ROW(t ## _div, type, fp_div(a, div, t ## _prec, t ## _width))

DEFINE_ORDER(f16, u16)
DEFINE_ORDER(bf16, u16)
DEFINE_ORDER(f32, u32)
DEFINE_ORDER(f64, u64)
DEFINE_FP(f32, u32)
DEFINE_FP(f64, u64)

static __always_inline u32 wide_get(struct inc_operand x, unsigned int i,
				    unsigned int prec)
{
	const u16 hi = get_unaligned((const u16 *)x.hi + i);

	if (!x.lo)
		return fp_widen(hi, prec);
	return (u32)hi << 16 | get_unaligned((const u16 *)x.lo + i);
}

static __always_inline void wide_put(struct inc_operand x, unsigned int i,
				     u32 val, unsigned int prec, u32 div)
{
	if (!x.lo) {
		if (div > 1)
			val = fp_div(val, div, 24, 32);
		put_unaligned(fp_narrow(val, prec), (u16 *)x.hi + i);
		return;
	}
	put_unaligned((u16)(val >> 16), (u16 *)x.hi + i);
	put_unaligned((u16)val, (u16 *)x.lo + i);
}

#define WIDE_ROW(t, op)							\
static void t ## _ ## op(struct inc_operand dst, struct inc_operand a,	\
			 struct inc_operand b, unsigned int nelem, u32 div) \
{									\
	for (unsigned int i = 0; i < nelem; i++) {			\
		const u32 x = wide_get(a, i, t ## _prec);		\
		const u32 y = wide_get(b, i, t ## _prec);		\
									\
		wide_put(dst, i, f32_ ## op ## _elem(x, y), t ## _prec, div); \
	}								\
}

WIDE_ROW(f16, sum)
WIDE_ROW(f16, prod)
WIDE_ROW(bf16, sum)
WIDE_ROW(bf16, prod)

const struct inc_reduce_impl inc_reduce_softfp = {
	.name	= "generic",
	.fn	= {
		[INC_DTYPE_FP16]	= { INC_REDUCE_HALF_ROWS(f16) },
		[INC_DTYPE_BF16]	= { INC_REDUCE_HALF_ROWS(bf16) },
		[INC_DTYPE_FP32]	= { INC_REDUCE_FP_ROWS(f32) },
		[INC_DTYPE_FP64]	= { INC_REDUCE_FP_ROWS(f64) },
	},
	.wide	= {
		[INC_DTYPE_FP16]	= { INC_REDUCE_WIDE_ROWS(f16) },
		[INC_DTYPE_BF16]	= { INC_REDUCE_WIDE_ROWS(bf16) },
	},
	.div	= {
		[INC_DTYPE_FP32]	= f32_div,
		[INC_DTYPE_FP64]	= f64_div,
	},
};
