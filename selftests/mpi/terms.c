// SPDX-License-Identifier: GPL-2.0
/*
 * The mapping of MPI's types in coll/inc, also where their lengths differ from
 * those here: Fortran's INTEGER has 8 bytes with some compiler options. Prints
 * one KTAP line per case.
 */
#include <stdio.h>

#include "coll_inc.h"

static int cases, failed;

/* INC_DTYPE_COUNT: unsupported. */
static void must_be(const char *name, const ompi_datatype_t *like,
		    ptrdiff_t length, enum inc_dtype want, int op_type)
{
	ompi_op_t op = {
		.op_type = op_type, .o_flags = OMPI_OP_FLAGS_INTRINSIC,
	};
	enum inc_dtype dtype = INC_DTYPE_COUNT;
	ompi_datatype_t type = *like;
	enum coll_inc_why why;
	enum inc_op iop;
	bool ok;

	type.super.size = (size_t)length;
	type.super.lb = 0;
	type.super.ub = length;
	why = coll_inc_terms(&type, &op, &dtype, &iop);
	cases++;
	if (want == INC_DTYPE_COUNT)
		ok = why == COLL_INC_TYPE;
	else
		ok = !why && dtype == want;
	if (ok) {
		printf("ok %d - %s of %td bytes\n", cases, name, length);
	} else {
		printf("not ok %d - %s of %td bytes # why %d, type %d\n", cases,
		       name, length, why, dtype);
		failed++;
	}
}

int main(void)
{
	const ompi_datatype_t *integer = &ompi_mpi_integer.dt;
	const ompi_datatype_t *real = &ompi_mpi_real.dt;
	const ompi_datatype_t *c_long = &ompi_mpi_long.dt;
	const ompi_datatype_t *pair = &ompi_mpi_2integer.dt;

	must_be("INTEGER", integer, 4, INC_DTYPE_INT32, OMPI_OP_SUM);
	must_be("INTEGER", integer, 8, INC_DTYPE_INT64, OMPI_OP_SUM);
	must_be("INTEGER", integer, 16, INC_DTYPE_COUNT, OMPI_OP_SUM);
	must_be("REAL", real, 4, INC_DTYPE_FP32, OMPI_OP_MAX);
	must_be("REAL", real, 8, INC_DTYPE_FP64, OMPI_OP_MAX);
	must_be("REAL", real, 2, INC_DTYPE_COUNT, OMPI_OP_MAX);
	must_be("long", c_long, 8, INC_DTYPE_INT64, OMPI_OP_BXOR);
	must_be("long", c_long, 4, INC_DTYPE_INT32, OMPI_OP_BXOR);
	must_be("2INTEGER", pair, 8, INC_DTYPE_2INT, OMPI_OP_MAXLOC);
	must_be("2INTEGER", pair, 16, INC_DTYPE_COUNT, OMPI_OP_MAXLOC);
	must_be("unsigned long", &ompi_mpi_unsigned_long.dt, 4,
		INC_DTYPE_UINT32, OMPI_OP_MIN);
	must_be("bool", &ompi_mpi_c_bool.dt, 1, INC_DTYPE_UINT8, OMPI_OP_LAND);
	must_be("double and int", &ompi_mpi_double_int.dt, 16,
		INC_DTYPE_DOUBLE_INT, OMPI_OP_MINLOC);
	must_be("long double", &ompi_mpi_long_double.dt, 16, INC_DTYPE_COUNT,
		OMPI_OP_SUM);
	printf("1..%d\n", cases);
	return failed ? 1 : 0;
}
