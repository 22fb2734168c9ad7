// SPDX-License-Identifier: GPL-2.0
/*
 * FFTW's three-dimensional transforms, forth and back, and after each the energy of
 * the field: the loop of a spectral solver, which transposes by AllToAll and adds
 * one number. Rank 0 prints the last energy. Nothing in here knows of INC.
 *
 *   fft SIZE TIMES
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double energy(const fftw_complex *x, ptrdiff_t n)
{
	double mine = 0, all;
	ptrdiff_t i;

	for (i = 0; i < n; i++)
		mine += x[i][0] * x[i][0] + x[i][1] * x[i][1];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	ptrdiff_t size, local, planes, first, n, i;
	fftw_plan forth, back;
	fftw_complex *x;
	double sum = 0;
	int rank, times;

	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 3)
		return 2;
	size = atoi(argv[1]);
	local = fftw_mpi_local_size_3d(size, size, size, MPI_COMM_WORLD,
				       &planes, &first);
	n = planes * size * size;
	x = fftw_alloc_complex(local);
	/* Plans that are measured may differ from run to run, and their results. */
	forth = fftw_mpi_plan_dft_3d(size, size, size, x, x, MPI_COMM_WORLD,
				     FFTW_FORWARD, FFTW_ESTIMATE);
	back = fftw_mpi_plan_dft_3d(size, size, size, x, x, MPI_COMM_WORLD,
				    FFTW_BACKWARD, FFTW_ESTIMATE);
	for (i = 0; i < n; i++) {
		x[i][0] = sin(0.37 * (first * size * size + i));
		x[i][1] = cos(0.11 * (first * size * size + i));
	}
	for (times = atoi(argv[2]); times; times--) {
		fftw_execute(forth);
		sum = energy(x, n) / (size * size * size);
		fftw_execute(back);
		for (i = 0; i < n; i++) {
			x[i][0] /= size * size * size;
			x[i][1] /= size * size * size;
		}
	}
	if (!rank)
		printf("energy %.12g\n", sum);
	fftw_destroy_plan(forth);
	fftw_destroy_plan(back);
	fftw_free(x);
	MPI_Finalize();
	return 0;
}
