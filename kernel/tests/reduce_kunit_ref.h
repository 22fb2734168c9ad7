/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reference of the reductions for reduce_kunit.c: slow, and built differently
 * from what it judges. A floating-point sum is an exact sum of two numbers of
 * 2,100 bits, rounded once.
 */
#ifndef _INC_REDUCE_KUNIT_REF_H
#define _INC_REDUCE_KUNIT_REF_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/inc_proto.h>

struct fp_format {
	unsigned int prec, width;
};

static const struct fp_format *fp_format(u8 dtype)
{
	static const struct fp_format fp32 = { 24, 32 }, fp64 = { 53, 64 };

	if (dtype == INC_DTYPE_FP32)
		return &fp32;
	return dtype == INC_DTYPE_FP64 ? &fp64 : NULL;
}

/* Fixed point with the least subnormal as unit; binary64's sums fit. */
#define BIG_WORDS	67

struct big {
	u32	w[BIG_WORDS];
};

static bool big_bit(const struct big *x, int i)
{
	return i >= 0 && x->w[i / 32] >> (i % 32) & 1;
}

/* Number of bits up to the highest that is set. */
static int big_len(const struct big *x)
{
	int i = BIG_WORDS * 32;

	while (i && !big_bit(x, i - 1))
		i--;
	return i;
}

static u64 ref_fp_mag(u64 bits, const struct fp_format *f)
{
	return bits & ((1ull << (f->width - 1)) - 1);
}

static u64 ref_fp_inf(const struct fp_format *f)
{
	return ((1ull << (f->width - f->prec)) - 1) << (f->prec - 1);
}

static void big_from(struct big *x, u64 bits, const struct fp_format *f)
{
	u64 exp = ref_fp_mag(bits, f) >> (f->prec - 1);
	u64 frac = bits & ((1ull << (f->prec - 1)) - 1);

	memset(x, 0, sizeof(*x));
	if (exp)
		frac |= 1ull << (f->prec - 1);
	for (unsigned int i = 0; i < f->prec; i++) {
		unsigned int at = i + (exp ? exp - 1 : 0);

		if (frac >> i & 1)
			x->w[at / 32] |= 1u << (at % 32);
	}
}

static void big_add(struct big *x, const struct big *y, bool subtract)
{
	u64 carry = subtract;

	for (int i = 0; i < BIG_WORDS; i++) {
		carry += (u64)x->w[i] + (subtract ? ~y->w[i] : y->w[i]);
		x->w[i] = carry;
		carry >>= 32;
	}
}

/* Rounds to nearest even and encodes the magnitude. */
static u64 big_encode(const struct big *x, const struct fp_format *f)
{
	int len = big_len(x), cut = max(len - (int)f->prec, 0);
	bool below = false;
	u64 frac = 0;

	for (int i = len - 1; i >= cut; i--)
		frac = frac << 1 | big_bit(x, i);
	for (int i = 0; i < cut - 1; i++)
		below |= big_bit(x, i);
	if (big_bit(x, cut - 1) && (below || (frac & 1)))
		frac++;
	if (frac >> f->prec) {
		frac >>= 1;
		cut++;
	}
	/* Normal: drop the hidden bit, the least such has exponent 1. */
	if (frac >> (f->prec - 1)) {
		frac &= (1ull << (f->prec - 1)) - 1;
		frac |= (u64)(cut + 1) << (f->prec - 1);
	}
	return min(frac, ref_fp_inf(f));
}

/* The NaN that a and b make, or 0. */
static u64 ref_fp_nan(u64 a, u64 b, const struct fp_format *f)
{
	const u64 quiet = 1ull << (f->prec - 2);

	if (ref_fp_mag(a, f) > ref_fp_inf(f))
		return a | quiet;
	if (ref_fp_mag(b, f) > ref_fp_inf(f))
		return b | quiet;
	return 0;
}

static noinline u64 ref_fp_sum(u64 a, u64 b, const struct fp_format *f)
{
	const u64 sign = 1ull << (f->width - 1), inf = ref_fp_inf(f);
	struct big x, y;

	if (ref_fp_nan(a, b, f))
		return ref_fp_nan(a, b, f);
	if (ref_fp_mag(a, f) == inf || ref_fp_mag(b, f) == inf) {
		if (a == (b ^ sign))
			return sign | inf | (1ull << (f->prec - 2));
		return ref_fp_mag(a, f) == inf ? a : b;
	}
	if (ref_fp_mag(a, f) < ref_fp_mag(b, f))
		swap(a, b);
	big_from(&x, a, f);
	big_from(&y, b, f);
	big_add(&x, &y, (a ^ b) & sign);
	if (!big_len(&x))
		return a & b & sign;
	return big_encode(&x, f) | (a & sign);
}

/* Is a below b, neither being a NaN? By sign and magnitude. */
static bool ref_fp_less(u64 a, u64 b, const struct fp_format *f)
{
	bool na = a >> (f->width - 1) & 1, nb = b >> (f->width - 1) & 1;

	if (na != nb)
		return na;
	if (na)
		return ref_fp_mag(a, f) > ref_fp_mag(b, f);
	return ref_fp_mag(a, f) < ref_fp_mag(b, f);
}

static u64 ref_fp(u8 dtype, u8 op, u64 a, u64 b)
{
	const struct fp_format *f = fp_format(dtype);

	if (op == INC_OP_SUM)
		return ref_fp_sum(a, b, f);
	if (ref_fp_nan(a, b, f))
		return ref_fp_nan(a, b, f);
	if (op == INC_OP_MIN)
		return ref_fp_less(b, a, f) ? b : a;
	return ref_fp_less(a, b, f) ? b : a;
}

/* Both operands are widened to 64 bits as their type says. */
static u64 ref_int(u8 dtype, u8 op, u64 a, u64 b)
{
	bool is_signed = dtype <= INC_DTYPE_INT64;
	bool less = is_signed ? (s64)a < (s64)b : a < b;

	switch (op) {
	case INC_OP_SUM:
		return a + b;
	case INC_OP_PROD:
		return a * b;
	case INC_OP_MIN:
		return less ? a : b;
	case INC_OP_MAX:
		return less ? b : a;
	case INC_OP_LAND:
		return a && b;
	case INC_OP_LOR:
		return a || b;
	case INC_OP_LXOR:
		return !!a ^ !!b;
	case INC_OP_BAND:
		return a & b;
	case INC_OP_BOR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* Element as 64 bits, sign-extended if its type has a sign. */
static u64 load(const u8 *p, u8 dtype)
{
	unsigned int size = inc_dtype_size(dtype);
	u64 x = 0;

	for (unsigned int i = 0; i < size; i++)
		x |= (u64)p[i] << (8 * i);
	if (dtype <= INC_DTYPE_INT64 && p[size - 1] & 0x80 && size < 8)
		x |= ~0ull << (8 * size);
	return x;
}

static void store(u8 *p, u8 dtype, u64 x)
{
	for (unsigned int i = 0; i < inc_dtype_size(dtype); i++)
		p[i] = x >> (8 * i);
}

#endif /* _INC_REDUCE_KUNIT_REF_H */
