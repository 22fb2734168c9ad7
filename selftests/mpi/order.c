// SPDX-License-Identifier: GPL-2.0
/*
 * Communicators whose ranks are in another order than the hosts': each block
 * has to arrive at the place of its rank. Prints one KTAP line per collective
 * and order on rank 0. Nothing in here knows of INC.
 *
 *   order [SEED]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N	300	/* most elements of a block */

static int wme, cases, failed;
static const char *order;

static void verdict(const char *name, int n, int bad)
{
	int all;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	if (wme)
		return;
	failed += all > 0;
	printf("%s %d - %s, %s, %d elements%s\n", all ? "not ok" : "ok", cases,
	       name, order, n, all ? " # wrong order" : "");
}

/* The element at @i of what rank @from has for rank @to. */
static int value(int from, int to, int i)
{
	return from * 1000000 + to * 1000 + i;
}

/* All blocks, from each rank, for @to. */
static int wrong(const int *b, int np, int n, int to)
{
	int r, i, bad = 0;

	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			bad += b[r * n + i] != value(r, to, i);
	return bad;
}

static void collect(MPI_Comm c, int n, int root)
{
	int np, me, r, i, bad[4] = { 0 };
	int *a, *b;

	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &np);
	a = calloc((size_t)(n * np), sizeof(*a));
	b = calloc((size_t)(n * np), sizeof(*b));
	root %= np;
	for (i = 0; i < n; i++)
		a[i] = value(me, 0, i);
	MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, root, c);
	bad[0] = me == root ? wrong(b, np, n, 0) : 0;
	memset(b, 0, (size_t)(n * np) * sizeof(*b));
	MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, c);
	bad[1] = wrong(b, np, n, 0);
	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			a[r * n + i] = value(me, r, i);
	memset(b, 0, (size_t)(n * np) * sizeof(*b));
	MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, root, c);
	for (i = 0; i < n; i++)
		bad[2] += b[i] != value(root, me, i);
	MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, c);
	bad[3] = wrong(b, np, n, me);
	verdict("gather", n, bad[0]);
	verdict("allgather", n, bad[1]);
	verdict("scatter", n, bad[2]);
	verdict("alltoall", n, bad[3]);
	free(a);
	free(b);
}

static void in_order(const char *name, int color, int key)
{
	MPI_Comm c;

	order = name;
	MPI_Comm_split(MPI_COMM_WORLD, color, key, &c);
	collect(c, 1, 0);
	collect(c, N, 1);
	MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
	int np;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &wme);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	srand(argc > 1 ? (unsigned int)(atoi(argv[1]) + wme) : 1);
	in_order("as started", 0, wme);
	in_order("reversed", 0, -wme);
	in_order("even ranks first", 0, wme + np * (wme % 2));
	in_order("at random", 0, rand());
	in_order("all but the last", wme < np - 1, wme);
	in_order("all but the last, even ones first", wme < np - 1,
		 wme + np * (wme % 2));
	if (!wme)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
