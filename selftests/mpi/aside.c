// SPDX-License-Identifier: GPL-2.0
/*
 * Non-blocking collectives, those of a switch and others, many at a time, on
 * communicators of which no blocking one is called at first; ranks that are
 * late; blocking and persistent ones in between. All ranks draw the same
 * operations, and each its own delays. Prints one KTAP line per communicator on
 * rank 0. Nothing in here knows of INC.
 *
 *   aside SEED COMMUNICATORS OPERATIONS [wait|threads]
 *
 * wait: each operation ends before the next one, and all are non-blocking.
 * threads: so they are; rank 1 allows several threads in MPI, other ranks none.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST	12	/* operations at a time */
#define N	700	/* most elements of a block */
#define RANKS	16

enum kind {
	IALLREDUCE, IBCAST, IALLGATHER, IALLTOALL, IBARRIER, IGATHER, ISCATTER,
	IREDUCE, IREDUCE_SCATTER, ISCAN, IALLGATHERV, OWN_OP, ALLREDUCE,
	PERSISTENT, NKINDS
};

struct op {
	enum kind	kind;
	int		n;
	int		root;
	int		id;
	int		*a;
	int		*b;
	int		counts[RANKS];
	int		displs[RANKS];
	MPI_Request	q;
};

static int me, np, bad, failed;
static unsigned int own;	/* random numbers of this rank alone */
static MPI_Op add;

static void add_fn(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int i;

	(void)type;
	for (i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static int value(const struct op *o, int rank, int i)
{
	return o->id * 131 + rank * 7919 + i;
}

static int sum(const struct op *o, int ranks, int i)
{
	int r, s = 0;

	for (r = 0; r < ranks; r++)
		s += value(o, r, i);
	return s;
}

static void begin(struct op *o, MPI_Comm c)
{
	int n = o->n, all = n * np, i;

	o->a = malloc((size_t)(all + 1) * sizeof(int));
	o->b = calloc((size_t)(all + 1), sizeof(int));
	for (i = 0; i < all; i++)
		o->a[i] = value(o, me, i);
	for (i = 0; i < np; i++) {
		o->counts[i] = n;
		o->displs[i] = n * i;
	}
	switch (o->kind) {
	case IALLREDUCE:
		MPI_Iallreduce(o->a, o->b, n, MPI_INT, MPI_SUM, c, &o->q);
		break;
	case IBCAST:
		MPI_Ibcast(me == o->root ? o->a : o->b, n, MPI_INT, o->root, c,
			   &o->q);
		break;
	case IALLGATHER:
		MPI_Iallgather(o->a, n, MPI_INT, o->b, n, MPI_INT, c, &o->q);
		break;
	case IALLTOALL:
		MPI_Ialltoall(o->a, n, MPI_INT, o->b, n, MPI_INT, c, &o->q);
		break;
	case IBARRIER:
		MPI_Ibarrier(c, &o->q);
		break;
	case IGATHER:
		MPI_Igather(o->a, n, MPI_INT, o->b, n, MPI_INT, o->root, c,
			    &o->q);
		break;
	case ISCATTER:
		MPI_Iscatter(o->a, n, MPI_INT, o->b, n, MPI_INT, o->root, c,
			     &o->q);
		break;
	case IREDUCE:
		MPI_Ireduce(o->a, o->b, n, MPI_INT, MPI_SUM, o->root, c,
			    &o->q);
		break;
	case IREDUCE_SCATTER:
		MPI_Ireduce_scatter(o->a, o->b, o->counts, MPI_INT, MPI_SUM, c,
				    &o->q);
		break;
	case ISCAN:
		MPI_Iscan(o->a, o->b, n, MPI_INT, MPI_SUM, c, &o->q);
		break;
	case IALLGATHERV:
		MPI_Iallgatherv(o->a, n, MPI_INT, o->b, o->counts, o->displs,
				MPI_INT, c, &o->q);
		break;
	case OWN_OP:
		MPI_Iallreduce(o->a, o->b, n, MPI_INT, add, c, &o->q);
		break;
	case ALLREDUCE:
		MPI_Allreduce(o->a, o->b, n, MPI_INT, MPI_SUM, c);
		o->q = MPI_REQUEST_NULL;
		break;
	default:
		MPI_Allreduce_init(o->a, o->b, n, MPI_INT, MPI_SUM, c,
				   MPI_INFO_NULL, &o->q);
		MPI_Start(&o->q);
		break;
	}
}

/* The element at @i of the result, if this rank gets one. */
static int wanted(const struct op *o, int i)
{
	int n = o->n, from = n ? i / n : 0;

	switch (o->kind) {
	case IBCAST:
		return value(o, o->root, i);
	case IALLGATHER:
	case IGATHER:
	case IALLGATHERV:
		return value(o, from, i % n);
	case IALLTOALL:
		return value(o, from, me * n + i % n);
	case ISCATTER:
		return value(o, o->root, me * n + i);
	case IREDUCE_SCATTER:
		return sum(o, np, me * n + i);
	case ISCAN:
		return sum(o, me + 1, i);
	default:
		return sum(o, np, i);
	}
}

static void end(struct op *o)
{
	int n = o->n, i;

	if (o->kind == PERSISTENT) {
		MPI_Wait(&o->q, MPI_STATUS_IGNORE);
		MPI_Request_free(&o->q);
	} else {
		MPI_Wait(&o->q, MPI_STATUS_IGNORE);
	}
	if (o->kind == IALLGATHER || o->kind == IALLGATHERV ||
	    o->kind == IALLTOALL || o->kind == IGATHER)
		n *= np;
	if (o->kind == IBARRIER || (o->kind == IBCAST && me == o->root) ||
	    ((o->kind == IGATHER || o->kind == IREDUCE) && me != o->root))
		n = 0;
	for (i = 0; i < n; i++)
		bad += o->b[i] != wanted(o, i);
	free(o->a);
	free(o->b);
}

static void linger(void)
{
	int flag, dice = rand_r(&own) % 16;

	if (dice == 0)
		usleep((unsigned int)rand_r(&own) % 20000);
	else if (dice < 4)
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
}

static void one(MPI_Comm c, int ops, int wait)
{
	struct op o[MOST];
	int first = 0, i, blocks_from = wait ? ops : rand() % ops;

	for (i = 0; i < ops; i++) {
		struct op *p = &o[i % MOST];

		if (i - first == MOST || (wait && i > first))
			end(&o[first++ % MOST]);
		memset(p, 0, sizeof(*p));
		p->kind = (enum kind)(rand() % NKINDS);
		if (i < blocks_from && p->kind >= ALLREDUCE)
			p->kind = IALLREDUCE;
		p->n = rand() % 4 ? rand() % 20 : rand() % N;
		p->root = rand() % np;
		p->id = i;
		linger();
		begin(p, c);
		while (rand() % 8 == 0 && first <= i)
			end(&o[first++ % MOST]);
	}
	/* The first ranks free it while others have just begun. */
	while (first < ops)
		end(&o[first++ % MOST]);
}

int main(int argc, char **argv)
{
	int seed = argc > 1 ? atoi(argv[1]) : 1, all, i;
	int comms = argc > 2 ? atoi(argv[2]) : 4;
	int ops = argc > 3 ? atoi(argv[3]) : 40;
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	int level = MPI_THREAD_SINGLE;
	MPI_Comm c;

	if (argc > 4 && !strcmp(argv[4], "threads") && rank &&
	    !strcmp(rank, "1"))
		level = MPI_THREAD_MULTIPLE;
	MPI_Init_thread(&argc, &argv, level, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	MPI_Op_create(add_fn, 1, &add);
	srand((unsigned int)seed);
	own = (unsigned int)(seed + 1000 * me);
	for (i = 0; i < comms; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		one(c, ops, argc > 4);
		MPI_Comm_free(&c);
		PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		failed += all > 0;
		if (!me)
			printf("%s %d - communicator %d, seed %d%s\n",
			       all ? "not ok" : "ok", i + 1, i, seed,
			       all ? " # wrong elements" : "");
		fflush(stdout);
		bad = 0;
	}
	MPI_Op_free(&add);
	if (!me)
		printf("1..%d\n", comms);
	MPI_Finalize();
	return failed ? 1 : 0;
}
