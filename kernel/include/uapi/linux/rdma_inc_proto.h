/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * The protocol between a member of an aggregation tree and an INC switch: the
 * INC header, the Immediate, the numbers of collectives, data types and
 * operations (draft-liu-nfsv4-rocev2-00, section 6).
 *
 * A request is an RDMA WRITE with Immediate, a result is one or more
 * RDMA WRITEs, the last with Immediate; see Documentation/protocol.rst.
 */
#ifndef _UAPI_LINUX_RDMA_INC_PROTO_H
#define _UAPI_LINUX_RDMA_INC_PROTO_H

#include <linux/types.h>

/* RoCEv2, IBTA annex A17: the UDP destination port. */
#define INC_UDP_PORT		4791

/*
 * QPNs of the switch. rdma_rxe allocates 16 ... 2^20, so the two can share a
 * host.
 */
#define INC_QPN_MIN		0x800000
#define INC_QPN_MAX		0xbfffff

#define INC_VERSION		1

/* Immediate data: status (8 bits, 0 in a request) | message ID (24 bits). */
#define INC_IMM_STATUS_SHIFT	24
#define INC_IMM_MSG_ID_MASK	0xffffff

/*
 * A result to a UC member has this bit in its status, and below it a number n:
 * all messages before message ID - n have ended. INC_IMM_LOWMARK_MAX carries no
 * information.
 */
#define INC_IMM_LOWMARK		0x80
#define INC_IMM_LOWMARK_MAX	0x7f

/* Statuses that end the tree, with or without a name yet. */
#define INC_STATUS_TREE_MIN	16
#define INC_STATUS_TREE_MAX	31
/* Statuses after these, up to this one, end nothing. */
#define INC_STATUS_NOTE_MAX	63

#define INC_HDR_LEN		32

/**
 * struct inc_hdr - the INC header, first 32 bytes of every request message
 * @version: INC_VERSION
 * @collective: enum inc_collective
 * @dtype: enum inc_dtype, type of the elements
 * @op: enum inc_op; ignored by collectives that do not reduce
 * @tree_id: aggregation tree that this request belongs to
 * @msg_id: message ID; the Immediate has its low 24 bits, too
 * @root: root rank of a rooted collective, else 0
 * @flags: INC_HDR_F_*
 * @nelem: number of elements in a block, which a rank contributes or gets, or
 *	for AllToAll sends to each rank. Scatter's root, and every rank in
 *	AllToAll and ReduceScatter, sends one block for each rank
 * @result_rkey: R_Key of the memory that takes this member's result
 * @result_va: virtual address of that memory
 *
 * All fields are in network byte order. The payload follows immediately; its
 * elements are little-endian, as in the memory of the member.
 */
struct inc_hdr {
	__u8	version;
	__u8	collective;
	__u8	dtype;
	__u8	op;
	__be32	tree_id;
	__be32	msg_id;
	__be16	root;
	__be16	flags;
	__be32	nelem;
	__be32	result_rkey;
	__be64	result_va;
} __attribute__((packed));

/*
 * Flags; a request that sets others is refused. INC_HDR_F_NO_DATA: this rank wants
 * to know when the message is done, but not the result's elements: it gets only the
 * Immediate. INC_HDR_F_WIDE: sums of several ranks are binary32, with the upper and
 * the lower 16 bits in alternating packets; a switch sends sums of 16-bit floats to
 * its parent in this form.
 */
#define INC_HDR_F_NO_DATA	0x0001
#define INC_HDR_F_WIDE		0x0002
/*
 * UC: not a request, but a query for the state of one: the header alone,
 * without the elements.
 */
#define INC_HDR_F_QUERY		0x0004
#define INC_HDR_F_MASK		(INC_HDR_F_NO_DATA | INC_HDR_F_WIDE)

/**
 * enum inc_collective - the draft's nine collectives
 * @INC_COLL_BROADCAST: root's data to all
 * @INC_COLL_ALLGATHER: every rank's data to all
 * @INC_COLL_ALLTOALL: a block of each rank to each rank
 * @INC_COLL_SCATTER: a block of the root's data to each rank
 * @INC_COLL_GATHER: every rank's data to the root
 * @INC_COLL_REDUCE: reduction of all ranks' data to the root
 * @INC_COLL_ALLREDUCE: reduction of all ranks' data to all
 * @INC_COLL_REDUCE_SCATTER: a block of the reduction to each rank
 * @INC_COLL_BARRIER: no data; completes when all ranks have arrived
 */
enum inc_collective {
	INC_COLL_BROADCAST	= 0,
	INC_COLL_ALLGATHER	= 1,
	INC_COLL_ALLTOALL	= 2,
	INC_COLL_SCATTER	= 3,
	INC_COLL_GATHER		= 4,
	INC_COLL_REDUCE		= 5,
	INC_COLL_ALLREDUCE	= 6,
	INC_COLL_REDUCE_SCATTER	= 7,
	INC_COLL_BARRIER	= 8,
	/* private: */
	INC_COLL_COUNT
};

/**
 * enum inc_dtype - type of an element
 * @INC_DTYPE_INT8: 8-bit two's complement
 * @INC_DTYPE_INT16: 16-bit two's complement
 * @INC_DTYPE_INT32: 32-bit two's complement
 * @INC_DTYPE_INT64: 64-bit two's complement
 * @INC_DTYPE_UINT8: 8-bit unsigned
 * @INC_DTYPE_UINT16: 16-bit unsigned
 * @INC_DTYPE_UINT32: 32-bit unsigned
 * @INC_DTYPE_UINT64: 64-bit unsigned
 * @INC_DTYPE_FP16: IEEE 754 binary16
 * @INC_DTYPE_BF16: upper half of a binary32
 * @INC_DTYPE_FP32: IEEE 754 binary32
 * @INC_DTYPE_FP64: IEEE 754 binary64
 * @INC_DTYPE_FLOAT_INT: binary32 at 0, 32-bit index at 4; 8 bytes
 * @INC_DTYPE_DOUBLE_INT: binary64 at 0, 32-bit index at 8; 16 bytes
 * @INC_DTYPE_LONG_INT: 64-bit integer at 0, 32-bit index at 8; 16 bytes
 * @INC_DTYPE_2INT: 32-bit integer at 0, 32-bit index at 4; 8 bytes
 * @INC_DTYPE_SHORT_INT: 16-bit integer at 0, 32-bit index at 4; 8 bytes
 *
 * The last five are MPI's pairs, for INC_OP_MINLOC and INC_OP_MAXLOC only, laid
 * out as C does on 64-bit machines. All their members are signed. A reduction
 * sets the padding between and after them to 0.
 */
enum inc_dtype {
	INC_DTYPE_INT8		= 0,
	INC_DTYPE_INT16		= 1,
	INC_DTYPE_INT32		= 2,
	INC_DTYPE_INT64		= 3,
	INC_DTYPE_UINT8		= 4,
	INC_DTYPE_UINT16	= 5,
	INC_DTYPE_UINT32	= 6,
	INC_DTYPE_UINT64	= 7,
	INC_DTYPE_FP16		= 8,
	INC_DTYPE_BF16		= 9,
	INC_DTYPE_FP32		= 10,
	INC_DTYPE_FP64		= 11,
	INC_DTYPE_FLOAT_INT	= 12,
	INC_DTYPE_DOUBLE_INT	= 13,
	INC_DTYPE_LONG_INT	= 14,
	INC_DTYPE_2INT		= 15,
	INC_DTYPE_SHORT_INT	= 16,
	/* private: */
	INC_DTYPE_COUNT
};

/**
 * enum inc_op - reduction operation
 * @INC_OP_SUM: sum
 * @INC_OP_PROD: product
 * @INC_OP_MIN: minimum
 * @INC_OP_MAX: maximum
 * @INC_OP_LAND: logical and
 * @INC_OP_LOR: logical or
 * @INC_OP_LXOR: logical exclusive or
 * @INC_OP_BAND: bitwise and
 * @INC_OP_BOR: bitwise or
 * @INC_OP_BXOR: bitwise exclusive or
 * @INC_OP_MINLOC: minimum and its location
 * @INC_OP_MAXLOC: maximum and its location
 * @INC_OP_AVG: sum divided by the number of ranks
 */
enum inc_op {
	INC_OP_SUM		= 0,
	INC_OP_PROD		= 1,
	INC_OP_MIN		= 2,
	INC_OP_MAX		= 3,
	INC_OP_LAND		= 4,
	INC_OP_LOR		= 5,
	INC_OP_LXOR		= 6,
	INC_OP_BAND		= 7,
	INC_OP_BOR		= 8,
	INC_OP_BXOR		= 9,
	INC_OP_MINLOC		= 10,
	INC_OP_MAXLOC		= 11,
	INC_OP_AVG		= 12,
	/* private: */
	INC_OP_COUNT
};

/**
 * enum inc_status - how a message ended, in the Immediate's upper 8 bits
 * @INC_STATUS_OK: the result is in the member's memory
 * @INC_STATUS_VERSION: INC header with an unknown version or unknown flags
 * @INC_STATUS_COLLECTIVE: collective not offered by this tree
 * @INC_STATUS_DTYPE: data type, or operation on it, not offered by this tree
 * @INC_STATUS_TREE_ID: the header names another tree than the QP's
 * @INC_STATUS_MSG_ID: message ID outside the slot's window
 * @INC_STATUS_LENGTH: element count, type and message length disagree
 * @INC_STATUS_MISMATCH: ranks disagree on collective, type, operation,
 *	root or count
 * @INC_STATUS_ROOT: root rank is not a rank of the tree, or not 0 where there
 *	is no root
 * @INC_STATUS_PEER_DEAD: a member's QP failed or stopped answering
 * @INC_STATUS_TREE_GONE: the tree was dismantled
 * @INC_STATUS_MEMBER_LEFT: a member was removed while the tree was in use
 * @INC_STATUS_NO_MEMORY: the switch had no memory for a message for long
 * @INC_STATUS_RESEND: UC: this request has not arrived, resend it
 * @INC_STATUS_PENDING: UC: request arrived, its message has not ended
 *
 * A status other than success is sent in a zero-length RDMA WRITE ONLY with
 * Immediate. 1 to 15 end the message, for all ranks (INC_STATUS_MSG_ID for its
 * sender alone); INC_STATUS_TREE_MIN to INC_STATUS_TREE_MAX end the tree; 32 to
 * 63 are not errors and end nothing. From INC_IMM_LOWMARK on it is success, with
 * the mark in the lower bits.
 */
enum inc_status {
	INC_STATUS_OK		= 0,
	INC_STATUS_VERSION	= 1,
	INC_STATUS_COLLECTIVE	= 2,
	INC_STATUS_DTYPE	= 3,
	INC_STATUS_TREE_ID	= 4,
	INC_STATUS_MSG_ID	= 5,
	INC_STATUS_LENGTH	= 6,
	INC_STATUS_MISMATCH	= 7,
	INC_STATUS_ROOT		= 8,
	INC_STATUS_PEER_DEAD	= 16,
	INC_STATUS_TREE_GONE	= 17,
	INC_STATUS_MEMBER_LEFT	= 18,
	INC_STATUS_NO_MEMORY	= 19,
	INC_STATUS_RESEND	= 32,
	INC_STATUS_PENDING		= 33,
};

#endif /* _UAPI_LINUX_RDMA_INC_PROTO_H */
