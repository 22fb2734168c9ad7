// SPDX-License-Identifier: GPL-2.0
/*
 * Speed of the reductions on this CPU, in GB/s of result, as a table, and as
 * JSON for machines:
 *
 *   bench_reduce [-j FILE] [BYTES]
 *
 * "hot" reduces one packet of BYTES (default 4096) again and again, "cold"
 * takes packets in turn from 64 MB per buffer, which come from memory. memcpy()
 * of the same buffers is for comparison; "limit" reads both operands, writes a
 * result and does next to nothing in between, which is the limit of the memory
 * system; "scalar" is the integer-only code. The columns of a row take turns,
 * and the figure is the median of the turns, with minimum and maximum.
 *
 * Then eight packets: at once, and by seven calls for two, whose results between lie
 * in memory that is reused.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "core/reduce/reduce_impl.h"

#define COLD_BYTES	(64u << 20)
#define TURNS		7
/* Eight packets, a cache line apart. */
#define BLOCK_STEP	(packet + 64)
#define BLOCK_BYTES	(INC_REDUCE_BLOCK * BLOCK_STEP)

/* A column of a table; @impl is NULL for the first ones. */
struct column {
	const char			*name;
	const struct inc_reduce_impl	*impl;
};

struct figure {
	double	median, min, max;
};

/*
 * The first columns, those of implementations with vector registers, of which there are
 * two at most, and those of the second table.
 */
enum { MEMCPY, SCALAR, LIMIT, SIMD, BLOCK = SIMD + 2, PAIRS, MAX_COLUMNS };

static struct column columns[MAX_COLUMNS];
static unsigned int nr_columns;
static unsigned int packet = 4096;
static char *bufs[3];		/* dst, a, b: COLD_BYTES each */
static FILE *json;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool has(const struct column *c, const struct inc_reduce_ops *ops)
{
	return !c->impl || c->impl->fn[ops->dtype][ops->op] ||
	       c->impl->wide[ops->dtype][ops->op];
}

typedef u64 vec __attribute__((vector_size(32), aligned(1), may_alias));

#ifdef INC_REDUCE_X86
__attribute__((target_clones("avx2", "default")))
#endif
static void touch(char *dst, const char *a, const char *b)
{
	for (unsigned int i = 0; i < packet / sizeof(vec); i++)
		((vec *)dst)[i] = ((const vec *)a)[i] | ((const vec *)b)[i];
}

/* Reduce the packet at @at. Wide rows: two narrow operands, a narrow result. */
static void reduce_packet(const struct column *c,
			  const struct inc_reduce_ops *ops, size_t at)
{
	char *dst = bufs[0] + at, *a = bufs[1] + at, *b = bufs[2] + at;

	if (c == &columns[MEMCPY])
		memcpy(dst, a, packet);
	else if (c == &columns[LIMIT])
		touch(dst, a, b);
	else if (ops->wide)
		inc_reduce_wide_by(c->impl, ops,
				   (struct inc_operand){ dst, NULL },
				   (struct inc_operand){ a, NULL },
				   (struct inc_operand){ b, NULL },
				   packet / ops->size, 2);
	else
		inc_reduce_by(c->impl, ops, dst, a, b, packet / ops->size);
}

/* Reduce eight packets from @at on: at once, or by pairs. */
static void reduce_block(const struct column *c, const struct inc_reduce_ops *ops,
			 size_t at)
{
	const unsigned int nelem = packet / ops->size;
	struct inc_operand v[INC_REDUCE_BLOCK], to;
	void *src[INC_REDUCE_BLOCK];
	char *next = bufs[0];

	for (int i = 0; i < INC_REDUCE_BLOCK; i++) {
		src[i] = bufs[1] + at + i * BLOCK_STEP;
		v[i] = (struct inc_operand){ src[i], NULL };
	}
	to = (struct inc_operand){ next, NULL };
	if (c == &columns[BLOCK]) {
		inc_reduce_block_by(c->impl, ops, to, src, nelem, 1);
		return;
	}
	for (int n = INC_REDUCE_BLOCK; n > 1; n /= 2)
		for (int i = 0; i < n / 2; i++, next += 2 * packet) {
			to = (struct inc_operand){ next, NULL };
			if (ops->wide && n > 2)
				to.lo = next + packet;
			if (ops->wide)
				inc_reduce_wide_by(c->impl, ops, to, v[2 * i],
						   v[2 * i + 1], nelem, 1);
			else
				inc_reduce_by(c->impl, ops, to.hi, v[2 * i].hi,
					      v[2 * i + 1].hi, nelem);
			v[i] = to;
		}
}

/* Measure GB/s, for some 10 ms. */
static double one_turn(const struct column *c, const struct inc_reduce_ops *ops,
		       bool cold)
{
	static size_t at;
	double start = now(), end;
	size_t bytes = 0;

	do {
		for (int i = 0; i < 64; i++) {
			if (c >= &columns[BLOCK])
				reduce_block(c, ops, cold ? at : 0);
			else
				reduce_packet(c, ops, cold ? at : 0);
			at += c >= &columns[BLOCK] ? BLOCK_BYTES : packet;
			if (at + BLOCK_BYTES > COLD_BYTES)
				at = 0;
		}
		bytes += 64 * (size_t)packet;
		end = now();
	} while (end - start < 0.01);
	return bytes / (end - start) / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Measure the columns from @c0 to before @end. */
static void measure(const struct inc_reduce_ops *ops, bool cold, unsigned int c0,
		    unsigned int end, struct figure *figs)
{
	double turns[MAX_COLUMNS][TURNS];

	for (int t = -1; t < TURNS; t++)	/* the first one warms up */
		for (unsigned int c = c0; c < end; c++)
			if (has(&columns[c], ops))
				turns[c][t < 0 ? 0 : t] =
					one_turn(&columns[c], ops, cold);
	for (unsigned int c = c0; c < end; c++) {
		figs[c] = (struct figure){ 0 };
		if (!has(&columns[c], ops))
			continue;
		qsort(turns[c], TURNS, sizeof(double), compare);
		figs[c].median = turns[c][TURNS / 2];
		figs[c].min = turns[c][0];
		figs[c].max = turns[c][TURNS - 1];
	}
}

/* @bar: the required minimum, 0 for none. */
static void write_json(const char *name, const char *what, struct figure f,
		       const char *unit, double bar)
{
	static const char *sep = "[\n";
	char bound[32] = "null";

	if (!json)
		return;
	if (bar)
		snprintf(bound, sizeof(bound), "%g", bar);
	fprintf(json, "%s{\"name\": \"%s %s\", \"value\": %.3f, \"min\": %.3f, \"max\": %.3f, \"unit\": \"%s\", \"bar\": %s, \"ok\": %s}",
		sep, name, what, f.median, f.min, f.max, unit, bound,
		!bar		? "null" :
		f.median >= bar ? "true" :
				  "false");
	sep = ",\n";
}

static struct figure over(struct figure a, struct figure b)
{
	return (struct figure){
		a.median / b.median, a.min / b.max, a.max / b.min
	};
}

/*
 * Compare the fastest implementation with the first columns. @half and @plain:
 * rows that have a required minimum.
 */
static void report(const char *name, bool half, bool plain, bool cold,
		   const struct figure *figs)
{
	const struct figure *best = &figs[nr_columns - 1];
	struct figure ratio;
	char what[64];

	printf("%-16s %-5s", name, cold ? "cold" : "hot");
	for (unsigned int c = 0; c < nr_columns; c++) {
		if (figs[c].median)
			printf(" %8.2f", figs[c].median);
		else
			printf(" %8s", "-");
		if (!figs[c].median)
			continue;
		snprintf(what, sizeof(what), "%s %s", cold ? "cold" : "hot",
			 columns[c].name);
		write_json(name, what, figs[c], "GB/s", 0);
	}
	ratio = over(*best, figs[SCALAR]);
	printf(" %8.1fx", ratio.median);
	write_json(name, cold ? "cold over scalar" : "hot over scalar", ratio,
		   "ratio", half && !cold ? 10 : 0);
	ratio = over(*best, figs[MEMCPY]);
	printf(" %8.2f", ratio.median);
	write_json(name, cold ? "cold over memcpy" : "hot over memcpy", ratio,
		   "ratio", 0);
	ratio = over(*best, figs[LIMIT]);
	printf(" %8.2f\n", ratio.median);
	write_json(name, cold ? "cold over limit" : "hot over limit", ratio,
		   "ratio", plain && cold ? 0.8 : 0);
}

/* Finite values of both signs and mixed exponents, as gradients have. */
static void fill(char *p, u8 dtype)
{
	const unsigned int size = inc_dtype_size(dtype);

	for (size_t i = 0; i < COLD_BYTES; i += size) {
		unsigned int r = rand();
		double x = ((int)r - RAND_MAX / 2) / (1.0 + r % 65536);
		float f = x;

		if (dtype == INC_DTYPE_FP32 || dtype == INC_DTYPE_FLOAT_INT)
			memcpy(p + i, &f, 4);
		else if (dtype == INC_DTYPE_FP64 ||
			 dtype == INC_DTYPE_DOUBLE_INT)
			memcpy(p + i, &x, 8);
		else if (dtype == INC_DTYPE_BF16)
			memcpy(p + i, (char *)&f + 2, 2);
		else
			memcpy(p + i, &r, size < 4 ? size : 4);
		if (dtype == INC_DTYPE_FP16)	/* exponents of 2^-7 to 2^0 */
			p[i + 1] = (p[i + 1] & 0x9f) | 0x20;
	}
}

static void bench(const char *name, u8 dtype, u8 op)
{
	const struct inc_reduce_ops *ops = inc_reduce_lookup(dtype, op);
	struct figure figs[MAX_COLUMNS];

	bool plain = op == INC_OP_SUM &&
		     (dtype == INC_DTYPE_FP32 || dtype == INC_DTYPE_INT32);

	fill(bufs[1], dtype);
	fill(bufs[2], dtype);
	for (int cold = 0; cold < 2; cold++) {
		measure(ops, cold, 0, nr_columns, figs);
		report(name, ops->wide, plain, cold, figs);
	}
}

/* Eight operands, by the fastest implementation. */
static void bench_eight(const char *name, u8 dtype, u8 op)
{
	const struct inc_reduce_ops *ops = inc_reduce_lookup(dtype, op);
	const struct inc_reduce_impl *best = columns[nr_columns - 1].impl;
	struct figure figs[MAX_COLUMNS], ratio;
	char what[64];

	if (!best || !best->block[dtype][op])
		return;
	columns[BLOCK] = (struct column){ "at once", best };
	columns[PAIRS] = (struct column){ "pairs", best };
	fill(bufs[1], dtype);
	for (int cold = 0; cold < 2; cold++) {
		measure(ops, cold, BLOCK, MAX_COLUMNS, figs);
		ratio = over(figs[BLOCK], figs[PAIRS]);
		printf("%-16s %-5s %8.2f %8.2f %8.2fx\n", name, cold ? "cold" : "hot",
		       figs[BLOCK].median, figs[PAIRS].median, ratio.median);
		snprintf(what, sizeof(what), "%s eight at once over pairs",
			 cold ? "cold" : "hot");
		write_json(name, what, ratio, "ratio", 0);
	}
}

static bool set_up(int argc, char **argv)
{
	const struct inc_reduce_impl *impl;
	int opt;

	while ((opt = getopt(argc, argv, "j:")) != -1) {
		json = opt == 'j' ? fopen(optarg, "w") : NULL;
		if (!json)
			return false;
	}
	if (optind < argc)
		packet = strtoul(argv[optind], NULL, 0);
	if (packet < 32 || packet % 32 || packet > COLD_BYTES / 64)
		return false;
	for (int i = 0; i < 3; i++) {
		bufs[i] = malloc(COLD_BYTES);
		if (!bufs[i])
			return false;
		memset(bufs[i], 0, COLD_BYTES);
	}
	inc_reduce_init();
	columns[MEMCPY].name = "memcpy";
	/* The integer-only ones share a column: each has other types. */
	columns[SCALAR] = (struct column){ "scalar", inc_reduce_impl_at(0) };
	columns[LIMIT].name = "limit";
	nr_columns = SIMD;
	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++)
		if (impl->fpu && nr_columns < BLOCK)
			columns[nr_columns++] =
				(struct column){ impl->name, impl };
	return true;
}

/* Choose the integer-only implementation that has this row. */
static void choose_scalar(const struct inc_reduce_ops *ops)
{
	const struct inc_reduce_impl *impl;

	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
		columns[SCALAR].impl = impl;
		if (!impl->fpu && has(&columns[SCALAR], ops))
			return;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		u8 dtype, op;
	} rows[] = {
		{ "int8 sum", INC_DTYPE_INT8, INC_OP_SUM },
		{ "int16 sum", INC_DTYPE_INT16, INC_OP_SUM },
		{ "int32 sum", INC_DTYPE_INT32, INC_OP_SUM },
		{ "int32 prod", INC_DTYPE_INT32, INC_OP_PROD },
		{ "int32 min", INC_DTYPE_INT32, INC_OP_MIN },
		{ "uint32 max", INC_DTYPE_UINT32, INC_OP_MAX },
		{ "int64 sum", INC_DTYPE_INT64, INC_OP_SUM },
		{ "int64 max", INC_DTYPE_INT64, INC_OP_MAX },
		{ "uint64 bxor", INC_DTYPE_UINT64, INC_OP_BXOR },
		{ "fp16 sum", INC_DTYPE_FP16, INC_OP_SUM },
		{ "fp16 prod", INC_DTYPE_FP16, INC_OP_PROD },
		{ "fp16 avg", INC_DTYPE_FP16, INC_OP_AVG },
		{ "fp16 min", INC_DTYPE_FP16, INC_OP_MIN },
		{ "bf16 sum", INC_DTYPE_BF16, INC_OP_SUM },
		{ "bf16 prod", INC_DTYPE_BF16, INC_OP_PROD },
		{ "bf16 avg", INC_DTYPE_BF16, INC_OP_AVG },
		{ "bf16 max", INC_DTYPE_BF16, INC_OP_MAX },
		{ "fp32 sum", INC_DTYPE_FP32, INC_OP_SUM },
		{ "fp32 prod", INC_DTYPE_FP32, INC_OP_PROD },
		{ "fp32 min", INC_DTYPE_FP32, INC_OP_MIN },
		{ "fp64 sum", INC_DTYPE_FP64, INC_OP_SUM },
		{ "fp64 prod", INC_DTYPE_FP64, INC_OP_PROD },
		{ "fp64 max", INC_DTYPE_FP64, INC_OP_MAX },
		{ "float-int minloc", INC_DTYPE_FLOAT_INT, INC_OP_MINLOC },
		{ "double-int minloc", INC_DTYPE_DOUBLE_INT, INC_OP_MINLOC },
		{ "2int maxloc", INC_DTYPE_2INT, INC_OP_MAXLOC },
	};

	if (!set_up(argc, argv)) {
		fprintf(stderr,
			"Usage: bench_reduce [-j FILE] [BYTES]\n"
			"BYTES: a multiple of 32, from 32 to %u\n",
			COLD_BYTES / 64);
		return 2;
	}
	printf("GB/s of result, packets of %u bytes\n%-22s", packet, "");
	for (unsigned int c = 0; c < nr_columns; c++)
		printf(" %8s", columns[c].name);
	printf(" %9s %8s %8s\n", "/scalar", "/memcpy", "/limit");
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		choose_scalar(inc_reduce_lookup(rows[r].dtype, rows[r].op));
		bench(rows[r].name, rows[r].dtype, rows[r].op);
		fflush(stdout);
	}
	printf("\nGB/s of result of eight packets\n%-22s %8s %8s %9s\n", "", "at once",
	       "pairs", "/pairs");
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++)
		if (rows[r].op == INC_OP_SUM)
			bench_eight(rows[r].name, rows[r].dtype, rows[r].op);
	if (json) {
		fprintf(json, "\n]\n");
		return fclose(json) ? 1 : 0;
	}
	return 0;
}
