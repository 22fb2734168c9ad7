/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of a value and an index: part of the template simd_x86.h, but not for
 * SSE2, which cannot compare 64 bits: integer-only code is faster than that.
 *
 * Of two pairs the one with the smaller key is taken, the keys being signed
 * integers. For a maximum the value bits in the keys, @turn, are inverted.
 */

/* Eight bytes: the key is the value, and below it the index. */
#define VALUE_TOP	0xffffffff00000000ull
#define IDX_BIAS	0x0000000080000000ull

/* Copy the lower half of each eight bytes into both halves. */
static __always_inline vec both_halves(vec v)
{
	v &= 0xffffffff;
	return v | v << 32;
}

static __always_inline vec lesser(vec ka, vec kb)
{
	return (vec)((vs64)ka < (vs64)kb);
}

static __always_inline vec s32i_key(vec v, u64 turn)
{
	return (v << 32 | v >> 32) ^ IDX_BIAS ^ turn;
}

static __always_inline vec s32i_pick(vec a, vec b, u64 turn)
{
	return pick(lesser(s32i_key(a, turn), s32i_key(b, turn)), a, b);
}

static __always_inline vec s16i_key(vec v, u64 turn)
{
	return (v << 48 | v >> 32) ^ IDX_BIAS ^ turn;
}

static __always_inline vec s16i_pick(vec a, vec b, u64 turn)
{
	return pick(lesser(s16i_key(a, turn), s16i_key(b, turn)), a, b) &
	       (VALUE_TOP | 0xffff);
}

static __always_inline vec f32i_key(vec v, u64 turn)
{
	const vec key = s32i_key(v, 0);
	const vec sign = (vec)((vs32)key >> 31);

	return key ^ (sign & 0x7fffffff00000000ull) ^ turn;
}

static __always_inline vec f32i_pick(vec a, vec b, u64 turn)
{
	return pick(both_halves(is_f32_nan((vs32)a)), a | 0x00400000,
		    pick(both_halves(is_f32_nan((vs32)b)), b | 0x00400000,
			 pick(lesser(f32i_key(a, turn), f32i_key(b, turn)),
			      a, b)));
}

static __always_inline vec ROW_OF(8, s32i_minloc, vec, s32i_pick(a, b, 0))
static __always_inline vec ROW_OF(8, s32i_maxloc, vec, s32i_pick(a, b, VALUE_TOP))
static __always_inline vec ROW_OF(8, s16i_minloc, vec, s16i_pick(a, b, 0))
static __always_inline vec ROW_OF(8, s16i_maxloc, vec, s16i_pick(a, b, VALUE_TOP))
static __always_inline vec ROW_OF(8, f32i_minloc, vec, f32i_pick(a, b, 0))
static __always_inline vec ROW_OF(8, f32i_maxloc, vec, f32i_pick(a, b, VALUE_TOP))

/* Sixteen bytes: keys of value and index lie side by side, like these. */
static __always_inline vec lanes(u64 val, u64 idx)
{
	const vec r = { val, idx, val, idx };

	return r;
}

#define SHUFFLE(name, how)						\
static __always_inline vec name ## _lanes(vec v)			\
{									\
	vec r;								\
									\
	asm("vpshufd $" # how ", %1, %0" : "=x" (r) : "x" (v));		\
	return r;							\
}

/* The two lanes of each sixteen bytes: swapped, and the first one twice. */
SHUFFLE(swap, 0x4e)
SHUFFLE(same, 0x44)

/* Mask of the lanes to take from the left pair. */
static __always_inline vec left_lanes(vec ka, vec kb)
{
	const vec less = lesser(ka, kb), equal = (vec)(ka == kb);

	return same_lanes(less | (equal & swap_lanes(less)));
}

static __always_inline vec s64i_key(vec v, u64 turn)
{
	return pick(lanes(~0ull, 0), v, v << 32) ^ lanes(turn, 0);
}

static __always_inline vec s64i_pick(vec a, vec b, u64 turn)
{
	return pick(left_lanes(s64i_key(a, turn), s64i_key(b, turn)), a, b) &
	       lanes(~0ull, 0xffffffff);
}

static __always_inline vec f64i_key(vec v, u64 turn)
{
	const vec key = s64i_key(v, 0);

	return key ^ (-(key >> 63) & lanes(~0ull >> 1, 0)) ^ lanes(turn, 0);
}

static __always_inline vec is_f64i_nan(vec v)
{
	return same_lanes(f64_insn_cmpunord(v, v));
}

static __always_inline vec f64i_pick(vec a, vec b, u64 turn)
{
	const vec quiet = lanes(1ull << 51, 0);
	const vec left = left_lanes(f64i_key(a, turn), f64i_key(b, turn));

	return pick(is_f64i_nan(a), a | quiet,
		    pick(is_f64i_nan(b), b | quiet, pick(left, a, b))) &
	       lanes(~0ull, 0xffffffff);
}

static __always_inline vec ROW_OF(16, s64i_minloc, vec, s64i_pick(a, b, 0))
static __always_inline vec ROW_OF(16, s64i_maxloc, vec, s64i_pick(a, b, ~0ull))
static __always_inline vec ROW_OF(16, f64i_minloc, vec, f64i_pick(a, b, 0))
static __always_inline vec ROW_OF(16, f64i_maxloc, vec, f64i_pick(a, b, ~0ull))
