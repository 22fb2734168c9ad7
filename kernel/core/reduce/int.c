// SPDX-License-Identifier: GPL-2.0
/*
 * Integer reductions in plain C: for every CPU and every context, without
 * vector registers. Short vectors use this even where there is SIMD.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "reduce_impl.h"
#include "scalar.h"

/*
 * Unsigned, so that wrapping is defined. The product is computed in 64 bits
 * because two u16 would be promoted to int and overflow it.
 */
#define DEFINE_WIDTH(w, type)						\
static __always_inline u64 ROW(w ## _sum, type, a + b)			\
static __always_inline u64 ROW(w ## _prod, type, (u64)a * b)		\
static __always_inline u64 ROW(w ## _land, type, a && b)		\
static __always_inline u64 ROW(w ## _lor, type, a || b)		\
static __always_inline u64 ROW(w ## _lxor, type, !a != !b)		\
static __always_inline u64 ROW(w ## _band, type, a & b)		\
static __always_inline u64 ROW(w ## _bor, type, a | b)			\
static __always_inline u64 ROW(w ## _bxor, type, a ^ b)

#define DEFINE_ORDER(t, type)						\
static __always_inline u64 ROW(t ## _min, type, min(a, b))		\
static __always_inline u64 ROW(t ## _max, type, max(a, b))

DEFINE_WIDTH(w8, u8)
DEFINE_WIDTH(w16, u16)
DEFINE_WIDTH(w32, u32)
DEFINE_WIDTH(w64, u64)

DEFINE_ORDER(s8, s8)
DEFINE_ORDER(s16, s16)
DEFINE_ORDER(s32, s32)
DEFINE_ORDER(s64, s64)
DEFINE_ORDER(u8, u8)
DEFINE_ORDER(u16, u16)
DEFINE_ORDER(u32, u32)
DEFINE_ORDER(u64, u64)

/*
 * A quotient of 32 bits is a product with the 64-bit reciprocal, rounded up:
 * exact for all dividends and divisors of 32 bits (Lemire, Kaser, Kurz: Faster
 * remainder by direct computation). The compiler hoists it out of the loop.
 */
static __always_inline u64 divide32(u32 a, u32 div)
{
	return mul_u64_u64_shr(a, div64_u64(U64_MAX, div) + 1, 64);
}

static __always_inline u64 divide32_signed(s32 a, u32 div)
{
	return a < 0 ? -divide32(-(u32)a, div) : divide32(a, div);
}

static __always_inline u64 divide64_signed(s64 a, u32 div)
{
	return a < 0 ? -div_u64(-(u64)a, div) : div_u64(a, div);
}

static __always_inline u64 DIV_ROW(s8_div, s8, divide32_signed(a, div))
static __always_inline u64 DIV_ROW(s16_div, s16, divide32_signed(a, div))
static __always_inline u64 DIV_ROW(s32_div, s32, divide32_signed(a, div))
static __always_inline u64 DIV_ROW(s64_div, s64, divide64_signed(a, div))
static __always_inline u64 DIV_ROW(u8_div, u8, divide32(a, div))
static __always_inline u64 DIV_ROW(u16_div, u16, divide32(a, div))
static __always_inline u64 DIV_ROW(u32_div, u32, divide32(a, div))
static __always_inline u64 DIV_ROW(u64_div, u64, div_u64(a, div))

const struct inc_reduce_impl inc_reduce_int = {
	.name	= "generic",
	.fn	= {
		[INC_DTYPE_INT8]	= { INC_REDUCE_INT_ROWS(w8, s8) },
		[INC_DTYPE_INT16]	= { INC_REDUCE_INT_ROWS(w16, s16) },
		[INC_DTYPE_INT32]	= { INC_REDUCE_INT_ROWS(w32, s32) },
		[INC_DTYPE_INT64]	= { INC_REDUCE_INT_ROWS(w64, s64) },
		[INC_DTYPE_UINT8]	= { INC_REDUCE_INT_ROWS(w8, u8) },
		[INC_DTYPE_UINT16]	= { INC_REDUCE_INT_ROWS(w16, u16) },
		[INC_DTYPE_UINT32]	= { INC_REDUCE_INT_ROWS(w32, u32) },
		[INC_DTYPE_UINT64]	= { INC_REDUCE_INT_ROWS(w64, u64) },
	},
	.div	= {
		[INC_DTYPE_INT8]	= s8_div,
		[INC_DTYPE_INT16]	= s16_div,
		[INC_DTYPE_INT32]	= s32_div,
		[INC_DTYPE_INT64]	= s64_div,
		[INC_DTYPE_UINT8]	= u8_div,
		[INC_DTYPE_UINT16]	= u16_div,
		[INC_DTYPE_UINT32]	= u32_div,
		[INC_DTYPE_UINT64]	= u64_div,
	},
};
