// SPDX-License-Identifier: GPL-2.0
/*
 * Allreduce, or Scatter, again and again, until one fails or the time is over.
 * Prints "going" when it runs, and how it ended: "ended" or "error CLASS".
 *
 *   loop SECONDS [scatter [session]]
 *
 * session: without MPI_Init(), so that there is no MPI_COMM_WORLD.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm all;
static int me, np;

static void must_be(int round, int element, int value)
{
	if (element == value)
		return;
	printf("wrong element, rank %d, round %d\n", me, round);
	MPI_Abort(all, 4);
}

static int allreduce(int round, const int *a, int *b, int n)
{
	int ret = MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, all), i;

	for (i = 0; i < n && !ret; i++)
		must_be(round, b[i], np * i + np * (np - 1) / 2);
	return ret;
}

/* The last rank's data. */
static int scatter(int round, const int *a, int *b, int n)
{
	int each = n / np, ret, i;

	memset(b, 0, (size_t)each * sizeof(int));
	ret = MPI_Scatter(a, each, MPI_INT, b, each, MPI_INT, np - 1, all);
	for (i = 0; i < each && !ret; i++)
		must_be(round, b[i], me * each + i + np - 1);
	return ret;
}

static void begin(int argc, char **argv)
{
	MPI_Session s;
	MPI_Group g;

	if (argc > 3) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
		MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
		MPI_Comm_create_from_group(g, "loop", MPI_INFO_NULL,
					   MPI_ERRORS_ARE_FATAL, &all);
	} else {
		MPI_Init(&argc, &argv);
		all = MPI_COMM_WORLD;
	}
	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &np);
	MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv)
{
	int n = 20000, *a, *b, i, class, ret = 0, go = 1, rounds = 0;
	double end;

	begin(argc, argv);
	a = calloc((size_t)n, sizeof(int));
	b = calloc((size_t)n, sizeof(int));
	for (i = 0; i < n; i++)
		a[i] = i + me;
	end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 10);
	for (rounds = 0; go && !ret; rounds++) {
		ret = argc > 2 ? scatter(rounds, a, b, n) :
				 allreduce(rounds, a, b, n);
		if (rounds == 10) {
			printf("going rank %d pid %d\n", me, (int)getpid());
			fflush(stdout);
		}
		/* All ranks stop in the same round. */
		go = MPI_Wtime() < end;
		if (!ret)
			ret = MPI_Bcast(&go, 1, MPI_INT, 0, all);
	}
	if (ret) {
		MPI_Error_class(ret, &class);
		printf("error %d, rank %d, round %d\n", class, me, rounds);
		fflush(stdout);
		MPI_Abort(all, 3);
	}
	printf("ended, rank %d, %d rounds\n", me, rounds);
	if (argc < 4)
		MPI_Finalize();
	return 0;
}
