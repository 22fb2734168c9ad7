// SPDX-License-Identifier: GPL-2.0
/*
 * A small MPI program: an AllReduce of the ranks.
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("size %d sum %d\n", size, sum);
	return MPI_Finalize();
}
