// SPDX-License-Identifier: GPL-2.0
/*
 * Independent reference of the floating-point reductions: GNU MPFR does the
 * arithmetic. Only what MPFR does not define is coded here: which NaN results,
 * and how zeros are ordered.
 *
 * Nothing of the kernel's code is included.
 */
#include <math.h>
#include <mpfr.h>

#include <uapi/linux/rdma_inc_proto.h>

#include "reduce_ref.h"

const struct ref_format ref_fp16 = { 11, 16 };
const struct ref_format ref_bf16 = { 8, 16 };
const struct ref_format ref_fp32 = { 24, 32 };
const struct ref_format ref_fp64 = { 53, 64 };

/**
 * ref_format() - format of a data type
 * @dtype: enum inc_dtype
 *
 * Return: format, NULL if the type is not floating point.
 */
const struct ref_format *ref_format(uint8_t dtype)
{
	switch (dtype) {
	case INC_DTYPE_FP16:
		return &ref_fp16;
	case INC_DTYPE_BF16:
		return &ref_bf16;
	case INC_DTYPE_FP32:
		return &ref_fp32;
	case INC_DTYPE_FP64:
		return &ref_fp64;
	}
	return NULL;
}

static int bias(const struct ref_format *f)
{
	return (1 << (f->width - f->prec - 1)) - 1;
}

static uint64_t sign_bit(const struct ref_format *f)
{
	return 1ull << (f->width - 1);
}

static uint64_t infinity(const struct ref_format *f)
{
	return sign_bit(f) - (1ull << (f->prec - 1));
}

static uint64_t quiet_bit(const struct ref_format *f)
{
	return 1ull << (f->prec - 2);
}

/**
 * ref_is_nan() - test for a NaN
 * @f: format
 * @a: bits
 *
 * Return: true for a NaN.
 */
bool ref_is_nan(const struct ref_format *f, uint64_t a)
{
	return (a & ~sign_bit(f)) > infinity(f);
}

/* For any number except NaN; all numbers of the four formats are doubles. */
static double to_double(const struct ref_format *f, uint64_t a)
{
	const uint64_t frac = a & ((1ull << (f->prec - 1)) - 1);
	const int exp = (a & ~sign_bit(f)) >> (f->prec - 1);
	double x;

	if ((a & ~sign_bit(f)) == infinity(f))
		x = INFINITY;
	else if (exp)
		x = ldexp((double)(frac | 1ull << (f->prec - 1)),
			  exp - bias(f) - (int)f->prec + 1);
	else
		x = ldexp((double)frac, 2 - bias(f) - (int)f->prec);
	return a & sign_bit(f) ? -x : x;
}

/* The reverse, for a number that the format can represent. */
static uint64_t from_double(const struct ref_format *f, double x)
{
	const uint64_t sign = signbit(x) ? sign_bit(f) : 0;
	double m;
	int exp;

	x = fabs(x);
	if (isnan(x))
		return sign_bit(f) | infinity(f) | quiet_bit(f);
	if (isinf(x))
		return sign | infinity(f);
	m = frexp(x, &exp);
	if (x == 0 || exp - 1 + bias(f) < 1)
		return sign | (uint64_t)ldexp(x, bias(f) + (int)f->prec - 2);
	return sign | (uint64_t)(exp - 1 + bias(f)) << (f->prec - 1) |
	       (uint64_t)ldexp(m * 2 - 1, (int)f->prec - 1);
}

static void load(mpfr_t x, const struct ref_format *f, uint64_t a)
{
	mpfr_init2(x, 53);
	mpfr_set_d(x, to_double(f, a), MPFR_RNDN);
}

/* Bits of @r, rounded to the format's precision with ternary value @t. */
static uint64_t finish(mpfr_t r, int t, const struct ref_format *f)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	uint64_t bits;

	mpfr_set_emin(3 - bias(f) - (int)f->prec);
	mpfr_set_emax(bias(f) + 1);
	t = mpfr_check_range(r, t, MPFR_RNDN);
	mpfr_subnormalize(r, t, MPFR_RNDN);
	bits = from_double(f, mpfr_get_d(r, MPFR_RNDN));
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	mpfr_clear(r);
	return bits;
}

static uint64_t order(const struct ref_format *f, uint8_t op, uint64_t a,
		      uint64_t b)
{
	double x = to_double(f, a), y = to_double(f, b);

	if (x == y)	/* the same, or zeros of two signs */
		return !signbit(x) == (op == INC_OP_MAX) ? a : b;
	return (x < y) == (op == INC_OP_MIN) ? a : b;
}

/**
 * ref_fp() - reduce two elements
 * @f: format
 * @op: INC_OP_SUM, INC_OP_PROD, INC_OP_MIN or INC_OP_MAX
 * @a: left operand's bits
 * @b: right operand's bits
 *
 * Return: the result's bits.
 */
uint64_t ref_fp(const struct ref_format *f, uint8_t op, uint64_t a, uint64_t b)
{
	mpfr_t x, y, r;
	int t;

	if (ref_is_nan(f, a))
		return a | quiet_bit(f);
	if (ref_is_nan(f, b))
		return b | quiet_bit(f);
	if (op == INC_OP_MIN || op == INC_OP_MAX)
		return order(f, op, a, b);
	load(x, f, a);
	load(y, f, b);
	mpfr_init2(r, f->prec);
	t = op == INC_OP_SUM ? mpfr_add(r, x, y, MPFR_RNDN) :
			       mpfr_mul(r, x, y, MPFR_RNDN);
	mpfr_clear(x);
	mpfr_clear(y);
	return finish(r, t, f);
}

/**
 * ref_div() - divide an element by the number of ranks
 * @f: format
 * @a: the element's bits
 * @div: divisor
 *
 * Return: the result's bits.
 */
uint64_t ref_div(const struct ref_format *f, uint64_t a, unsigned int div)
{
	mpfr_t x, r;
	int t;

	if (ref_is_nan(f, a))
		return a | quiet_bit(f);
	load(x, f, a);
	mpfr_init2(r, f->prec);
	t = mpfr_div_ui(r, x, div, MPFR_RNDN);
	mpfr_clear(x);
	return finish(r, t, f);
}

/**
 * ref_convert() - convert an element to another format
 * @to: target format
 * @from: source format
 * @a: the element's bits
 *
 * A NaN keeps its sign and the top bits of its fraction, and becomes quiet.
 *
 * Return: the result's bits.
 */
uint64_t ref_convert(const struct ref_format *to, const struct ref_format *from,
		     uint64_t a)
{
	mpfr_t x, r;
	int t;

	if (ref_is_nan(from, a)) {
		uint64_t frac = a & (quiet_bit(from) - 1);

		frac = to->prec > from->prec ? frac << (to->prec - from->prec) :
					       frac >> (from->prec - to->prec);
		return (a & sign_bit(from) ? sign_bit(to) : 0) | infinity(to) |
		       quiet_bit(to) | frac;
	}
	load(x, from, a);
	mpfr_init2(r, to->prec);
	t = mpfr_set(r, x, MPFR_RNDN);
	mpfr_clear(x);
	return finish(r, t, to);
}
