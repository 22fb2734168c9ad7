// SPDX-License-Identifier: GPL-2.0
/*
 * Valid but unusual MPI: no elements, parts that differ, persistent operations
 * started in another order on each rank, a communicator freed before its
 * operation ends, communicators made and freed again and again. Prints one KTAP
 * line per case on rank 0. Nothing in here knows of INC.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/procfs.h"

static int me, np, cases, failed;
static int seed = 1;

static int32_t value(int rank, int i)
{
	uint32_t x = (uint32_t)(rank * 7919 + i * 31 + seed);

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return (int32_t)(x % 20011) - 10000;
}

static int32_t sum_at(int i)
{
	int32_t sum = 0;
	int r;

	for (r = 0; r < np; r++)
		sum += value(r, i);
	return sum;
}

static void verdict(const char *name, int bad)
{
	int all;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	if (me)
		return;
	if (all)
		failed++;
	printf("%s %d - %s, %d ranks%s\n", all ? "not ok" : "ok", cases, name,
	       np, all ? " # wrong" : "");
	fflush(stdout);
}

static int *ints(int n)
{
	int *p = malloc((size_t)(n + 1) * sizeof(int)), i;

	for (i = 0; i < n; i++)
		p[i] = value(me, i);
	return p;
}

/* An operation on no elements succeeds, and touches nothing. */
static void nothing(void)
{
	int *zero = calloc((size_t)np, sizeof(int)), guard = 4711, bad = 0, i;
	MPI_Request q[9];

	MPI_Ibcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &q[0]);
	MPI_Iallreduce(NULL, &guard, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		       &q[1]);
	MPI_Iallgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD,
		       &q[2]);
	MPI_Ialltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD,
		      &q[3]);
	MPI_Igather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD,
		    &q[4]);
	MPI_Iscatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD,
		     &q[5]);
	MPI_Ireduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM,
				  MPI_COMM_WORLD, &q[6]);
	MPI_Ireduce(NULL, &guard, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD,
		    &q[7]);
	MPI_Ireduce_scatter(NULL, &guard, zero, MPI_INT, MPI_SUM,
			    MPI_COMM_WORLD, &q[8]);
	for (i = 0; i < 9; i++)
		bad += MPI_Wait(&q[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
	MPI_Bcast(NULL, 0, MPI_DOUBLE, np - 1, MPI_COMM_WORLD);
	MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
	MPI_Reduce_scatter(NULL, &guard, zero, MPI_INT, MPI_SUM,
			   MPI_COMM_WORLD);
	verdict("no elements", bad + (guard != 4711));
	free(zero);
}

/* Rank r gets step * r elements; rank 0 gets none. */
static void parts(int step, int how)
{
	int total = step * np * (np - 1) / 2, first = step * me * (me - 1) / 2;
	int *a = ints(total), *b = ints(total),
	    *counts = calloc((size_t)np, sizeof(int));
	int i, bad = 0;
	MPI_Request q;

	for (i = 0; i < np; i++)
		counts[i] = step * i;
	if (how == 0) {
		MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM,
				   MPI_COMM_WORLD);
	} else if (how == 1) {
		MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_INT, MPI_SUM,
				   MPI_COMM_WORLD);
	} else {
		MPI_Ireduce_scatter(a, b, counts, MPI_INT, MPI_SUM,
				    MPI_COMM_WORLD, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	for (i = 0; i < counts[me]; i++)
		bad += b[i] != sum_at(first + i);
	for (i = 0; i < total; i++)
		bad += a[i] != value(me, i);
	/* MPI does not define the bytes behind the result in place. */
	for (i = counts[me]; i < total && how != 1; i++)
		bad += b[i] != value(me, i);
	verdict(how == 0 ? "reduce_scatter, parts differ" :
		how == 1 ? "reduce_scatter in place, parts differ" :
			   "ireduce_scatter, parts differ", bad);
	free(a);
	free(b);
	free(counts);
}

/* Set a pair's value, in a layout with a gap behind it. */
static void pair(void)
{
	struct { double v; int at; } in[3], out[3] = { { 0, 0 } };
	int counts[64] = { 0 }, bad = 0, i;

	for (i = 0; i < 3; i++) {
		in[i].v = value(me, i);
		in[i].at = me;
	}
	counts[0] = 1;
	counts[1] = 2;
	if (np > 64)
		return;
	MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE_INT, MPI_MAXLOC,
			   MPI_COMM_WORLD);
	for (i = 0; i < counts[me]; i++) {
		int r, best = 0;

		for (r = 1; r < np; r++)
			if (value(r, me + i) > value(best, me + i))
				best = r;
		bad += out[i].at != best || out[i].v != value(best, me + i);
	}
	verdict("reduce_scatter of pairs, parts differ", bad);
}

/*
 * MPI's operations are defined for predefined types alone. A derived type is
 * refused, or done right; so is a duplicate.
 */
static void duplicate(void)
{
	int a = value(me, 0), b = 0, bad = 0, ret;
	MPI_Datatype t;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Type_dup(MPI_INT, &t);
	ret = MPI_Allreduce(&a, &b, 1, t, MPI_SUM, MPI_COMM_WORLD);
	bad += ret == MPI_SUCCESS && b != sum_at(0);
	MPI_Type_free(&t);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	verdict(ret == MPI_SUCCESS ? "duplicate type: summed" :
				     "duplicate type: refused",
		bad);
}

enum { NREQ = 10 };

/* Ten at once; each rank starts them in an order of its own. */
static void persistent(int n, int rounds)
{
	int *a[NREQ], *b[NREQ], *counts = calloc((size_t)np, sizeof(int));
	int i, k, r, round, bad = 0, parity;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q[NREQ];
	MPI_Datatype t;

	for (k = 0; k < NREQ; k++) {
		a[k] = ints(n * np);
		b[k] = ints(n * np);
	}
	for (r = 0; r < np; r++)
		counts[r] = n;
	/* The program may free the type. */
	MPI_Type_contiguous(1, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Allreduce_init(a[0], b[0], n, MPI_INT, MPI_SUM, c, MPI_INFO_NULL,
			   &q[0]);
	MPI_Bcast_init(b[1], n, t, 1, c, MPI_INFO_NULL, &q[1]);
	MPI_Allgather_init(a[2], n, t, b[2], n, t, c, MPI_INFO_NULL, &q[2]);
	MPI_Reduce_init(a[3], b[3], n, MPI_INT, MPI_SUM, 1, c, MPI_INFO_NULL,
			&q[3]);
	MPI_Reduce_scatter_init(a[4], b[4], counts, MPI_INT, MPI_SUM, c,
				MPI_INFO_NULL, &q[4]);
	MPI_Reduce_scatter_block_init(a[5], b[5], n, MPI_INT, MPI_SUM, c,
				      MPI_INFO_NULL, &q[5]);
	MPI_Alltoall_init(a[6], n, MPI_INT, b[6], n, MPI_INT, c, MPI_INFO_NULL,
			  &q[6]);
	MPI_Gather_init(a[7], n, MPI_INT, b[7], n, MPI_INT, 0, c, MPI_INFO_NULL,
			&q[7]);
	MPI_Scatter_init(a[8], n, MPI_INT, b[8], n, MPI_INT, 0, c,
			 MPI_INFO_NULL, &q[8]);
	MPI_Barrier_init(c, MPI_INFO_NULL, &q[9]);
	MPI_Type_free(&t);
	/* mpi4py keeps no counts. */
	memset(counts, 0x55, (size_t)np * sizeof(int));
	free(counts);
	for (round = 0; round < rounds; round++) {
		parity = (me + round) % 2;
		for (k = 0; k < NREQ; k++)
			MPI_Start(&q[parity ? k : NREQ - 1 - k]);
		MPI_Waitall(NREQ, q, MPI_STATUSES_IGNORE);
		for (i = 0; i < n; i++) {
			bad += b[0][i] != sum_at(i);
			bad += b[1][i] != value(1, i);
			bad += me == 1 && b[3][i] != sum_at(i);
			bad += b[4][i] != sum_at(me * n + i);
			bad += b[5][i] != sum_at(me * n + i);
			bad += b[8][i] != value(0, me * n + i);
			for (r = 0; r < np; r++) {
				bad += b[2][r * n + i] != value(r, i);
				bad += b[6][r * n + i] != value(r, me * n + i);
				bad += me == 0 &&
				       b[7][r * n + i] != value(r, i);
			}
		}
		/* Clear the results: each run has to write them anew. */
		for (k = 0; k < NREQ - 1; k++)
			if (k != 1 || me != 1)
				memset(b[k], 0, (size_t)(n * np) * sizeof(int));
	}
	for (k = 0; k < NREQ; k++) {
		bad += q[k] == MPI_REQUEST_NULL;
		MPI_Request_free(&q[k]);
		free(a[k]);
		free(b[k]);
	}
	verdict("persistent, each rank in its own order", bad);
}

/* Arguments that MPI calls insignificant may be anything. */
static void insignificant(int n)
{
	int *a = ints(n * np), *b = ints(n * np), i, r, bad = 0;
	MPI_Datatype junk = (MPI_Datatype)16;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q[4];

	memset(b, 0, (size_t)(n * np) * sizeof(int));
	MPI_Gather_init(a, n, MPI_INT, me ? NULL : b, me ? -1 : n,
			me ? junk : MPI_INT, 0, c, MPI_INFO_NULL, &q[0]);
	MPI_Start(&q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	for (r = 0; r < np && !me; r++)
		for (i = 0; i < n; i++)
			bad += b[r * n + i] != value(r, i);
	MPI_Scatter_init(me ? NULL : a, me ? -1 : n, me ? junk : MPI_INT, b, n,
			 MPI_INT, 0, c, MPI_INFO_NULL, &q[1]);
	MPI_Start(&q[1]);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	for (i = 0; i < n; i++)
		bad += b[i] != value(0, me * n + i);
	memcpy(b + me * n, a, (size_t)n * sizeof(int));
	MPI_Allgather_init(MPI_IN_PLACE, -1, junk, b, n, MPI_INT, c,
			   MPI_INFO_NULL, &q[2]);
	MPI_Start(&q[2]);
	MPI_Wait(&q[2], MPI_STATUS_IGNORE);
	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			bad += b[r * n + i] != value(r, i);
	MPI_Scatter_init(b, n, MPI_INT, me ? a : MPI_IN_PLACE, me ? n : -1,
			 me ? MPI_INT : junk, 0, c, MPI_INFO_NULL, &q[3]);
	MPI_Start(&q[3]);
	MPI_Wait(&q[3], MPI_STATUS_IGNORE);
	for (i = 0; i < n; i++)
		bad += a[i] != value(me, i);
	for (i = 0; i < 4; i++)
		MPI_Request_free(&q[i]);
	verdict("persistent, with insignificant types that are none", bad);
	free(a);
	free(b);
}

/* A buffer returns to the system, and the next one gets the same address. */
static void remapped(int n)
{
	size_t len = (size_t)n * sizeof(int);
	int round, i, bad = 0, *in, *out;
	char *at = NULL;

	for (round = 0; round < 4; round++) {
		at = mmap(at, 2 * len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0),
			  -1, 0);
		in = (int *)at;
		out = (int *)(at + len);
		for (i = 0; i < n; i++)
			in[i] = value(me, i + round);
		MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		for (i = 0; i < n; i++)
			bad += out[i] != sum_at(i + round);
		munmap(at, 2 * len);
	}
	verdict("buffers that come and go at one address", bad);
}

/* With the program's own types, which Open MPI keeps in the request. */
static void types_in_requests(void)
{
	int *a = ints(8), *b = ints(8), *all = ints(8 * np), i, r, bad = 0;
	MPI_Datatype every_other, t;
	MPI_Request q[2];

	MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
	MPI_Type_create_resized(every_other, 0, 8 * sizeof(int), &t);
	MPI_Type_commit(&t);
	MPI_Type_free(&every_other);
	MPI_Iallgather(a, 1, t, all, 1, t, MPI_COMM_WORLD, &q[0]);
	MPI_Ibcast(b, 1, t, 0, MPI_COMM_WORLD, &q[1]);
	MPI_Type_free(&t);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	for (i = 0; i < 8; i++) {
		bad += b[i] != value(i % 2 ? me : 0, i);
		for (r = 0; r < np; r++)
			bad += all[8 * r + i] !=
			       (i % 2 ? value(me, 8 * r + i) : value(r, i));
	}
	verdict("iallgather, ibcast, types freed meanwhile", bad);
	free(a);
	free(b);
	free(all);
}

/* The first ranks finish and free theirs long before the last one looks. */
static void early_free(void)
{
	int n = 5000, *a = ints(n), *b = ints(n), i, bad = 0;
	MPI_Request q, p;
	MPI_Comm c;

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Barrier(c);
	MPI_Allreduce_init(a, b, n, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &p);
	MPI_Start(&p);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	memset(b, 0, (size_t)n * sizeof(int));
	MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, c, &q);
	MPI_Comm_free(&c);
	if (me == np - 1)
		usleep(1500000);
	bad += MPI_Wait(&q, MPI_STATUS_IGNORE) != MPI_SUCCESS;
	for (i = 0; i < n; i++)
		bad += b[i] != sum_at(i);
	MPI_Request_free(&p);
	verdict("a communicator freed before its operation ends", bad);
	free(a);
	free(b);
}

static int open_files(void)
{
	return procfs_entries("/proc/self/fd");
}

/* Nothing of a communicator is left when it is freed. */
static void again_and_again(int rounds)
{
	int i, x = me + 1, sum, bad = 0, before = 0;
	MPI_Comm half, dup;

	for (i = 0; i < rounds; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, dup);
		bad += sum != np * (np + 1) / 2;
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_MAX, half);
		bad += sum < x;
		MPI_Comm_free(&half);
		MPI_Comm_free(&dup);
		if (i == 1)
			before = open_files();
	}
	bad += open_files() > before;
	verdict("communicators again and again", bad);
}

int main(int argc, char **argv)
{
	int how;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (argc > 1)
		seed = atoi(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	nothing();
	for (how = 0; how < 3; how++) {
		parts(1, how);
		parts(9001, how);
	}
	pair();
	duplicate();
	types_in_requests();
	insignificant(1);
	insignificant(3001);
	remapped(20480);
	persistent(1, 3);
	persistent(3001, 3);
	/* Open MPI's own non-blocking collectives do not survive this. */
	if (argc > 2)
		early_free();
	again_and_again(30);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!me)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
