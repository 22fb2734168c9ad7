// SPDX-License-Identifier: GPL-2.0
/*
 * One rank cannot do its part: memory that cannot be written, or no memory. All
 * ranks get an error, in that operation or in the next one, and none takes a
 * wrong result for a sum. Each case has a communicator of its own. Prints one
 * KTAP line per case on rank 0. Nothing in here knows of INC.
 *
 *   fail flat|hosts
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N	12000	/* ints: a long operation */

static int me, np, cases, failed;

/* --- A rank without memory ---------------------------------------------- */

void *__libc_malloc(size_t size);

static volatile size_t refused_from, refused_to;

/* Replaces the C library's, for all libraries of this program. */
void *malloc(size_t size)
{
	if (size >= refused_from && size < refused_to) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(size);
}

static void refuse(size_t from, size_t to)
{
	refused_from = from;
	refused_to = to;
}

/* --- Cases -------------------------------------------------------------- */

static int *ints(int n)
{
	int *p = calloc((size_t)n, sizeof(int)), i;

	for (i = 0; i < n; i++)
		p[i] = me + i;
	return p;
}

static MPI_Comm begin(void)
{
	MPI_Comm c;

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Barrier(c);
	return c;
}

/* Returns -1 on error, else the number of wrong elements. */
static int sum_in(MPI_Comm c)
{
	int *a = ints(N), *b = calloc(N, sizeof(int)), i, bad = 0;

	if (MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, c) != MPI_SUCCESS)
		bad = -1;
	for (i = 0; i < N && bad >= 0; i++)
		bad += b[i] != np * i + np * (np - 1) / 2;
	free(a);
	free(b);
	return bad;
}

/*
 * @ret: status of the operation here; @culprit's failed for sure. Operations
 * after it fail on all ranks, at the second attempt at the latest.
 */
static void end(const char *name, MPI_Comm c, int ret, int culprit)
{
	int first, second, bad, all;

	first = sum_in(c);
	second = sum_in(c);
	bad = (me == culprit && ret == MPI_SUCCESS) || first > 0 ||
	      second != -1;
	if (bad)
		printf("# rank %d: %s: %s, then %d, %d\n", me, name,
		       ret == MPI_SUCCESS ? "success" : "error", first, second);
	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Comm_free(&c);
	cases++;
	if (me)
		return;
	failed += all != 0;
	printf("%s %d - %s%s\n", all ? "not ok" : "ok", cases, name,
	       all ? " # not all ranks were told" : "");
	fflush(stdout);
}

/* Memory for results; on @culprit it is not writable. */
static int *results(int culprit)
{
	int prot = me == culprit ? PROT_READ : PROT_READ | PROT_WRITE;

	return mmap(NULL, N * sizeof(int), prot, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
}

static void unwritable(int culprit, int how)
{
	int *a = ints(N), *b = results(culprit), ret;
	MPI_Comm c = begin();
	MPI_Request q;

	if (how == 0) {
		ret = MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, c);
	} else if (how == 1) {
		ret = MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, c, &q);
		if (ret == MPI_SUCCESS)
			ret = MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else {
		MPI_Allreduce_init(a, b, N, MPI_INT, MPI_SUM, c, MPI_INFO_NULL,
				   &q);
		ret = MPI_Start(&q);
		if (ret == MPI_SUCCESS)
			ret = MPI_Wait(&q, MPI_STATUS_IGNORE);
		/* Open MPI itself frees those that ended with an error. */
		if (q != MPI_REQUEST_NULL)
			MPI_Request_free(&q);
	}
	end(how == 0 ? "allreduce into memory that can't be written" :
	    how == 1 ? "iallreduce into memory that can't be written" :
		       "allreduce_init into memory that can't be written",
	    c, ret, culprit);
	munmap(b, N * sizeof(int));
	free(a);
}

/* Every other element, which has to be packed. */
static void no_memory_to_pack(int culprit)
{
	int *a = ints(2 * N), ret;
	MPI_Comm c = begin();
	MPI_Datatype t;

	MPI_Type_vector(N, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	if (me == culprit)
		refuse(N * sizeof(int), 2 * N * sizeof(int));
	ret = MPI_Bcast(a, 1, t, 0, c);
	refuse(0, 0);
	MPI_Type_free(&t);
	end("bcast, no memory for packing", c, ret, culprit);
	free(a);
}

/* @n elements to the last rank, no leader; @culprit leads the second host. */
static void no_memory_to_reduce(int culprit, int n, const char *name)
{
	int *a = ints(n), *b = ints(n), ret, i, bad = 0;
	MPI_Comm c = begin();

	if (me == culprit)
		refuse((size_t)n * sizeof(int), (size_t)n * sizeof(int) + 64);
	ret = MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, np - 1, c);
	refuse(0, 0);
	for (i = 0; i < n && ret == MPI_SUCCESS && me == np - 1; i++)
		bad += b[i] != np * i + np * (np - 1) / 2;
	if (bad) {
		printf("# rank %d: %s: a success with %d wrong elements\n", me,
		       name, bad);
		failed++;
	}
	end(name, c, ret, culprit);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	int how;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 1 && !strcmp(argv[1], "hosts")) {
		no_memory_to_reduce(2, 4 * N,
				    "reduce, a host's leader has no memory");
		/* So short that nobody waits for the leader to take it. */
		no_memory_to_reduce(2, 700, "reduce, a host's own part fails");
	} else {
		for (how = 0; how < 3; how++)
			unwritable(1, how);
		no_memory_to_pack(1);
	}
	if (!me)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
