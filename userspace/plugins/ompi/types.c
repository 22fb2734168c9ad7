// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Maps MPI's types and operations to those of INC.
 *
 * All ranks must decide alike whether an operation goes through the switch. For
 * reductions they do, as MPI requires the same type and count everywhere. Other
 * collectives depend only on the bytes of a block, which MPI requires to be
 * equal, while the types may differ between ranks.
 */
#include "coll_inc.h"

#include "ompi/datatype/ompi_datatype_internal.h"

/* Type classes of MPI 4.1, section 6.9.2, by their operations. */
#define ARITH	(1u << INC_OP_SUM | 1u << INC_OP_PROD | \
		 1u << INC_OP_MIN | 1u << INC_OP_MAX)
#define LOGIC	(1u << INC_OP_LAND | 1u << INC_OP_LOR | 1u << INC_OP_LXOR)
#define BITS	(1u << INC_OP_BAND | 1u << INC_OP_BOR | 1u << INC_OP_BXOR)
#define INTEGER	(ARITH | LOGIC | BITS)
#define PAIR	(1u << INC_OP_MINLOC | 1u << INC_OP_MAXLOC)

/* Kind of an element; its length comes from the type. */
enum kind {
	OTHER,
	SIGNED,
	UNSIGNED,
	FLOATING,
	FLOAT_AND_INT,
	DOUBLE_AND_INT,
	LONG_AND_INT,
	TWO_INTS,
	SHORT_AND_INT,
	NKINDS
};

struct terms {
	enum kind	kind;
	unsigned int	ops;
};

/* By ompi_datatype_t.id; types not listed here have no operations. */
static const struct terms types[OMPI_DATATYPE_MPI_MAX_PREDEFINED] = {
	[OMPI_DATATYPE_MPI_INT8_T]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_UINT8_T]	= { UNSIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_INT16_T]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_UINT16_T]	= { UNSIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_INT32_T]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_UINT32_T]	= { UNSIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_INT64_T]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_UINT64_T]	= { UNSIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_LONG]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_UNSIGNED_LONG] = { UNSIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_AINT]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_OFFSET]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_COUNT]	= { SIGNED, INTEGER },
	[OMPI_DATATYPE_MPI_INTEGER]	= { SIGNED, ARITH | BITS },
	[OMPI_DATATYPE_MPI_C_BOOL]	= { UNSIGNED, LOGIC },
	[OMPI_DATATYPE_MPI_FLOAT]	= { FLOATING, ARITH },
	[OMPI_DATATYPE_MPI_REAL]	= { FLOATING, ARITH },
	[OMPI_DATATYPE_MPI_DOUBLE]	= { FLOATING, ARITH },
	[OMPI_DATATYPE_MPI_DOUBLE_PRECISION] = { FLOATING, ARITH },
	[OMPI_DATATYPE_MPI_FLOAT_INT]	= { FLOAT_AND_INT, PAIR },
	[OMPI_DATATYPE_MPI_DOUBLE_INT]	= { DOUBLE_AND_INT, PAIR },
	[OMPI_DATATYPE_MPI_LONG_INT]	= { LONG_AND_INT, PAIR },
	[OMPI_DATATYPE_MPI_2INT]	= { TWO_INTS, PAIR },
	[OMPI_DATATYPE_MPI_2INTEGER]	= { TWO_INTS, PAIR },
	[OMPI_DATATYPE_MPI_SHORT_INT]	= { SHORT_AND_INT, PAIR },
};

/* The lengths of each kind that the switch supports. */
#define LENGTHS	4
static const int known[NKINDS][LENGTHS] = {
	[OTHER] = { -1, -1, -1, -1 },
	[SIGNED] = { INC_DTYPE_INT8, INC_DTYPE_INT16, INC_DTYPE_INT32,
		     INC_DTYPE_INT64 },
	[UNSIGNED] = { INC_DTYPE_UINT8, INC_DTYPE_UINT16, INC_DTYPE_UINT32,
		       INC_DTYPE_UINT64 },
	[FLOATING] = { INC_DTYPE_FP32, INC_DTYPE_FP64, -1, -1 },
	[FLOAT_AND_INT] = { INC_DTYPE_FLOAT_INT, -1, -1, -1 },
	[DOUBLE_AND_INT] = { INC_DTYPE_DOUBLE_INT, -1, -1, -1 },
	[LONG_AND_INT] = { INC_DTYPE_LONG_INT, -1, -1, -1 },
	[TWO_INTS] = { INC_DTYPE_2INT, -1, -1, -1 },
	[SHORT_AND_INT] = { INC_DTYPE_SHORT_INT, -1, -1, -1 },
};

static const int ops[OMPI_OP_NUM_OF_TYPES] = {
	[OMPI_OP_NULL]	  = -1,
	[OMPI_OP_MAX]	  = INC_OP_MAX,
	[OMPI_OP_MIN]	  = INC_OP_MIN,
	[OMPI_OP_SUM]	  = INC_OP_SUM,
	[OMPI_OP_PROD]	  = INC_OP_PROD,
	[OMPI_OP_LAND]	  = INC_OP_LAND,
	[OMPI_OP_BAND]	  = INC_OP_BAND,
	[OMPI_OP_LOR]	  = INC_OP_LOR,
	[OMPI_OP_BOR]	  = INC_OP_BOR,
	[OMPI_OP_LXOR]	  = INC_OP_LXOR,
	[OMPI_OP_BXOR]	  = INC_OP_BXOR,
	[OMPI_OP_MAXLOC]  = INC_OP_MAXLOC,
	[OMPI_OP_MINLOC]  = INC_OP_MINLOC,
	[OMPI_OP_REPLACE] = -1,
};

/*
 * The lengths of Fortran's types depend on compiler options
 * (-fdefault-integer-8), those of C's on the machine.
 */
static int of_length(const ompi_datatype_t *type, enum kind kind)
{
	ptrdiff_t lb, extent;
	int i;

	ompi_datatype_get_extent(type, &lb, &extent);
	for (i = 0; i < LENGTHS && known[kind][i] >= 0; i++)
		if (inc_dtype_size((enum inc_dtype)known[kind][i]) ==
		    (size_t)extent)
			return known[kind][i];
	return -1;
}

/*
 * Find type and operation of a reduction. MPI's operations work only on
 * predefined types (4.1, section 6.9.2), and Open MPI refuses even duplicates
 * of them. Derived types thus occur only with user-defined operations. Returns
 * COLL_INC_GOES, or why the switch can't reduce that.
 * @dtype: set to the type, if there is one
 * @iop: set to the operation, if there is one
 */
enum coll_inc_why coll_inc_terms(const ompi_datatype_t *type, ompi_op_t *op,
				 enum inc_dtype *dtype, enum inc_op *iop)
{
	const struct terms *t;
	int found;

	if (!ompi_op_is_intrinsic(op) || (int)op->op_type < 0 ||
	    op->op_type >= OMPI_OP_NUM_OF_TYPES || ops[op->op_type] < 0)
		return COLL_INC_OP;
	if (!ompi_datatype_is_predefined(type) || type->id < 0 ||
	    type->id >= OMPI_DATATYPE_MPI_MAX_PREDEFINED)
		return COLL_INC_TYPE;
	t = &types[type->id];
	if (!(t->ops & 1u << ops[op->op_type]))
		return COLL_INC_TYPE;
	found = of_length(type, t->kind);
	if (found < 0)
		return COLL_INC_TYPE;
	*dtype = (enum inc_dtype)found;
	*iop = (enum inc_op)ops[op->op_type];
	return COLL_INC_GOES;
}

/* Express a number of bytes as elements. Returns the type of the elements. */
enum inc_dtype coll_inc_bytes(size_t bytes, size_t *count)
{
	if (bytes % 8) {
		*count = bytes;
		return INC_DTYPE_UINT8;
	}
	*count = bytes / 8;
	return INC_DTYPE_UINT64;
}

/* Compute the bytes of data. Returns bytes, without the gaps of the type. */
size_t coll_inc_size(const ompi_datatype_t *type, int count)
{
	size_t size;

	ompi_datatype_type_size(type, &size);
	return size * (size_t)count;
}
