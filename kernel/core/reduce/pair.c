// SPDX-License-Identifier: GPL-2.0
/*
 * Minimum or maximum with its location, of pairs of a value and an index, in
 * plain C. The choice is made on a key of 64 bits, which orders as a signed
 * integer as the value does.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "reduce_impl.h"
#include "scalar.h"
#include "softfp.h"

/* Is the left pair the result? Neither value is a NaN. */
static __always_inline bool take_left(s64 a, s32 a_idx, s64 b, s32 b_idx,
				      bool max)
{
	return a == b ? a_idx <= b_idx : (a < b) != max;
}

/* Eight bytes: a pair is one u64 with the index in its upper half. */
static __always_inline u64 pick_int(u64 a, u64 b, unsigned int width, bool max)
{
	const u64 mask = 0xffffffffull << 32 | ((1ull << width) - 1);
	const s64 x = (s64)(a << (64 - width)), y = (s64)(b << (64 - width));

	return (take_left(x, a >> 32, y, b >> 32, max) ? a : b) & mask;
}

static __always_inline u64 pick_f32(u64 a, u64 b, bool max)
{
	const u32 inf = fp_inf(24, 32);

	if (unlikely(((u32)a & 0x7fffffff) > inf))
		return a | fp_quiet(24);
	if (unlikely(((u32)b & 0x7fffffff) > inf))
		return b | fp_quiet(24);
	return take_left(fp_key((u32)a, 32), a >> 32, fp_key((u32)b, 32),
			 b >> 32, max) ? a : b;
}

static __always_inline u64 ROW(f32i_minloc, u64, pick_f32(a, b, false))
static __always_inline u64 ROW(f32i_maxloc, u64, pick_f32(a, b, true))
static __always_inline u64 ROW(s32i_minloc, u64, pick_int(a, b, 32, false))
static __always_inline u64 ROW(s32i_maxloc, u64, pick_int(a, b, 32, true))
static __always_inline u64 ROW(s16i_minloc, u64, pick_int(a, b, 16, false))
static __always_inline u64 ROW(s16i_maxloc, u64, pick_int(a, b, 16, true))

/* Sixteen bytes: the value, the index, and as much padding. */
struct pair16 {
	u64	val;
	u32	idx;
	u32	pad;
};

static __always_inline struct pair16 pick_s64(struct pair16 a, struct pair16 b,
					      bool max)
{
	return take_left(a.val, a.idx, b.val, b.idx, max) ? a : b;
}

static __always_inline struct pair16 pick_f64(struct pair16 a, struct pair16 b,
					      bool max)
{
	const u64 inf = fp_inf(53, 64), sign = fp_sign(64);

	if (unlikely((a.val & ~sign) > inf)) {
		a.val |= fp_quiet(53);
		return a;
	}
	if (unlikely((b.val & ~sign) > inf)) {
		b.val |= fp_quiet(53);
		return b;
	}
	return take_left(fp_key(a.val, 64), a.idx, fp_key(b.val, 64), b.idx,
			 max) ? a : b;
}

#define PAIR16_ROW(name, pick, max)					\
static void name(void *dst, const void *a, const void *b,		\
		 unsigned int nelem)					\
{									\
	for (unsigned int i = 0; i < nelem; i++) {			\
		const size_t at = i * sizeof(struct pair16);		\
		struct pair16 x, y;					\
									\
		memcpy(&x, a + at, sizeof(x));				\
		memcpy(&y, b + at, sizeof(y));				\
		x = pick(x, y, max);					\
		x.pad = 0;						\
		memcpy(dst + at, &x, sizeof(x));			\
	}								\
}

PAIR16_ROW(f64i_minloc, pick_f64, false)
PAIR16_ROW(f64i_maxloc, pick_f64, true)
PAIR16_ROW(s64i_minloc, pick_s64, false)
PAIR16_ROW(s64i_maxloc, pick_s64, true)

const struct inc_reduce_impl inc_reduce_pair = {
	.name	= "generic",
	.fn	= {
		[INC_DTYPE_FLOAT_INT]	= { INC_REDUCE_PAIR_ROWS(f32i) },
		[INC_DTYPE_DOUBLE_INT]	= { INC_REDUCE_PAIR_ROWS(f64i) },
		[INC_DTYPE_LONG_INT]	= { INC_REDUCE_PAIR_ROWS(s64i) },
		[INC_DTYPE_2INT]	= { INC_REDUCE_PAIR_ROWS(s32i) },
		[INC_DTYPE_SHORT_INT]	= { INC_REDUCE_PAIR_ROWS(s16i) },
	},
};
