// SPDX-License-Identifier: GPL-2.0
/*
 * Speed of every implementation on this CPU, in GB/s of result bytes, for
 * one packet's worth of elements (default 4096 bytes, first argument).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/kernel.h>

#include "reduce/reduce_impl.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Best of a few runs; @a is read, @b is accumulated into, as a slot is. */
static double gbps(const struct inc_reduce_impl *impl,
		   const struct inc_reduce_ops *ops, void *dst, const void *a,
		   const void *b, unsigned int bytes)
{
	const unsigned int rounds = 1 + (64u << 20) / (bytes + 64) / 8;
	double best = 1e9;

	for (int run = 0; run < 7; run++) {
		double t = now();

		for (unsigned int i = 0; i < rounds; i++)
			inc_reduce_by(impl, ops, dst, a, b, bytes / ops->size);
		t = now() - t;
		best = t < best ? t : best;
	}
	return (double)rounds * bytes / best / 1e9;
}

/* Finite values of both signs and mixed exponents, as gradients have. */
static void fill(void *p, unsigned int bytes, __u8 dtype)
{
	for (unsigned int i = 0; i < bytes / inc_dtype_size(dtype); i++) {
		double x = (rand() - RAND_MAX / 2) / (1.0 + rand() % 65536);

		if (dtype == INC_DTYPE_FP32)
			((float *)p)[i] = x;
		else if (dtype == INC_DTYPE_FP64)
			((double *)p)[i] = x;
		else
			memcpy((char *)p + i * inc_dtype_size(dtype), &x,
			       inc_dtype_size(dtype));
	}
}

int main(int argc, char **argv)
{
	static const struct {
		__u8 dtype, op;
		const char *name;
	} rows[] = {
		{ INC_DTYPE_INT8, INC_OP_SUM, "int8 sum" },
		{ INC_DTYPE_INT32, INC_OP_SUM, "int32 sum" },
		{ INC_DTYPE_INT32, INC_OP_MIN, "int32 min" },
		{ INC_DTYPE_INT64, INC_OP_SUM, "int64 sum" },
		{ INC_DTYPE_INT64, INC_OP_MAX, "int64 max" },
		{ INC_DTYPE_FP32, INC_OP_SUM, "fp32 sum" },
		{ INC_DTYPE_FP32, INC_OP_MIN, "fp32 min" },
		{ INC_DTYPE_FP64, INC_OP_SUM, "fp64 sum" },
		{ INC_DTYPE_FP64, INC_OP_MAX, "fp64 max" },
	};
	unsigned int bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096;
	char *a = malloc(bytes + 64), *b = malloc(bytes + 64);
	char *dst = malloc(bytes + 64);

	if (!a || !b || !dst || !bytes)
		return 1;
	inc_reduce_init();
	printf("%u bytes, GB/s of result\n", bytes);
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		const struct inc_reduce_impl *impl;

		fill(a + 8, bytes, rows[r].dtype);
		fill(b + 8, bytes, rows[r].dtype);
		printf("%-10s", rows[r].name);
		for (unsigned int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
			if (!impl->fn[rows[r].dtype][rows[r].op])
				continue;
			printf("  %s %.2f", impl->name,
			       gbps(impl, inc_reduce_lookup(rows[r].dtype,
							    rows[r].op),
				    dst + 8, a + 8, b + 8, bytes));
		}
		printf("\n");
	}
	return 0;
}
