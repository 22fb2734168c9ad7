// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives on device memory, simulated by accel.c: neither the CPU nor the
 * NIC can touch it. Some ranks have their data there, others in the host's
 * memory. Prints one KTAP line per case on rank 0.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel.h"

#define ROOM	(DEVICE_SIZE / 2)

static int me, np, cases, failed;
static bool send_there, recv_there;

/* Send and receive buffers, as MPI gets them, and as the CPU sees them. */
static int *send_at, *recv_at, *sent, *came;

static int value(int rank, int i)
{
	return rank * 1000003 + i * 7;
}

static int sum_at(int i)
{
	int sum = 0, r;

	for (r = 0; r < np; r++)
		sum += value(r, i);
	return sum;
}

static void place(bool send_dev, bool recv_dev, int n)
{
	static int *host;
	int i;

	if (!host)
		host = malloc(2 * ROOM);
	send_at = send_dev ? (int *)DEVICE : host;
	sent = send_dev ? (int *)SHADOW : host;
	recv_at = (int *)(recv_dev ? DEVICE + ROOM : (uintptr_t)host + ROOM);
	came = (int *)(recv_dev ? SHADOW + ROOM : (uintptr_t)host + ROOM);
	for (i = 0; i < n; i++) {
		sent[i] = value(me, i);
		came[i] = -1;
	}
}

static void verdict(const char *name, int n, int bad)
{
	int all;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	if (me)
		return;
	failed += all != 0;
	printf("%s %d - %s of %d, on a device%s%s%s\n", all ? "not ok" : "ok",
	       cases, name, n, send_there ? " the data" : "",
	       recv_there ? " the result" : "", all ? " # wrong" : "");
	fflush(stdout);
}

static int sums(const int *got, int first, int n)
{
	int bad = 0, i;

	for (i = 0; i < n; i++)
		bad += got[i] != sum_at(first + i);
	return bad;
}

/* Blocks of all ranks: @at of each. */
static int blocks(int at, int n)
{
	int bad = 0, r, i;

	for (r = 0; r < np; r++)
		for (i = 0; i < n; i++)
			bad += came[r * n + i] != value(r, at + i);
	return bad;
}

static void reductions(int n, bool there)
{
	int *counts = calloc((size_t)np, sizeof(int)), i, first = 0, total = 0;
	bool s = there && send_there, r = there && recv_there;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q;

	place(s, r, n);
	MPI_Allreduce(send_at, recv_at, n, MPI_INT, MPI_SUM, c);
	verdict("allreduce", n, sums(came, 0, n));
	place(s, r, n);
	MPI_Iallreduce(MPI_IN_PLACE, send_at, n, MPI_INT, MPI_SUM, c, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	verdict("iallreduce in place", n, sums(sent, 0, n));
	place(s, r, n);
	MPI_Allreduce_init(send_at, recv_at, n, MPI_INT, MPI_SUM, c,
			   MPI_INFO_NULL, &q);
	for (i = 0; i < 2; i++) {
		MPI_Start(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&q);
	verdict("allreduce_init", n, sums(came, 0, n));
	place(s, r, n);
	MPI_Reduce(send_at, recv_at, n, MPI_INT, MPI_SUM, 1, c);
	verdict("reduce", n, me == 1 ? sums(came, 0, n) : 0);
	place(s, r, n * np);
	MPI_Reduce_scatter_block(send_at, recv_at, n, MPI_INT, MPI_SUM, c);
	verdict("reduce_scatter_block", n, sums(came, me * n, n));
	for (i = 0; i < np; i++) {
		counts[i] = n + i;
		first += i < me ? counts[i] : 0;
		total += counts[i];
	}
	place(s, r, total);
	MPI_Reduce_scatter(send_at, recv_at, counts, MPI_INT, MPI_SUM, c);
	verdict("reduce_scatter, parts differ", n,
		sums(came, first, counts[me]));
	free(counts);
}

static void transfers(int n, bool there)
{
	bool s = there && send_there, r = there && recv_there;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Datatype t;
	int i, bad = 0;

	place(s, r, n);
	MPI_Bcast(send_at, n, MPI_INT, 1, c);
	for (i = 0; i < n; i++)
		bad += sent[i] != value(1, i);
	verdict("bcast", n, bad);
	place(s, r, n * np);
	MPI_Allgather(send_at, n, MPI_INT, recv_at, n, MPI_INT, c);
	verdict("allgather", n, blocks(0, n));
	place(s, r, n * np);
	memcpy(&came[me * n], sent, (size_t)n * sizeof(int));
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, recv_at, n, MPI_INT, c);
	verdict("allgather in place", n, blocks(0, n));
	place(s, r, n * np);
	MPI_Alltoall(send_at, n, MPI_INT, recv_at, n, MPI_INT, c);
	verdict("alltoall", n, blocks(me * n, n));
	place(s, r, n * np);
	MPI_Gather(send_at, n, MPI_INT, recv_at, n, MPI_INT, 1, c);
	verdict("gather", n, me == 1 ? blocks(0, n) : 0);
	place(s, r, n * np);
	MPI_Scatter(send_at, n, MPI_INT, recv_at, n, MPI_INT, 1, c);
	for (bad = 0, i = 0; i < n; i++)
		bad += came[i] != value(1, me * n + i);
	verdict("scatter", n, bad);
	/* Every other element. */
	MPI_Type_vector(n, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	place(s, r, 2 * n);
	MPI_Bcast(send_at, 1, t, 0, c);
	for (bad = 0, i = 0; i < 2 * n - 1; i++)
		bad += sent[i] != value(i % 2 ? me : 0, i);
	verdict("bcast of a type with holes", n, bad);
	MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
	int k;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	for (k = 1; k < 4; k++) {
		send_there = k & 1;
		recv_there = k & 2;
		/* On all ranks; on every other one. */
		reductions(5003, true);
		reductions(17, me % 2);
		transfers(5003, me % 2);
		transfers(17, true);
	}
	if (!me)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
