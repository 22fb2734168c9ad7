/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floating-point arithmetic by integer instructions, one number at a time. No
 * float type appears here, so no FPU flags are needed; see reduce.h for the
 * rules.
 *
 * One set of functions serves all binary formats of up to 64 bits: @prec is
 * the precision with the implicit bit (binary32: 24, binary64: 53, binary16:
 * 11, bfloat16: 8), @width the format's bits. Both are constants at every
 * call and everything is inlined.
 */
#ifndef _INC_REDUCE_SOFTFP_H
#define _INC_REDUCE_SOFTFP_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

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

/* Rotate the sign bit into bit 0: the result is ordered by magnitude first. */
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
 * The significands are placed with their top bit at bit 61 of a u64: one bit is
 * left for a carry, one for the carry of rounding. Signs, magnitudes and leading
 * zeros of real data are random, so all except the rare cases is arithmetic, not
 * jumps.
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
	 * numbers. Subtracting them leaves a normal number's hidden bit.
	 */
	ex = x >> (prec - 1);
	ey = y >> (prec - 1);
	ex -= !!ex;
	ey -= !!ey;
	x -= (u64)ex << (prec - 1);
	y -= (u64)ey << (prec - 1);

	/*
	 * Align y. With lift >= prec + 2 no bit of it is lost at the largest
	 * shift, and a smaller y than that rounds the same. Otherwise, the bits
	 * shifted out are kept as a sticky bit.
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

/* Map to a signed integer that orders as the values of @a do, -0 below +0. */
static __always_inline s64 fp_key(u64 a, unsigned int width)
{
	const s64 key = a << (64 - width);

	return key ^ (s64)((u64)(key >> 63) >> 1);
}

/* Minimum (@max: maximum) of a and b, or the NaN of the two. */
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

/*
 * A finite number, not 0: @sig * 2^(@exp - bias - 62), with the top bit of @sig
 * at bit 62. So @exp is the exponent field, except for subnormals, which
 * continue below 1.
 */
struct fp_parts {
	u64	sig;
	int	exp;
};

static __always_inline struct fp_parts fp_unpack(u64 mag, unsigned int prec)
{
	const u64 hidden = 1ull << (prec - 1);
	struct fp_parts p = {
		.sig = mag & (hidden - 1),
		.exp = mag >> (prec - 1),
	};
	unsigned int lead;

	if (likely(p.exp))
		p.sig |= hidden;
	else
		p.exp = 1;
	lead = 63 - fls64(p.sig);
	p.sig <<= lead;
	p.exp -= lead - (63 - prec);
	return p;
}

/*
 * The reverse, rounded to nearest even, up to infinity; the lowest bit of @sig
 * says whether bits were lost already.
 */
static __always_inline u64 fp_pack(struct fp_parts p, unsigned int prec,
				   unsigned int width)
{
	const unsigned int drop = 63 - prec;
	unsigned int dist;
	u64 sig = p.sig;

	if (unlikely(p.exp < 1)) {
		dist = min(1 - p.exp, 63);
		sig = p.sig >> dist;
		sig |= (sig << dist) != p.sig;
		p.exp = 1;
	}
	sig += (1ull << (drop - 1)) - 1 + ((sig >> drop) & 1);
	return min(((u64)(p.exp - 1) << (prec - 1)) + (sig >> drop),
		   fp_inf(prec, width));
}

/* a * b, rounded to nearest even. */
static __always_inline u64 fp_mul(u64 a, u64 b, unsigned int prec,
				  unsigned int width)
{
	const u64 inf = fp_inf(prec, width);
	const u64 sign = fp_sign(width) & (a ^ b);
	const u64 x = a & ~fp_sign(width), y = b & ~fp_sign(width);
	struct fp_parts p, q;
	u64 low;

	if (unlikely(x > inf))
		return a | fp_quiet(prec);
	if (unlikely(y > inf))
		return b | fp_quiet(prec);
	if (unlikely(x == inf || y == inf)) {
		if (!x || !y)
			return fp_sign(width) | inf | fp_quiet(prec);
		return sign | inf;
	}
	if (unlikely(!x || !y))
		return sign;

	/* Two top bits at 63 make one at 127 or 126: at 63 or 62 of the upper half. */
	p = fp_unpack(x, prec);
	q = fp_unpack(y, prec);
	low = (p.sig << 1) * (q.sig << 1);
	p.sig = mul_u64_u64_shr(p.sig << 1, q.sig << 1, 64);
	p.sig |= !!low;
	p.exp += q.exp - ((1 << (width - prec - 1)) - 1);
	if (p.sig >> 63) {
		p.sig = p.sig >> 1 | (p.sig & 1);
		p.exp++;
	}
	return sign | fp_pack(p, prec, width);
}

/* a / div, rounded to nearest even. */
static __always_inline u64 fp_div(u64 a, u32 div, unsigned int prec,
				  unsigned int width)
{
	const u64 inf = fp_inf(prec, width), sign = a & fp_sign(width);
	const u64 x = a ^ sign;
	struct fp_parts p;
	unsigned int lead;
	u32 rem, rest;

	if (unlikely(x > inf))
		return a | fp_quiet(prec);
	if (unlikely(!x || x == inf))
		return a;
	p = fp_unpack(x, prec);
	p.sig = div_u64_rem(p.sig, div, &rem);
	lead = 63 - fls64(p.sig);
	p.sig = p.sig << lead | div_u64_rem((u64)rem << lead, div, &rest);
	p.sig |= !!rest;
	p.exp -= lead;
	return sign | fp_pack(p, prec, width);
}

/* A 16-bit number of precision @prec as binary32, exactly. */
static __always_inline u32 fp_widen(u16 a, unsigned int prec)
{
	const u32 sign = (u32)(a & 0x8000) << 16;
	const u16 x = a & 0x7fff, inf = fp_inf(prec, 16);
	struct fp_parts p;

	if (unlikely(x >= inf))
		return sign | fp_inf(24, 32) | (u32)(x ^ inf) << (24 - prec) |
		       (x > inf ? fp_quiet(24) : 0);
	if (!x)
		return sign;
	p = fp_unpack(x, prec);
	p.exp += 127 - ((1 << (15 - prec)) - 1);
	return sign | fp_pack(p, 24, 32);
}

/* A binary32 as 16-bit number of precision @prec, rounded to nearest even. */
static __always_inline u16 fp_narrow(u32 a, unsigned int prec)
{
	const u16 sign = a >> 16 & 0x8000;
	const u32 x = a & 0x7fffffff, inf = fp_inf(24, 32);
	struct fp_parts p;

	if (unlikely(x >= inf))
		return sign | fp_inf(prec, 16) | (x ^ inf) >> (24 - prec) |
		       (x > inf ? fp_quiet(prec) : 0);
	if (!x)
		return sign;
	p = fp_unpack(x, 24);
	p.exp -= 127 - ((1 << (15 - prec)) - 1);
	return sign | fp_pack(p, prec, 16);
}

#endif /* _INC_REDUCE_SOFTFP_H */
