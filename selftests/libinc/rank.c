// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A rank of the live tests. */
#include <stdlib.h>
#include <time.h>

#include "rank.h"

int live_errors;

double live_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct inc_comm *live_join(const char *suffix, int rank, int nranks)
{
	struct inc_comm_opts o = INC_COMM_OPTS_INIT;
	struct inc_comm *comm = NULL;
	char job[INC_JOB_MAX + 1], err[512] = "";
	int ret;

	snprintf(job, sizeof(job), "%s%s", getenv("INC_JOB"), suffix);
	o.job = job;
	o.rank = rank;
	o.nranks = nranks;
	o.errbuf = err;
	o.errbuf_len = sizeof(err);
	ret = inc_comm_create(&comm, &o);
	if (ret) {
		printf("communicator %s, rank %d of %d: %d: %s\n", job, rank,
		       nranks, ret, err);
		exit(1);
	}
	return comm;
}
