// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reference implementation of reductions: obviously right rather than fast.
 *
 * More than two operands are reduced as a balanced binary tree over the ranks:
 * pairs, then pairs of pairs; an operand without a partner moves up unchanged.
 *
 * 16-bit floats are added and multiplied as C floats and rounded once, at the
 * end; averages are divided before that.
 *
 * NaNs follow x86's SSE: the first operand that is a NaN, made quiet; if the
 * operands are numbers without a result (infinity minus infinity), the default
 * NaN, whose sign is set. Minimum and maximum: NaN if there is one, and -0 is
 * less than +0.
 *
 * Pairs: the minimum or maximum with its index; of equal values, the lower
 * index. Padding is 0.
 *
 * Tests spend most of their time here. So the compiler makes runs of elements
 * for each type, in which a type's size and kind are constants.
 */
#include <math.h>
#include <string.h>

#include "ref.h"

#define EACH_TYPE(X)							\
	X(INT8) X(INT16) X(INT32) X(INT64)				\
	X(UINT8) X(UINT16) X(UINT32) X(UINT64)				\
	X(FP16) X(BF16) X(FP32) X(FP64)					\
	X(FLOAT_INT) X(DOUBLE_INT) X(LONG_INT) X(2INT) X(SHORT_INT)

static bool is_half(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_FP16 || dtype == INC_DTYPE_BF16;
}

static bool is_float(enum inc_dtype dtype)
{
	return is_half(dtype) || dtype == INC_DTYPE_FP32 ||
	       dtype == INC_DTYPE_FP64;
}

static bool is_signed(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_INT8 || dtype == INC_DTYPE_INT16 ||
	       dtype == INC_DTYPE_INT32 || dtype == INC_DTYPE_INT64;
}

/* Type of a pair's value; INC_DTYPE_COUNT if the type is not a pair. */
static enum inc_dtype value_type(enum inc_dtype dtype)
{
	switch ((int)dtype) {
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
	return INC_DTYPE_COUNT;
}

static bool is_pair(enum inc_dtype dtype)
{
	return value_type(dtype) != INC_DTYPE_COUNT;
}

static size_t size_of(enum inc_dtype dtype)
{
	switch (dtype) {
	case INC_DTYPE_INT8:
	case INC_DTYPE_UINT8:
		return 1;
	case INC_DTYPE_INT16:
	case INC_DTYPE_UINT16:
	case INC_DTYPE_FP16:
	case INC_DTYPE_BF16:
		return 2;
	case INC_DTYPE_INT32:
	case INC_DTYPE_UINT32:
	case INC_DTYPE_FP32:
		return 4;
	case INC_DTYPE_DOUBLE_INT:
	case INC_DTYPE_LONG_INT:
		return 16;
	default:
		return 8;
	}
}

/* Check whether the reference knows an operation. Returns true if so. */
bool ref_knows(enum inc_dtype dtype, enum inc_op op)
{
	if (is_pair(dtype))
		return op == INC_OP_MINLOC || op == INC_OP_MAXLOC;
	if (is_float(dtype))
		return op <= INC_OP_MAX || op == INC_OP_AVG;
	return dtype < INC_DTYPE_COUNT &&
	       (op <= INC_OP_BXOR || op == INC_OP_AVG);
}

/* --- Elements in memory: little-endian ---------------------------------- */

static struct ref_elem load_elem(const uint8_t *p, size_t esize)
{
	struct ref_elem e = { 0, 0 };

	memcpy(&e, p, esize);
	return e;
}

static void store_elem(uint8_t *p, size_t esize, struct ref_elem e)
{
	memcpy(p, &e, esize);
}

/* --- Inputs ------------------------------------------------------------ */

static uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint64_t truncate_to(uint64_t bits, size_t esize)
{
	return esize == 8 ? bits : bits & ((1ULL << (8 * esize)) - 1);
}

/* Make numbers of similar magnitude: nearly all sums must be rounded. */
static uint64_t random_float(enum inc_dtype dtype, uint64_t r)
{
	uint64_t exp = (r >> 56) % 12;

	if (dtype == INC_DTYPE_FP64)
		return (r & 0x800fffffffffffff) | (1017 + exp) << 52;
	if (dtype == INC_DTYPE_FP16)
		return (r & 0x83ff) | (9 + exp) << 10;
	if (dtype == INC_DTYPE_BF16)
		return (r & 0x807f) | (121 + exp) << 7;
	return (r & 0x807fffff) | (121 + exp) << 23;
}

static uint64_t special_float(enum inc_dtype dtype, uint64_t r)
{
	static const uint32_t f32[] = {
		0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
		0xffc00000, 0x7fc12345, 0x7f800001, 0xffabcdef, 0x00000001,
		0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
		0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000, 0x33800000,
	};
	static const uint64_t f64[] = {
		0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000,
		0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
		0x7ff8123456789abc, 0x7ff0000000000001, 0xfff3456789abcdef,
		0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
		0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000,
		0x7fefffffffffffff, 0xffefffffffffffff, 0x3ff0000000000000,
		0xbff0000000000000, 0x3ca0000000000000,
	};

	static const uint16_t f16[] = {
		0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7e34, 0x7c01,
		0xfd67, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x7bff,
		0xfbff, 0x3c00, 0xbc00, 0x1000,
	};

	if (r >> 61 == 0)	/* one in eight: random bits */
		return truncate_to(mix_bits(r), size_of(dtype));
	if (r >> 61 < 4)	/* three in eight: a number */
		return random_float(dtype, mix_bits(r));
	if (dtype == INC_DTYPE_FP64)
		return f64[r % (sizeof(f64) / sizeof(f64[0]))];
	if (dtype == INC_DTYPE_FP16)
		return f16[r % (sizeof(f16) / sizeof(f16[0]))];
	if (dtype == INC_DTYPE_BF16)
		return f32[r % (sizeof(f32) / sizeof(f32[0]))] >> 16;
	return f32[r % (sizeof(f32) / sizeof(f32[0]))];
}

static uint64_t special_int(size_t esize, uint64_t r)
{
	uint64_t top = 1ULL << (8 * esize - 1);

	switch (r >> 61) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return ~0ULL;
	case 3:
		return top;
	case 4:
		return top - 1;
	case 5:
		return top + 1;
	default:
		return r;
	}
}

static uint64_t make_input(enum inc_dtype dtype, enum ref_pattern pattern,
			   uint64_t r)
{
	size_t esize = size_of(dtype);

	if (is_float(dtype))
		return pattern == REF_SPECIAL ? special_float(dtype, r) :
						random_float(dtype, r);
	return truncate_to(pattern == REF_SPECIAL ? special_int(esize, r) : r,
			   esize);
}

/* Make a pair; half have values from a small set, for ties. Random padding. */
static struct ref_elem pair_input(enum inc_dtype dtype,
				  enum ref_pattern pattern, uint64_t r)
{
	struct ref_elem e = { mix_bits(r + 1), mix_bits(r + 2) };
	uint8_t mem[16];
	uint64_t val;

	val = make_input(value_type(dtype), pattern,
			 r % 2 ? r : mix_bits(r >> 1 & 3));
	store_elem(mem, size_of(dtype), e);
	memcpy(mem, &val, size_of(value_type(dtype)));
	return load_elem(mem, size_of(dtype));
}

static struct ref_elem input_of(const struct ref_data *d, enum inc_dtype dtype,
				unsigned int rank, uint64_t index)
{
	uint64_t r = mix_bits(mix_bits(d->seed ^ (uint64_t)rank << 40) + index);

	if (is_pair(dtype))
		return pair_input(dtype, d->pattern, r);
	return (struct ref_elem){ make_input(dtype, d->pattern, r), 0 };
}

/* --- Operations -------------------------------------------------------- */

static uint64_t int_op(enum inc_op op, size_t esize, bool sign, uint64_t a,
		       uint64_t b)
{
	unsigned int shift = 64 - 8 * (unsigned int)esize;
	bool less;

	switch (op) {
	case INC_OP_SUM:
	case INC_OP_AVG:
		return a + b;
	case INC_OP_PROD:
		return a * b;
	case INC_OP_MIN:
	case INC_OP_MAX:
		less = sign ? (int64_t)(a << shift) < (int64_t)(b << shift) :
			      a << shift < b << shift;
		return less == (op == INC_OP_MIN) ? a : b;
	case INC_OP_LAND:
		return a && b;
	case INC_OP_LOR:
		return a || b;
	case INC_OP_LXOR:
		return !a != !b;
	case INC_OP_BAND:
		return a & b;
	case INC_OP_BOR:
		return a | b;
	case INC_OP_BXOR:
		return a ^ b;
	case INC_OP_MINLOC:
	case INC_OP_MAXLOC:
	case INC_OP_COUNT:
		break;
	}
	return 0;
}

static uint64_t fp32_op(enum inc_op op, uint64_t a, uint64_t b)
{
	const uint32_t quiet = 0x00400000, inf = 0x7f800000;
	uint32_t ba = (uint32_t)a, bb = (uint32_t)b, br;
	float fa, fb, fr;
	bool less;

	if ((ba & 0x7fffffff) > inf)
		return ba | quiet;
	if ((bb & 0x7fffffff) > inf)
		return bb | quiet;
	memcpy(&fa, &ba, 4);
	memcpy(&fb, &bb, 4);
	if (op == INC_OP_MIN || op == INC_OP_MAX) {
		less = fa < fb || (fa == fb && ba >> 31 > bb >> 31);
		return less == (op == INC_OP_MIN) ? ba : bb;
	}
	fr = op == INC_OP_PROD ? fa * fb : fa + fb;
	memcpy(&br, &fr, 4);
	return (br & 0x7fffffff) > inf ? 0xffc00000 : br;
}

static uint64_t fp64_op(enum inc_op op, uint64_t a, uint64_t b)
{
	const uint64_t quiet = 1ULL << 51, inf = 0x7ffULL << 52;
	const uint64_t abs = ~(1ULL << 63);
	double fa, fb, fr;
	uint64_t br;
	bool less;

	if ((a & abs) > inf)
		return a | quiet;
	if ((b & abs) > inf)
		return b | quiet;
	memcpy(&fa, &a, 8);
	memcpy(&fb, &b, 8);
	if (op == INC_OP_MIN || op == INC_OP_MAX) {
		less = fa < fb || (fa == fb && a >> 63 > b >> 63);
		return less == (op == INC_OP_MIN) ? a : b;
	}
	fr = op == INC_OP_PROD ? fa * fb : fa + fb;
	memcpy(&br, &fr, 8);
	return (br & abs) > inf ? 0xfffULL << 52 | quiet : br;
}

/* --- 16-bit floats: sign, exponent, and @frac bits of fraction --------- */

static int half_frac(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_FP16 ? 10 : 7;
}

static int half_bias(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_FP16 ? 15 : 127;
}

static uint64_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static uint64_t half_to_fp32(enum inc_dtype dtype, uint64_t h)
{
	int frac = half_frac(dtype), bias = half_bias(dtype);
	uint64_t sign = h >> 15 << 31, low = h & ((1U << frac) - 1);
	int exp = (int)(h >> frac & (2 * (unsigned int)bias + 1));

	if (exp == 2 * bias + 1)
		return sign | 0x7f800000 | low << (23 - frac) |
		       (low ? 0x00400000 : 0);
	if (exp)
		low |= 1U << frac;
	return sign |
	       bits_of(ldexpf((float)low, (exp ? exp : 1) - bias - frac));
}

/* rint() rounds to a whole number of the result's ulps, to nearest even. */
static uint64_t fp32_to_half(enum inc_dtype dtype, uint64_t bits)
{
	int frac = half_frac(dtype), bias = half_bias(dtype), exp;
	uint64_t sign = bits >> 31 << 15, abs = bits & 0x7fffffff;
	uint64_t inf = (2 * (uint64_t)bias + 1) << frac;
	uint32_t abs32 = (uint32_t)abs;
	double ulps;
	float f;

	if (abs > 0x7f800000)
		return sign | inf | 1U << (frac - 1) |
		       (abs & 0x7fffff) >> (23 - frac);
	if (abs == 0x7f800000)
		return sign | inf;
	if (!abs)
		return sign;
	memcpy(&f, &abs32, 4);
	exp = ilogbf(f) < 1 - bias ? 1 - bias : ilogbf(f);
	ulps = rint(ldexp(f, frac - exp));
	/* The hidden bit in the number of ulps adds 1 to the exponent. */
	bits = ((uint64_t)(exp + bias - 1) << frac) + (uint64_t)ulps;
	return sign | (bits > inf ? inf : bits);
}

/* --- All types --------------------------------------------------------- */

static uint64_t apply_op(enum inc_dtype dtype, enum inc_op op, uint64_t a,
			 uint64_t b)
{
	size_t esize = size_of(dtype);

	if (dtype == INC_DTYPE_FP32)
		return fp32_op(op, a, b);
	if (dtype == INC_DTYPE_FP64)
		return fp64_op(op, a, b);
	return truncate_to(int_op(op, esize, is_signed(dtype), a, b), esize);
}

static bool is_nan(enum inc_dtype type, uint64_t val)
{
	if (type == INC_DTYPE_FP32)
		return (val & 0x7fffffff) > 0x7f800000;
	return type == INC_DTYPE_FP64 && val << 1 > 0x7ffULL << 53;
}

/* Get the pair with the lower or higher value, or with the first NaN. */
static struct ref_elem apply_pair(enum inc_dtype dtype, enum inc_op op,
				  struct ref_elem a, struct ref_elem b)
{
	enum inc_op order = op == INC_OP_MINLOC ? INC_OP_MIN : INC_OP_MAX;
	enum inc_dtype type = value_type(dtype);
	size_t size = size_of(type), half = size_of(dtype) / 2;
	uint8_t ma[16], mb[16], mr[16] = { 0 };
	uint64_t va, vb, val;
	int32_t ia, ib;

	store_elem(ma, 2 * half, a);
	store_elem(mb, 2 * half, b);
	va = load_elem(ma, size).lo;
	vb = load_elem(mb, size).lo;
	memcpy(&ia, ma + half, 4);
	memcpy(&ib, mb + half, 4);

	val = apply_op(type, order, va, vb);
	if (is_nan(type, va))
		ib = ia;
	else if (va == vb && ia < ib)
		ib = ia;
	else if (va != vb && val == va)
		ib = ia;
	memcpy(mr, &val, size);
	memcpy(mr + half, &ib, 4);
	return load_elem(mr, 2 * half);
}

/* Divide a sum of @n ranks by @n; not for 16-bit floats. */
static uint64_t average_sum(enum inc_dtype dtype, uint64_t sum, unsigned int n)
{
	unsigned int shift = 64 - 8 * (unsigned int)size_of(dtype);
	uint32_t low = (uint32_t)sum;
	double d;
	float f;

	switch ((int)dtype) {
	case INC_DTYPE_FP32:
		memcpy(&f, &low, 4);
		return isnan(f) ? sum : bits_of(f / (float)n);
	case INC_DTYPE_FP64:
		memcpy(&d, &sum, 8);
		if (isnan(d))
			return sum;
		d /= n;
		memcpy(&sum, &d, 8);
		return sum;
	}
	if (is_signed(dtype))
		return (uint64_t)((int64_t)(sum << shift) / (1LL << shift) / n);
	return sum / n;
}

static struct ref_elem reduce_tree(enum inc_dtype dtype, enum inc_op op,
				   struct ref_elem *vals, unsigned int n)
{
	unsigned int i;

	for (; n > 1; n = (n + 1) / 2) {
		for (i = 0; i < n / 2; i++) {
			struct ref_elem a = vals[2 * i], b = vals[2 * i + 1];

			if (is_pair(dtype))
				vals[i] = apply_pair(dtype, op, a, b);
			else
				vals[i].lo = apply_op(dtype, op, a.lo, b.lo);
		}
		if (n % 2)
			vals[n / 2] = vals[n - 1];
	}
	return vals[0];
}

/* Reduce an element of @n ranks; overwrites @vals. */
static struct ref_elem reduce_elem(enum inc_dtype dtype, enum inc_op op,
				   struct ref_elem *vals, unsigned int n)
{
	enum inc_dtype type = is_half(dtype) ? INC_DTYPE_FP32 : dtype;
	struct ref_elem res;
	unsigned int i;

	if (n == 1)
		return vals[0];
	for (i = 0; i < n && is_half(dtype); i++)
		vals[i].lo = half_to_fp32(dtype, vals[i].lo);
	res = reduce_tree(type, op, vals, n);
	if (op == INC_OP_AVG)
		res.lo = truncate_to(average_sum(type, res.lo, n),
				     size_of(type));
	if (is_half(dtype))
		res.lo = fp32_to_half(dtype, res.lo);
	return res;
}

/* --- Runs of elements --------------------------------------------------- */

static inline __attribute__((always_inline)) void
fill_inputs(const struct ref_data *d, enum inc_dtype dtype, unsigned int rank,
	    uint64_t first, size_t n, uint8_t *to)
{
	size_t i, esize = size_of(dtype);

	for (i = 0; i < n; i++)
		store_elem(to + i * esize, esize,
			   input_of(d, dtype, rank, first + i));
}

static inline __attribute__((always_inline)) void
fill_results(const struct ref_data *d, enum inc_dtype dtype, enum inc_op op,
	     uint64_t first, size_t n, uint8_t *to)
{
	size_t i, esize = size_of(dtype);
	unsigned int r;

	for (i = 0; i < n; i++) {
		for (r = 0; r < d->nranks; r++)
			d->vals[r] = input_of(d, dtype, r, first + i);
		store_elem(to + i * esize, esize,
			   reduce_elem(dtype, op, d->vals, d->nranks));
	}
}

/* Compute elements of a rank's data. */
__attribute__((flatten))
void ref_inputs(const struct ref_data *d, unsigned int rank, uint64_t first,
		size_t n, void *to)
{
	switch (d->dtype) {
#define FILL(TYPE)							\
	case INC_DTYPE_##TYPE:						\
		fill_inputs(d, INC_DTYPE_##TYPE, rank, first, n, to);	\
		break;
	EACH_TYPE(FILL)
#undef FILL
	case INC_DTYPE_COUNT:
		break;
	}
}

/*
 * Reduce elements of all ranks.
 * @d: the ranks' data; its @vals are overwritten
 * @to: takes the results; with one rank, its elements
 */
__attribute__((flatten))
void ref_results(const struct ref_data *d, enum inc_op op, uint64_t first,
		 size_t n, void *to)
{
	switch (d->dtype) {
#define FILL(TYPE)							\
	case INC_DTYPE_##TYPE:						\
		fill_results(d, INC_DTYPE_##TYPE, op, first, n, to);	\
		break;
	EACH_TYPE(FILL)
#undef FILL
	case INC_DTYPE_COUNT:
		break;
	}
}

/* Compute FNV-1a over a buffer. Returns 64 bits. */
uint64_t ref_hash(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint64_t h = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}
