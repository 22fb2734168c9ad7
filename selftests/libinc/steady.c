// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * live steady FILE [COMMUNICATORS]: sums of floats until there is that file, one after
 * another and several at once, while the trees move. Each has the bits of the first
 * one, and the longest shows how long a move holds the ranks up. With the environment's
 * IDLE, the last communicator is used only at the end; with LATE, the last rank is so
 * many milliseconds late there each time, and the others wait; with TEST, ranks never
 * wait, but test.
 */
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"
#include "rank.h"

#define COUNT	1000
#define AT_ONCE	4	/* every eighth time */
#define PAUSE_US 500
#define COMMS	4

struct job {
	struct inc_comm	*comm;
	float		in[COUNT];
	float		out[AT_ONCE][COUNT];
	float		first[COUNT];
	unsigned long	n;
	unsigned long	differ;
	double		longest;
	double		longest_at;
};

/* Sums whose bits depend on the order of the ranks. */
static void fill(struct job *j, int rank, unsigned int seed)
{
	int i;

	srand(seed + (unsigned int)rank);
	for (i = 0; i < COUNT; i++)
		j->in[i] = (float)(rand() - RAND_MAX / 2) / 1e3f;
}

static void compare(struct job *j, int n)
{
	int i;

	if (!j->n)
		memcpy(j->first, j->out[0], sizeof(j->first));
	for (i = 0; i < n; i++)
		j->differ += !!memcmp(j->first, j->out[i], sizeof(j->first));
	j->n += (unsigned long)n;
}

static void finish(struct inc_request *req)
{
	int done = 0;

	if (!getenv("TEST"))
		MUST(inc_request_wait(req));
	while (!done && getenv("TEST")) {
		MUST(inc_request_test(req, &done));
		sched_yield();
	}
	inc_request_free(req);
}

static void sum(struct job *j, int n)
{
	struct inc_request *req[AT_ONCE];
	int i;

	for (i = 0; i < n; i++)
		MUST(inc_iallreduce(j->comm, j->in, j->out[i], COUNT,
				    INC_DTYPE_FP32, INC_OP_SUM, &req[i]));
	for (i = 0; i < n; i++)
		finish(req[i]);
	compare(j, n);
}

/* In place: what is sent must not be lost if the tree fails. */
static void sum_in_place(struct job *j)
{
	struct inc_request *req;

	memcpy(j->out[0], j->in, sizeof(j->in));
	MUST(inc_iallreduce(j->comm, INC_IN_PLACE, j->out[0], COUNT,
			    INC_DTYPE_FP32, INC_OP_SUM, &req));
	finish(req);
	compare(j, 1);
}

static bool turn(struct job *j, double begin, const char *file)
{
	int32_t end = !access(file, F_OK);
	double t = live_now_ms(), took;
	struct inc_request *req;

	MUST(inc_iallreduce(j->comm, INC_IN_PLACE, &end, 1, INC_DTYPE_INT32,
			    INC_OP_MAX, &req));
	finish(req);
	if (j->n % 8 == 7)
		sum(j, AT_ONCE);
	else if (j->n % 8 == 3)
		sum_in_place(j);
	else
		sum(j, 1);
	took = live_now_ms() - t;
	if (took > j->longest) {
		j->longest = took;
		j->longest_at = t - begin;
	}
	return !end;
}

int live_steady(int rank, int nranks, int argc, char **argv)
{
	double begin = live_now_ms();
	int comms = argc > 1 ? atoi(argv[1]) : 1, i;
	int busy = getenv("IDLE") ? comms - 1 : comms;
	const char *late = getenv("LATE");
	static struct job jobs[COMMS];
	bool go = true;
	char name[8];

	for (i = 0; i < comms; i++) {
		snprintf(name, sizeof(name), i ? "-%d" : "", i);
		jobs[i].comm = live_join(name, rank, nranks);
		fill(&jobs[i], rank, (unsigned int)i + 7);
	}
	while (go) {
		for (i = 0; i < busy; i++) {
			if (late && rank == nranks - 1 && i == comms - 1)
				usleep((useconds_t)atoi(late) * 1000);
			go &= turn(&jobs[i], begin, argv[0]);
		}
		usleep(PAUSE_US);
	}
	for (i = busy; i < comms; i++)
		turn(&jobs[i], begin, argv[0]);
	for (i = 0; i < comms; i++) {
		printf("steady rank %d: %lu sums, %lu differ, longest %.1f ms at %.0f\n",
		       rank, jobs[i].n, jobs[i].differ, jobs[i].longest,
		       jobs[i].longest_at);
		EQ(jobs[i].differ, 0);
		EQ(inc_comm_destroy(jobs[i].comm), 0);
	}
	return live_errors ? 1 : 0;
}
