// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the oldest of a member's messages that wait.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "common.h"
#include "core/oldest.h"

#define SLOTS	64

struct oldest_test {
	struct inc_oldest	o;
	struct inc_oldest_entry	entry[SLOTS];
	u32			msg_id[SLOTS];	/* of each slot, the next one */
	bool			waits[SLOTS];
};

static int oldest_init(struct kunit *test)
{
	struct oldest_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->o.entry = t->entry;
	test->priv = t;
	return 0;
}

/* The oldest message is the one that a search finds, at either side of it. */
static void expect_oldest(struct kunit *test, struct oldest_test *t)
{
	u32 oldest = 0;
	u16 slot, n = 0;

	for (slot = 0; slot < SLOTS; slot++) {
		if (!t->waits[slot])
			continue;
		if (!n++ || (s32)(t->msg_id[slot] - oldest) < 0)
			oldest = t->msg_id[slot];
	}
	KUNIT_ASSERT_EQ(test, t->o.n, n);
	KUNIT_ASSERT_TRUE(test, inc_oldest_is(&t->o, oldest));
	KUNIT_ASSERT_TRUE(test, inc_oldest_is(&t->o, oldest - 1));
	KUNIT_ASSERT_EQ(test, inc_oldest_is(&t->o, oldest + 1), !n);
}

/* A message begins in a slot, or the one that waits there ends. */
static void turn(struct kunit *test, struct oldest_test *t, u16 slot)
{
	if (t->waits[slot]) {
		inc_oldest_del(&t->o, slot);
		t->msg_id[slot] += SLOTS;
	} else {
		inc_oldest_add(&t->o, t->msg_id[slot], slot);
	}
	t->waits[slot] = !t->waits[slot];
	expect_oldest(test, t);
}

/* Any slot, each at its own pace, some far ahead; IDs wrap. */
static void any_order(struct kunit *test)
{
	unsigned int rounds = inc_test_rounds(20000);
	struct oldest_test *t = test->priv;
	struct inc_rng rng;
	u16 slot;

	inc_rng_init(&rng, test);
	for (slot = 0; slot < SLOTS; slot++)
		t->msg_id[slot] = slot - 1000 * SLOTS;
	expect_oldest(test, t);
	while (rounds--) {
		slot = inc_rnd_below(&rng, 1 + inc_rnd_below(&rng, SLOTS));
		if (!t->waits[slot] && inc_rnd_chance(&rng, 10))
			t->msg_id[slot] += inc_rnd_below(&rng, 1000) * SLOTS;
		turn(test, t, slot);
	}
}

/* All slots in order, as clients use them; first in, first out, or reversed. */
static void in_order(struct kunit *test)
{
	struct oldest_test *t = test->priv;
	u16 slot;

	for (slot = 0; slot < SLOTS; slot++)
		t->msg_id[slot] = slot;
	for (slot = 0; slot < SLOTS; slot++)
		turn(test, t, slot);
	for (slot = 0; slot < SLOTS; slot++)
		turn(test, t, slot);
	for (slot = 0; slot < SLOTS; slot++)
		turn(test, t, slot);
	for (slot = SLOTS; slot--;)
		turn(test, t, slot);
}

static struct kunit_case oldest_cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(any_order),
	{}
};

static struct kunit_suite oldest_suite = {
	.name = "rdma_inc_oldest",
	.init = oldest_init,
	.test_cases = oldest_cases,
};

kunit_test_suite(oldest_suite);

MODULE_LICENSE("GPL");
