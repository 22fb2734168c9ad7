/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The command line of inc-perf.
 */
#ifndef INC_PERF_OPTS_H
#define INC_PERF_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <inc/inc.h>

#include "kind.h"
#include "ref.h"

#define MAX_OUTSTANDING	64
#define MAX_REPS	1000
#define MAX_COUNTS	64

enum reg { REG_PIN, REG_EACH, REG_CACHE };

struct perf_options {
	struct inc_comm_opts	comm;
	int			coll;		/* or KIND_MIX */
	int			root;		/* -1: varies */
	enum inc_dtype		dtype;
	enum inc_op		op;
	size_t			min;		/* bytes */
	size_t			max;
	size_t			counts[MAX_COUNTS]; /* --count, elements */
	unsigned int		ncounts;
	long			iterations;	/* -1: by size */
	long			warmup;		/* -1: by size */
	long			reps;
	long			checks;		/* verified runs per size */
	long			runs;		/* with the same data */
	long			outstanding;
	long			pause_us;	/* before each operation */
	long			comms;		/* --communicators */
	uint64_t		seed;
	enum ref_pattern	pattern;
	bool			in_place;
	bool			persistent;
	bool			json;
	enum reg		reg;
};

#define OPTIONS_INIT				\
	{					\
		.comm = INC_COMM_OPTS_INIT,	\
		.coll = INC_COLL_ALLREDUCE,	\
		.dtype = INC_DTYPE_FP32,	\
		.op = INC_OP_SUM,		\
		.min = 4,			\
		.max = 1 << 20,			\
		.iterations = -1,		\
		.warmup = -1,			\
		.reps = 1,			\
		.outstanding = 1,		\
		.seed = 1,			\
	}

/* comms.c */
int comms_run(const struct perf_options *o, struct inc_comm *all);

/* opts.c */
int options_parse(struct perf_options *o, int argc, char **argv);

#endif /* INC_PERF_OPTS_H */
