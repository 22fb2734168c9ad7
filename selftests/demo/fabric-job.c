// SPDX-License-Identifier: GPL-2.0
/*
 * An MPI job that leaves some CPU to others: AllReduces of 256 KiB, each checked,
 * with a pause between, until the file "stop" is there.
 *
 *   fabric-job PAUSE_MS
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT	65536

static int step(int n, int rank, int ranks, bool *last)
{
	static int in[COUNT], out[COUNT];
	int i, ret;

	for (i = 0; i < COUNT; i++)
		in[i] = i * (rank + 1) + n;
	/* All get the same answer. */
	in[0] += !rank && !access("stop", F_OK);
	ret = MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (ret)
		return ret;
	*last = out[0] == n * ranks + 1;
	out[0] -= *last;
	for (i = 0; i < COUNT; i++)
		if (out[i] != i * ranks * (ranks + 1) / 2 + n * ranks) {
			printf("step %d, rank %d: element %d is WRONG\n", n,
			       rank, i);
			exit(2);
		}
	return 0;
}

int main(int argc, char **argv)
{
	int pause_ms, rank, ranks, n, ret = 0, len;
	char text[MPI_MAX_ERROR_STRING];
	bool last = false;

	if (argc != 2)
		return 2;
	pause_ms = atoi(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (n = 0; !last && !ret; n++) {
		ret = step(n, rank, ranks, &last);
		usleep((useconds_t)pause_ms * 1000);
	}
	if (ret) {
		MPI_Error_string(ret, text, &len);
		printf("rank %d: step %d ended: %s\n", rank, n, text);
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (!rank)
		printf("%d steps, every sum is right on %d ranks\n", n, ranks);
	MPI_Finalize();
	return 0;
}
