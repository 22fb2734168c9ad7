// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * As many ranks as a tree may have: each process has some of them, a thread for
 * each, so that a thousand fit into a small machine.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "rank.h"

#define COUNT	2000	/* several packets */
#define MAX	16384
#define ROUNDS	3
#define STACK	(256 * 1024)

static int first, step, total, most = COUNT;

/* Sums that no two ranks, elements or rounds share. */
static void check_allreduce(struct inc_comm *comm, size_t count, int round)
{
	int32_t data[MAX], n = total;
	int rank = inc_comm_rank(comm);
	size_t i;

	for (i = 0; i < count; i++)
		data[i] = (int32_t)i * round + rank;
	EQ(inc_allreduce(comm, INC_IN_PLACE, data, count, INC_DTYPE_INT32,
			 INC_OP_SUM), 0);
	for (i = 0; i < count; i++)
		if (data[i] != n * (int32_t)i * round + n * (n - 1) / 2)
			break;
	EQ(i, count);
}

static void check_broadcast(struct inc_comm *comm, int root)
{
	int32_t data[MAX];
	bool is_root = inc_comm_rank(comm) == root;
	int i;

	for (i = 0; i < most; i++)
		data[i] = is_root ? root + i : -1;
	EQ(inc_broadcast(comm, data, (size_t)most, INC_DTYPE_INT32, root), 0);
	for (i = 0; i < most; i++)
		if (data[i] != root + i)
			break;
	EQ(i, most);
}

static void *run_rank(void *arg)
{
	struct inc_comm *comm = live_join("", first + step * (int)(intptr_t)arg,
					  total);
	double t = live_now_ms();
	int i;

	for (i = 1; i <= ROUNDS; i++) {
		check_allreduce(comm, 1, i);
		check_allreduce(comm, (size_t)most, i);
		check_broadcast(comm, (total - 1) / i);
		EQ(inc_barrier(comm), 0);
	}
	if (!inc_comm_rank(comm))
		printf("# %d ranks: %.1f ms for each of %d collectives\n",
		       total, (live_now_ms() - t) / (4 * ROUNDS), 4 * ROUNDS);
	EQ(inc_comm_destroy(comm), 0);
	return NULL;
}

/**
 * live_ranks() - AllReduces, Broadcasts and Barriers of very many ranks
 * @proc: number of this process
 * @nprocs: number of processes
 * @argc: arguments
 * @argv: of the test: how many ranks each process has; how many elements, at most
 *	16,384, 0 for as many as usual; "blocks"
 *
 * Process p of n has ranks p, p + n, p + 2n, ...; with blocks, those follow each
 * other, as most launchers place them.
 *
 * Return: exit status.
 */
int live_ranks(int proc, int nprocs, int argc, char **argv)
{
	int i, n = argc > 0 ? atoi(argv[0]) : 8;
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));
	pthread_attr_t attr;

	first = proc;
	step = nprocs;
	total = n * nprocs;
	if (argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= MAX)
		most = atoi(argv[1]);
	if (argc > 2 && !strcmp(argv[2], "blocks")) {
		first = proc * n;
		step = 1;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, run_rank,
				   (void *)(intptr_t)i))
			return 2;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	live_ok("all ranks");
	return live_errors ? 1 : 0;
}
