// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives in the callbacks of MPI_Finalize(), as HDF5 and PETSc have them: those
 * of some ranks are there, those of others just before. Prints one KTAP line on rank 0.
 * Nothing in here knows of INC.
 *
 *   finalize LATE: ranks below LATE begin theirs in a callback
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES	30

static int me, np, bad;

static void collect(void)
{
	int i, x, sum;
	MPI_Request q;

	for (i = 0; i < TIMES; i++) {
		x = me + i;
		MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			       &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		bad += sum != np * i + np * (np - 1) / 2;
	}
}

static int on_end(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c;
	(void)key;
	(void)value;
	(void)extra;
	collect();
	if (!me)
		printf("%s 1 - collectives when MPI ends\n1..1\n",
		       bad ? "not ok" : "ok");
	fflush(stdout);
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int key;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (me < (argc > 1 ? atoi(argv[1]) : 1)) {
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &key,
				       NULL);
		MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	} else {
		collect();
	}
	MPI_Finalize();
	return bad != 0;
}
