// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the reductions of eight vectors at once, bit for bit: every
 * implementation that this CPU can run, and the one with two operands in a call,
 * against pairs of elements in the tests' own arithmetic.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>

#include "common.h"
#include "core/reduce/reduce_impl.h"
#include "reduce_ref.h"

#define MAX_ELEM	141
#define MAX_SIZE	8

/* Vectors end before a page that faults, less a gap; this much is checked. */
#define BUF_SIZE	PAGE_SIZE
#define AREA_SIZE	(MAX_ELEM * MAX_SIZE + 64)
#define CANARY		0x5a

enum { DST_HI, DST_LO, SRC, NR_VECTORS = SRC + INC_REDUCE_BLOCK };

struct block_test {
	struct inc_rng	rng;
	u8		*buf[NR_VECTORS];
	u64		elem[INC_REDUCE_BLOCK][MAX_ELEM];	/* operands */
};

/* One way to reduce. @impl NULL: inc_reduce_block(), with @simd or without. */
struct block_call {
	const struct inc_reduce_impl	*impl;
	const struct inc_reduce_ops	*ops;
	bool				simd;
	bool				dst_wide;
	bool				in_place;
	unsigned int			nelem;
	unsigned int			ranks;
};

/*
 * Exponents near each other, so that most additions round, and pairs that cancel;
 * now and then anything, NaNs and infinities among that.
 */
static u64 random_elem(struct block_test *t, u8 dtype, unsigned int src, unsigned int i)
{
	const struct fp_format *f = fp_format(dtype);
	u64 x = inc_rnd(&t->rng), inf, one;

	if (src && inc_rnd_chance(&t->rng, 100))
		return t->elem[src - 1][i] ^ (f ? 1ULL << (f->width - 1) : 1);
	if (!f || inc_rnd_chance(&t->rng, 50))
		return inc_rnd_chance(&t->rng, 100) ? 0 : x;
	inf = ref_fp_inf(f);
	if (inc_rnd_chance(&t->rng, 20))
		return x | inf;
	one = 1ULL << (f->prec - 1);
	return (x & ~inf) | ((inf / 2 & inf) + one * inc_rnd_below(&t->rng, 5));
}

static u64 ref_pair(const struct block_call *c, u64 a, u64 b)
{
	u8 x[MAX_SIZE], y[MAX_SIZE];

	if (c->ops->wide)
		return ref_fp(INC_DTYPE_FP32, c->ops->op, a, b);
	ref_store(x, c->ops->dtype, a);
	ref_store(y, c->ops->dtype, b);
	ref_elem(c->ops->dtype, c->ops->op, x, x, y);
	return ref_load(x, c->ops->dtype);
}

/* The definition: pairs of neighbours, then pairs of them, then the last pair. */
static u64 reference(const struct block_test *t, const struct block_call *c,
		     unsigned int i)
{
	const struct fp_format *f = fp_format(c->ops->dtype);
	u64 v[INC_REDUCE_BLOCK];
	int k, n;

	for (k = 0; k < INC_REDUCE_BLOCK; k++)
		v[k] = c->ops->wide ? ref_fp_convert(t->elem[k][i], f, &ref_fp32) :
		       t->elem[k][i];
	for (n = INC_REDUCE_BLOCK; n > 1; n /= 2)
		for (k = 0; k < n / 2; k++)
			v[k] = ref_pair(c, v[2 * k], v[2 * k + 1]);
	if (!c->ops->wide || c->dst_wide)
		return v[0];
	if (c->ops->op == INC_OP_AVG)
		v[0] = ref_fp_div(v[0], c->ranks, &ref_fp32);
	return ref_fp_convert(v[0], &ref_fp32, f);
}

static void random_operands(struct block_test *t, const struct block_call *c)
{
	const u8 dtype = c->ops->dtype;

	for (unsigned int k = 0; k < INC_REDUCE_BLOCK; k++)
		for (unsigned int i = 0; i < MAX_ELEM; i++) {
			u8 x[MAX_SIZE];

			/* As the type has it: extended by its sign, or cut off. */
			ref_store(x, dtype, random_elem(t, dtype, k, i));
			t->elem[k][i] = ref_load(x, dtype);
		}
}

/* Room for the call's elements @gap bytes before the guard page, amid canaries. */
static u8 *place(struct block_test *t, const struct block_call *c, int i,
		 unsigned int gap)
{
	u8 *end = t->buf[i] + BUF_SIZE;

	memset(end - AREA_SIZE, CANARY, AREA_SIZE);
	return end - gap - (size_t)c->nelem * c->ops->size;
}

static bool only_canary(const u8 *p, const u8 *end)
{
	while (p < end)
		if (*p++ != CANARY)
			return false;
	return true;
}

static bool is_intact(const struct block_test *t, const struct block_call *c, int i,
		      const u8 *p)
{
	const u8 *end = t->buf[i] + BUF_SIZE;

	return only_canary(end - AREA_SIZE, p) &&
	       only_canary(p + (size_t)c->nelem * c->ops->size, end);
}

static void call(const struct block_call *c, struct inc_operand dst, void *const src[])
{
	if (c->impl) {
		inc_reduce_block_by(c->impl, c->ops, dst, src, c->nelem, c->ranks);
	} else if (!c->simd) {
		inc_reduce_block(c->ops, false, dst, src, c->nelem, c->ranks);
	} else {
		/* As if these were a piece of longer vectors. */
		bool simd = inc_reduce_begin(c->ops, max(c->nelem, c->ops->simd_min));

		inc_reduce_block(c->ops, simd, dst, src, c->nelem, c->ranks);
		inc_reduce_end(simd);
	}
}

static u64 result(const struct block_call *c, struct inc_operand dst, unsigned int i)
{
	u16 hi, lo;

	if (!c->dst_wide)
		return ref_load(dst.hi + i * c->ops->size, c->ops->dtype);
	memcpy(&hi, dst.hi + 2 * i, 2);
	memcpy(&lo, dst.lo + 2 * i, 2);
	return (u32)hi << 16 | lo;
}

/* Reduce the first elements of the operands; check them, and the bytes around them. */
static void check(struct kunit *test, const struct block_call *c)
{
	struct block_test *t = test->priv;
	u8 *at[NR_VECTORS];
	struct inc_operand dst;

	for (int i = 0; i < NR_VECTORS; i++)
		at[i] = place(t, c, i, inc_rnd_below(&t->rng, 33));
	for (int k = 0; k < INC_REDUCE_BLOCK; k++)
		for (unsigned int i = 0; i < c->nelem; i++)
			ref_store(at[SRC + k] + i * c->ops->size, c->ops->dtype,
				  t->elem[k][i]);
	dst.hi = at[c->in_place ? SRC : DST_HI];
	dst.lo = c->dst_wide ? at[c->in_place ? SRC + 1 : DST_LO] : NULL;
	call(c, dst, (void **)at + SRC);
	for (unsigned int i = 0; i < c->nelem; i++) {
		u64 want = reference(t, c, i), got = result(c, dst, i);

		if (got == want)
			continue;
		KUNIT_FAIL(test, "%s %d%d%d type %u op %u [%u of %u]: %llx, not %llx",
			   c->impl ? c->impl->name : "inc_reduce_block", c->simd,
			   c->dst_wide, c->in_place, c->ops->dtype, c->ops->op, i,
			   c->nelem, (unsigned long long)got,
			   (unsigned long long)want);
		return;
	}
	for (int i = 0; i < NR_VECTORS; i++)
		KUNIT_EXPECT_TRUE(test, is_intact(t, c, i, at[i]));
}

/* All results that a row may have: narrow or wide, somewhere else or in place. */
static void check_results(struct kunit *test, struct block_call *c)
{
	for (int i = 0; i < (c->ops->wide ? 4 : 2); i++) {
		c->in_place = i & 1;
		c->dst_wide = i & 2;
		check(test, c);
	}
}

static void check_row(struct kunit *test, struct block_call *c)
{
	struct block_test *t = test->priv;
	const struct inc_reduce_impl *impl;

	random_operands(t, c);
	c->ranks = inc_rnd_chance(&t->rng, 500) ? 8 : 8 + inc_rnd_below(&t->rng, 999);
	c->impl = NULL;
	c->simd = false;
	check_results(test, c);
	c->simd = true;
	check_results(test, c);
	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
		c->impl = impl->block[c->ops->dtype][c->ops->op] ? impl : NULL;
		if (c->impl)
			check_results(test, c);
	}
}

/* Each length, of each row. */
static void all_rows(struct kunit *test)
{
	unsigned int rows = 0, pair_rows = 0;

	for (u8 dtype = 0; dtype <= INC_DTYPE_FP64; dtype++) {
		for (u8 op = 0; op < INC_OP_COUNT; op++) {
			struct block_call c = { .ops = inc_reduce_lookup(dtype, op) };

			if (!c.ops)
				continue;
			if (c.ops->simd || c.ops->wide_simd)
				pair_rows++;
			if (!c.ops->block)
				continue;
			rows++;
			for (c.nelem = 0; c.nelem <= MAX_ELEM; c.nelem += 1 + c.nelem / 40)
				check_row(test, &c);
		}
	}
	if (strcmp(inc_reduce_impl(), "avx2"))
		KUNIT_EXPECT_EQ(test, rows, 0u);
	else
		KUNIT_EXPECT_EQ(test, rows, pair_rows);
}

/* The operands tell pairs of neighbours from a chain, and rounded from exact sums. */
static void operands_tell(struct kunit *test)
{
	struct block_test *t = test->priv;
	struct block_call c = {
		.ops = inc_reduce_lookup(INC_DTYPE_FP32, INC_OP_SUM),
	};
	unsigned int differ = 0;

	random_operands(t, &c);
	for (unsigned int i = 0; i < MAX_ELEM; i++) {
		u64 chain = t->elem[0][i];

		for (int k = 1; k < INC_REDUCE_BLOCK; k++)
			chain = ref_pair(&c, chain, t->elem[k][i]);
		differ += chain != reference(t, &c, i);
	}
	KUNIT_EXPECT_GT(test, differ, MAX_ELEM / 4u);
}

static int block_test_init(struct kunit *test)
{
	struct block_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	inc_rng_init(&t->rng, test);
	if (!inc_test_bufs_alloc(t->buf, NR_VECTORS, BUF_SIZE))
		return -ENOMEM;
	/* The module did this at load; in a standalone test nobody did. */
	if (!inc_reduce_impl_at(0))
		inc_reduce_init();
	return 0;
}

static void block_test_exit(struct kunit *test)
{
	struct block_test *t = test->priv;

	if (t)
		inc_test_bufs_free(t->buf, NR_VECTORS);
}

static struct kunit_case block_test_cases[] = {
	KUNIT_CASE(all_rows),
	KUNIT_CASE(operands_tell),
	{}
};

static struct kunit_suite block_test_suite = {
	.name = "rdma_inc_reduce_block",
	.init = block_test_init,
	.exit = block_test_exit,
	.test_cases = block_test_cases,
};

kunit_test_suite(block_test_suite);

MODULE_LICENSE("GPL");
