// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the reductions, bit for bit: every implementation that this CPU can
 * run, against reduce_ref.c; known answers check the reference.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>

#include "common.h"
#include "core/reduce/reduce_impl.h"
#include "reduce_ref.h"

#define MAX_ELEM	257
#define SEED		0x696e632d72646d61ull

/* A page that faults follows a vmalloc() area: buffers end right before it. */
#define BUF_SIZE	(PAGE_SIZE * 2)
#define CANARY		0x5a
#define CANARY_LEN	128

struct reduce_test {
	u64	rng;
	u8	*buf[3];	/* dst, a, b; BUF_SIZE bytes each */
	u8	*a, *b;		/* operands as generated */
	u8	*want;
};

/* t->want = t->a op t->b */
static void reference(struct reduce_test *t, const struct inc_reduce_ops *ops,
		      unsigned int nelem)
{
	for (unsigned int i = 0; i < nelem; i++) {
		unsigned int at = i * ops->size;

		ref_elem(ops->dtype, ops->op, t->want + at, t->a + at, t->b + at);
	}
}

/* splitmix64 */
static u64 rnd(struct reduce_test *t)
{
	u64 z = (t->rng += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static u32 rnd_below(struct reduce_test *t, u32 n)
{
	return (u32)rnd(t) % n;
}

/*
 * A random element, and one that makes trouble with it: near cancellation, an
 * exponent close by, a tie, a special value.
 */
static void random_pair(struct reduce_test *t, u8 dtype, u64 *a, u64 *b)
{
	const struct fp_format *f = fp_format(dtype);

	*a = rnd(t);
	*b = rnd(t);
	if (!f) {
		if (rnd_below(t, 4) == 0)
			*b = *a + rnd_below(t, 3) - 1;
		if (rnd_below(t, 8) == 0)
			*a = 0;
		return;
	}
	switch (rnd_below(t, 8)) {
	case 0:
		*b = *a ^ (1ull << (f->width - 1)) ^ rnd_below(t, 4);
		break;
	case 1:
	case 2:
		*b = *a + ((u64)rnd_below(t, 2 * f->prec + 8) << (f->prec - 1));
		*b ^= (u64)rnd_below(t, 2) << (f->width - 1);
		break;
	case 3:
		*a &= ~0ull << (rnd_below(t, f->prec));
		*b = *a + ((u64)rnd_below(t, f->prec + 3) << (f->prec - 1));
		*b &= ~0ull << (rnd_below(t, f->prec));
		*b ^= (u64)rnd_below(t, 2) << (f->width - 1);
		break;
	case 4:
		*a &= ~(ref_fp_inf(f) & ~(3ull << (f->prec - 1)));
		*b &= ~(ref_fp_inf(f) & ~(3ull << (f->prec - 1)));
		break;
	case 5:
		*a |= ref_fp_inf(f) & ~(3ull << (f->prec - 1));
		*b |= ref_fp_inf(f) & ~(3ull << (f->prec - 1));
		break;
	default:
		break;
	}
}

/* For two pairs: many equal values and equal indices, and random padding. */
static void random_index(struct reduce_test *t, u8 dtype, unsigned int at,
			 u64 a, u64 *b)
{
	const unsigned int idx = at + ref_idx_offset(dtype);
	const u64 x = rnd(t), y = rnd_below(t, 3) ? x + rnd_below(t, 3) - 1 : rnd(t);

	for (unsigned int i = 0; i < ref_size(dtype); i++) {
		t->a[at + i] = rnd(t);
		t->b[at + i] = rnd(t);
	}
	ref_store(t->a + idx, INC_DTYPE_INT32, x);
	ref_store(t->b + idx, INC_DTYPE_INT32, y);
	if (rnd_below(t, 2))
		*b = a;
}

static void random_operands(struct reduce_test *t, u8 dtype,
			    unsigned int nelem)
{
	const u8 value = ref_value_dtype(dtype);

	for (unsigned int i = 0; i < nelem; i++) {
		unsigned int at = i * ref_size(dtype);
		u64 a, b;

		random_pair(t, value, &a, &b);
		if (value != dtype)
			random_index(t, dtype, at, a, &b);
		ref_store(t->a + at, value, a);
		ref_store(t->b + at, value, b);
	}
}

/* Check one row; @impl NULL is the module's own choice, inc_reduce(). */
typedef void (*check_fn)(struct kunit *test, const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops);

/* Call @check for every row of every implementation. */
static void each_row(struct kunit *test, check_fn check)
{
	const struct inc_reduce_impl *impl;
	const struct inc_reduce_ops *ops;

	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++) {
		for (u8 op = 0; op < INC_OP_COUNT; op++) {
			ops = inc_reduce_lookup(dtype, op);
			if (!ops || ops->wide)
				continue;
			check(test, NULL, ops);
			for (int i = 0; (impl = inc_reduce_impl_at(i)); i++)
				if (impl->fn[dtype][op])
					check(test, impl, ops);
		}
	}
}

static void run(const struct inc_reduce_impl *impl,
		const struct inc_reduce_ops *ops, void *dst, const void *a,
		const void *b, unsigned int nelem)
{
	if (impl)
		inc_reduce_by(impl, ops, dst, a, b, nelem);
	else
		inc_reduce(ops, dst, a, b, nelem);
}

static void expect(struct kunit *test, const struct inc_reduce_impl *impl,
		   const struct inc_reduce_ops *ops, const u8 *dst,
		   unsigned int nelem, const char *where)
{
	struct reduce_test *t = test->priv;

	for (unsigned int i = 0; i < nelem; i++) {
		unsigned int at = i * ops->size;

		if (!memcmp(dst + at, t->want + at, ops->size))
			continue;
		KUNIT_FAIL(test, "%s, %s, dtype %u op %u [%u of %u]: %llx, %llx: %llx, not %llx",
			   where, impl ? impl->name : "inc_reduce",
			   ops->dtype, ops->op, i, nelem,
			   (unsigned long long)ref_load(t->a + at, ops->dtype),
			   (unsigned long long)ref_load(t->b + at, ops->dtype),
			   (unsigned long long)ref_load(dst + at, ops->dtype),
			   (unsigned long long)ref_load(t->want + at, ops->dtype));
		return;
	}
}

/*
 * Buffer @i (0 dst, 1 a, 2 b) for @len bytes, which end @gap bytes before the
 * guard page. The buffer and its surroundings are filled with the canary.
 */
static u8 *place(struct reduce_test *t, int i, size_t len, unsigned int gap)
{
	u8 *p = t->buf[i] + BUF_SIZE - gap - len;

	memset(p - CANARY_LEN, CANARY, CANARY_LEN + len + gap);
	return p;
}

static bool only_canary(const u8 *p, const u8 *end)
{
	while (p < end)
		if (*p++ != CANARY)
			return false;
	return true;
}

/* One run with the buffers @gap bytes away from their guard pages. */
static void check_placed(struct kunit *test, const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops, unsigned int nelem,
			 const unsigned int gap[3])
{
	struct reduce_test *t = test->priv;
	size_t len = (size_t)nelem * ops->size;
	u8 *dst = place(t, 0, len, gap[0]);
	u8 *a = place(t, 1, len, gap[1]), *b = place(t, 2, len, gap[2]);

	memcpy(a, t->a, len);
	memcpy(b, t->b, len);
	run(impl, ops, dst, a, b, nelem);
	expect(test, impl, ops, dst, nelem, "placed");
	KUNIT_EXPECT_TRUE(test, only_canary(dst - CANARY_LEN, dst));
	KUNIT_EXPECT_TRUE(test, only_canary(dst + len, t->buf[0] + BUF_SIZE));
	KUNIT_EXPECT_EQ(test, memcmp(a, t->a, len), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b, t->b, len), 0);
}

static void check_lengths(struct kunit *test,
			  const struct inc_reduce_impl *impl,
			  const struct inc_reduce_ops *ops)
{
	struct reduce_test *t = test->priv;

	t->rng = SEED;
	random_operands(t, ops->dtype, MAX_ELEM);
	reference(t, ops, MAX_ELEM);
	for (unsigned int n = 0; n <= MAX_ELEM; n++) {
		unsigned int gap[3] = {};

		check_placed(test, impl, ops, n, gap);
		for (int i = 0; i < 3; i++)
			gap[i] = rnd_below(t, 16);
		check_placed(test, impl, ops, n, gap);
	}
	/* All alignments of each buffer, with another one for the rest. */
	for (unsigned int i = 0; i < 3 * 16; i++) {
		unsigned int gap[3] = { 5, 5, 5 };

		gap[i / 16] = i % 16;
		check_placed(test, impl, ops, 67, gap);
		check_placed(test, impl, ops, 5, gap);
	}
}

static void test_lengths(struct kunit *test)
{
	each_row(test, check_lengths);
}

static void check_alias(struct kunit *test, const struct inc_reduce_impl *impl,
			const struct inc_reduce_ops *ops)
{
	static const unsigned int lengths[] = { 1, 3, 8, 17, 64, 67, MAX_ELEM };
	struct reduce_test *t = test->priv;
	u8 *a = t->buf[1] + 3, *b = t->buf[2] + 7;
	size_t len = MAX_ELEM * ops->size;

	t->rng = SEED + 1;
	random_operands(t, ops->dtype, MAX_ELEM);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		reference(t, ops, lengths[i]);
		memcpy(a, t->a, len);
		memcpy(b, t->b, len);
		run(impl, ops, a, a, b, lengths[i]);
		expect(test, impl, ops, a, lengths[i], "dst is a");

		memcpy(a, t->a, len);
		run(impl, ops, b, a, b, lengths[i]);
		expect(test, impl, ops, b, lengths[i], "dst is b");
	}
	memcpy(t->b, t->a, len);
	memcpy(a, t->a, len);
	reference(t, ops, MAX_ELEM);
	run(impl, ops, a, a, a, MAX_ELEM);
	expect(test, impl, ops, a, MAX_ELEM, "dst is a is b");
}

static void test_alias(struct kunit *test)
{
	each_row(test, check_alias);
}

static void check_random(struct kunit *test, const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops)
{
	struct reduce_test *t = test->priv;

	t->rng = SEED + 2;
	for (int round = 0; round < 8; round++) {
		random_operands(t, ops->dtype, MAX_ELEM);
		reference(t, ops, MAX_ELEM);
		run(impl, ops, t->buf[0], t->a, t->b, MAX_ELEM);
		expect(test, impl, ops, t->buf[0], MAX_ELEM, "random");
	}
}

static void test_random(struct kunit *test)
{
	kunit_info(test, "seed 0x%llx\n", SEED);
	each_row(test, check_random);
}

/* Exponents and fractions whose products with both signs are the edges. */
static u64 edge(u8 dtype, unsigned int i)
{
	static const u64 ints[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, ~0ull >> 1, 1ull << 63, ~0ull, 0x100,
	};
	const struct fp_format *f = fp_format(dtype);
	u64 top, exps[8], fracs[4];

	if (!f)
		return ints[i % ARRAY_SIZE(ints)];

	/*
	 * 0 and subnormal, smallest normals, around 1 ulp = 1, 1, top, inf/NaN
	 */
	top = (1ull << (f->width - f->prec)) - 1;
	exps[0] = 0;
	exps[1] = 1;
	exps[2] = 2;
	exps[3] = top / 2 - f->prec;
	exps[4] = top / 2 - f->prec + 1;
	exps[5] = top / 2;
	exps[6] = top - 1;
	exps[7] = top;
	fracs[0] = 0;
	fracs[1] = 1;
	fracs[2] = 1ull << (f->prec - 2);
	fracs[3] = (1ull << (f->prec - 1)) - 1;
	return exps[i / 4 % 8] << (f->prec - 1) | fracs[i % 4] |
	       (u64)(i / 32 % 2) << (f->width - 1);
}

static void edge_elem(u8 *p, u8 dtype, unsigned int i)
{
	const u8 value = ref_value_dtype(dtype);

	memset(p, CANARY, ref_size(dtype));
	ref_store(p, value, edge(value, i));
	if (value != dtype)
		ref_store(p + ref_idx_offset(dtype), INC_DTYPE_INT32,
			  edge(INC_DTYPE_INT32, i / 2));
}

static void check_edges(struct kunit *test, const struct inc_reduce_impl *impl,
			const struct inc_reduce_ops *ops)
{
	const unsigned int nr = 64;
	struct reduce_test *t = test->priv;

	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int j = 0; j < nr; j++) {
			edge_elem(t->a + j * ops->size, ops->dtype, i);
			edge_elem(t->b + j * ops->size, ops->dtype, j);
		}
		reference(t, ops, nr);
		run(impl, ops, t->buf[0], t->a, t->b, nr);
		expect(test, impl, ops, t->buf[0], nr, "edges");
	}
}

static void test_edges(struct kunit *test)
{
	each_row(test, check_edges);
}

struct known {
	u8	dtype, op;
	u64	a, b, want;
};

static const struct known known[] = {
	/* wrapping, signs */
	{ INC_DTYPE_INT32, INC_OP_SUM, 0x7fffffff, 1, 0x80000000 },
	{ INC_DTYPE_INT32, INC_OP_MIN, 0xffffffff, 0, 0xffffffff },
	{ INC_DTYPE_UINT32, INC_OP_MIN, 0xffffffff, 0, 0 },
	{ INC_DTYPE_INT64, INC_OP_MAX, 1ull << 63, 0, 0 },
	{ INC_DTYPE_UINT16, INC_OP_PROD, 0xffff, 0xffff, 1 },
	{ INC_DTYPE_INT8, INC_OP_LAND, 0x80, 2, 1 },
	{ INC_DTYPE_INT8, INC_OP_LXOR, 0x80, 2, 0 },
	/* 1 + 2 = 3, 0.1 + 0.2 = 0.30000000000000004 */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0x40000000, 0x40400000 },
	{ INC_DTYPE_FP64, INC_OP_SUM, 0x3fb999999999999aull,
	  0x3fc999999999999aull, 0x3fd3333333333334ull },
	/* 1 + half an ulp: a tie goes to even; 1 + 1 ulp + half: up */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0x33800000, 0x3f800000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800001, 0x33800000, 0x3f800002 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0x33800001, 0x3f800001 },
	/* 1 - 2^-25 is a tie too, slightly less is not */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0xb3000000, 0x3f800000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0xb3000001, 0x3f7fffff },
	/* zeros */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x80000000, 0x80000000, 0x80000000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x80000000, 0, 0 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0xc0400000, 0x40400000, 0 },
	{ INC_DTYPE_FP32, INC_OP_MIN, 0, 0x80000000, 0x80000000 },
	{ INC_DTYPE_FP32, INC_OP_MIN, 0x80000000, 0, 0x80000000 },
	{ INC_DTYPE_FP32, INC_OP_MAX, 0, 0x80000000, 0 },
	{ INC_DTYPE_FP32, INC_OP_MAX, 0x80000000, 0, 0 },
	/* subnormals: kept, made by cancellation, up to normal */
	{ INC_DTYPE_FP32, INC_OP_SUM, 1, 1, 2 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x007fffff, 1, 0x00800000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x00800001, 0x80800000, 1 },
	/* overflow, infinities */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x7f7fffff, 0x73000000, 0x7f800000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x7f7fffff, 0x72ffffff, 0x7f7fffff },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x7f800000, 0xff800000, 0xffc00000 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0xff800000, 0x7f800000, 0xffc00000 },
	{ INC_DTYPE_FP64, INC_OP_SUM, 0x7ffull << 52, 0xfffull << 52,
	  0xfff8ull << 48 },
	/* NaN: a's first, made quiet, payload and sign kept */
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x7f800001, 0xffc12345, 0x7fc00001 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0xffc12345, 0x7f800001, 0xffc12345 },
	{ INC_DTYPE_FP32, INC_OP_SUM, 0x3f800000, 0xff812345, 0xffc12345 },
	{ INC_DTYPE_FP32, INC_OP_MIN, 0x7f800001, 0xffc12345, 0x7fc00001 },
	{ INC_DTYPE_FP32, INC_OP_MAX, 0x7f800000, 0xff812345, 0xffc12345 },
	{ INC_DTYPE_FP64, INC_OP_MAX, 0x7ff0000000000001ull, 0,
	  0x7ff8000000000001ull },
	/* product: 3 * 7 = 21, a tie to even, to subnormal, to 0, overflow */
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x40400000, 0xc0e00000, 0xc1a80000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x3f800001, 0x3fc00000, 0x3fc00002 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x00800000, 0x3f000000, 0x00400000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x00000003, 0x3f000000, 0x00000002 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x00000001, 0xbf000000, 0x80000000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x7f7fffff, 0x3f800001, 0x7f800000 },
	{ INC_DTYPE_FP64, INC_OP_PROD, 0x3fb999999999999aull,
	  0x4024000000000000ull, 0x3ff0000000000000ull },
	/* infinity times 0, NaNs */
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x7f800000, 0, 0xffc00000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x80000000, 0x7f800000, 0xffc00000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0xff800000, 0x00000001, 0xff800000 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0x7f800001, 0xffc12345, 0x7fc00001 },
	{ INC_DTYPE_FP32, INC_OP_PROD, 0, 0xff812345, 0xffc12345 },
	/* 16 bits */
	{ INC_DTYPE_FP16, INC_OP_MIN, 0, 0x8000, 0x8000 },
	{ INC_DTYPE_FP16, INC_OP_MIN, 0xc000, 0xbc00, 0xc000 },
	{ INC_DTYPE_FP16, INC_OP_MAX, 0xfc00, 0x7c01, 0x7e01 },
	{ INC_DTYPE_FP16, INC_OP_MAX, 0x0001, 0xfc00, 0x0001 },
	{ INC_DTYPE_BF16, INC_OP_MAX, 0x8000, 0, 0 },
	{ INC_DTYPE_BF16, INC_OP_MIN, 0xff81, 0x7fc2, 0xffc1 },
	{ INC_DTYPE_BF16, INC_OP_MIN, 0x7f80, 0x7f7f, 0x7f7f },
	/* pairs of 8 bytes: less, a tie, a NaN, signs of zeros and indices */
	{ INC_DTYPE_2INT, INC_OP_MINLOC, 0x00000001ffffffff,
	  0x0000000200000000, 0x00000001ffffffff },
	{ INC_DTYPE_2INT, INC_OP_MAXLOC, 0x0000000500000007,
	  0x0000000400000007, 0x0000000400000007 },
	{ INC_DTYPE_2INT, INC_OP_MINLOC, 0x0000000500000007,
	  0xffffffff00000007, 0xffffffff00000007 },
	{ INC_DTYPE_SHORT_INT, INC_OP_MAXLOC, 0x0000000912340002,
	  0x00000008abcdffff, 0x0000000900000002 },
	{ INC_DTYPE_FLOAT_INT, INC_OP_MINLOC, 0x0000000200000000,
	  0x0000000380000000, 0x0000000380000000 },
	{ INC_DTYPE_FLOAT_INT, INC_OP_MAXLOC, 0x0000000900000000,
	  0x0000000880000000, 0x0000000900000000 },
	{ INC_DTYPE_FLOAT_INT, INC_OP_MAXLOC, 0x000000023f800000,
	  0x00000009ff800001, 0x00000009ffc00001 },
	{ INC_DTYPE_FLOAT_INT, INC_OP_MINLOC, 0x000000097fc00001,
	  0x000000017fc00001, 0x000000097fc00001 },
};

/* By the reference and by all implementations, in every lane. */
static void check_known(struct kunit *test, const struct inc_reduce_impl *impl,
			const struct inc_reduce_ops *ops)
{
	struct reduce_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].dtype != ops->dtype || known[i].op != ops->op)
			continue;
		for (unsigned int n = 0; n < MAX_ELEM; n++) {
			unsigned int at = n * ops->size;

			ref_store(t->a + at, ops->dtype, known[i].a);
			ref_store(t->b + at, ops->dtype, known[i].b);
			ref_store(t->buf[0] + at, ops->dtype, known[i].want);
		}
		reference(t, ops, MAX_ELEM);
		expect(test, impl, ops, t->buf[0], MAX_ELEM, "reference");
		run(impl, ops, t->buf[0], t->a, t->b, MAX_ELEM);
		expect(test, impl, ops, t->buf[0], MAX_ELEM, "known");

		/* Too short for SIMD, if inc_reduce() may choose. */
		memset(t->buf[0], CANARY, MAX_ELEM * ops->size);
		run(impl, ops, t->buf[0], t->a, t->b, 3);
		expect(test, impl, ops, t->buf[0], 3, "known, short");
	}
}

static void test_known(struct kunit *test)
{
	each_row(test, check_known);
}

/* MPI's rule, written as a table: operations of each type, one bit each. */
#define OPS_INT		0x13ff	/* all except minloc and maxloc */
#define OPS_FP		0x100f	/* sum, prod, min, max, avg */
#define OPS_PAIR	0x0c00	/* minloc, maxloc */

static u32 legal_ops(unsigned int dtype)
{
	if (dtype <= INC_DTYPE_UINT64)
		return OPS_INT;
	if (dtype <= INC_DTYPE_FP64)
		return OPS_FP;
	return dtype <= INC_DTYPE_SHORT_INT ? OPS_PAIR : 0;
}

/* Rows that need more than a plain inc_reduce(). */
static bool not_plain(unsigned int dtype, unsigned int op)
{
	const bool half = dtype == INC_DTYPE_FP16 || dtype == INC_DTYPE_BF16;

	return op == INC_OP_AVG ||
	       (half && (op == INC_OP_SUM || op == INC_OP_PROD));
}

static void test_lookup(struct kunit *test)
{
	kunit_info(test, "fastest is %s\n", inc_reduce_impl());
	for (unsigned int i = 0; i < 256 * 256; i++) {
		const unsigned int dtype = i >> 8, op = i & 255;
		const struct inc_reduce_ops *ops = inc_reduce_lookup(dtype, op);

		if (op >= 32 || !(legal_ops(dtype) >> op & 1)) {
			KUNIT_EXPECT_NULL_MSG(test, ops, "dtype %u op %u", dtype, op);
			continue;
		}
		KUNIT_ASSERT_TRUE_MSG(test, ops, "dtype %u op %u", dtype, op);
		KUNIT_EXPECT_EQ(test, ops->wide || ops->div, not_plain(dtype, op));
		KUNIT_EXPECT_EQ(test, ops->dtype, dtype);
		KUNIT_EXPECT_EQ(test, ops->op, op);
		KUNIT_EXPECT_EQ(test, (unsigned int)ops->size, ref_size(dtype));
		KUNIT_EXPECT_EQ(test, inc_dtype_size(dtype), ref_size(dtype));
		KUNIT_EXPECT_TRUE(test, !ops->wide != !ops->generic);
		KUNIT_EXPECT_EQ(test, !!ops->div, op == INC_OP_AVG && !ops->wide);
	}
	/* No element spans two packets: see the first chunk of a message. */
	for (unsigned int dtype = 0; dtype < INC_DTYPE_COUNT; dtype++)
		KUNIT_EXPECT_EQ(test, INC_HDR_LEN % inc_dtype_size(dtype), 0u);
	KUNIT_EXPECT_EQ(test, inc_dtype_size(INC_DTYPE_COUNT), 0u);
	KUNIT_EXPECT_EQ(test, inc_dtype_size(255), 0u);
}

/* A type that is in the enum before it has a size. */
static void test_no_size(struct kunit *test)
{
	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++) {
		for (u8 op = 0; op < INC_OP_COUNT; op++) {
			struct inc_reduce_ops ops = {};

			inc_reduce_init_row(&ops, dtype, op, 0);
			KUNIT_EXPECT_EQ(test, ops.size, 0);
			KUNIT_EXPECT_GT(test, ops.simd_min, 0);
		}
	}
}

/* Vector registers are for ops->simd only, which runs in an FPU section. */
static void check_fpu(struct kunit *test, const struct inc_reduce_impl *impl,
		      const struct inc_reduce_ops *ops)
{
	if (!impl)
		return;
	if (impl->fpu)
		KUNIT_EXPECT_TRUE(test, impl->fn[ops->dtype][ops->op] != ops->generic);
	else
		KUNIT_EXPECT_TRUE(test, impl->fn[ops->dtype][ops->op] == ops->generic);
}

static void test_fpu(struct kunit *test)
{
	each_row(test, check_fpu);
}

static int reduce_test_init(struct kunit *test)
{
	struct reduce_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->a = kunit_kzalloc(test, MAX_ELEM * 16, GFP_KERNEL);
	t->b = kunit_kzalloc(test, MAX_ELEM * 16, GFP_KERNEL);
	t->want = kunit_kzalloc(test, MAX_ELEM * 16, GFP_KERNEL);
	if (!inc_test_bufs_alloc(t->buf, ARRAY_SIZE(t->buf), BUF_SIZE))
		return -ENOMEM;
	/* The module did this at load; in a standalone test nobody did. */
	if (!inc_reduce_impl_at(0))
		inc_reduce_init();
	return t->a && t->b && t->want ? 0 : -ENOMEM;
}

static void reduce_test_exit(struct kunit *test)
{
	struct reduce_test *t = test->priv;

	if (t)
		inc_test_bufs_free(t->buf, ARRAY_SIZE(t->buf));
}

static struct kunit_case reduce_test_cases[] = {
	KUNIT_CASE(test_lookup),
	KUNIT_CASE(test_no_size),
	KUNIT_CASE(test_fpu),
	KUNIT_CASE(test_known),
	KUNIT_CASE(test_edges),
	KUNIT_CASE(test_random),
	KUNIT_CASE(test_alias),
	KUNIT_CASE(test_lengths),
	{}
};

static struct kunit_suite reduce_test_suite = {
	.name = "rdma_inc_reduce",
	.init = reduce_test_init,
	.exit = reduce_test_exit,
	.test_cases = reduce_test_cases,
};

kunit_test_suite(reduce_test_suite);

MODULE_LICENSE("GPL");
