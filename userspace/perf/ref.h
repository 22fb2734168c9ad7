/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Bit-exact reference of reductions: an independent implementation, which
 * shares no code with the switch.
 */
#ifndef INC_PERF_REF_H
#define INC_PERF_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <inc/inc.h>

enum ref_pattern {
	REF_RANDOM,	/* any integers, floats with rounded sums */
	REF_SPECIAL,	/* NaN, infinity, signed zero, subnormal, limits */
};

/* Bits of an element: its first 8 bytes, and the remaining ones. */
struct ref_elem {
	uint64_t	lo;
	uint64_t	hi;
};

bool ref_knows(enum inc_dtype dtype, enum inc_op op);
struct ref_elem ref_input(enum inc_dtype dtype, enum ref_pattern pattern,
			  uint64_t seed, unsigned int rank, uint64_t index);
struct ref_elem ref_reduce(enum inc_dtype dtype, enum inc_op op,
			   struct ref_elem *vals, unsigned int n);
struct ref_elem ref_load(const void *buf, size_t esize, size_t index);
void ref_store(void *buf, size_t esize, size_t index, struct ref_elem e);
uint64_t ref_hash(const void *buf, size_t len);

#endif /* INC_PERF_REF_H */
