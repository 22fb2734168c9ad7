/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Output of inc-perf: a table, or JSON that selftests/bench/perf-diff.py reads.
 */
#ifndef INC_PERF_OUTPUT_H
#define INC_PERF_OUTPUT_H

#include "opts.h"

/**
 * struct sample - latencies of the ranks in one repetition, in microseconds
 * @avg: their average
 * @min: the fastest rank's
 * @max: the slowest rank's
 */
struct sample {
	double	avg;
	double	min;
	double	max;
};

/**
 * struct result - results for one size
 * @coll: enum inc_collective, or KIND_MIX
 * @nranks: number of ranks
 * @count: elements of a block
 * @size: bytes of a block
 * @blocks: blocks in the largest buffer of any rank
 * @checks: verified operations
 * @kinds: mask of the verified collectives
 * @samples: one per repetition, or NULL if nothing was timed
 * @nsamples: their number
 */
struct result {
	int		coll;
	int		nranks;
	size_t		count;
	size_t		size;
	size_t		blocks;
	long		checks;
	unsigned int	kinds;
	struct sample	*samples;
	long		nsamples;
};

void output_header(const struct perf_options *o,
		   const struct inc_comm_info *info, int nranks);
void output_result(const struct perf_options *o, const struct result *r,
		   unsigned int earlier);
void output_footer(const struct perf_options *o,
		   const struct inc_comm_info *info);

#endif /* INC_PERF_OUTPUT_H */
