// SPDX-License-Identifier: GPL-2.0
/*
 * Data to send that lies in the result buffer, in place or partly over it, without
 * MPI_IN_PLACE. MPI forbids that, but old programs do it. The results are those of
 * data that is read first, whether all ranks do so or only one. Prints one KTAP line
 * per collective on rank 0. Nothing in here knows of INC.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	ALLREDUCE, REDUCE, ALLGATHER, GATHER, SCATTER, ALLTOALL,
	REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, NKINDS
};

enum how { BLOCKING, NONBLOCKING, PERSISTENT, NHOWS };

static const char *const names[NKINDS] = {
	"allreduce", "reduce", "allgather", "gather", "scatter", "alltoall",
	"reduce_scatter_block", "reduce_scatter",
};
static const char *const hows[NHOWS] = {
	"blocking", "non-blocking", "persistent",
};

static int me, np, root, failed, cases;
static MPI_Datatype gaps;	/* an int, and a gap of one behind it */

/**
 * struct run - one call
 * @n: elements of a block
 * @counts: of each rank's part, for REDUCE_SCATTER
 * @a: data to send
 * @b: result
 * @step: distance of the result's elements
 * @type: their type
 */
struct run {
	enum kind	kind;
	enum how	how;
	int		n;
	int		*counts;
	int		*a;
	int		*b;
	int		step;
	MPI_Datatype	type;
};

static int value(int rank, int i)
{
	return rank * 7919 + i * 31 % 20011;
}

static int sum(int i)
{
	int r, s = 0;

	for (r = 0; r < np; r++)
		s += value(r, i);
	return s;
}

/* Parts of different lengths, n * np elements in all. */
static int part(int rank, int n)
{
	return rank == 0 ? 1 : rank == 1 ? 2 * n - 1 : n;
}

static int sends(enum kind k, int n)
{
	switch (k) {
	case SCATTER:
		return me == root ? n * np : 0;
	case ALLTOALL:
	case REDUCE_SCATTER_BLOCK:
	case REDUCE_SCATTER:
		return n * np;
	default:
		return n;
	}
}

static int gets(enum kind k, int n)
{
	switch (k) {
	case ALLGATHER:
	case ALLTOALL:
		return n * np;
	case GATHER:
		return me == root ? n * np : 0;
	case REDUCE:
		return me == root ? n : 0;
	case REDUCE_SCATTER:
		return part(me, n);
	default:
		return n;
	}
}

static int wanted(enum kind k, int n, int i)
{
	switch (k) {
	case ALLREDUCE:
	case REDUCE:
		return sum(i);
	case ALLGATHER:
	case GATHER:
		return value(i / n, i % n);
	case SCATTER:
		return value(root, me * n + i);
	case ALLTOALL:
		return value(i / n, me * n + i % n);
	case REDUCE_SCATTER_BLOCK:
		return sum(me * n + i);
	default:
		return sum(me ? 1 + (me > 1) * (2 * n - 1) +
			   (me > 1) * (me - 2) * n + i : i);
	}
}

/* Element of the result at which the data is in place; of the data, for SCATTER. */
static int place(enum kind k, int n)
{
	if (k == ALLGATHER || (k == GATHER && me == root))
		return me * n;
	return k == SCATTER && me == root ? root * n : 0;
}

#define C	MPI_COMM_WORLD
#define CALL(fn, ...)							\
	do {								\
		if (r->how == BLOCKING)					\
			MPI_##fn(__VA_ARGS__, C);			\
		else if (r->how == NONBLOCKING)				\
			MPI_I##fn(__VA_ARGS__, C, q);			\
		else							\
			MPI_P##fn(__VA_ARGS__);				\
	} while (0)

/* The persistent ones' names differ. */
#define LATE(fn, ...)	MPI_##fn##_init(__VA_ARGS__, C, MPI_INFO_NULL, q)
#define MPI_PAllreduce(...)	LATE(Allreduce, __VA_ARGS__)
#define MPI_PReduce(...)	LATE(Reduce, __VA_ARGS__)
#define MPI_PAllgather(...)	LATE(Allgather, __VA_ARGS__)
#define MPI_PGather(...)	LATE(Gather, __VA_ARGS__)
#define MPI_PScatter(...)	LATE(Scatter, __VA_ARGS__)
#define MPI_PAlltoall(...)	LATE(Alltoall, __VA_ARGS__)
#define MPI_PReduce_scatter_block(...) LATE(Reduce_scatter_block, __VA_ARGS__)
#define MPI_PReduce_scatter(...) LATE(Reduce_scatter, __VA_ARGS__)
#define MPI_IAllreduce		MPI_Iallreduce
#define MPI_IReduce		MPI_Ireduce
#define MPI_IAllgather		MPI_Iallgather
#define MPI_IGather		MPI_Igather
#define MPI_IScatter		MPI_Iscatter
#define MPI_IAlltoall		MPI_Ialltoall
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IReduce_scatter	MPI_Ireduce_scatter

static void call(const struct run *r, MPI_Request *q)
{
	int *a = r->a, *b = r->b, n = r->n;
	MPI_Datatype t = MPI_INT, u = r->type;

	switch (r->kind) {
	case ALLREDUCE:
		CALL(Allreduce, a, b, n, t, MPI_SUM);
		break;
	case REDUCE:
		CALL(Reduce, a, b, n, t, MPI_SUM, root);
		break;
	case ALLGATHER:
		CALL(Allgather, a, n, t, b, n, u);
		break;
	case GATHER:
		CALL(Gather, a, n, t, b, n, u, root);
		break;
	case SCATTER:
		CALL(Scatter, a, n, t, b, n, u, root);
		break;
	case ALLTOALL:
		CALL(Alltoall, a, n, t, b, n, u);
		break;
	case REDUCE_SCATTER_BLOCK:
		CALL(Reduce_scatter_block, a, b, n, t, MPI_SUM);
		break;
	default:
		CALL(Reduce_scatter, a, b, r->counts, t, MPI_SUM);
		break;
	}
}

/* @shift: elements from where the data would be in place; @here: so it is here. */
static int one(struct run *r, int shift, int here)
{
	int in = sends(r->kind, r->n), out = gets(r->kind, r->n);
	int room = r->n * np * 2 + abs(shift) + 8, i, bad = 0;
	int *mem = calloc((size_t)room * 3, sizeof(*mem));
	int *apart = calloc((size_t)room, sizeof(*apart));
	MPI_Request q = MPI_REQUEST_NULL;

	r->a = apart;
	r->b = mem + room;
	if (here && r->kind == SCATTER) {
		r->a = mem + room;
		r->b = r->a + place(r->kind, r->n) + shift;
	} else if (here) {
		r->a = r->b + place(r->kind, r->n) + shift;
	}
	for (i = 0; i < in; i++)
		r->a[i] = value(me, i);
	call(r, &q);
	if (r->how == PERSISTENT)
		MPI_Start(&q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (r->how == PERSISTENT)
		MPI_Request_free(&q);
	for (i = 0; i < out; i++)
		bad += r->b[r->step * i] != wanted(r->kind, r->n, i);
	free(mem);
	free(apart);
	return bad;
}

static int is_reduction(enum kind k)
{
	return k == ALLREDUCE || k == REDUCE || k >= REDUCE_SCATTER_BLOCK;
}

/* Open MPI itself refuses an Allreduce and a Reduce from a buffer to the same. */
static void test(enum kind k, enum how how)
{
	static const int sizes[] = { 3, 20001 };
	static const int shifts[] = { 0, 1, -1 };
	int s, x, who, step, i, bad = 0, all;

	for (s = 0; s < 2; s++)
		for (x = k == ALLREDUCE || k == REDUCE; x < 3; x++)
			for (who = 0; who < 2; who++)
				for (step = 1; step < 3 - is_reduction(k);
				     step++) {
			struct run r = {
				.kind = k, .how = how, .n = sizes[s],
				.step = step,
				.type = step == 1 ? MPI_INT : gaps,
				.counts = malloc((size_t)np * sizeof(int)),
			};

			for (i = 0; i < np; i++)
				r.counts[i] = part(i, r.n);
			bad += one(&r, shifts[x], !who || me == root);
			free(r.counts);
		}
	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	cases++;
	failed += !me && all;
	if (!me)
		printf("%s %d - %s, %s%s\n", all ? "not ok" : "ok", cases,
		       names[k], hows[how], all ? " # wrong" : "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int k, how;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	root = np - 1;
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
	MPI_Type_commit(&gaps);
	for (how = 0; how < NHOWS; how++)
		for (k = 0; k < NKINDS; k++)
			test((enum kind)k, (enum how)how);
	MPI_Type_free(&gaps);
	if (!me)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
