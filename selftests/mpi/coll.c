// SPDX-License-Identifier: GPL-2.0
/*
 * Each collective of MPI, with sizes, roots, types with gaps, in place and not,
 * blocking and not, against its expected result: every rank's data is a
 * function of rank, block and position. Prints one KTAP line per case on rank
 * 0.
 *
 * Nothing in here knows of INC.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np, cases, failed;
static int seed = 1;

static int32_t value(int rank, int block, int i)
{
	uint32_t x = (uint32_t)(rank * 7919 + block * 104729 + i * 31 + seed);

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return (int32_t)(x % 20011) - 10000;
}

static void verdict(const char *name, int count, int bad)
{
	int all;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	if (me)
		return;
	if (all)
		failed++;
	printf("%s %d - %s, %d ranks, %d elements%s\n", all ? "not ok" : "ok",
	       cases, name, np, count, all ? " # wrong elements" : "");
	fflush(stdout);
}

static void finish(MPI_Request *r)
{
	int flag = 0;

	while (!flag)
		MPI_Test(r, &flag, MPI_STATUS_IGNORE);
}

/* Elements at every other int: a type with gaps. */
static MPI_Datatype holes;

static int *ints(size_t n)
{
	int *p = malloc((n + 1) * sizeof(int));
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = -77777;
	return p;
}

static void allreduce(int n, int how)
{
	int *a = ints(n), *b = ints(n), i, r, bad = 0;
	MPI_Request q;

	for (i = 0; i < n; i++)
		a[i] = b[i] = value(me, 0, i);
	if (how == 0)
		MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	else if (how == 1)
		MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM,
			      MPI_COMM_WORLD);
	else {
		MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
		finish(&q);
	}
	for (i = 0; i < n; i++) {
		int sum = 0;

		for (r = 0; r < np; r++)
			sum += value(r, 0, i);
		bad += b[i] != sum;
	}
	verdict(how == 0 ? "allreduce" : how == 1 ? "allreduce in place" :
		"iallreduce", n, bad);
	free(a);
	free(b);
}

static void reduce(int n, int root, int in_place)
{
	int *a = ints(n), *b = ints(n), i, r, bad = 0;

	for (i = 0; i < n; i++)
		a[i] = value(me, 0, i);
	if (in_place && me == root) {
		memcpy(b, a, n * sizeof(int));
		MPI_Reduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_MAX, root,
			   MPI_COMM_WORLD);
	} else {
		MPI_Reduce(a, b, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
	}
	for (i = 0; i < n; i++) {
		int max = value(0, 0, i);

		for (r = 1; r < np; r++)
			max = value(r, 0, i) > max ? value(r, 0, i) : max;
		bad += me == root ? b[i] != max :
				    b[i] != -77777 || a[i] != value(me, 0, i);
	}
	verdict(in_place ? "reduce in place" : "reduce", n, bad);
	free(a);
	free(b);
}

/* The root sends ints, the others receive a type with gaps. */
static void bcast(int n, int root)
{
	int *a = ints(2 * n), i, bad = 0;

	if (me == root) {
		for (i = 0; i < n; i++)
			a[i] = value(root, 0, i);
		MPI_Bcast(a, n, MPI_INT, root, MPI_COMM_WORLD);
	} else {
		MPI_Bcast(a, n, holes, root, MPI_COMM_WORLD);
		for (i = 0; i < n; i++)
			bad += a[2 * i] != value(root, 0, i) ||
			       a[2 * i + 1] != -77777;
	}
	verdict("bcast, types differ", n, bad);
	free(a);
}

static void allgather(int n, int how)
{
	int *a = ints(n), *b = ints((size_t)2 * n * np), i, r, bad = 0,
	    step = how ? 2 : 1;
	MPI_Datatype t = how ? holes : MPI_INT;

	for (i = 0; i < n; i++) {
		a[i] = value(me, 0, i);
		b[((size_t)me * n + i) * step] = a[i];
	}
	if (how == 2)
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, n, t,
			      MPI_COMM_WORLD);
	else
		MPI_Allgather(a, n, MPI_INT, b, n, t, MPI_COMM_WORLD);
	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			bad += b[((size_t)r * n + i) * step] != value(r, 0, i);
	verdict(how == 0 ? "allgather" : how == 1 ? "allgather, holes" :
		"allgather in place, holes", n, bad);
	free(a);
	free(b);
}

static void gather_scatter(int n, int root, int in_place)
{
	int *a = ints(n), *b = ints((size_t)n * np), i, r, bad = 0;

	for (i = 0; i < n; i++) {
		a[i] = value(me, 0, i);
		if (me == root)
			b[(size_t)me * n + i] = a[i];
	}
	MPI_Gather(in_place && me == root ? MPI_IN_PLACE : a, n, MPI_INT, b, n,
		   MPI_INT, root, MPI_COMM_WORLD);
	for (r = 0; r < np && me == root; r++)
		for (i = 0; i < n; i++)
			bad += b[(size_t)r * n + i] != value(r, 0, i);
	verdict(in_place ? "gather in place" : "gather", n, bad);
	for (r = 0; r < np && me == root; r++)
		for (i = 0; i < n; i++)
			b[(size_t)r * n + i] = value(root, r, i);
	memset(a, 0, n * sizeof(int));
	MPI_Scatter(b, n, MPI_INT, in_place && me == root ? MPI_IN_PLACE : a, n,
		    MPI_INT, root, MPI_COMM_WORLD);
	bad = 0;
	for (i = 0; i < n && !(in_place && me == root); i++)
		bad += a[i] != value(root, me, i);
	verdict(in_place ? "scatter in place" : "scatter", n, bad);
	free(a);
	free(b);
}

static void alltoall(int n, int in_place)
{
	int *a = ints((size_t)n * np), *b = ints((size_t)n * np), i, r, bad = 0;

	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			a[(size_t)r * n + i] = b[(size_t)r * n + i] =
				value(me, r, i);
	if (in_place)
		MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, b, n, MPI_INT,
			     MPI_COMM_WORLD);
	else
		MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			bad += b[(size_t)r * n + i] != value(r, me, i);
	verdict(in_place ? "alltoall in place" : "alltoall", n, bad);
	free(a);
	free(b);
}

static void reduce_scatter(int n, int how)
{
	int *a = ints((size_t)n * np), *b = ints((size_t)n * np), i, r, bad = 0;
	int *counts = ints(np);

	for (r = 0; r < np; r++) {
		counts[r] = n;
		for (i = 0; i < n; i++)
			a[(size_t)r * n + i] = b[(size_t)r * n + i] =
				value(me, r, i);
	}
	if (how == 0)
		MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM,
					 MPI_COMM_WORLD);
	else if (how == 1)
		MPI_Reduce_scatter_block(MPI_IN_PLACE, b, n, MPI_INT, MPI_SUM,
					 MPI_COMM_WORLD);
	else
		MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM,
				   MPI_COMM_WORLD);
	for (i = 0; i < n; i++) {
		int sum = 0;

		for (r = 0; r < np; r++)
			sum += value(r, me, i);
		bad += b[i] != sum;
	}
	verdict(how == 0 ? "reduce_scatter_block" : how == 1 ?
		"reduce_scatter_block in place" : "reduce_scatter", n, bad);
	free(a);
	free(b);
	free(counts);
}

/* All at once, completed in another order than started. */
static void nonblocking(int n)
{
	int *a = ints(n), *b = ints(n), *g = ints((size_t)n * np), *c = ints(n);
	int i, r, bad = 0;
	MPI_Request q[4];

	for (i = 0; i < n; i++) {
		a[i] = value(me, 0, i);
		c[i] = me ? 0 : value(0, 5, i);
	}
	MPI_Iallreduce(a, b, n, MPI_INT, MPI_BXOR, MPI_COMM_WORLD, &q[0]);
	MPI_Iallgather(a, n, MPI_INT, g, n, MPI_INT, MPI_COMM_WORLD, &q[1]);
	MPI_Ibcast(c, n, MPI_INT, 0, MPI_COMM_WORLD, &q[2]);
	MPI_Ibarrier(MPI_COMM_WORLD, &q[3]);
	MPI_Wait(&q[3], MPI_STATUS_IGNORE);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++) {
		int x = 0;

		for (r = 0; r < np; r++) {
			x ^= value(r, 0, i);
			bad += g[(size_t)r * n + i] != value(r, 0, i);
		}
		bad += b[i] != x;
		bad += c[i] != value(0, 5, i);
	}
	verdict("four non-blocking", n, bad);
	free(a);
	free(b);
	free(g);
	free(c);
}

/*
 * A send that needs its sender's progress while the sender is in a collective:
 * the receiver enters the collective only after the receive.
 */
static void progress(void)
{
	int n = 300000, *a = ints(n), i, bad = 0, x = me, sum;
	MPI_Request q;

	if (me == 0) {
		for (i = 0; i < n; i++)
			a[i] = value(0, 9, i);
		MPI_Isend(a, n, MPI_INT, 1, 3, MPI_COMM_WORLD, &q);
	}
	if (me == 1)
		MPI_Recv(a, n, MPI_INT, 0, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0)
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (i = 0; i < n && me == 1; i++)
		bad += a[i] != value(0, 9, i);
	bad += sum != np * (np - 1) / 2;
	verdict("a send goes on in a collective", n, bad);
	free(a);
}

static void communicators(void)
{
	MPI_Comm half, dup;
	int x = me, sum, want = 0, r, bad = 0, i;

	for (i = 0; i < 3; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
		MPI_Comm_dup(half, &dup);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, dup);
		for (want = 0, r = me % 2; r < np; r += 2)
			want += r;
		bad += sum != want;
		MPI_Comm_free(&half);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, dup);
		bad += sum != want;
		MPI_Comm_free(&dup);
	}
	verdict("split, dup, free", 1, bad);
}

int main(int argc, char **argv)
{
	static const int counts[] = { 1, 7, 1000, 70001 };
	int i, how, root;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (argc > 1)
		seed = atoi(argv[1]);
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &holes);
	MPI_Type_commit(&holes);
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < 4; i++) {
		int n = counts[i];

		root = i % np;
		for (how = 0; how < 3; how++) {
			allreduce(n, how);
			allgather(n, how);
			reduce_scatter(n, how);
		}
		for (how = 0; how < 2; how++) {
			reduce(n, root, how);
			gather_scatter(n, root, how);
			alltoall(n, how);
		}
		bcast(n, root);
		nonblocking(n);
	}
	progress();
	communicators();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!me)
		printf("1..%d\n", cases);
	MPI_Type_free(&holes);
	MPI_Finalize();
	return failed ? 1 : 0;
}
