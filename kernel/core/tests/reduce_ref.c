// SPDX-License-Identifier: GPL-2.0
/*
 * Reference of the reductions for the KUnit tests: slow, and built differently
 * from the code under test. A floating-point sum, product or quotient is an
 * exact number of some 4,000 bits, rounded once.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <uapi/linux/rdma_inc_proto.h>

#include "reduce_ref.h"

const struct fp_format ref_fp32 = { 24, 32 };

const struct fp_format *fp_format(u8 dtype)
{
	static const struct fp_format fp16 = { 11, 16 }, bf16 = { 8, 16 };
	static const struct fp_format fp64 = { 53, 64 };

	switch (dtype) {
	case INC_DTYPE_FP16:
		return &fp16;
	case INC_DTYPE_BF16:
		return &bf16;
	case INC_DTYPE_FP32:
		return &ref_fp32;
	case INC_DTYPE_FP64:
		return &fp64;
	}
	return NULL;
}

/*
 * Fixed point, with as many words as the product of any two numbers needs: 134
 * for binary64, 18 for binary32 and shorter formats.
 */
#define BIG_WORDS	134

struct big {
	int	words;
	u32	w[BIG_WORDS];
};

static bool big_bit(const struct big *x, int i)
{
	return i >= 0 && x->w[i / 32] >> (i % 32) & 1;
}

/* Number of bits up to the highest that is set. */
static int big_len(const struct big *x)
{
	int i = x->words;

	while (i && !x->w[i - 1])
		i--;
	i *= 32;
	while (i && !big_bit(x, i - 1))
		i--;
	return i;
}

static u64 ref_fp_mag(u64 bits, const struct fp_format *f)
{
	return bits & ((1ull << (f->width - 1)) - 1);
}

u64 ref_fp_inf(const struct fp_format *f)
{
	return ((1ull << (f->width - f->prec)) - 1) << (f->prec - 1);
}

/* The smallest subnormal is 2 to the power of minus this. */
static int ref_fp_unit(const struct fp_format *f)
{
	return (1 << (f->width - f->prec - 1)) - 1 + f->prec - 2;
}

/* The number times 2^@shift, with the smallest subnormal as unit. */
static void big_from(struct big *x, u64 bits, const struct fp_format *f,
		     unsigned int shift)
{
	u64 exp = ref_fp_mag(bits, f) >> (f->prec - 1);
	u64 frac = bits & ((1ull << (f->prec - 1)) - 1);

	x->words = f->width == 64 ? BIG_WORDS : 18;
	memset(x->w, 0, x->words * sizeof(x->w[0]));
	if (exp)
		frac |= 1ull << (f->prec - 1);
	for (unsigned int i = 0; i < f->prec; i++) {
		unsigned int at = i + (exp ? exp - 1 : 0) + shift;

		if (frac >> i & 1)
			x->w[at / 32] |= 1u << (at % 32);
	}
}

static void big_add(struct big *x, const struct big *y, bool subtract)
{
	u64 carry = subtract;

	for (int i = 0; i < x->words; i++) {
		carry += (u64)x->w[i] + (subtract ? ~y->w[i] : y->w[i]);
		x->w[i] = carry;
		carry >>= 32;
	}
}

/* Returns whether there is a remainder. */
static bool big_div(struct big *x, u32 div)
{
	u32 rem = 0;

	for (int i = x->words - 1; i >= 0; i--)
		x->w[i] = div_u64_rem((u64)rem << 32 | x->w[i], div, &rem);
	return rem;
}

/* x / 2^@point, rounded to nearest even: encodes the magnitude. */
static u64 big_encode(const struct big *x, const struct fp_format *f, int point)
{
	int len = big_len(x), cut = max(len - (int)f->prec, point);
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
	/* Normal: drop the hidden bit; the smallest such has exponent 1. */
	if (frac >> (f->prec - 1)) {
		frac &= (1ull << (f->prec - 1)) - 1;
		frac |= (u64)(cut - point + 1) << (f->prec - 1);
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
	big_from(&x, a, f, 0);
	big_from(&y, b, f, 0);
	big_add(&x, &y, (a ^ b) & sign);
	if (!big_len(&x))
		return a & b & sign;
	return big_encode(&x, f, 0) | (a & sign);
}

static noinline u64 ref_fp_prod(u64 a, u64 b, const struct fp_format *f)
{
	const u64 sign = (a ^ b) & 1ull << (f->width - 1), inf = ref_fp_inf(f);
	u64 exp = ref_fp_mag(b, f) >> (f->prec - 1);
	u64 frac = b & ((1ull << (f->prec - 1)) - 1);
	struct big x, sum;

	if (ref_fp_nan(a, b, f))
		return ref_fp_nan(a, b, f);
	if (ref_fp_mag(a, f) == inf || ref_fp_mag(b, f) == inf) {
		if (!ref_fp_mag(a, f) || !ref_fp_mag(b, f))
			return 1ull << (f->width - 1) | inf | 1ull << (f->prec - 2);
		return sign | inf;
	}
	/* As by hand: a, shifted by the position of each bit of b. */
	big_from(&sum, 0, f, 0);
	if (exp)
		frac |= 1ull << (f->prec - 1);
	for (unsigned int i = 0; i < f->prec; i++) {
		if (!(frac >> i & 1))
			continue;
		big_from(&x, a, f, i + (exp ? exp - 1 : 0));
		big_add(&sum, &x, false);
	}
	return sign | big_encode(&sum, f, ref_fp_unit(f));
}

/* a / div */
u64 ref_fp_div(u64 a, u32 div, const struct fp_format *f)
{
	const u64 sign = a & 1ull << (f->width - 1);
	const int point = ref_fp_unit(f);
	struct big x;

	if (ref_fp_nan(a, a, f))
		return ref_fp_nan(a, a, f);
	if (ref_fp_mag(a, f) == ref_fp_inf(f))
		return a;
	big_from(&x, a, f, point);
	if (big_div(&x, div))
		x.w[0] |= 1;
	return sign | big_encode(&x, f, point);
}

/* a in another format; for a NaN the top of its fraction, made quiet. */
u64 ref_fp_convert(u64 a, const struct fp_format *from, const struct fp_format *to)
{
	const u64 sign = a >> (from->width - 1) << (to->width - 1);
	const int shift = ref_fp_unit(to) - ref_fp_unit(from);
	const u64 frac = a << (65 - from->prec) >> (65 - to->prec);
	struct big x;

	if (ref_fp_nan(a, a, from))
		return sign | ref_fp_inf(to) | 1ull << (to->prec - 2) | frac;
	if (ref_fp_mag(a, from) == ref_fp_inf(from))
		return sign | ref_fp_inf(to);
	big_from(&x, a, from, max(shift, 0));
	return sign | big_encode(&x, to, max(-shift, 0));
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

u64 ref_fp(u8 dtype, u8 op, u64 a, u64 b)
{
	const struct fp_format *f = fp_format(dtype);

	if (op == INC_OP_SUM || op == INC_OP_AVG)
		return ref_fp_sum(a, b, f);
	if (op == INC_OP_PROD)
		return ref_fp_prod(a, b, f);
	if (ref_fp_nan(a, b, f))
		return ref_fp_nan(a, b, f);
	if (op == INC_OP_MIN)
		return ref_fp_less(b, a, f) ? b : a;
	return ref_fp_less(a, b, f) ? b : a;
}

/* Both operands are extended to 64 bits according to their type. */
u64 ref_int(u8 dtype, u8 op, u64 a, u64 b)
{
	bool is_signed = dtype <= INC_DTYPE_INT64;
	bool less = is_signed ? (s64)a < (s64)b : a < b;

	switch (op) {
	case INC_OP_SUM:
	case INC_OP_AVG:
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

/* a / div rounded toward zero, a being extended to 64 bits by its type. */
u64 ref_int_div(u8 dtype, u64 a, u32 div)
{
	bool negative = dtype <= INC_DTYPE_INT64 && (s64)a < 0;
	u64 rest = negative ? -a : a, quot = 0;

	/* By hand, bit after bit. */
	for (int i = 63; i >= 0; i--) {
		if (rest >> i < div)
			continue;
		rest -= (u64)div << i;
		quot |= 1ull << i;
	}
	return negative ? -quot : quot;
}

/* Type of a pair's value, or @dtype itself. */
u8 ref_value_dtype(u8 dtype)
{
	switch (dtype) {
	case INC_DTYPE_FLOAT_INT:
		return INC_DTYPE_FP32;
	case INC_DTYPE_DOUBLE_INT:
		return INC_DTYPE_FP64;
	case INC_DTYPE_LONG_INT:
		return INC_DTYPE_INT64;
	case INC_DTYPE_2INT:
		return INC_DTYPE_INT32;
	case INC_DTYPE_SHORT_INT:
		return INC_DTYPE_INT16;
	}
	return dtype;
}

/* Offset of a pair's index. */
unsigned int ref_idx_offset(u8 dtype)
{
	return ref_size(dtype) / 2;
}

static void ref_pair(u8 dtype, u8 op, u8 *dst, const u8 *a, const u8 *b)
{
	const u8 type = ref_value_dtype(dtype), at = ref_idx_offset(dtype);
	const u64 x = ref_load(a, type), y = ref_load(b, type);
	const s64 x_idx = ref_load(a + at, INC_DTYPE_INT32);
	const s64 y_idx = ref_load(b + at, INC_DTYPE_INT32);
	const u8 order = op == INC_OP_MINLOC ? INC_OP_MIN : INC_OP_MAX;
	const struct fp_format *f = fp_format(type);
	bool left;
	u64 val;

	val = f ? ref_fp(type, order, x, y) : ref_int(type, order, x, y);
	if (f && ref_fp_nan(x, y, f))
		left = ref_fp_nan(x, x, f);
	else if (x == y)
		left = x_idx <= y_idx;
	else
		left = val == x;
	memset(dst, 0, ref_size(dtype));
	ref_store(dst, type, val);
	ref_store(dst + at, INC_DTYPE_INT32, left ? x_idx : y_idx);
}

/* One element of any type, without the final step. */
void ref_elem(u8 dtype, u8 op, u8 *dst, const u8 *a, const u8 *b)
{
	if (ref_value_dtype(dtype) != dtype)
		ref_pair(dtype, op, dst, a, b);
	else if (fp_format(dtype))
		ref_store(dst, dtype, ref_fp(dtype, op, ref_load(a, dtype),
					     ref_load(b, dtype)));
	else
		ref_store(dst, dtype, ref_int(dtype, op, ref_load(a, dtype),
					      ref_load(b, dtype)));
}

unsigned int ref_size(u8 dtype)
{
	static const u8 sizes[] = { 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 16, 8, 8 };

	return sizes[dtype];
}

/*
 * Element as 64 bits, sign-extended if its type is signed. For a pair, the
 * first 8 bytes.
 */
u64 ref_load(const u8 *p, u8 dtype)
{
	unsigned int size = min(ref_size(dtype), 8u);
	u64 x = 0;

	for (unsigned int i = 0; i < size; i++)
		x |= (u64)p[i] << (8 * i);
	if (dtype <= INC_DTYPE_INT64 && p[size - 1] & 0x80 && size < 8)
		x |= ~0ull << (8 * size);
	return x;
}

void ref_store(u8 *p, u8 dtype, u64 x)
{
	for (unsigned int i = 0; i < ref_size(dtype); i++)
		p[i] = x >> (8 * i);
}
