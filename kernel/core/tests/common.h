/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the unit tests: random numbers from a seed that is printed, and buffers
 * that end at a page that faults. main.c is the kernel's part,
 * userspace/core-tests/common.c the part of user space.
 */
#ifndef _INC_TESTS_COMMON_H
#define _INC_TESTS_COMMON_H

#include <kunit/test.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

#define INC_TEST_SEED	0x696e632d72646d61ULL

/**
 * struct inc_rng - random numbers, splitmix64
 * @state: any initial value
 */
struct inc_rng {
	u64	state;
};

/*
 * From the module's parameters, or INC_SEED and INC_ROUNDS of the environment.
 */
u64 inc_test_seed(void);
unsigned int inc_test_rounds(unsigned int rounds);

static inline u64 inc_rnd(struct inc_rng *rng)
{
	u64 z = (rng->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline u32 inc_rnd_below(struct inc_rng *rng, u32 n)
{
	return (u32)(inc_rnd(rng) >> 32) % n;
}

/* True in @permille of 1000 cases. */
static inline bool inc_rnd_chance(struct inc_rng *rng, unsigned int permille)
{
	return inc_rnd_below(rng, 1000) < permille;
}

static inline void inc_rnd_bytes(struct inc_rng *rng, void *buf, size_t len)
{
	u8 *p = buf;

	while (len--)
		*p++ = (u8)inc_rnd(rng);
}

/* A generator for this test, its seed in the log. */
static inline void inc_rng_init(struct inc_rng *rng, struct kunit *test)
{
	rng->state = inc_test_seed();
	kunit_info(test, "seed 0x%llx\n", (unsigned long long)rng->state);
}

/* A page that faults follows a vmalloc() area. False without memory. */
static inline bool inc_test_bufs_alloc(u8 **buf, int n, size_t size)
{
	for (int i = 0; i < n; i++) {
		buf[i] = vmalloc(size);
		if (!buf[i])
			return false;
	}
	return true;
}

static inline void inc_test_bufs_free(u8 **buf, int n)
{
	for (int i = 0; i < n; i++)
		vfree(buf[i]);
}

#endif /* _INC_TESTS_COMMON_H */
