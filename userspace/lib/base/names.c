// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of the protocol's numbers, sizes of elements, and errno values of
 * statuses.
 */
#include <errno.h>
#include <string.h>

#include "conf/array.h"
#include "inc.h"
#include "proto-names-gen.h"

static const unsigned char dtype_sizes[] = {
	[INC_DTYPE_INT8] = 1,
	[INC_DTYPE_INT16] = 2,
	[INC_DTYPE_INT32] = 4,
	[INC_DTYPE_INT64] = 8,
	[INC_DTYPE_UINT8] = 1,
	[INC_DTYPE_UINT16] = 2,
	[INC_DTYPE_UINT32] = 4,
	[INC_DTYPE_UINT64] = 8,
	[INC_DTYPE_FP16] = 2,
	[INC_DTYPE_BF16] = 2,
	[INC_DTYPE_FP32] = 4,
	[INC_DTYPE_FP64] = 8,
	[INC_DTYPE_FLOAT_INT] = 8,
	[INC_DTYPE_DOUBLE_INT] = 16,
	[INC_DTYPE_LONG_INT] = 16,
	[INC_DTYPE_2INT] = 8,
	[INC_DTYPE_SHORT_INT] = 8,
};
_Static_assert(ARRAY_SIZE(dtype_sizes) == INC_DTYPE_COUNT,
	       "a type has no size");

static const int status_errnos[] = {
	[INC_STATUS_OK] = 0,
	[INC_STATUS_VERSION] = -EPROTONOSUPPORT,
	[INC_STATUS_COLLECTIVE] = -EOPNOTSUPP,
	[INC_STATUS_DTYPE] = -EOPNOTSUPP,
	[INC_STATUS_TREE_ID] = -EPROTO,
	[INC_STATUS_MSG_ID] = -EPROTO,
	[INC_STATUS_LENGTH] = -EMSGSIZE,
	[INC_STATUS_MISMATCH] = -EBADE,
	[INC_STATUS_ROOT] = -EINVAL,
	[INC_STATUS_PEER_DEAD] = -ECONNRESET,
	[INC_STATUS_TREE_GONE] = -ESHUTDOWN,
	[INC_STATUS_MEMBER_LEFT] = -ECONNRESET,
	[INC_STATUS_NO_MEMORY] = -ENOBUFS,
};

static const char * const status_texts[] = {
	[INC_STATUS_OK] =
		"success",
	[INC_STATUS_VERSION] =
		"the switch does not know this version of the INC header",
	[INC_STATUS_COLLECTIVE] =
		"the tree does not offer this collective",
	[INC_STATUS_DTYPE] =
		"the tree does not offer this data type, or this operation on it",
	[INC_STATUS_TREE_ID] =
		"the message named another tree than the queue pair's",
	[INC_STATUS_MSG_ID] =
		"message ID out of order",
	[INC_STATUS_LENGTH] =
		"element count, data type and message length disagree",
	[INC_STATUS_MISMATCH] =
		"ranks disagree on collective, data type, operation, root or count",
	[INC_STATUS_ROOT] =
		"the root is no rank of the tree",
	[INC_STATUS_PEER_DEAD] =
		"a rank died or can not be reached any more",
	[INC_STATUS_TREE_GONE] =
		"the tree was dismantled",
	[INC_STATUS_MEMBER_LEFT] =
		"a rank left",
	[INC_STATUS_NO_MEMORY] =
		"the switch has no memory for the tree's messages",
};
_Static_assert(ARRAY_SIZE(status_errnos) == ARRAY_SIZE(status_texts),
	       "a status has no text");

static const struct {
	int		err;
	const char	*text;
} errors[] = {
	{ EAGAIN, "the operation is still under way" },
	{ EBADE, "ranks disagree on collective, data type, operation, root or count" },
	{ ECANCELED,
	  "the communicator was destroyed before the operation ended" },
	{ ECONNRESET, "a rank died or left" },
	{ EHOSTUNREACH, "the switch does not answer" },
	{ EOPNOTSUPP, "not offered by this tree" },
	{ ENOTCONN, "connection to the rendezvous daemon or the manager lost" },
	{ ESHUTDOWN, "the tree was dismantled" },
	{ ESTALE, "the communicator is that of the parent process" },
	{ ETIMEDOUT, "time limit exceeded" },
};

/**
 * inc_dtype_size() - get the size of an element
 * @dtype: data type
 *
 * Return: bytes, 0 for a type that does not exist.
 */
size_t inc_dtype_size(enum inc_dtype dtype)
{
	return (size_t)dtype < ARRAY_SIZE(dtype_sizes) ? dtype_sizes[dtype] : 0;
}

/**
 * inc_dtype_name() - get the name of a data type, such as "fp32"
 * @dtype: data type
 *
 * Return: a constant string, NULL for a type that does not exist.
 */
const char *inc_dtype_name(enum inc_dtype dtype)
{
	return (size_t)dtype < ARRAY_SIZE(inc_dtypes) ? inc_dtypes[dtype] :
							NULL;
}

/**
 * inc_op_name() - get the name of an operation, such as "sum"
 * @op: operation
 *
 * Return: a constant string, NULL for an operation that does not exist.
 */
const char *inc_op_name(enum inc_op op)
{
	return (size_t)op < ARRAY_SIZE(inc_ops) ? inc_ops[op] : NULL;
}

/**
 * inc_collective_name() - get the name of a collective, such as "allreduce"
 * @coll: collective
 *
 * Return: a constant string, NULL for a collective that does not exist.
 */
const char *inc_collective_name(enum inc_collective coll)
{
	return (size_t)coll < ARRAY_SIZE(inc_collectives) ?
	       inc_collectives[coll] : NULL;
}

/**
 * inc_dtype_by_name() - look up a data type
 * @name: name, as of inc_dtype_name()
 *
 * Return: enum inc_dtype, or -EINVAL.
 */
int inc_dtype_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inc_dtypes); i++)
		if (!strcmp(name, inc_dtypes[i]))
			return (int)i;
	return -EINVAL;
}

/**
 * inc_op_by_name() - look up an operation
 * @name: name, as of inc_op_name()
 *
 * Return: enum inc_op, or -EINVAL.
 */
int inc_op_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inc_ops); i++)
		if (!strcmp(name, inc_ops[i]))
			return (int)i;
	return -EINVAL;
}

/**
 * inc_status_errno() - convert a status of the switch to an errno value
 * @status: enum inc_status
 *
 * Return: 0 for INC_STATUS_OK, else a negative errno value; -EPROTO for a
 * status that this library does not know.
 */
int inc_status_errno(unsigned int status)
{
	if (status < ARRAY_SIZE(status_texts) && status_texts[status])
		return status_errnos[status];
	return -EPROTO;
}

/**
 * inc_status_str() - describe a status of the switch
 * @status: enum inc_status
 *
 * Return: a constant string.
 */
const char *inc_status_str(unsigned int status)
{
	if (status < ARRAY_SIZE(status_texts) && status_texts[status])
		return status_texts[status];
	return "unknown status";
}

/**
 * inc_strerror() - describe an error of the library
 * @err: return value of a function, negative (or 0)
 *
 * Errors with a specific meaning in libinc have a text of their own; for any
 * other this is strerror().
 *
 * Return: a string that is constant, or belongs to the calling thread until
 * its next call of strerror().
 */
const char *inc_strerror(int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (err == -errors[i].err)
			return errors[i].text;
	return strerror(err < 0 ? -err : err);
}

/**
 * inc_version() - get the version of the loaded library
 *
 * Return: "major.minor", a constant string.
 */
const char *inc_version(void)
{
#define STR_(x)	#x
#define STR(x)	STR_(x)
	return STR(INC_LIB_VERSION_MAJOR) "." STR(INC_LIB_VERSION_MINOR);
}
