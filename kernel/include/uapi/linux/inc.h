/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/inc.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: selftests/ynl-regen.sh */

#ifndef _UAPI_LINUX_INC_H
#define _UAPI_LINUX_INC_H

#define INC_FAMILY_NAME		"inc"
#define INC_FAMILY_VERSION	1

#define INC_MAX_RANKS		1024
#define INC_MAX_SLOTS		4096
#define INC_MAX_MSG_SIZE	65536

/**
 * enum inc_role - What a switch is in an aggregation tree (draft, section 4).
 * @INC_ROLE_ROOT: Sends the result to its members.
 * @INC_ROLE_LEAF: Sends what its members' data were reduced to to its parent,
 *   and passes the parent's result on.
 */
enum inc_role {
	INC_ROLE_ROOT,
	INC_ROLE_LEAF,
};

/**
 * enum inc_order - In which order the ranks' elements are reduced.
 * @INC_ORDER_RANKS: Balanced binary tree over the ranks, whatever the order of
 *   arrival: the same bits on every run.
 * @INC_ORDER_ARRIVAL: As they come. Takes less memory while ranks are missing;
 *   sums of floating-point numbers may differ in their last bits from run to
 *   run.
 */
enum inc_order {
	INC_ORDER_RANKS,
	INC_ORDER_ARRIVAL,
};

/**
 * enum inc_transport - Transport service of a member's QP (IBTA 1.x, section
 *   3.2.2).
 * @INC_TRANSPORT_RC: Reliable connection.
 * @INC_TRANSPORT_UC: Unreliable connection: messages are one packet, the
 *   member repeats what is lost.
 */
enum inc_transport {
	INC_TRANSPORT_RC,
	INC_TRANSPORT_UC,
};

/**
 * enum inc_tree_state - Life of a tree.
 * @INC_TREE_STATE_FORMING: Ranks are missing; requests of those present are
 *   taken and held.
 * @INC_TREE_STATE_READY: All ranks are there.
 * @INC_TREE_STATE_FAILED: A member died or left; every request ends with an
 *   error status.
 */
enum inc_tree_state {
	INC_TREE_STATE_FORMING,
	INC_TREE_STATE_READY,
	INC_TREE_STATE_FAILED,
};

/**
 * enum inc_member_state - State of a member's QP on the switch (IBTA 1.x,
 *   section 10.3).
 * @INC_MEMBER_STATE_RTS: Ready to send and to receive.
 * @INC_MEMBER_STATE_ERROR: Error; the reason is in the attribute error.
 * @INC_MEMBER_STATE_INIT: A leaf's QP to its parent that was not connected yet
 *   (parent-set).
 */
enum inc_member_state {
	INC_MEMBER_STATE_RTS,
	INC_MEMBER_STATE_ERROR,
	INC_MEMBER_STATE_INIT,
};

/**
 * enum inc_slot_state - State of a slot, in the terms of the slot machine.
 * @INC_SLOT_STATE_IDLE: Nothing of the expected message came yet.
 * @INC_SLOT_STATE_BUSY: At least one rank's request came, at least one is
 *   missing.
 * @INC_SLOT_STATE_DONE: All ranks came; the result is kept until the next
 *   message.
 * @INC_SLOT_STATE_FAILED: The message ended with an error status.
 */
enum inc_slot_state {
	INC_SLOT_STATE_IDLE,
	INC_SLOT_STATE_BUSY,
	INC_SLOT_STATE_DONE,
	INC_SLOT_STATE_FAILED,
};

/**
 * enum inc_member_error - Why a member's QP went to error.
 * @INC_MEMBER_ERROR_NONE: No error.
 * @INC_MEMBER_ERROR_RETRY_EXCEEDED: The member acknowledged nothing for the
 *   tree's dead time.
 * @INC_MEMBER_ERROR_RNR_RETRY_EXCEEDED: The member kept answering RNR NAK for
 *   the tree's dead time.
 * @INC_MEMBER_ERROR_REMOTE_INVALID_REQUEST: The member sent NAK - invalid
 *   request.
 * @INC_MEMBER_ERROR_REMOTE_ACCESS: The member sent NAK - remote access error.
 * @INC_MEMBER_ERROR_REMOTE_OPERATIONAL: The member sent NAK - remote
 *   operational error.
 * @INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST: The member's request was malformed;
 *   it got NAK - invalid request.
 * @INC_MEMBER_ERROR_LOCAL_ACCESS: The member's request failed the R_Key,
 *   address or length check; it got NAK - remote access error.
 */
enum inc_member_error {
	INC_MEMBER_ERROR_NONE,
	INC_MEMBER_ERROR_RETRY_EXCEEDED,
	INC_MEMBER_ERROR_RNR_RETRY_EXCEEDED,
	INC_MEMBER_ERROR_REMOTE_INVALID_REQUEST,
	INC_MEMBER_ERROR_REMOTE_ACCESS,
	INC_MEMBER_ERROR_REMOTE_OPERATIONAL,
	INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST,
	INC_MEMBER_ERROR_LOCAL_ACCESS,
};

enum {
	INC_A_SWITCH_VERSION = 1,
	INC_A_SWITCH_REDUCE_IMPL,
	INC_A_SWITCH_COLLECTIVES,
	INC_A_SWITCH_DTYPES,
	INC_A_SWITCH_OPS,
	INC_A_SWITCH_TREES,
	INC_A_SWITCH_MEMORY_LIMIT,
	INC_A_SWITCH_MEMORY_USED,
	INC_A_SWITCH_STATS,
	INC_A_SWITCH_HOOKED,
	INC_A_SWITCH_MAX_TREES,
	INC_A_SWITCH_MAX_RANKS,
	INC_A_SWITCH_MAX_SLOTS,
	INC_A_SWITCH_MAX_TREE_MEMORY,

	__INC_A_SWITCH_MAX,
	INC_A_SWITCH_MAX = (__INC_A_SWITCH_MAX - 1)
};

enum {
	INC_A_SWITCH_STATS_RX_SHORT = 1,
	INC_A_SWITCH_STATS_RX_UDP_CHECKSUM,
	INC_A_SWITCH_STATS_RX_IP_OPTIONS,
	INC_A_SWITCH_STATS_RX_ICRC,
	INC_A_SWITCH_STATS_RX_OPCODE,
	INC_A_SWITCH_STATS_RX_BTH,
	INC_A_SWITCH_STATS_RX_NO_QP,
	INC_A_SWITCH_STATS_RX_SOURCE,
	INC_A_SWITCH_STATS_RX_PKEY,
	INC_A_SWITCH_STATS_RX_NO_MEMORY,
	INC_A_SWITCH_STATS_TX_NO_MEMORY,
	INC_A_SWITCH_STATS_TX_ROUTE,
	INC_A_SWITCH_STATS_TX_ERROR,

	__INC_A_SWITCH_STATS_MAX,
	INC_A_SWITCH_STATS_MAX = (__INC_A_SWITCH_STATS_MAX - 1)
};

enum {
	INC_A_TREE_ID = 1,
	INC_A_TREE_ROLE,
	INC_A_TREE_STATE,
	INC_A_TREE_ERROR,
	INC_A_TREE_RANKS,
	INC_A_TREE_MEMBERS,
	INC_A_TREE_SLOTS,
	INC_A_TREE_MSG_SIZE,
	INC_A_TREE_PMTU,
	INC_A_TREE_FIRST_MSG_ID,
	INC_A_TREE_COLLECTIVES,
	INC_A_TREE_DTYPES,
	INC_A_TREE_OPS,
	INC_A_TREE_WINDOW,
	INC_A_TREE_HOLD,
	INC_A_TREE_MIN_RTO,
	INC_A_TREE_DEAD_TIME,
	INC_A_TREE_MEMORY,
	INC_A_TREE_EPOCH,
	INC_A_TREE_STATS,
	INC_A_TREE_MEMBER_STATS,
	INC_A_TREE_ORDER,
	INC_A_TREE_ALL_RANKS,
	INC_A_TREE_FIRST_RANK,
	INC_A_TREE_BELOW,

	__INC_A_TREE_MAX,
	INC_A_TREE_MAX = (__INC_A_TREE_MAX - 1)
};

enum {
	INC_A_TREE_STATS_MESSAGES = 1,
	INC_A_TREE_STATS_FAILED,
	INC_A_TREE_STATS_CHUNKS,
	INC_A_TREE_STATS_REDUCED_BYTES,
	INC_A_TREE_STATS_PASSED_BYTES,

	__INC_A_TREE_STATS_MAX,
	INC_A_TREE_STATS_MAX = (__INC_A_TREE_STATS_MAX - 1)
};

enum {
	INC_A_MEMBER_TREE_ID = 1,
	INC_A_MEMBER_RANK,
	INC_A_MEMBER_STATE,
	INC_A_MEMBER_ERROR,
	INC_A_MEMBER_QPN,
	INC_A_MEMBER_PSN,
	INC_A_MEMBER_RKEY,
	INC_A_MEMBER_PKEY,
	INC_A_MEMBER_PEER_ADDR,
	INC_A_MEMBER_PEER_QPN,
	INC_A_MEMBER_PEER_PSN,
	INC_A_MEMBER_LOCAL_ADDR,
	INC_A_MEMBER_SLOTS,
	INC_A_MEMBER_MSG_SIZE,
	INC_A_MEMBER_PMTU,
	INC_A_MEMBER_NEXT_MSG_ID,
	INC_A_MEMBER_TX_PENDING,
	INC_A_MEMBER_HELD,
	INC_A_MEMBER_SRTT,
	INC_A_MEMBER_STATS,
	INC_A_MEMBER_LAST_RX,
	INC_A_MEMBER_PEER_TREE_ID,
	INC_A_MEMBER_PEER_RKEY,
	INC_A_MEMBER_TRANSPORT,

	__INC_A_MEMBER_MAX,
	INC_A_MEMBER_MAX = (__INC_A_MEMBER_MAX - 1)
};

enum {
	INC_A_MEMBER_STATS_RX_PACKETS = 1,
	INC_A_MEMBER_STATS_RX_BYTES,
	INC_A_MEMBER_STATS_RX_MESSAGES,
	INC_A_MEMBER_STATS_RX_WIRE_BYTES,
	INC_A_MEMBER_STATS_RX_DUPLICATES,
	INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE,
	INC_A_MEMBER_STATS_RX_KEPT,
	INC_A_MEMBER_STATS_RX_DISCARDED,
	INC_A_MEMBER_STATS_RX_ACKS,
	INC_A_MEMBER_STATS_RX_NAKS,
	INC_A_MEMBER_STATS_RX_RNR_NAKS,
	INC_A_MEMBER_STATS_RX_BAD_REQUEST,
	INC_A_MEMBER_STATS_RX_BAD_RESPONSE,
	INC_A_MEMBER_STATS_RX_IN_ERROR,
	INC_A_MEMBER_STATS_RX_COPIED,
	INC_A_MEMBER_STATS_TX_PACKETS,
	INC_A_MEMBER_STATS_TX_BYTES,
	INC_A_MEMBER_STATS_TX_MESSAGES,
	INC_A_MEMBER_STATS_TX_WIRE_BYTES,
	INC_A_MEMBER_STATS_TX_RETRANSMITS,
	INC_A_MEMBER_STATS_TX_TIMEOUTS,
	INC_A_MEMBER_STATS_TX_ACKS,
	INC_A_MEMBER_STATS_TX_NAKS,
	INC_A_MEMBER_STATS_TX_RNR_NAKS,
	INC_A_MEMBER_STATS_TX_PROBES,
	INC_A_MEMBER_STATS_TX_ERRORS,
	INC_A_MEMBER_STATS_RX_REPEATED,
	INC_A_MEMBER_STATS_RX_GAPS,
	INC_A_MEMBER_STATS_RX_ASKED,
	INC_A_MEMBER_STATS_TX_SEND_AGAIN,
	INC_A_MEMBER_STATS_TX_WAIT,

	__INC_A_MEMBER_STATS_MAX,
	INC_A_MEMBER_STATS_MAX = (__INC_A_MEMBER_STATS_MAX - 1)
};

enum {
	INC_A_SLOT_TREE_ID = 1,
	INC_A_SLOT_INDEX,
	INC_A_SLOT_STATE,
	INC_A_SLOT_MSG_ID,
	INC_A_SLOT_COLLECTIVE,
	INC_A_SLOT_DTYPE,
	INC_A_SLOT_OP,
	INC_A_SLOT_STATUS,
	INC_A_SLOT_NELEM,
	INC_A_SLOT_CHUNKS,
	INC_A_SLOT_CHUNKS_DONE,
	INC_A_SLOT_AGE,
	INC_A_SLOT_MISSING,
	INC_A_SLOT_MISSING_CHUNKS,

	__INC_A_SLOT_MAX,
	INC_A_SLOT_MAX = (__INC_A_SLOT_MAX - 1)
};

enum {
	INC_CMD_SWITCH_GET = 1,
	INC_CMD_SWITCH_SET,
	INC_CMD_TREE_GET,
	INC_CMD_TREE_NEW,
	INC_CMD_TREE_SET,
	INC_CMD_TREE_DEL,
	INC_CMD_MEMBER_GET,
	INC_CMD_MEMBER_NEW,
	INC_CMD_MEMBER_DEL,
	INC_CMD_SLOT_GET,
	INC_CMD_TREE_NEW_NTF,
	INC_CMD_TREE_DEL_NTF,
	INC_CMD_TREE_READY_NTF,
	INC_CMD_TREE_FAILED_NTF,
	INC_CMD_MEMBER_NEW_NTF,
	INC_CMD_MEMBER_DEL_NTF,
	INC_CMD_MEMBER_ERROR_NTF,
	INC_CMD_PARENT_GET,
	INC_CMD_PARENT_SET,

	__INC_CMD_MAX,
	INC_CMD_MAX = (__INC_CMD_MAX - 1)
};

#define INC_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_INC_H */
