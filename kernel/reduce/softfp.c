// SPDX-License-Identifier: GPL-2.0
/*
 * Floating-point reductions by integer arithmetic only: every CPU, every
 * context. Bit for bit what the SIMD files compute; see reduce.h for the
 * rules. No float type appears here, so no FPU flags are needed.
 *
 * One set of functions serves all binary formats of up to 64 bits: @prec is
 * the precision with the implicit bit (binary32: 24, binary64: 53, binary16:
 * 11, bfloat16: 8), @width the format's bits. Both are constants at every
 * call and everything is inlined.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "reduce_impl.h"
#include "scalar.h"

static __always_inline u64 fp_sign(unsigned int width)
{
	return 1ull << (width - 1);
}

static __always_inline u64 fp_quiet(unsigned int prec)
{
	return 1ull << (prec - 2);
}

/* +infinity: all exponent bits set. A larger magnitude is a NaN. */
static __always_inline u64 fp_inf(unsigned int prec, unsigned int width)
{
	return fp_sign(width) - (1ull << (prec - 1));
}

/* The sign bit into bit 0: what results is ordered by magnitude first. */
static __always_inline u64 fp_rotate(u64 a, unsigned int width)
{
	switch (width) {
	case 16:
		return rol16(a, 1);
	case 32:
		return rol32(a, 1);
	default:
		return rol64(a, 1);
	}
}

/* a + b where at least one is an infinity or a NaN. */
static __always_inline u64 fp_add_special(u64 a, u64 b, unsigned int prec,
					  unsigned int width)
{
	const u64 sign = fp_sign(width), inf = fp_inf(prec, width);

	if ((a & ~sign) > inf)
		return a | fp_quiet(prec);
	if ((b & ~sign) > inf)
		return b | fp_quiet(prec);
	if ((a ^ b) == sign)
		return sign | inf | fp_quiet(prec);
	return (a & ~sign) == inf ? a : b;
}

/*
 * a + b, rounded to nearest even.
 *
 * The significands are put with their top bit at bit 61 of a u64: one bit is
 * for a carry, one for that of rounding. Signs, sizes and leading zeros of
 * real data are random, so all but the rare cases is arithmetic, not jumps.
 */
static __always_inline u64 fp_add(u64 a, u64 b, unsigned int prec,
				  unsigned int width)
{
	const unsigned int drop = 63 - prec, lift = drop - 1;
	const u64 ra = fp_rotate(a, width), rb = fp_rotate(b, width);
	const u64 inf = fp_inf(prec, width);
	u64 x, y, sign, low, neg, sum, res;
	unsigned int ex, ey, dist, lead;

	/* x gets the larger magnitude, and its sign is the result's. */
	x = max(ra, rb);
	y = min(ra, rb);
	sign = (x & 1) << (width - 1);
	x >>= 1;
	y >>= 1;
	neg = -((ra ^ rb) & 1);
	if (unlikely(x >= inf))
		return fp_add_special(a, b, prec, width);

	/*
	 * Exponents from 0, which subnormals share with the smallest normal
	 * numbers. Taking them off leaves a normal number's hidden bit.
	 */
	ex = x >> (prec - 1);
	ey = y >> (prec - 1);
	ex -= !!ex;
	ey -= !!ey;
	x -= (u64)ex << (prec - 1);
	y -= (u64)ey << (prec - 1);

	/*
	 * Align y. With lift >= prec + 2 no bit of it is lost at the largest
	 * shift, and a smaller y than that rounds the same. Otherwise, what is
	 * shifted out is kept as a sticky bit.
	 */
	y <<= lift;
	if (lift >= prec + 2) {
		low = y >> min(ex - ey, lift);
	} else {
		dist = min(ex - ey, 63u);
		low = y >> dist;
		low |= (low << dist) != y;
	}
	sum = (x << lift) + ((low ^ neg) - neg);
	if (unlikely(!sum))
		return sign & ~neg;

	/*
	 * Move the top bit to bit 62, but not below exponent 0: there the
	 * result is subnormal, and exact. The hidden bit adds 1 to the
	 * exponent, and so does the carry of rounding, up to infinity.
	 */
	lead = min(63u - fls64(sum), ex + 1);
	sum <<= lead;
	sum += (1ull << (drop - 1)) - 1 + ((sum >> drop) & 1);
	res = ((u64)(ex + 1 - lead) << (prec - 1)) + (sum >> drop);
	return min(res, inf) | sign;
}

/* Orders as signed integers like the values of @a, -0 below +0. */
static __always_inline s64 fp_key(u64 a, unsigned int width)
{
	const s64 key = a << (64 - width);

	return key ^ (s64)((u64)(key >> 63) >> 1);
}

/* Lesser (@max: greater) of a and b, or the NaN of the two. */
static __always_inline u64 fp_pick(u64 a, u64 b, bool max, unsigned int prec,
				   unsigned int width)
{
	const u64 sign = fp_sign(width), inf = fp_inf(prec, width);

	if (unlikely((a & ~sign) > inf))
		return a | fp_quiet(prec);
	if (unlikely((b & ~sign) > inf))
		return b | fp_quiet(prec);
	return (fp_key(a, width) < fp_key(b, width)) != max ? a : b;
}

static __always_inline u64 ROW(f32_sum, u32, fp_add(a, b, 24, 32))
static __always_inline u64 ROW(f32_min, u32, fp_pick(a, b, false, 24, 32))
static __always_inline u64 ROW(f32_max, u32, fp_pick(a, b, true, 24, 32))
static __always_inline u64 ROW(f64_sum, u64, fp_add(a, b, 53, 64))
static __always_inline u64 ROW(f64_min, u64, fp_pick(a, b, false, 53, 64))
static __always_inline u64 ROW(f64_max, u64, fp_pick(a, b, true, 53, 64))

const struct inc_reduce_impl inc_reduce_softfp = {
	.name	= "generic",
	.fn	= {
		[INC_DTYPE_FP32]	= { INC_REDUCE_FP_ROWS(f32) },
		[INC_DTYPE_FP64]	= { INC_REDUCE_FP_ROWS(f64) },
	},
};
