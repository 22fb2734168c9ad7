/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Private data of RDMA CM between a rank and inc-agentd: see "RDMA CM" in
 * rendezvous.rst. Network byte order. libinc-am is such a rank.
 */
#ifndef INC_AGENT_CM_WIRE_H
#define INC_AGENT_CM_WIRE_H

#include <stdint.h>

#define INC_CM_VERSION	1
#define INC_CM_PORT	18792	/* of RDMA_PS_TCP (RC) and RDMA_PS_IB (UC) */

/**
 * struct inc_cm_req - private data of a request: the member to be
 * @version: INC_CM_VERSION
 * @flags: INC_CM_F_*; other bits, and bytes after the structure, are 0
 * @pmtu: path MTU of the rank's QP, bytes; 0: the path's
 * @tree_id: tree
 * @rank: place among the tree's members
 * @zero2: 0
 * @qpn: with @rkey the key to this member: its QPN from member-new
 * @rkey: R_Key of its slots from member-new
 */
struct inc_cm_req {
	uint8_t		version;
	uint8_t		flags;
	uint16_t	pmtu;
	uint32_t	tree_id;
	uint16_t	rank;
	uint16_t	zero2;
	uint32_t	qpn;
	uint32_t	rkey;
};

/* The member outlives the connection: its owner deletes it. */
#define INC_CM_F_KEEP	(1U << 0)

/**
 * struct inc_cm_rep - private data of the reply: parameters of the tree
 * @version: INC_CM_VERSION
 * @zero: 0
 * @pmtu: path MTU of the tree, bytes
 * @msg_size: stride of the slots, bytes
 * @slots: number of slots
 * @ranks: number of members of the tree
 * @first_msg_id: ID of the first message
 */
struct inc_cm_rep {
	uint8_t		version;
	uint8_t		zero;
	uint16_t	pmtu;
	uint32_t	msg_size;
	uint16_t	slots;
	uint16_t	ranks;
	uint32_t	first_msg_id;
};

/**
 * enum inc_cm_reason - reason of a rejection
 * @INC_CM_VERSION_UNKNOWN: unknown version of the private data
 * @INC_CM_MALFORMED: too short, or not 0 where it has to be
 * @INC_CM_NO_KEY: no tree has such a member with this key
 * @INC_CM_TAKEN: the member is connected already
 * @INC_CM_MISMATCH: the QP does not match: transport, path MTU
 * @INC_CM_REFUSED: the switch refused
 */
enum inc_cm_reason {
	INC_CM_VERSION_UNKNOWN = 1,
	INC_CM_MALFORMED,
	INC_CM_NO_KEY,
	INC_CM_TAKEN,
	INC_CM_MISMATCH,
	INC_CM_REFUSED,
};

#define INC_CM_TEXT_LEN	120

/**
 * struct inc_cm_rej - private data of a rejection
 * @version: INC_CM_VERSION
 * @reason: enum inc_cm_reason
 * @zero: 0
 * @text: reason for people, ends with a zero byte
 */
struct inc_cm_rej {
	uint8_t		version;
	uint8_t		reason;
	uint16_t	zero;
	char		text[INC_CM_TEXT_LEN];
};

#endif /* INC_AGENT_CM_WIRE_H */
