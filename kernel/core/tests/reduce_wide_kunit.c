// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of wide rows (16-bit floats, added and multiplied in binary32) and of
 * the final step (averages), bit for bit, for every implementation that this
 * CPU can run.
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

#define MAX_ELEM	141

/* Planes end before a page that faults, less a gap; this much is checked. */
#define BUF_SIZE	PAGE_SIZE
#define AREA_SIZE	(MAX_ELEM * 8 + 64)
#define AREA_START	(BUF_SIZE - AREA_SIZE)
#define CANARY		0x5a

enum { DST_HI, DST_LO, A_HI, A_LO, B_HI, B_LO, NR_PLANES };

struct wide_test {
	struct inc_rng	rng;
	u8		*buf[NR_PLANES];
	u16		plane[NR_PLANES][MAX_ELEM];	/* operands, and the result */
};

/* One way to call a row. @impl NULL: the module's own choice. */
struct wide_call {
	const struct inc_reduce_impl	*impl;
	const struct inc_reduce_ops	*ops;
	bool				a_wide, b_wide, dst_wide;
	unsigned int			nelem;
	unsigned int			ranks;
};

static u32 binary32(const struct wide_test *t, const struct wide_call *c,
		    bool wide, int hi, unsigned int i)
{
	if (wide)
		return (u32)t->plane[hi][i] << 16 | t->plane[hi + 1][i];
	return ref_fp_convert(t->plane[hi][i], fp_format(c->ops->dtype), &ref_fp32);
}

/* The result's planes, from the operands' planes. */
static void reference(struct wide_test *t, const struct wide_call *c)
{
	for (unsigned int i = 0; i < c->nelem; i++) {
		u64 a = binary32(t, c, c->a_wide, A_HI, i);
		u64 b = binary32(t, c, c->b_wide, B_HI, i);
		u64 x = ref_fp(INC_DTYPE_FP32, c->ops->op, a, b);

		if (!c->dst_wide && c->ops->op == INC_OP_AVG)
			x = ref_fp_div(x, c->ranks, &ref_fp32);
		if (!c->dst_wide)
			x = ref_fp_convert(x, &ref_fp32, fp_format(c->ops->dtype)) << 16;
		t->plane[DST_HI][i] = x >> 16;
		t->plane[DST_LO][i] = x;
	}
}

/* Narrow numbers of all kinds, with others that cancel them or are near. */
static void random_operands(struct wide_test *t, const struct wide_call *c)
{
	const struct fp_format *f = fp_format(c->ops->dtype);
	const u16 least = 1 << (f->prec - 1);

	for (unsigned int i = 0; i < MAX_ELEM; i++) {
		for (int p = A_HI; p <= B_LO; p++)
			t->plane[p][i] = inc_rnd(&t->rng);
		switch (inc_rnd_below(&t->rng, 6)) {
		case 0:
			t->plane[B_HI][i] = t->plane[A_HI][i] ^ 0x8000;
			if (inc_rnd_chance(&t->rng, 500))
				t->plane[B_LO][i] = t->plane[A_LO][i];
			break;
		case 1:
			t->plane[B_HI][i] = t->plane[A_HI][i] +
				least * inc_rnd_below(&t->rng, f->prec + 3);
			break;
		case 2:
			t->plane[A_HI][i] &= ~(ref_fp_inf(f) & ~(u64)least);
			break;
		case 3:
			t->plane[B_HI][i] &= ~(ref_fp_inf(f) & ~(u64)least);
			t->plane[B_LO][i] &= 0x8000;
			break;
		case 4:
			t->plane[A_HI][i] |= ref_fp_inf(f) & ~(u64)least;
			t->plane[A_LO][i] &= 0x8001;
			break;
		default:
			break;
		}
	}
}

static void run(const struct wide_call *c, struct inc_operand dst,
		struct inc_operand a, struct inc_operand b)
{
	if (c->impl)
		inc_reduce_wide_by(c->impl, c->ops, dst, a, b, c->nelem, c->ranks);
	else
		inc_reduce_wide(c->ops, dst, a, b, c->nelem, c->ranks);
}

static void expect(struct kunit *test, const struct wide_call *c,
		   struct inc_operand dst, const char *where)
{
	const struct wide_test *t = test->priv;

	for (unsigned int i = 0; i < c->nelem; i++) {
		u16 hi, lo = 0;

		memcpy(&hi, dst.hi + 2 * i, 2);
		if (dst.lo)
			memcpy(&lo, dst.lo + 2 * i, 2);
		if (hi == t->plane[DST_HI][i] && lo == t->plane[DST_LO][i])
			continue;
		KUNIT_FAIL(test, "%s %s %u %u %d%d%d [%u of %u] %u: %x %x: %04x%04x, not %x%04x",
			   where, c->impl ? c->impl->name : "inc_reduce_wide",
			   c->ops->dtype, c->ops->op, c->a_wide, c->b_wide,
			   c->dst_wide, i, c->nelem, c->ranks,
			   binary32(t, c, c->a_wide, A_HI, i),
			   binary32(t, c, c->b_wide, B_HI, i), hi, lo,
			   t->plane[DST_HI][i], t->plane[DST_LO][i]);
		return;
	}
}

/* Plane @p in its buffer, at most 15 bytes from the guard page. */
static void *place(struct wide_test *t, int p, unsigned int nelem)
{
	const unsigned int gap = inc_rnd_chance(&t->rng, 500) ?
				 inc_rnd_below(&t->rng, 16) : 0;
	u8 *at = t->buf[p] + BUF_SIZE - gap - 2 * nelem;

	memset(t->buf[p] + AREA_START, CANARY, AREA_SIZE);
	if (p >= A_HI)
		memcpy(at, t->plane[p], 2 * nelem);
	return at;
}

static struct inc_operand place_both(struct wide_test *t, int hi, bool wide,
				     unsigned int nelem)
{
	return (struct inc_operand) {
		place(t, hi, nelem), wide ? place(t, hi + 1, nelem) : NULL
	};
}

/* Check that nothing around the result was written, and no operand changed. */
static void untouched(struct kunit *test, int p, const u8 *at, unsigned int len)
{
	struct wide_test *t = test->priv;

	bool clean = true;

	for (const u8 *q = t->buf[p] + AREA_START; q < at; q++)
		clean &= *q == CANARY;
	for (const u8 *q = at + len; q < t->buf[p] + BUF_SIZE; q++)
		clean &= *q == CANARY;
	KUNIT_EXPECT_TRUE(test, clean);
	if (p >= A_HI)
		KUNIT_EXPECT_EQ(test, memcmp(at, t->plane[p], len), 0);
}

static void check_placed(struct kunit *test, const struct wide_call *c)
{
	struct wide_test *t = test->priv;
	struct inc_operand dst = place_both(t, DST_HI, c->dst_wide, c->nelem);
	struct inc_operand a = place_both(t, A_HI, c->a_wide, c->nelem);
	struct inc_operand b = place_both(t, B_HI, c->b_wide, c->nelem);

	run(c, dst, a, b);
	expect(test, c, dst, "placed");
	untouched(test, DST_HI, dst.hi, 2 * c->nelem);
	untouched(test, A_HI, a.hi, 2 * c->nelem);
	untouched(test, B_HI, b.hi, 2 * c->nelem);
	if (c->dst_wide)
		untouched(test, DST_LO, dst.lo, 2 * c->nelem);
}

typedef void (*check_fn)(struct kunit *test, struct wide_call *c);

/* Call @check for all combinations of narrow and wide of a row. */
static void each_form(struct kunit *test, check_fn check, struct wide_call *c)
{
	for (int form = 0; form < 8; form++) {
		c->a_wide = form & 1;
		c->b_wide = form & 2;
		c->dst_wide = form & 4;
		check(test, c);
	}
}

/* Call @check for every form of every wide row of every implementation. */
static void each_wide(struct kunit *test, check_fn check)
{
	struct wide_call c = { .ranks = 3 };

	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++) {
		for (u8 op = 0; op < INC_OP_COUNT; op++) {
			c.ops = inc_reduce_lookup(dtype, op);
			if (!c.ops || !c.ops->wide)
				continue;
			c.impl = NULL;
			each_form(test, check, &c);
			for (int i = 0; (c.impl = inc_reduce_impl_at(i)); i++)
				if (c.impl->wide[dtype][op])
					each_form(test, check, &c);
		}
	}
}

static void check_lengths(struct kunit *test, struct wide_call *c)
{
	struct wide_test *t = test->priv;

	random_operands(t, c);
	c->nelem = MAX_ELEM;
	reference(t, c);
	for (c->nelem = 0; c->nelem <= MAX_ELEM; c->nelem++)
		check_placed(test, c);
}

static void test_lengths(struct kunit *test)
{
	each_wide(test, check_lengths);
}

static void check_random(struct kunit *test, struct wide_call *c)
{
	struct wide_test *t = test->priv;

	c->nelem = MAX_ELEM;
	for (unsigned int i = 0; i < inc_test_rounds(6); i++) {
		c->ranks = 1 + inc_rnd_below(&t->rng, i % 2 ? 0xffff : 9);
		random_operands(t, c);
		reference(t, c);
		check_placed(test, c);
	}
}

static void test_random(struct kunit *test)
{
	each_wide(test, check_random);
}

/* The result's planes are any two planes of the operands. */
static void check_alias(struct kunit *test, struct wide_call *c)
{
	struct wide_test *t = test->priv;

	random_operands(t, c);
	for (int i = 0; i < 16; i++) {
		struct inc_operand dst, a, b;
		void *all[4];

		c->nelem = inc_rnd_below(&t->rng, MAX_ELEM + 1);
		reference(t, c);
		a = place_both(t, A_HI, c->a_wide, c->nelem);
		b = place_both(t, B_HI, c->b_wide, c->nelem);
		all[0] = a.hi;
		all[1] = a.lo;
		all[2] = b.hi;
		all[3] = b.lo;
		dst.hi = all[i / 4];
		dst.lo = c->dst_wide ? all[i % 4] : NULL;
		if (!dst.hi || dst.hi == dst.lo || (c->dst_wide && !dst.lo))
			continue;
		run(c, dst, a, b);
		expect(test, c, dst, "in place");
	}
}

static void test_alias(struct kunit *test)
{
	each_wide(test, check_alias);
}

/* Each 16-bit number, converted to binary32 and back: x - 0, x * 1. */
static void check_all_values(struct kunit *test, struct wide_call *c)
{
	const bool prod = c->ops->op == INC_OP_PROD;
	const bool bf16 = c->ops->dtype == INC_DTYPE_BF16;
	struct wide_test *t = test->priv;

	if (c->a_wide || c->b_wide || c->ops->op == INC_OP_AVG)
		return;
	c->ranks = 1;
	c->nelem = MAX_ELEM;
	for (unsigned int first = 0; first < 0x10000; first += MAX_ELEM) {
		for (unsigned int i = 0; i < MAX_ELEM; i++) {
			t->plane[A_HI][i] = first + i;
			t->plane[B_HI][i] = !prod ? 0x8000 : bf16 ? 0x3f80 : 0x3c00;
		}
		reference(t, c);
		check_placed(test, c);
	}
}

static void test_all_values(struct kunit *test)
{
	each_wide(test, check_all_values);
}

static const struct {
	u8	dtype, op;
	u16	ranks;
	u16	a, b, c;
	u16	want;		/* (a op b) op c, rounded once */
} known[] = {
	/* 2048 + 1 + 1 = 2050: rounded twice, it would stay 2048 */
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x6800, 0x3c00, 0x3c00, 0x6801 },
	/* 65504 + 65504 - 65504: no overflow midway, but at the end */
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x7bff, 0x7bff, 0xfbff, 0x7bff },
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x7bff, 0x7bff, 0x7bff, 0x7c00 },
	{ INC_DTYPE_FP16, INC_OP_AVG, 3, 0x7bff, 0x7bff, 0x7bff, 0x7bff },
	/* 65504 + 16 is a tie, to infinity; slightly less is not */
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x7bff, 0x4c00, 0x8000, 0x7c00 },
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x7bff, 0x4bff, 0x8000, 0x7bff },
	/* subnormals: 2^-24 + 2^-24, 2^-24 / 2 a tie to even, 3 * 2^-24 / 2 too */
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x0001, 0x0001, 0x0000, 0x0002 },
	{ INC_DTYPE_FP16, INC_OP_AVG, 2, 0x0001, 0x0000, 0x0000, 0x0000 },
	{ INC_DTYPE_FP16, INC_OP_AVG, 2, 0x0001, 0x0001, 0x0001, 0x0002 },
	/* 2^-14 * 2^-14 * 2^10 = 2^-18 */
	{ INC_DTYPE_FP16, INC_OP_PROD, 3, 0x0400, 0x0400, 0x6400, 0x0040 },
	/* (1 + 1 + 0) / 3 */
	{ INC_DTYPE_FP16, INC_OP_AVG, 3, 0x3c00, 0x3c00, 0x0000, 0x3955 },
	{ INC_DTYPE_BF16, INC_OP_AVG, 3, 0x3f80, 0x3f80, 0x0000, 0x3f2b },
	/* 256 + 1 + 1 = 258 */
	{ INC_DTYPE_BF16, INC_OP_SUM, 3, 0x4380, 0x3f80, 0x3f80, 0x4381 },
	{ INC_DTYPE_BF16, INC_OP_PROD, 3, 0x7f7f, 0x3f80, 0x3f81, 0x7f80 },
	/* NaN: the first, made quiet; infinities; zeros */
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x3c00, 0xfc01, 0x7e05, 0xfe01 },
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x7c00, 0xfc00, 0x3c00, 0xfe00 },
	{ INC_DTYPE_FP16, INC_OP_PROD, 3, 0x7c00, 0x8000, 0x3c00, 0xfe00 },
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x8000, 0x8000, 0x8000, 0x8000 },
	{ INC_DTYPE_FP16, INC_OP_SUM, 3, 0x3c00, 0xbc00, 0x8000, 0x0000 },
	{ INC_DTYPE_BF16, INC_OP_SUM, 3, 0x3f80, 0x3f80, 0xff81, 0xffc1 },
	{ INC_DTYPE_BF16, INC_OP_AVG, 3, 0xff80, 0x3f80, 0x3f80, 0xff80 },
};

static void check_known(struct kunit *test, const struct inc_reduce_impl *impl,
			unsigned int k)
{
	struct wide_call c = {
		.impl = impl,
		.ops = inc_reduce_lookup(known[k].dtype, known[k].op),
		.ranks = known[k].ranks,
	};
	struct wide_test *t = test->priv;

	for (c.nelem = 1; c.nelem < MAX_ELEM; c.nelem += 60) {
		struct inc_operand a = { t->buf[A_HI], NULL };
		struct inc_operand b = { t->buf[B_HI], NULL };
		struct inc_operand third = { t->buf[B_LO], NULL };
		struct inc_operand dst = { t->buf[DST_HI], NULL };
		struct inc_operand sum = { a.hi, b.hi };

		for (unsigned int i = 0; i < c.nelem; i++) {
			((u16 *)a.hi)[i] = known[k].a;
			((u16 *)b.hi)[i] = known[k].b;
			((u16 *)third.hi)[i] = known[k].c;
		}
		run(&c, sum, a, b);
		run(&c, dst, sum, third);
		for (unsigned int i = 0; i < c.nelem; i++)
			KUNIT_EXPECT_EQ_MSG(test, ((u16 *)dst.hi)[i], known[k].want,
					    "%s, %u", impl ? impl->name : "", k);
	}
}

static void test_known(struct kunit *test)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(known); k++) {
		const struct inc_reduce_impl *impl;

		check_known(test, NULL, k);
		for (int i = 0; (impl = inc_reduce_impl_at(i)); i++)
			if (impl->wide[known[k].dtype][known[k].op])
				check_known(test, impl, k);
	}
}

/* --- Averages ----------------------------------------------------------------- */

static u64 quotient(u8 dtype, u64 a, u32 ranks)
{
	const struct fp_format *f = fp_format(dtype);

	if (ranks == 1)
		return a;
	return f ? ref_fp_div(a, ranks, f) : ref_int_div(dtype, a, ranks);
}

static void check_finish(struct kunit *test, const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops, unsigned int nelem,
			 u32 ranks)
{
	struct wide_test *t = test->priv;
	const unsigned int len = nelem * ops->size;
	u8 *from = t->buf[A_HI], *dst = t->buf[DST_HI] + BUF_SIZE - len;

	inc_rnd_bytes(&t->rng, from, len);
	for (unsigned int i = 0; i < nelem; i++)
		if (inc_rnd_chance(&t->rng, 200))
			ref_store(from + i * ops->size, ops->dtype,
				  ~0ull >> inc_rnd_below(&t->rng, 64));
	if (inc_rnd_chance(&t->rng, 300))
		dst -= inc_rnd_below(&t->rng, 16);
	memset(t->buf[DST_HI] + AREA_START, CANARY, AREA_SIZE);
	memcpy(dst, from, len);
	if (impl)
		inc_reduce_finish_by(impl, ops, dst, nelem, ranks);
	else
		inc_reduce_finish(ops, dst, nelem, ranks);
	for (unsigned int i = 0; i < nelem; i++) {
		u64 a = ref_load(from + i * ops->size, ops->dtype);

		ref_store(from + i * ops->size, ops->dtype,
			  quotient(ops->dtype, a, ranks));
		KUNIT_ASSERT_EQ_MSG(test, ref_load(dst + i * ops->size, ops->dtype),
				    ref_load(from + i * ops->size, ops->dtype),
				    "%s, dtype %u: 0x%llx / %u, [%u of %u]",
				    impl ? impl->name : "inc_reduce_finish",
				    ops->dtype, (unsigned long long)a, ranks, i,
				    nelem);
	}
	untouched(test, DST_HI, dst, len);
}

static void test_finish(struct kunit *test)
{
	static const u16 some_ranks[] = { 2, 3, 4, 5, 7, 100, 127, 128, 255, 256, 0xffff };
	struct wide_test *t = test->priv;
	const struct inc_reduce_impl *impl;

	for (u8 dtype = 0; dtype <= INC_DTYPE_FP64; dtype++) {
		const struct inc_reduce_ops *ops = inc_reduce_lookup(dtype, INC_OP_AVG);

		for (unsigned int n = 0; n < MAX_ELEM && !ops->wide; n++) {
			u32 ranks = inc_rnd_chance(&t->rng, 500) ?
				2 + inc_rnd_below(&t->rng, 0xfffe) :
				some_ranks[n % ARRAY_SIZE(some_ranks)];

			check_finish(test, NULL, ops, n, ranks);
			check_finish(test, NULL, ops, n, 1);
			for (int i = 0; (impl = inc_reduce_impl_at(i)); i++)
				if (impl->div[dtype])
					check_finish(test, impl, ops, n, ranks);
		}
	}
}

/*
 * Wrapped sums are divided toward zero; other rows, wide ones included, stay as
 * they are.
 */
static void test_finish_known(struct kunit *test)
{
	static const struct {
		u8	dtype, op;
		u16	ranks;
		u64	sum, want;
	} sums[] = {
		{ INC_DTYPE_INT32, INC_OP_AVG, 2, (u64)-7, (u64)-3 },
		{ INC_DTYPE_INT32, INC_OP_AVG, 2, 7, 3 },
		{ INC_DTYPE_INT8, INC_OP_AVG, 3, 0x80, (u64)-42 },
		{ INC_DTYPE_UINT8, INC_OP_AVG, 3, 0x80, 42 },
		{ INC_DTYPE_INT8, INC_OP_AVG, 300, 0x7f, 0 },
		{ INC_DTYPE_INT64, INC_OP_AVG, 2, 1ull << 63, 3ull << 62 },
		{ INC_DTYPE_UINT64, INC_OP_AVG, 2, 1ull << 63, 1ull << 62 },
		{ INC_DTYPE_FP32, INC_OP_AVG, 3, 0x40000000, 0x3f2aaaab },
		{ INC_DTYPE_FP32, INC_OP_AVG, 2, 0x00000003, 0x00000002 },
		{ INC_DTYPE_FP32, INC_OP_AVG, 2, 0xff800001, 0xffc00001 },
		{ INC_DTYPE_FP32, INC_OP_AVG, 1, 0xff800001, 0xff800001 },
		{ INC_DTYPE_FP64, INC_OP_AVG, 10, 0x3ff0000000000000, 0x3fb999999999999a },
		{ INC_DTYPE_FP64, INC_OP_SUM, 10, 0x3ff0000000000000, 0x3ff0000000000000 },
		{ INC_DTYPE_FP16, INC_OP_AVG, 2, 0x3c00, 0x3c00 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(sums); i++) {
		u8 dst[8];

		ref_store(dst, sums[i].dtype, sums[i].sum);
		inc_reduce_finish(inc_reduce_lookup(sums[i].dtype, sums[i].op), dst,
				  1, sums[i].ranks);
		KUNIT_EXPECT_EQ_MSG(test, ref_load(dst, sums[i].dtype),
				    sums[i].want, "%u", i);
	}
}

static int wide_test_init(struct kunit *test)
{
	struct wide_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	inc_rng_init(&t->rng, test);
	if (!inc_test_bufs_alloc(t->buf, NR_PLANES, BUF_SIZE))
		return -ENOMEM;
	/* The module did this at load; in a standalone test nobody did. */
	if (!inc_reduce_impl_at(0))
		inc_reduce_init();
	return 0;
}

static void wide_test_exit(struct kunit *test)
{
	struct wide_test *t = test->priv;

	if (t)
		inc_test_bufs_free(t->buf, NR_PLANES);
}

static struct kunit_case wide_test_cases[] = {
	KUNIT_CASE(test_known),
	KUNIT_CASE(test_random),
	KUNIT_CASE(test_alias),
	KUNIT_CASE(test_lengths),
	KUNIT_CASE(test_all_values),
	KUNIT_CASE(test_finish),
	KUNIT_CASE(test_finish_known),
	{}
};

static struct kunit_suite wide_test_suite = {
	.name = "rdma_inc_reduce_wide",
	.init = wide_test_init,
	.exit = wide_test_exit,
	.test_cases = wide_test_cases,
};

kunit_test_suite(wide_test_suite);

MODULE_LICENSE("GPL");
