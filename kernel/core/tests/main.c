// SPDX-License-Identifier: GPL-2.0
/*
 * The module rdma_inc_kunit: the core of rdma_inc, linked a second time, and
 * its tests. KUnit runs them when the module is loaded.
 */
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "common.h"
#include "core/icrc.h"
#include "core/reduce/reduce.h"

static ulong seed = INC_TEST_SEED;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the random tests");

/* Under KASAN every allocation of a test is slow. */
static uint rounds = IS_ENABLED(CONFIG_KASAN) ? 10 : 100;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often random tests are repeated, percent");

/**
 * inc_test_seed() - get the seed of random tests
 *
 * Return: the seed.
 */
u64 inc_test_seed(void)
{
	return seed;
}

/**
 * inc_test_rounds() - get the number of rounds of a random test
 * @n: default
 *
 * Return: number of rounds.
 */
unsigned int inc_test_rounds(unsigned int n)
{
	return max(n * rounds / 100, 1);
}

static int __init inc_kunit_init(void)
{
	inc_reduce_init();
	inc_icrc_init();
	return 0;
}

static void __exit inc_kunit_exit(void)
{
}

module_init(inc_kunit_init);
module_exit(inc_kunit_exit);

MODULE_DESCRIPTION("KUnit tests of rdma_inc");
MODULE_LICENSE("GPL");
