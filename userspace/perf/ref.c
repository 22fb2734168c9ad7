// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reference of reductions. Meant to be evidently right, not quick.
 *
 * Sums and the like of more than two operands are the balanced binary tree over
 * ranks: pairs, then pairs of pairs; one without a partner goes up as it is.
 *
 * NaN as x86's SSE has it: the first operand that is a NaN, made quiet; where
 * numbers give none (infinity less infinity) the default NaN, whose sign is
 * set. Minimum and maximum: a NaN if there is one, and -0 is less than +0.
 */
#include <string.h>

#include "ref.h"

static bool is_float(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_FP16 || dtype == INC_DTYPE_BF16 ||
	       dtype == INC_DTYPE_FP32 || dtype == INC_DTYPE_FP64;
}

static bool is_signed(enum inc_dtype dtype)
{
	return dtype == INC_DTYPE_INT8 || dtype == INC_DTYPE_INT16 ||
	       dtype == INC_DTYPE_INT32 || dtype == INC_DTYPE_INT64;
}

/**
 * ref_knows() - is there a reference for that
 * @dtype: data type
 * @op: operation
 *
 * Return: true if there is.
 */
bool ref_knows(enum inc_dtype dtype, enum inc_op op)
{
	if (dtype == INC_DTYPE_FP32 || dtype == INC_DTYPE_FP64)
		return op <= INC_OP_MAX;
	return !is_float(dtype) && op <= INC_OP_BXOR;
}

/* --- Inputs ---------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
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

/* Numbers of about the same size, so that nearly all sums are rounded. */
static uint64_t random_float(enum inc_dtype dtype, uint64_t r)
{
	uint64_t exp = (r >> 56) % 12;

	if (dtype == INC_DTYPE_FP64)
		return (r & 0x800fffffffffffff) | (1017 + exp) << 52;
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

	if (r >> 61 == 0)	/* any bits at all, one in eight */
		return dtype == INC_DTYPE_FP64 ? mix(r) : (uint32_t)mix(r);
	if (r >> 61 < 4)	/* half of the rest: a number */
		return random_float(dtype, mix(r));
	if (dtype == INC_DTYPE_FP64)
		return f64[r % (sizeof(f64) / sizeof(f64[0]))];
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

/**
 * ref_input() - an element of a rank's data
 * @dtype: data type
 * @pattern: kind of data
 * @seed: the same for all ranks
 * @rank: rank
 * @index: which element
 *
 * Return: its bits.
 */
uint64_t ref_input(enum inc_dtype dtype, enum ref_pattern pattern,
		   uint64_t seed, unsigned int rank, uint64_t index)
{
	uint64_t r = mix(mix(seed ^ (uint64_t)rank << 40) + index);
	size_t esize = inc_dtype_size(dtype);

	if (dtype == INC_DTYPE_FP32 || dtype == INC_DTYPE_FP64)
		return pattern == REF_SPECIAL ? special_float(dtype, r) :
						random_float(dtype, r);
	return truncate_to(pattern == REF_SPECIAL ? special_int(esize, r) : r,
			   esize);
}

/* --- Operations -------------------------------------------------------------------- */

static uint64_t int_op(enum inc_op op, size_t esize, bool sign, uint64_t a,
		       uint64_t b)
{
	unsigned int shift = 64 - 8 * (unsigned int)esize;
	bool less;

	switch (op) {
	case INC_OP_SUM:
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
	case INC_OP_AVG:
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
	fr = op == INC_OP_SUM ? fa + fb : fa * fb;
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
	fr = op == INC_OP_SUM ? fa + fb : fa * fb;
	memcpy(&br, &fr, 8);
	return (br & abs) > inf ? 0xfffULL << 52 | quiet : br;
}

static uint64_t apply(enum inc_dtype dtype, enum inc_op op, uint64_t a,
		      uint64_t b)
{
	size_t esize = inc_dtype_size(dtype);

	if (dtype == INC_DTYPE_FP32)
		return fp32_op(op, a, b);
	if (dtype == INC_DTYPE_FP64)
		return fp64_op(op, a, b);
	return truncate_to(int_op(op, esize, is_signed(dtype), a, b), esize);
}

/**
 * ref_reduce() - reduce one element of all ranks
 * @dtype: data type
 * @op: operation
 * @vals: elements by rank; overwritten
 * @n: number of ranks
 *
 * Return: the result's bits.
 */
uint64_t ref_reduce(enum inc_dtype dtype, enum inc_op op, uint64_t *vals,
		    unsigned int n)
{
	unsigned int i;

	for (; n > 1; n = (n + 1) / 2) {
		for (i = 0; i < n / 2; i++)
			vals[i] = apply(dtype, op, vals[2 * i], vals[2 * i + 1]);
		if (n % 2)
			vals[n / 2] = vals[n - 1];
	}
	return vals[0];
}

/* --- Buffers ---------------------------------------------------------------------------- */

/**
 * ref_load() - element of a buffer
 * @buf: buffer, little-endian elements
 * @esize: length of an element
 * @index: which
 *
 * Return: its bits.
 */
uint64_t ref_load(const void *buf, size_t esize, size_t index)
{
	const uint8_t *p = (const uint8_t *)buf + esize * index;
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < esize; i++)
		bits |= (uint64_t)p[i] << (8 * i);
	return bits;
}

/**
 * ref_store() - set an element of a buffer
 * @buf: buffer, little-endian elements
 * @esize: length of an element
 * @index: which
 * @bits: its bits
 */
void ref_store(void *buf, size_t esize, size_t index, uint64_t bits)
{
	uint8_t *p = (uint8_t *)buf + esize * index;
	size_t i;

	for (i = 0; i < esize; i++)
		p[i] = (uint8_t)(bits >> (8 * i));
}

/**
 * ref_hash() - FNV-1a of a buffer
 * @buf: buffer
 * @len: bytes
 *
 * Return: 64 bits.
 */
uint64_t ref_hash(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint64_t h = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}
