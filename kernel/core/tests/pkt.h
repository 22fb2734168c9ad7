/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsed request packets for the responder's tests.
 */
#ifndef _INC_TESTS_PKT_H
#define _INC_TESTS_PKT_H

#include "core/wire.h"

enum {
	OP_SEND_ONLY		= 0x04,
	OP_FIRST		= 0x06,
	OP_MIDDLE		= 0x07,
	OP_LAST			= 0x08,
	OP_LAST_IMM		= 0x09,
	OP_ONLY			= 0x0a,
	OP_ONLY_IMM		= 0x0b,
	OP_READ			= 0x0c,
	OP_FETCH_ADD		= 0x14,
};

static inline u8 test_flags(u8 opcode)
{
	const u8 write = INC_PKT_REQUEST | INC_PKT_PAYLOAD | INC_PKT_SUPPORTED;
	const u8 only = INC_PKT_FIRST | INC_PKT_LAST;

	switch (opcode) {
	case OP_FIRST:
		return write | INC_PKT_FIRST | INC_PKT_RETH;
	case OP_MIDDLE:
		return write;
	case OP_LAST:
		return write | INC_PKT_LAST;
	case OP_LAST_IMM:
		return write | INC_PKT_LAST | INC_PKT_IMM;
	case OP_ONLY:
		return write | only | INC_PKT_RETH;
	case OP_ONLY_IMM:
		return write | only | INC_PKT_RETH | INC_PKT_IMM;
	case OP_READ:
		return INC_PKT_REQUEST | only | INC_PKT_RETH;
	default:
		return INC_PKT_REQUEST | only;
	}
}

/* A request; @dmalen if it has a RETH. */
static inline struct inc_pkt test_pkt(u8 opcode, u32 psn, u16 payload_len,
				      u32 dmalen)
{
	struct inc_pkt pkt = {
		.opcode		= opcode,
		.flags		= test_flags(opcode),
		.psn		= psn,
		.pad		= -payload_len & 3,
		.pkey		= INC_PKEY_DEFAULT,
		.payload_len	= payload_len,
	};

	if (pkt.flags & INC_PKT_RETH)
		pkt.dmalen = dmalen;
	return pkt;
}

#endif /* _INC_TESTS_PKT_H */
