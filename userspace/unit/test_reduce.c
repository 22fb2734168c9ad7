// SPDX-License-Identifier: GPL-2.0
/*
 * Floating-point reductions against the host's scalar FPU, many more pairs
 * than reduce_kunit.c can afford: INC_SEED chooses others, INC_ROUNDS how
 * many (16 K pairs each).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <linux/kernel.h>
#include <linux/string.h>

#include "reduce/reduce_impl.h"
#include "reduce_ref.h"

#define NELEM	16384

static uint64_t state;

/* splitmix64 */
static uint64_t rnd(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Bits of a float whose exponent is near @exp, with long runs of 0 or 1. */
static uint64_t rnd_fp(unsigned int prec, unsigned int width, uint64_t exp)
{
	const uint64_t frac_mask = (1ull << (prec - 1)) - 1;
	uint64_t frac = rnd() & frac_mask;

	switch (rnd() % 4) {
	case 0:
		frac &= ~0ull << (rnd() % prec);
		break;
	case 1:
		frac |= frac_mask >> (rnd() % prec);
		break;
	case 2:
		frac = (1ull << (rnd() % prec)) & frac_mask;
		break;
	}
	exp += rnd() % 4;
	exp &= (1ull << (width - prec)) - 1;
	return frac | exp << (prec - 1) | (rnd() & 1) << (width - 1);
}

static void rnd_pair(uint8_t dtype, uint64_t *a, uint64_t *b)
{
	const unsigned int prec = dtype == INC_DTYPE_FP32 ? 24 : 53;
	const unsigned int width = dtype == INC_DTYPE_FP32 ? 32 : 64;
	const uint64_t top = (1ull << (width - prec)) - 1;
	uint64_t exp = rnd();

	if (rnd() % 4 == 0)
		exp = rnd() % 2 ? top - rnd() % 3 : 0;
	*a = rnd_fp(prec, width, exp);
	switch (rnd() % 4) {
	case 0:
		*b = rnd_fp(prec, width, exp);
		break;
	case 1:
		*b = rnd_fp(prec, width, exp - rnd() % (prec + 4));
		break;
	case 2:
		*b = *a ^ 1ull << (width - 1) ^ rnd() % 4;
		break;
	default:
		*b = rnd_fp(prec, width, rnd());
		break;
	}
}

/* Prints the first element that is wrong. */
static int compare(const struct inc_reduce_impl *impl, uint8_t dtype,
		   uint8_t op, const void *a, const void *b, const void *dst)
{
	const unsigned int size = inc_dtype_size(dtype);

	for (unsigned int i = 0; i < NELEM; i++) {
		uint64_t x = 0, y = 0, got = 0, want;

		memcpy(&x, (const char *)a + i * size, size);
		memcpy(&y, (const char *)b + i * size, size);
		memcpy(&got, (const char *)dst + i * size, size);
		want = dtype == INC_DTYPE_FP32 ? reduce_ref_fp32(op, x, y) :
			reduce_ref_fp64(op, x, y);
		if (got == want)
			continue;
		printf("not ok - %s dtype %u op %u: 0x%" PRIx64 ", 0x%" PRIx64
		       ": 0x%" PRIx64 ", not 0x%" PRIx64 "\n", impl->name,
		       dtype, op, x, y, got, want);
		return 1;
	}
	return 0;
}

static int one_round(uint8_t dtype)
{
	static const uint8_t ops[] = { INC_OP_SUM, INC_OP_MIN, INC_OP_MAX };
	static char a[NELEM * 8], b[NELEM * 8], dst[NELEM * 8];
	const unsigned int size = inc_dtype_size(dtype);
	const struct inc_reduce_impl *impl;
	int bad = 0;

	for (unsigned int i = 0; i < NELEM; i++) {
		uint64_t x, y;

		rnd_pair(dtype, &x, &y);
		memcpy(a + i * size, &x, size);
		memcpy(b + i * size, &y, size);
	}
	for (unsigned int o = 0; o < ARRAY_SIZE(ops); o++) {
		for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
			if (!impl->fn[dtype][ops[o]])
				continue;
			inc_reduce_by(impl, inc_reduce_lookup(dtype, ops[o]),
				      dst, a, b, NELEM);
			bad += compare(impl, dtype, ops[o], a, b, dst);
		}
	}
	return bad;
}

int main(void)
{
	const char *seed = getenv("INC_SEED"), *rounds = getenv("INC_ROUNDS");
	unsigned long n = rounds ? strtoul(rounds, NULL, 0) : 20;
	int bad = 0;

	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("# INC_SEED=0x%" PRIx64 " INC_ROUNDS=%lu\n", state, n);
	inc_reduce_init();
	for (unsigned long i = 0; i < n && !bad; i++)
		bad = one_round(INC_DTYPE_FP32) + one_round(INC_DTYPE_FP64);
	printf("%s 1 test_reduce\n1..1\n", bad ? "not ok" : "ok");
	return bad ? 1 : 0;
}
