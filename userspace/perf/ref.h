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

/**
 * struct ref_data - data that the ranks send
 * @dtype: data type
 * @pattern: kind of data
 * @seed: the same for all ranks
 * @nranks: number of ranks
 * @vals: room for an element of each rank
 */
struct ref_data {
	enum inc_dtype		dtype;
	enum ref_pattern	pattern;
	uint64_t		seed;
	unsigned int		nranks;
	struct ref_elem		*vals;
};

bool ref_knows(enum inc_dtype dtype, enum inc_op op);
void ref_inputs(const struct ref_data *d, unsigned int rank, uint64_t first,
		size_t n, void *to);
void ref_results(const struct ref_data *d, enum inc_op op, uint64_t first,
		 size_t n, void *to);
uint64_t ref_hash(const void *buf, size_t len);

#endif /* INC_PERF_REF_H */
