// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of several levels of switches, against one slot with all ranks: any
 * collective, type and operation, any division of the ranks among switches and
 * hosts, packets in any order that the links allow. All results have the same
 * bits, whatever the tree.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "core/rank_range.h"
#include "levels.h"
#include "parts.h"

/* A job on one tree, and on others after it was rebuilt. */
#define TREES	3

static void like_one_switch(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(1000);
	struct slot_test *t = test->priv;
	struct level_plan *plans = vmalloc(TREES * sizeof(*plans));
	u16 ranks;

	KUNIT_ASSERT_NOT_NULL(test, plans);
	for (unsigned int i = 0; i < n; i++) {
		ranks = 2 + inc_rnd_below(&t->rng, inc_rnd_chance(&t->rng, 800) ?
					  14 : LEVEL_RANKS - 1);
		for (unsigned int k = 0; k < TREES; k++)
			level_plan_random(&t->rng, ranks, &plans[k]);
		level_compare(test, &t->rng, plans, TREES);
	}
	vfree(plans);
}

/* By the definition: is this a node of the binary tree over @all ranks? */
static bool is_node(u32 first, u32 end, u32 all)
{
	u32 size;

	for (size = 1; ; size *= 2) {
		if (first % size == 0 && min(first + size, all) == end)
			return true;
		if (size >= all)
			return false;
	}
}

/* Blocks are nodes, follow each other, and are the fewest that there are. */
static void blocks(struct kunit *test)
{
	u16 below[1], least[41], all, first, end, i;

	for (all = 1; all <= 40; all++) {
		for (first = 0; first < all; first++) {
			least[first] = 0;
			for (end = first + 1; end <= all; end++) {
				least[end] = U16_MAX;
				for (i = first; i < end; i++)
					if (is_node(i, end, all))
						least[end] = min(least[end],
								 least[i] + 1);
				below[0] = end - first;
				KUNIT_ASSERT_EQ(test,
						inc_rank_range_fill(NULL, NULL,
								    below, 1,
								    first, all),
						least[end]);
			}
		}
	}
}

static struct kunit_case slot_level_cases[] = {
	KUNIT_CASE(like_one_switch),
	KUNIT_CASE(blocks),
	{}
};

static struct kunit_suite slot_level_suite = {
	.name = "rdma_inc_slot_level",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_level_cases,
};

kunit_test_suite(slot_level_suite);

MODULE_LICENSE("GPL");
