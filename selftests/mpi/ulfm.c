// SPDX-License-Identifier: GPL-2.0
/*
 * ULFM's contract: a communicator is revoked while ranks wait in it, a process dies,
 * and the others go on. Prints one KTAP line per case on rank 0. Nothing in here
 * knows of INC.
 *
 *   ulfm [FIRST]: by default all cases
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N	3000	/* elements of an operation */
#define OFTEN	3	/* operations that have to be right */
#define LATE	5.0	/* seconds after which an error is too late */

enum how { BLOCKING, WAIT, TEST, PERSISTENT, BARRIER, BCAST, NHOWS };

static const char *const names[NHOWS] = {
	"allreduce", "iallreduce, wait", "iallreduce, test", "allreduce_init",
	"barrier", "bcast",
};

static int me, np, cases, failed;
static int handled;	/* class of the last error that a handler got */
static MPI_Errhandler handler;
static int in[N], out[N];

static void handle(MPI_Comm *c, int *err, ...)
{
	(void)c;
	MPI_Error_class(*err, &handled);
}

/* Among the ranks of @c, of which rank 0 is one. */
static void verdict(MPI_Comm c, const char *name, int bad)
{
	int all = 1;

	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, c);
	cases++;
	if (me)
		return;
	failed += all != 0;
	printf("%s %d - %s%s\n", all ? "not ok" : "ok", cases, name,
	       all ? " # see above" : "");
	fflush(stdout);
}

static int says(const char *what, int got, int want)
{
	int class = MPI_SUCCESS;

	if (got != MPI_SUCCESS)
		MPI_Error_class(got, &class);
	if (class != want)
		printf("# rank %d: %s: class %d instead of %d\n", me, what,
		       class, want);
	fflush(stdout);
	return class != want;
}

static MPI_Comm handled_dup(MPI_Comm from)
{
	MPI_Comm c;

	MPI_Comm_dup(from, &c);
	MPI_Comm_set_errhandler(c, handler);
	return c;
}

/* The sums of @c's ranks are right. */
static int works(MPI_Comm c)
{
	int i, x, s, rank, size, bad = 0;

	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	for (i = 0; i < OFTEN && !bad; i++) {
		x = rank + i;
		bad = MPI_Allreduce(&x, &s, 1, MPI_INT, MPI_SUM, c) ||
		      s != size * i + size * (size - 1) / 2;
	}
	if (bad)
		printf("# rank %d: a wrong sum\n", me);
	return bad;
}

static int end(MPI_Request *q, int test)
{
	int flag = 0, ret = MPI_SUCCESS;

	while (test && !flag && ret == MPI_SUCCESS)
		ret = MPI_Test(q, &flag, MPI_STATUS_IGNORE);
	if (!test)
		ret = MPI_Wait(q, MPI_STATUS_IGNORE);
	return ret;
}

/* An operation that rank @without does not take part in. */
static int call(enum how how, MPI_Comm c, int without, MPI_Request *q)
{
	int ret;

	switch (how) {
	case BLOCKING:
		return MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, c);
	case WAIT:
	case TEST:
		ret = MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, c, q);
		return ret == MPI_SUCCESS ? end(q, how == TEST) : ret;
	case PERSISTENT:
		ret = MPI_Start(q);
		return ret == MPI_SUCCESS ? end(q, 0) : ret;
	case BARRIER:
		return MPI_Barrier(c);
	default:
		return MPI_Bcast(in, N, MPI_INT, without, c);
	}
}

static void revoked(enum how how, int by)
{
	MPI_Comm c = handled_dup(MPI_COMM_WORLD), s;
	MPI_Comm other = handled_dup(MPI_COMM_WORLD);
	MPI_Request q = MPI_REQUEST_NULL;
	int bad = works(c) + works(other), size, flag = me ? 7 : 5;
	double t;
	char text[64];

	if (how == PERSISTENT)
		MPI_Allreduce_init(in, out, N, MPI_INT, MPI_SUM, c,
				   MPI_INFO_NULL, &q);
	handled = MPI_SUCCESS;
	if (me == by) {
		usleep(300000);
		MPIX_Comm_revoke(c);
	} else {
		t = MPI_Wtime();
		bad += says("revoked", call(how, c, by, &q), MPIX_ERR_REVOKED);
		bad += says("its handler", handled, MPIX_ERR_REVOKED);
		bad += MPI_Wtime() - t > LATE;
	}
	if (how == PERSISTENT && q != MPI_REQUEST_NULL)
		MPI_Request_free(&q);
	bad += says("later", MPI_Barrier(c), MPIX_ERR_REVOKED);
	bad += says("agree", MPIX_Comm_agree(c, &flag), MPI_SUCCESS);
	bad += flag != 5;
	bad += says("shrink", MPIX_Comm_shrink(c, &s), MPI_SUCCESS);
	MPI_Comm_size(s, &size);
	bad += size != np;
	bad += works(s) + works(other);
	MPI_Comm_free(&c);
	MPI_Comm_free(&s);
	MPI_Comm_free(&other);
	snprintf(text, sizeof(text), "%s, revoked by rank %d", names[how], by);
	verdict(MPI_COMM_WORLD, text, bad);
}

/* What the last rank had a part in fails, and what it had none in goes on. */
static void dead(void)
{
	MPI_Comm c = handled_dup(MPI_COMM_WORLD), s, without;
	MPI_Comm d = handled_dup(c), e = handled_dup(c);
	int bad, size, flag = 1, out2[N], out3[N];
	MPI_Request q, p;
	MPI_Group g;
	double t;

	MPI_Comm_split(MPI_COMM_WORLD, me == np - 1, me, &without);
	bad = works(c) + works(d) + works(e) + works(without);
	MPI_Allreduce_init(in, out2, N, MPI_INT, MPI_SUM, e, MPI_INFO_NULL, &p);
	if (me == np - 1) {
		usleep(300000);
		raise(SIGKILL);
	}
	t = MPI_Wtime();
	MPI_Iallreduce(in, out3, N, MPI_INT, MPI_SUM, d, &q);
	MPI_Start(&p);
	bad += says("blocking", call(BLOCKING, c, 0, NULL),
		    MPIX_ERR_PROC_FAILED);
	bad += says("its handler", handled, MPIX_ERR_PROC_FAILED);
	bad += says("non-blocking", end(&q, 0), MPIX_ERR_PROC_FAILED);
	bad += says("persistent", end(&p, 0), MPIX_ERR_PROC_FAILED);
	bad += MPI_Wtime() - t > LATE;
	bad += works(without);
	MPIX_Comm_failure_ack(c);
	MPIX_Comm_failure_get_acked(c, &g);
	MPI_Group_size(g, &size);
	bad += size != 1;
	bad += says("agree", MPIX_Comm_agree(c, &flag), MPI_SUCCESS);
	MPIX_Comm_revoke(c);
	bad += says("revoked", MPI_Barrier(c), MPIX_ERR_REVOKED);
	bad += says("shrink", MPIX_Comm_shrink(c, &s), MPI_SUCCESS);
	MPI_Comm_size(s, &size);
	bad += size != np - 1;
	bad += works(s);
	verdict(s, "a rank dies", bad);
}

int main(int argc, char **argv)
{
	int how;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	MPI_Comm_create_errhandler(handle, &handler);
	for (how = argc > 1 ? atoi(argv[1]) : 0; how < NHOWS; how++)
		revoked((enum how)how, how % 2 ? np - 1 : 0);
	dead();
	if (!me)
		printf("1..%d\n", cases);
	fflush(stdout);
	/* Open MPI 5.0.7 waits long for the dead rank in MPI_Finalize(). */
	_exit(failed != 0);
}
