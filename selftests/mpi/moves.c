// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of floats, and other collectives, on several communicators, until there is a
 * file: what a program does while its trees are moved. Each round's results have the
 * bits of the first one's. Rank 0 prints KTAP lines, and each rank the bits' hash.
 * Nothing in here knows of INC.
 *
 *   moves FILE SEED
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMS	3
#define AT_ONCE	3
#define COUNT	3000

/**
 * struct job - what is done on one communicator
 * @in: data of this rank, whose sums depend on their order
 * @sum: results of sums at the same time
 * @all: of Allgather
 * @part: of ReduceScatter
 * @data: of Bcast
 * @hash: of the first round's results
 * @differ: rounds with other ones
 */
struct job {
	MPI_Comm	comm;
	int		me;
	int		np;
	float		*in;
	float		sum[AT_ONCE][COUNT];
	float		*all;
	float		*part;
	float		data[COUNT];
	uint64_t	hash;
	unsigned long	differ;
};

static struct job jobs[COMMS];
static unsigned long rounds;

static void begin(struct job *j, MPI_Comm comm, unsigned int seed)
{
	int i;

	j->comm = comm;
	MPI_Comm_rank(comm, &j->me);
	MPI_Comm_size(comm, &j->np);
	j->in = malloc(sizeof(float) * COUNT * (size_t)j->np);
	j->all = malloc(sizeof(float) * COUNT * (size_t)j->np);
	j->part = malloc(sizeof(float) * COUNT);
	srand(seed + (unsigned int)j->me);
	for (i = 0; i < COUNT * j->np; i++)
		j->in[i] = (float)(rand() - RAND_MAX / 2) / 1e3f;
}

/* FNV-1a. */
static uint64_t add_hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *c = data;

	while (n--)
		h = (h ^ *c++) * 0x100000001b3;
	return h;
}

static void compare(struct job *j)
{
	uint64_t h = 0xcbf29ce484222325;

	h = add_hash(h, j->sum, sizeof(j->sum));
	h = add_hash(h, j->all, sizeof(float) * COUNT * (size_t)j->np);
	h = add_hash(h, j->part, sizeof(float) * COUNT);
	h = add_hash(h, j->data, sizeof(j->data));
	if (!rounds)
		j->hash = h;
	j->differ += h != j->hash;
}

/* Several at once on each communicator, and on all of them at the same time. */
static void at_once(void)
{
	MPI_Request req[COMMS * (AT_ONCE + 1)];
	int c, i, n = 0;
	struct job *j;

	for (c = 0; c < COMMS; c++) {
		j = &jobs[c];
		for (i = 0; i < AT_ONCE; i++)
			MPI_Iallreduce(j->in + i, j->sum[i], COUNT - i,
				       MPI_FLOAT, MPI_SUM, j->comm, &req[n++]);
		MPI_Iallgather(j->in, COUNT, MPI_FLOAT, j->all, COUNT,
			       MPI_FLOAT, j->comm, &req[n++]);
	}
	MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
}

/* Returns whether to go on: the same on all ranks. */
static int turn(const char *file)
{
	int end = !access(file, F_OK), c;
	struct job *j;

	at_once();
	for (c = 0; c < COMMS; c++) {
		j = &jobs[c];
		MPI_Reduce_scatter_block(j->in, j->part, COUNT, MPI_FLOAT,
					 MPI_SUM, j->comm);
		if (j->me == j->np - 1)
			memcpy(j->data, j->in, sizeof(j->data));
		MPI_Bcast(j->data, COUNT, MPI_FLOAT, j->np - 1, j->comm);
		compare(j);
	}
	rounds++;
	MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return !end;
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	unsigned long differ = 0;
	uint64_t hash = 0;
	MPI_Comm comm;
	int me, c;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	begin(&jobs[0], comm, seed);
	/* Ranks in another order, and half of them. */
	MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
	begin(&jobs[1], comm, seed + 100);
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm);
	begin(&jobs[2], comm, seed + 200);
	while (argc > 1 && turn(argv[1]))
		;
	for (c = 0; c < COMMS; c++) {
		differ += jobs[c].differ;
		hash = add_hash(hash, &jobs[c].hash, sizeof(hash));
	}
	printf("bits of rank %d: %016llx\n", me, (unsigned long long)hash);
	MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_UNSIGNED_LONG, MPI_SUM,
		      MPI_COMM_WORLD);
	if (!me)
		printf("%sok 1 - no result differs from the first round's # %lu rounds, %lu differ\n1..1\n",
		       differ ? "not " : "", rounds, differ);
	MPI_Finalize();
	return !!differ;
}
