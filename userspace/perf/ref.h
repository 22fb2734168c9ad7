/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a reduction has to give, bit for bit: an implementation of its own,
 * that shares nothing with the switch's. Elements are bits in a uint64_t.
 */
#ifndef INC_PERF_REF_H
#define INC_PERF_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <inc/inc.h>

enum ref_pattern {
	REF_RANDOM,	/* integers of all sizes, floats whose sums are rounded */
	REF_SPECIAL,	/* NaN, infinity, signed zero, subnormal, limits */
};

bool ref_knows(enum inc_dtype dtype, enum inc_op op);
uint64_t ref_input(enum inc_dtype dtype, enum ref_pattern pattern,
		   uint64_t seed, unsigned int rank, uint64_t index);
uint64_t ref_reduce(enum inc_dtype dtype, enum inc_op op, uint64_t *vals,
		    unsigned int n);
uint64_t ref_load(const void *buf, size_t esize, size_t index);
void ref_store(void *buf, size_t esize, size_t index, uint64_t bits);
uint64_t ref_hash(const void *buf, size_t len);

#endif /* INC_PERF_REF_H */
