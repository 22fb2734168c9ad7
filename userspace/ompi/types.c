// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * MPI's types and operations in the terms of INC.
 *
 * Whether an operation goes through the switch has to come out the same on all
 * ranks. For reductions that is so since MPI wants the same type and count
 * everywhere; elsewhere only the bytes of a block count, which MPI wants equal,
 * while the types may differ from rank to rank.
 */
#include "coll_inc.h"

#include "ompi/datatype/ompi_datatype_internal.h"

/* The classes of MPI 4.1, section 6.9.2: which operations go with them. */
#define ARITH	(1u << INC_OP_SUM | 1u << INC_OP_PROD | \
		 1u << INC_OP_MIN | 1u << INC_OP_MAX)
#define LOGIC	(1u << INC_OP_LAND | 1u << INC_OP_LOR | 1u << INC_OP_LXOR)
#define BITS	(1u << INC_OP_BAND | 1u << INC_OP_BOR | 1u << INC_OP_BXOR)
#define INTEGER	(ARITH | LOGIC | BITS)
#define PAIR	(1u << INC_OP_MINLOC | 1u << INC_OP_MAXLOC)

struct terms {
	enum inc_dtype	dtype;
	unsigned int	ops;
};

/* By ompi_datatype_t.id; what is not here has no ops. */
static const struct terms types[OMPI_DATATYPE_MPI_MAX_PREDEFINED] = {
	[OMPI_DATATYPE_MPI_INT8_T]	= { INC_DTYPE_INT8, INTEGER },
	[OMPI_DATATYPE_MPI_UINT8_T]	= { INC_DTYPE_UINT8, INTEGER },
	[OMPI_DATATYPE_MPI_INT16_T]	= { INC_DTYPE_INT16, INTEGER },
	[OMPI_DATATYPE_MPI_UINT16_T]	= { INC_DTYPE_UINT16, INTEGER },
	[OMPI_DATATYPE_MPI_INT32_T]	= { INC_DTYPE_INT32, INTEGER },
	[OMPI_DATATYPE_MPI_UINT32_T]	= { INC_DTYPE_UINT32, INTEGER },
	[OMPI_DATATYPE_MPI_INT64_T]	= { INC_DTYPE_INT64, INTEGER },
	[OMPI_DATATYPE_MPI_UINT64_T]	= { INC_DTYPE_UINT64, INTEGER },
	[OMPI_DATATYPE_MPI_LONG]	= { INC_DTYPE_INT64, INTEGER },
	[OMPI_DATATYPE_MPI_UNSIGNED_LONG] = { INC_DTYPE_UINT64, INTEGER },
	[OMPI_DATATYPE_MPI_AINT]	= { INC_DTYPE_INT64, INTEGER },
	[OMPI_DATATYPE_MPI_OFFSET]	= { INC_DTYPE_INT64, INTEGER },
	[OMPI_DATATYPE_MPI_COUNT]	= { INC_DTYPE_INT64, INTEGER },
	[OMPI_DATATYPE_MPI_INTEGER]	= { INC_DTYPE_INT32, ARITH | BITS },
	[OMPI_DATATYPE_MPI_C_BOOL]	= { INC_DTYPE_UINT8, LOGIC },
	[OMPI_DATATYPE_MPI_FLOAT]	= { INC_DTYPE_FP32, ARITH },
	[OMPI_DATATYPE_MPI_REAL]	= { INC_DTYPE_FP32, ARITH },
	[OMPI_DATATYPE_MPI_DOUBLE]	= { INC_DTYPE_FP64, ARITH },
	[OMPI_DATATYPE_MPI_DOUBLE_PRECISION] = { INC_DTYPE_FP64, ARITH },
	[OMPI_DATATYPE_MPI_FLOAT_INT]	= { INC_DTYPE_FLOAT_INT, PAIR },
	[OMPI_DATATYPE_MPI_DOUBLE_INT]	= { INC_DTYPE_DOUBLE_INT, PAIR },
	[OMPI_DATATYPE_MPI_LONG_INT]	= { INC_DTYPE_LONG_INT, PAIR },
	[OMPI_DATATYPE_MPI_2INT]	= { INC_DTYPE_2INT, PAIR },
	[OMPI_DATATYPE_MPI_2INTEGER]	= { INC_DTYPE_2INT, PAIR },
	[OMPI_DATATYPE_MPI_SHORT_INT]	= { INC_DTYPE_SHORT_INT, PAIR },
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

/**
 * coll_inc_terms() - find type and operation of a reduction
 * @type: MPI's type
 * @op: MPI's operation
 * @dtype: type, if there is one
 * @iop: operation, likewise
 *
 * MPI has its operations work on predefined types alone (4.1, section 6.9.2),
 * and Open MPI refuses duplicates of them, too: what is derived comes here with
 * operations of the program's own only.
 *
 * Return: COLL_INC_GOES, or why the switch can't reduce that.
 */
enum coll_inc_why coll_inc_terms(const ompi_datatype_t *type, ompi_op_t *op,
				 enum inc_dtype *dtype, enum inc_op *iop)
{
	const struct terms *t;

	if (!ompi_op_is_intrinsic(op) || (int)op->op_type < 0 ||
	    op->op_type >= OMPI_OP_NUM_OF_TYPES || ops[op->op_type] < 0)
		return COLL_INC_OP;
	if (!ompi_datatype_is_predefined(type) || type->id < 0 ||
	    type->id >= OMPI_DATATYPE_MPI_MAX_PREDEFINED)
		return COLL_INC_TYPE;
	t = &types[type->id];
	if (!(t->ops & 1u << ops[op->op_type]))
		return COLL_INC_TYPE;
	*dtype = t->dtype;
	*iop = (enum inc_op)ops[op->op_type];
	return COLL_INC_GOES;
}

/**
 * coll_inc_bytes() - bytes that pass through as elements
 * @bytes: their number
 * @count: number of elements
 *
 * Return: type of the elements.
 */
enum inc_dtype coll_inc_bytes(size_t bytes, size_t *count)
{
	if (bytes % 8) {
		*count = bytes;
		return INC_DTYPE_UINT8;
	}
	*count = bytes / 8;
	return INC_DTYPE_UINT64;
}

/**
 * coll_inc_size() - bytes of data
 * @type: type
 * @count: elements
 */
size_t coll_inc_size(const ompi_datatype_t *type, int count)
{
	size_t size;

	ompi_datatype_type_size(type, &size);
	return size * (size_t)count;
}
