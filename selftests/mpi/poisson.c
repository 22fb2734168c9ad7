// SPDX-License-Identifier: GPL-2.0
/*
 * Poisson's equation on a cube by PETSc's conjugate gradients: in each step ghost
 * points of the neighbours, and two or three sums of a number. Rank 0 prints the
 * norm of the solution. Nothing in here knows of INC.
 *
 *   poisson POINTS STEPS
 */
#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode fill(KSP ksp, Mat j, Mat a, void *ctx)
{
	MatStencil row, col[7];
	PetscScalar v[7];
	DMDALocalInfo at;
	DM da;

	PetscCall(KSPGetDM(ksp, &da));
	PetscCall(DMDAGetLocalInfo(da, &at));
	for (row.k = at.zs; row.k < at.zs + at.zm; row.k++)
		for (row.j = at.ys; row.j < at.ys + at.ym; row.j++)
			for (row.i = at.xs; row.i < at.xs + at.xm; row.i++) {
				int n = 0, d;

				v[n] = 6;
				col[n++] = row;
				for (d = -1; d <= 1; d += 2) {
					col[n] = row;
					col[n].i += d;
					if (col[n].i >= 0 && col[n].i < at.mx)
						v[n++] = -1;
					col[n] = row;
					col[n].j += d;
					if (col[n].j >= 0 && col[n].j < at.my)
						v[n++] = -1;
					col[n] = row;
					col[n].k += d;
					if (col[n].k >= 0 && col[n].k < at.mz)
						v[n++] = -1;
				}
				PetscCall(MatSetValuesStencil(a, 1, &row, n, col,
							      v, INSERT_VALUES));
			}
	PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
	PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
	return 0;
}

static PetscErrorCode ones(KSP ksp, Vec b, void *ctx)
{
	PetscCall(VecSet(b, 1));
	return 0;
}

static PetscErrorCode solve(PetscInt points, PetscInt steps)
{
	PetscReal norm;
	KSP ksp;
	PC pc;
	Vec x;
	DM da;

	PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE,
			       DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
			       DMDA_STENCIL_STAR, points, points, points,
			       PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
			       NULL, NULL, NULL, &da));
	PetscCall(DMSetUp(da));
	PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
	PetscCall(KSPSetDM(ksp, da));
	PetscCall(KSPSetType(ksp, KSPCG));
	PetscCall(KSPGetPC(ksp, &pc));
	PetscCall(PCSetType(pc, PCJACOBI));
	PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-30, PETSC_DEFAULT, steps));
	PetscCall(KSPSetComputeOperators(ksp, fill, NULL));
	PetscCall(KSPSetComputeRHS(ksp, ones, NULL));
	PetscCall(KSPSolve(ksp, NULL, NULL));
	PetscCall(KSPGetSolution(ksp, &x));
	PetscCall(VecNorm(x, NORM_2, &norm));
	PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm %.12g\n", (double)norm));
	PetscCall(KSPDestroy(&ksp));
	PetscCall(DMDestroy(&da));
	return 0;
}

int main(int argc, char **argv)
{
	PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
	if (argc < 3)
		return 2;
	PetscCall(solve(atoi(argv[1]), atoi(argv[2])));
	PetscCall(PetscFinalize());
	return 0;
}
