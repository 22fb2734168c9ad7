/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Names of the protocol's collectives, data types and operations, and the sizes
 * of elements: for libinc and for inc-tool, which does not need the library.
 */
#ifndef INC_PROTO_NAMES_H
#define INC_PROTO_NAMES_H

#include <stddef.h>

static const struct {
	const char	*name;
	size_t		size;
} inc_dtypes[INC_DTYPE_COUNT] = {
	[INC_DTYPE_INT8]	= { "int8", 1 },
	[INC_DTYPE_INT16]	= { "int16", 2 },
	[INC_DTYPE_INT32]	= { "int32", 4 },
	[INC_DTYPE_INT64]	= { "int64", 8 },
	[INC_DTYPE_UINT8]	= { "uint8", 1 },
	[INC_DTYPE_UINT16]	= { "uint16", 2 },
	[INC_DTYPE_UINT32]	= { "uint32", 4 },
	[INC_DTYPE_UINT64]	= { "uint64", 8 },
	[INC_DTYPE_FP16]	= { "fp16", 2 },
	[INC_DTYPE_BF16]	= { "bf16", 2 },
	[INC_DTYPE_FP32]	= { "fp32", 4 },
	[INC_DTYPE_FP64]	= { "fp64", 8 },
	[INC_DTYPE_FLOAT_INT]	= { "float-int", 8 },
	[INC_DTYPE_DOUBLE_INT]	= { "double-int", 16 },
	[INC_DTYPE_LONG_INT]	= { "long-int", 16 },
	[INC_DTYPE_2INT]	= { "2int", 8 },
	[INC_DTYPE_SHORT_INT]	= { "short-int", 8 },
};
_Static_assert(INC_DTYPE_COUNT == INC_DTYPE_SHORT_INT + 1, "a type has no entry");

static const char * const inc_collectives[INC_COLL_COUNT] = {
	[INC_COLL_BROADCAST]		= "broadcast",
	[INC_COLL_ALLGATHER]		= "allgather",
	[INC_COLL_ALLTOALL]		= "alltoall",
	[INC_COLL_SCATTER]		= "scatter",
	[INC_COLL_GATHER]		= "gather",
	[INC_COLL_REDUCE]		= "reduce",
	[INC_COLL_ALLREDUCE]		= "allreduce",
	[INC_COLL_REDUCE_SCATTER]	= "reduce-scatter",
	[INC_COLL_BARRIER]		= "barrier",
};
_Static_assert(INC_COLL_COUNT == INC_COLL_BARRIER + 1, "a collective has no entry");

static const char * const inc_ops[INC_OP_COUNT] = {
	[INC_OP_SUM]	= "sum",
	[INC_OP_PROD]	= "prod",
	[INC_OP_MIN]	= "min",
	[INC_OP_MAX]	= "max",
	[INC_OP_LAND]	= "land",
	[INC_OP_LOR]	= "lor",
	[INC_OP_LXOR]	= "lxor",
	[INC_OP_BAND]	= "band",
	[INC_OP_BOR]	= "bor",
	[INC_OP_BXOR]	= "bxor",
	[INC_OP_MINLOC]	= "minloc",
	[INC_OP_MAXLOC]	= "maxloc",
	[INC_OP_AVG]	= "avg",
};
_Static_assert(INC_OP_COUNT == INC_OP_AVG + 1, "an operation has no entry");

#endif /* INC_PROTO_NAMES_H */
