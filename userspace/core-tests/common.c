// SPDX-License-Identifier: GPL-2.0
/* Seed and number of rounds of the random tests, from the environment. */
#include <stdlib.h>

#include "core/icrc.h"
#include "core/reduce/reduce.h"
#include "core/tests/common.h"

/* User space has more time than a kernel under test. */
#define DEFAULT_ROUNDS	500	/* percent */

u64 inc_test_seed(void)
{
	const char *seed = getenv("INC_SEED");

	return seed ? strtoull(seed, NULL, 0) : INC_TEST_SEED;
}

unsigned int inc_test_rounds(unsigned int rounds)
{
	const char *percent = getenv("INC_ROUNDS");

	rounds = rounds *
		 (percent ? strtoul(percent, NULL, 0) : DEFAULT_ROUNDS) / 100;
	return rounds ? rounds : 1;
}

/* The module does this when it is loaded. */
static void __attribute__((__constructor__)) make_tables(void)
{
	inc_reduce_init();
	inc_icrc_init();
}
