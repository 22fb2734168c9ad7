// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the detection of a UC member's lost messages.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "common.h"
#include "core/msg_loss.h"

#define SLOTS	64

/* The IDs judged, as a string of digits, counted from @first on. */
static void judge(struct inc_msg_loss *g, u32 first, char *out)
{
	u32 id;

	while (inc_msg_loss_judge(g, &id))
		*out++ = '0' + (id - first);
	*out = 0;
}

static void in_order(struct kunit *test)
{
	const u32 first = 0xfffffffe;
	struct inc_msg_loss g;
	char out[16];

	inc_msg_loss_init(&g, first, SLOTS);
	for (u32 i = 0; i < 6; i++) {
		inc_msg_loss_arrived(&g, first + i, false);
		judge(&g, first, out);
		/* A loss counts once, when three later ones have arrived. */
		if (i < INC_MSG_LOSS_MIN_WINDOW)
			KUNIT_EXPECT_STREQ(test, out, "");
		else
			KUNIT_EXPECT_EQ(test, out[0] - '0',
					i - INC_MSG_LOSS_MIN_WINDOW);
	}
}

static void hole(struct kunit *test)
{
	struct inc_msg_loss g;
	char out[16];

	inc_msg_loss_init(&g, 0, SLOTS);
	inc_msg_loss_arrived(&g, 4, false);
	judge(&g, 0, out);
	KUNIT_EXPECT_STREQ(test, out, "01");
	/* A retransmitted one is not judged a second time. */
	inc_msg_loss_arrived(&g, 0, false);
	judge(&g, 0, out);
	KUNIT_EXPECT_STREQ(test, out, "");
	KUNIT_EXPECT_EQ(test, g.next, 5U);
	KUNIT_EXPECT_EQ(test, g.reorder_window, INC_MSG_LOSS_MIN_WINDOW);
}

static void overtaken(struct kunit *test)
{
	struct inc_msg_loss g;
	char out[16];

	inc_msg_loss_init(&g, 0, SLOTS);
	inc_msg_loss_arrived(&g, 6, false);
	judge(&g, 0, out);
	KUNIT_EXPECT_STREQ(test, out, "0123");
	inc_msg_loss_arrived(&g, 0, true);
	KUNIT_EXPECT_EQ(test, g.reorder_window, 7);
	inc_msg_loss_arrived(&g, 5, true);
	KUNIT_EXPECT_EQ(test, g.reorder_window, 7);
	inc_msg_loss_arrived(&g, 10, false);
	judge(&g, 0, out);
	KUNIT_EXPECT_STREQ(test, out, "");
	inc_msg_loss_arrived(&g, 11, false);
	judge(&g, 0, out);
	KUNIT_EXPECT_STREQ(test, out, "4");
	inc_msg_loss_arrived(&g, 1000, false);
	inc_msg_loss_arrived(&g, 13, true);
	KUNIT_EXPECT_EQ(test, g.reorder_window, INC_MSG_LOSS_MAX_WINDOW);
}

/* A member that leaves out more than there are slots. */
static void far_ahead(struct kunit *test)
{
	struct inc_msg_loss g;
	u32 id;

	inc_msg_loss_init(&g, 0, SLOTS);
	inc_msg_loss_arrived(&g, 10 * SLOTS, false);
	KUNIT_ASSERT_TRUE(test, inc_msg_loss_judge(&g, &id));
	KUNIT_EXPECT_EQ(test, id, 9U * SLOTS + 1);
}

/* Any order: each ID is judged at most once, in order, never too early. */
static void any_order(struct kunit *test)
{
	unsigned int rounds = inc_test_rounds(20000);
	const u64 arrived = 1ULL << 32;
	struct inc_msg_loss g;
	u32 expect = 0xffffff00, id;
	static u64 last[256];
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	inc_msg_loss_init(&g, expect, SLOTS);
	memset(last, 0, sizeof(last));
	while (rounds--) {
		id = g.next + inc_rnd_below(&rng, 12) - 8;
		if (!inc_rnd_below(&rng, 50))
			id = g.next + inc_rnd_below(&rng, 160) - 80;
		inc_msg_loss_arrived(&g, id, inc_rnd_below(&rng, 2));
		last[id % 256] = arrived | id;
		id = g.next - 1 - inc_rnd_below(&rng, 80);
		KUNIT_ASSERT_EQ(test, inc_msg_loss_seen(&g, id),
				g.next - id <= INC_MSG_LOSS_SEEN &&
				last[id % 256] == (arrived | id));
		KUNIT_ASSERT_FALSE(test, inc_msg_loss_seen(&g, g.next));
		while (inc_msg_loss_judge(&g, &id)) {
			/* Messages that all slots are ahead of are left out. */
			KUNIT_ASSERT_GE(test, (s32)(id - expect), 0);
			expect = id;
			KUNIT_ASSERT_GT(test, g.next - id,
					INC_MSG_LOSS_MIN_WINDOW);
			expect++;
		}
		KUNIT_ASSERT_LE(test, g.next - g.judged, g.reorder_window);
	}
}

static struct kunit_case gap_cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(hole),
	KUNIT_CASE(overtaken),
	KUNIT_CASE(far_ahead),
	KUNIT_CASE(any_order),
	{}
};

static struct kunit_suite gap_suite = {
	.name = "rdma_inc_msg_loss",
	.test_cases = gap_cases,
};

kunit_test_suite(gap_suite);

MODULE_LICENSE("GPL");
