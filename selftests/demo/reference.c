// SPDX-License-Identifier: GPL-2.0
/*
 * Input and expected result of the demo's AllReduce, computed by plain C, in a
 * process without any RDMA.
 *
 *   reference DIR RANKS BYTES DTYPE OP SEED
 *
 * Writes DIR/in.0 ... DIR/in.(RANKS - 1) and DIR/want.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Floats are summed in a balanced binary tree over the ranks. */
#define DEFINE_TYPE(name, type, add, random)				\
static void name##_fill(void *buf, size_t n)				\
{									\
	type *p = buf;							\
									\
	for (size_t i = 0; i < n; i++)					\
		p[i] = (random);					\
}									\
									\
static type name##_one(int op, type a, type b)				\
{									\
	return op == 0 ? (type)(add) : op == 1 ? (a < b ? a : b) :	\
						 (a > b ? a : b);	\
}									\
									\
static void name##_reduce(void **in, int ranks, void *out, size_t n, int op) \
{									\
	type *v = malloc(ranks * sizeof(*v));				\
									\
	for (size_t i = 0; i < n; i++) {				\
		for (int r = 0; r < ranks; r++)				\
			v[r] = ((type *)in[r])[i];			\
		for (int step = 1; step < ranks; step *= 2)		\
			for (int r = 0; r + step < ranks; r += 2 * step) \
				v[r] = name##_one(op, v[r], v[r + step]); \
		((type *)out)[i] = v[0];				\
	}								\
	free(v);							\
}

DEFINE_TYPE(int32, int32_t, (uint32_t)a + (uint32_t)b, (int32_t)next_random())
DEFINE_TYPE(int64, int64_t, (uint64_t)a + (uint64_t)b, (int64_t)next_random())
DEFINE_TYPE(fp32, float, a + b, (float)((int64_t)next_random() / 9.2e18))
DEFINE_TYPE(fp64, double, a + b, (int64_t)next_random() / 9.2e18)

static const struct {
	const char *name;
	size_t size;
	void (*fill)(void *buf, size_t n);
	void (*reduce)(void **in, int ranks, void *out, size_t n, int op);
} types[] = {
	{ "int32", 4, int32_fill, int32_reduce },
	{ "int64", 8, int64_fill, int64_reduce },
	{ "fp32", 4, fp32_fill, fp32_reduce },
	{ "fp64", 8, fp64_fill, fp64_reduce },
};

static const char *const ops[] = { "sum", "min", "max" };

static void save(const char *dir, const char *name, const void *buf, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(buf, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void make(const char *dir, int ranks, size_t len, int type, int op)
{
	void **in = calloc(ranks, sizeof(*in));
	void *want = malloc(len + 1);
	char name[32];

	for (int r = 0; r < ranks; r++) {
		in[r] = malloc(len + 1);
		types[type].fill(in[r], len / types[type].size);
		snprintf(name, sizeof(name), "in.%d", r);
		save(dir, name, in[r], len);
	}
	types[type].reduce(in, ranks, want, len / types[type].size, op);
	save(dir, "want", want, len);
	for (int r = 0; r < ranks; r++)
		free(in[r]);
	free(in);
	free(want);
}

int main(int argc, char **argv)
{
	size_t type, op;

	if (argc != 7) {
		fprintf(stderr,
			"usage: reference DIR RANKS BYTES DTYPE OP SEED\n");
		return 2;
	}
	for (type = 0; type < 4 && strcmp(types[type].name, argv[4]); type++)
		;
	for (op = 0; op < 3 && strcmp(ops[op], argv[5]); op++)
		;
	if (type == 4 || op == 3) {
		fprintf(stderr, "reference: type int32, int64, fp32 or fp64; operation sum, min or max\n");
		return 2;
	}
	state = strtoull(argv[6], NULL, 0) * 2654435761u + 1;
	make(argv[1], atoi(argv[2]), strtoull(argv[3], NULL, 0), type, op);
	return 0;
}
