// SPDX-License-Identifier: GPL-2.0
/*
 * A program that never calls MPI_Init(): MPI_COMM_WORLD does not exist. Prints
 * one KTAP line per case on rank 0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, np, cases, failed;

static void verdict(MPI_Comm c, const char *name, int bad)
{
	int all;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, c);
	cases++;
	if (me)
		return;
	failed += all != 0;
	printf("%s %d - %s%s\n", all ? "not ok" : "ok", cases, name,
	       all ? " # wrong" : "");
	fflush(stdout);
}

static void collectives(MPI_Comm c)
{
	int n = 5000, *a = calloc((size_t)n, sizeof(int)),
	    *b = calloc((size_t)n, sizeof(int));
	int i, round, bad = 0;
	MPI_Comm half;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++)
			a[i] = me + i + round;
		MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, c);
		for (i = 0; i < n; i++)
			bad += b[i] != np * (i + round) + np * (np - 1) / 2;
	}
	verdict(c, "session: allreduce", bad);
	MPI_Comm_split(c, me % 2, me, &half);
	a[0] = 1;
	MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, half);
	verdict(c, "session: allreduce of a half",
		b[0] != (np + 1 - me % 2) / 2);
	MPI_Comm_free(&half);
	free(a);
	free(b);
}

int main(void)
{
	MPI_Session s;
	MPI_Group g;
	MPI_Comm c;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
	MPI_Comm_create_from_group(g, "session", MPI_INFO_NULL,
				   MPI_ERRORS_ARE_FATAL, &c);
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &np);
	collectives(c);
	MPI_Barrier(c);
	if (!me)
		printf("1..%d\n", cases);
	MPI_Group_free(&g);
	MPI_Comm_free(&c);
	MPI_Session_finalize(&s);
	return failed ? 1 : 0;
}
