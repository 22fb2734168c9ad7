// SPDX-License-Identifier: GPL-2.0
/*
 * What communicators cost: programs that make many of them. Nothing in here
 * knows of INC. Checks each sum; the exit status is 1 if one is wrong.
 *
 *   comms time [N [START]]	prints, as JSON, the milliseconds of the first
 *			collective, of those of further communicators, of N
 *			splits (150) with a collective each, and of their frees;
 *			and those from START, nanoseconds of the clock, to the
 *			end of the first collective
 *   comms live N OPS [COUNT]	OPS collectives of COUNT integers (1) on each of
 *			N communicators that live at the same time; prints the
 *			median, and the sum, of the milliseconds that each has
 *			taken
 *   comms turns N OPS	the same, N times for three communicators, which are freed
 *			before the next three are made
 *   comms idup N OPS	OPS collectives while MPI_Comm_idup() goes on, N times, on
 *			communicators of each number of earlier collectives; some
 *			ranks are in MPI before the first one
 *   comms room N OPS	the same as live; then all but the last are freed, and the last
 *			one goes on for four times as many
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FURTHER	10

static int me, np, wrong;

static void allreduce_of(MPI_Comm c, int *a, int *sum, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		a[i] = me + i;
		sum[i] = -1;
	}
	MPI_Allreduce(a, sum, n, MPI_INT, MPI_SUM, c);
	for (i = 0; i < n; i++)
		wrong += sum[i] != np * (np - 1) / 2 + np * i;
}

static void allreduce(MPI_Comm c)
{
	int a, sum;

	allreduce_of(c, &a, &sum, 1);
}

/* The slowest rank's milliseconds since @since. */
static double ms(double since)
{
	double mine = (MPI_Wtime() - since) * 1e3, most;

	PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static double begin(void)
{
	PMPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime();
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double since_start(long long start)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)(now.tv_sec * 1000000000LL + now.tv_nsec - start) / 1e6;
}

static void measure(int n, long long start)
{
	MPI_Comm *c = calloc((size_t)n, sizeof(*c)), dup;
	double first, further[FURTHER], splits, frees, started, t;
	int i;

	t = MPI_Wtime();
	allreduce(MPI_COMM_WORLD);
	started = start ? since_start(start) : 0;
	first = ms(t);
	for (i = 0; i < FURTHER; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		t = begin();
		allreduce(dup);
		further[i] = ms(t);
		MPI_Comm_free(&dup);
	}
	qsort(further, FURTHER, sizeof(*further), by_size);
	t = begin();
	for (i = 0; i < n; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, me, &c[i]);
		allreduce(c[i]);
	}
	splits = ms(t);
	t = begin();
	for (i = 0; i < n; i++)
		MPI_Comm_free(&c[i]);
	frees = ms(t);
	if (!me)
		printf("{\"first\": %.2f, \"further\": %.2f, \"further_max\": %.2f, \"n\": %d, \"splits\": %.1f, \"frees\": %.1f, \"started\": %.1f}\n",
		       first, further[FURTHER / 2], further[FURTHER - 1], n,
		       splits, frees, started);
	free(c);
}

static void tell(double *took, int n)
{
	double sum = 0;
	int i;

	qsort(took, (size_t)n, sizeof(*took), by_size);
	for (i = 0; i < n; i++)
		sum += took[i];
	if (!me)
		printf("median %.1f\nall %.1f\n", took[n / 2], sum);
}

static void turns(int n, int ops)
{
	double *took = calloc((size_t)n, sizeof(*took)), t;
	MPI_Comm c[3];
	int i, j, k;

	for (i = 0; i < n; i++) {
		t = MPI_Wtime();
		for (j = 0; j < 3; j++) {
			MPI_Comm_dup(MPI_COMM_WORLD, &c[j]);
			for (k = 0; k < ops; k++)
				allreduce(c[j]);
		}
		for (j = 0; j < 3; j++)
			MPI_Comm_free(&c[j]);
		took[i] = (MPI_Wtime() - t) * 1e3;
	}
	tell(took, n);
	free(took);
}

static void idup(int n, int ops)
{
	MPI_Comm c, made;
	MPI_Request q;
	int i, k, done;

	for (i = 0; i < n; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		for (k = 0; k < i; k++)
			allreduce(c);
		MPI_Comm_idup(c, &made, &q);
		for (k = done = 0; k < 100 * (me % 2) && !done; k++)
			MPI_Test(&q, &done, MPI_STATUS_IGNORE);
		for (k = 0; k < ops; k++)
			allreduce(c);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		allreduce(made);
		MPI_Comm_free(&made);
		MPI_Comm_free(&c);
	}
}

static void live(int n, int ops, int more, int count)
{
	int *a = calloc((size_t)count, sizeof(*a));
	int *sum = calloc((size_t)count, sizeof(*sum));
	MPI_Comm *c = calloc((size_t)n, sizeof(*c));
	double *took = calloc((size_t)n, sizeof(*took));
	int i, k;
	char name[32];
	double t;

	for (i = 0; i < n; i++) {
		t = MPI_Wtime();
		MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
		snprintf(name, sizeof(name), "live %d", i);
		MPI_Comm_set_name(c[i], name);
		for (k = 0; k < ops; k++)
			allreduce_of(c[i], a, sum, count);
		took[i] = (MPI_Wtime() - t) * 1e3;
	}
	tell(took, n);
	free(took);
	for (i = 0; i < n - 1; i++)
		MPI_Comm_free(&c[i]);
	for (k = 0; k < more; k++)
		allreduce(c[n - 1]);
	MPI_Comm_free(&c[n - 1]);
	free(a);
	free(sum);
	free(c);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 150;
	int ops = argc > 3 ? atoi(argv[3]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (argc > 1 && !strcmp(argv[1], "live"))
		live(n, ops, 0, argc > 4 ? atoi(argv[4]) : 1);
	else if (argc > 1 && !strcmp(argv[1], "turns"))
		turns(n, ops);
	else if (argc > 1 && !strcmp(argv[1], "idup"))
		idup(n, ops);
	else if (argc > 1 && !strcmp(argv[1], "room"))
		live(n, ops, 4 * ops, 1);
	else
		measure(n, argc > 3 ? atoll(argv[3]) : 0);
	MPI_Finalize();
	if (wrong)
		printf("wrong: %d sums, rank %d\n", wrong, me);
	return wrong ? 1 : 0;
}
