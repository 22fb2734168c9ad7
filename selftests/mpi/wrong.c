// SPDX-License-Identifier: GPL-2.0
/*
 * A program that breaks MPI's rules: the ranks disagree about the operation.
 * Through the switch they get an error; Open MPI alone need not notice. Prints
 * one KTAP line per case on rank 0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, np, cases, failed;

/* All ranks got an error. */
static void told(const char *name, int ret)
{
	int one = ret != MPI_SUCCESS, all;

	PMPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	if (me)
		return;
	failed += all != np;
	printf("%s %d - %s%s\n", all == np ? "ok" : "not ok", cases, name,
	       all == np ? "" : " # not all ranks got an error");
	fflush(stdout);
}

static int right(void)
{
	int x = me, sum;

	return MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) ||
	       sum != np * (np - 1) / 2;
}

/* They agree about the last part, and about the sum of all. */
static void parts(int n, int how)
{
	int *counts = calloc((size_t)np, sizeof(int)), i, ret;
	int *in = calloc((size_t)(n * np * 2), sizeof(int));
	int *out = calloc((size_t)(n * 2), sizeof(int));
	MPI_Request q;

	for (i = 0; i < np; i++)
		counts[i] = n + i;
	counts[0] -= !me;
	counts[1] += !me;
	if (how) {
		MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM,
				    MPI_COMM_WORLD, &q);
		ret = MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else {
		ret = MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM,
					 MPI_COMM_WORLD);
	}
	told(how ? "ireduce_scatter, the first parts" :
		   "reduce_scatter, the first parts", ret);
	free(counts);
	free(in);
	free(out);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	failed += right();
	parts(9001, 0);
	parts(9001, 1);
	/* Only that operation is wrong. */
	failed += right();
	if (!me)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
