/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Random inputs, and what went wrong with them. Each test is one file, so this
 * is its own: @state is the seed until the first any().
 */
#ifndef INC_MANAGER_TESTS_FUZZ_H
#define INC_MANAGER_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static unsigned int failures;
static uint64_t state;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("failed: %s\n", what);
	failures++;
}

/* A number below @n. */
static uint32_t any(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

#endif /* INC_MANAGER_TESTS_FUZZ_H */
