// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic on PSNs, against 64-bit counters that never wrap.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "common.h"
#include "core/psn.h"

#define HALF	0x800000		/* half of the circle */

struct add_row {
	u32	psn;
	s32	n;
	u32	want;
};

static void add(struct kunit *test)
{
	static const struct add_row rows[] = {
		{ 0, 0, 0 },
		{ 0, 1, 1 },
		{ 0, -1, 0xffffff },
		{ 0xffffff, 1, 0 },
		{ 0xffffff, 0, 0xffffff },
		{ 0xffffff, 2, 1 },
		{ 5, -6, 0xffffff },
		{ 0x7fffff, 1, 0x800000 },
		{ 0x800000, -1, 0x7fffff },
		{ 0, HALF, 0x800000 },
		{ 0, -HALF, 0x800000 },
		{ 0xfffff0, 0x20, 0x10 },
		{ 0x10, -0x20, 0xfffff0 },
		{ 0x123456, 0x1000000, 0x123456 },
		{ 0x123456, -0x1000000, 0x123456 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, inc_psn_add(rows[i].psn, rows[i].n),
				    rows[i].want, "row %u", i);
}

struct diff_row {
	u32	a, b;
	s32	want;
};

static void diff(struct kunit *test)
{
	static const struct diff_row rows[] = {
		{ 0, 0, 0 },
		{ 0xffffff, 0xffffff, 0 },
		{ 1, 0, 1 },
		{ 0, 1, -1 },
		{ 0, 0xffffff, 1 },
		{ 0xffffff, 0, -1 },
		{ 0x10, 0xfffff0, 0x20 },
		{ 0xfffff0, 0x10, -0x20 },
		{ 0x7fffff, 0x800000, -1 },
		{ 0x800000, 0x7fffff, 1 },
		/* The ends of the two halves. */
		{ 0x7fffff, 0, HALF - 1 },
		{ 0x800000, 0, -HALF },
		{ 0x800001, 0, -HALF + 1 },
		{ 0, 0x7fffff, -HALF + 1 },
		{ 0, 0x800000, -HALF },
		{ 0, 0x800001, HALF - 1 },
		{ 0x7ffffe, 0xffffff, HALF - 1 },
		{ 0x7fffff, 0xffffff, -HALF },
		{ 0xffffff, 0x7fffff, -HALF },
		{ 0xffffff, 0x800000, HALF - 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, inc_psn_diff(rows[i].a, rows[i].b),
				    rows[i].want, "row %u", i);
}

/* Every distance of the circle, from a few places. */
static void whole_circle(struct kunit *test)
{
	static const u32 from[] = { 0, 1, 0x7fffff, 0x800000, 0xfffffe, 0xffffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(from); i++) {
		for (s32 d = -HALF; d < HALF; d += i ? 4093 : 1) {
			u32 psn = inc_psn_add(from[i], d);

			KUNIT_ASSERT_EQ(test, psn & ~0xffffffU, 0U);
			KUNIT_ASSERT_EQ_MSG(test, inc_psn_diff(psn, from[i]), d,
					    "from 0x%x", from[i]);
		}
	}
}

/* Two counters of 64 bits less than half a circle apart, seen as PSNs. */
static void counters(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(100000);
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		u64 a = inc_rnd(&rng) >> 1;
		s32 d = (s32)inc_rnd_below(&rng, 2 * HALF) - HALF;
		u64 b = a + (s64)d;

		KUNIT_ASSERT_EQ_MSG(test,
				    inc_psn_diff(b & 0xffffff, a & 0xffffff), d,
				    "0x%llx and 0x%llx", (unsigned long long)a,
				    (unsigned long long)b);
		KUNIT_ASSERT_EQ(test, inc_psn_add(a & 0xffffff, d),
				(u32)(b & 0xffffff));
		KUNIT_ASSERT_EQ(test, inc_psn_add(b & 0xffffff, -d),
				(u32)(a & 0xffffff));
	}
}

/* Of two different PSNs one is before the other, unless they are opposite. */
static void antisymmetric(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(100000);
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		u32 a = inc_rnd_below(&rng, 1 << 24);
		u32 b = inc_rnd_below(&rng, 1 << 24);
		s32 ab = inc_psn_diff(a, b), ba = inc_psn_diff(b, a);

		if (ab == -HALF)
			KUNIT_ASSERT_EQ(test, ba, -HALF);
		else
			KUNIT_ASSERT_EQ_MSG(test, ab, -ba, "0x%x, 0x%x", a, b);
		KUNIT_ASSERT_EQ(test, inc_psn_add(b, ab), a);
	}
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(add),
	KUNIT_CASE(diff),
	KUNIT_CASE(whole_circle),
	KUNIT_CASE(counters),
	KUNIT_CASE(antisymmetric),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "rdma_inc_psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);

MODULE_LICENSE("GPL");
