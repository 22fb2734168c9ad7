// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-perf --communicators: the time to create further communicators, to run
 * their first operation, and to destroy them. All exist at the same time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/clock.h"
#include "opts.h"

enum phase { CREATE, FIRST, DESTROY, PHASES };

static const char *const phase_names[PHASES] = { "create", "first", "destroy" };

struct comms {
	const struct perf_options	*o;
	struct inc_comm		*all;	/* communicator of the main job */
	struct inc_comm		**comm;
	double			*us[PHASES];
	long			n;
	int			rank;
};

static int report_failure(const struct comms *c, const char *what, long i,
			  int err, const char *text)
{
	fprintf(stderr, "inc-perf: rank %d: %s communicator %ld of %ld: %s\n",
		c->rank, what, i + 1, c->n,
		text && *text ? text : inc_strerror(err));
	return err;
}

/* Create a communicator. A barrier first, to exclude other ranks' lateness. */
static int create_comm(struct comms *c, long i)
{
	struct inc_comm_opts opts = c->o->comm;
	char job[INC_JOB_MAX + 1], err[512] = "";
	double t;
	int ret;

	snprintf(job, sizeof(job), "%.40s.%ld",
		 opts.job ? opts.job : getenv("INC_JOB"), i);
	opts.job = job;
	opts.errbuf = err;
	opts.errbuf_len = sizeof(err);
	ret = inc_barrier(c->all);
	if (ret)
		return report_failure(c, "barrier before", i, ret, NULL);
	t = now_us();
	ret = inc_comm_create(&c->comm[i], &opts);
	c->us[CREATE][i] = now_us() - t;
	return ret ? report_failure(c, "creating", i, ret, err) : 0;
}

static int run_first(struct comms *c, long i)
{
	int32_t sum = 1;
	double t = now_us();
	int ret;

	ret = inc_allreduce(c->comm[i], INC_IN_PLACE, &sum, 1, INC_DTYPE_INT32,
			    INC_OP_SUM);
	c->us[FIRST][i] = now_us() - t;
	if (!ret && sum != inc_comm_size(c->comm[i]))
		ret = -EILSEQ;
	return ret ? report_failure(c, "operation of", i, ret, NULL) : 0;
}

static void destroy_comm(struct comms *c, long i)
{
	double t = now_us();

	inc_comm_destroy(c->comm[i]);
	c->comm[i] = NULL;
	c->us[DESTROY][i] = now_us() - t;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Report the times of the slowest rank. */
static int report_times(struct comms *c)
{
	enum phase p;
	int ret;

	for (p = 0; p < PHASES; p++) {
		ret = inc_allreduce(c->all, INC_IN_PLACE, c->us[p],
				    (size_t)c->n, INC_DTYPE_FP64, INC_OP_MAX);
		if (ret)
			return report_failure(c, "times of", c->n - 1, ret,
					      NULL);
		qsort(c->us[p], (size_t)c->n, sizeof(double), by_value);
	}
	if (c->rank)
		return 0;
	if (c->o->json)
		printf("{\"communicators\":%ld,\"ranks\":%d", c->n,
		       inc_comm_size(c->all));
	else
		printf("# inc-perf communicators: %ld more, %d ranks\n# %-10s %12s %12s %12s\n",
		       c->n, inc_comm_size(c->all), "Phase", "Median(us)",
		       "Min(us)", "Max(us)");
	for (p = 0; p < PHASES; p++)
		printf(c->o->json ?
			       ",\"%s\":{\"median_us\":%.1f,\"min_us\":%.1f,\"max_us\":%.1f}" :
			       "%-12s %12.1f %12.1f %12.1f\n", phase_names[p],
		       c->us[p][c->n / 2], c->us[p][0], c->us[p][c->n - 1]);
	if (c->o->json)
		puts("}");
	return 0;
}

/*
 * Measure --communicators. Returns 0 or a negative errno value, after a
 * message.
 */
int comms_run(const struct perf_options *o, struct inc_comm *all)
{
	struct comms c = {
		.o = o, .all = all, .n = o->comms, .rank = inc_comm_rank(all),
	};
	double *us = calloc((size_t)c.n * PHASES, sizeof(*us));
	int ret = 0;
	long i;

	c.comm = calloc((size_t)c.n, sizeof(*c.comm));
	if (!us || !c.comm) {
		ret = report_failure(&c, "memory for", c.n - 1, -ENOMEM, NULL);
		goto out;
	}
	for (i = 0; i < PHASES; i++)
		c.us[i] = us + i * c.n;
	for (i = 0; i < c.n && !ret; i++) {
		ret = create_comm(&c, i);
		if (!ret)
			ret = run_first(&c, i);
	}
	if (!ret)
		ret = inc_barrier(all);
	for (i = 0; i < c.n; i++)
		if (c.comm[i])
			destroy_comm(&c, i);
	if (!ret)
		ret = report_times(&c);
out:
	free(c.comm);
	free(us);
	return ret;
}
