/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RC responder: PSN window, opcode sequence, key, address and length checks
 * (IBTA 1.x, sections 9.7.4 and 9.7.5), without packets, locks or memory.
 */
#ifndef _INC_RESPONDER_H
#define _INC_RESPONDER_H

#include <linux/types.h>

#include "core/wire.h"

/* So far from the expected PSN is no packet of a member. */
#define INC_RESP_NEAR	1024

/* Requests accepted without an acknowledgment; rxe stalls at 128. */
#define INC_RESP_ACK_EVERY	16

/**
 * struct inc_responder - state of the responder half of a QP
 * @epsn: expected PSN
 * @msn: message sequence number, as the AETH carries it
 * @rkey: R_Key that requests must carry
 * @stride: distance of slots in the addresses that the member uses
 * @max_len: maximum message length; 0 means @stride
 * @slots: number of slots
 * @pmtu: path MTU
 * @dmalen: length of the message in progress or the last one, from its RETH:
 *	without a last packet that is a write of its own
 * @done: bytes of it that have arrived
 * @va: its address, from its RETH
 * @in_msg: a message has begun and not ended
 * @tail_due: its last packet, a write of its own, is missing, and nothing else
 * @results: the other end is a parent, and writes results
 * @nak_sent: a NAK for @epsn was sent; there is one per gap (IBTA C9-114)
 * @ooo_queued: packets beyond a gap are queued
 * @unacked: requests accepted since the last acknowledgment
 */
struct inc_responder {
	u32	epsn;
	u32	msn;
	u32	rkey;
	u32	stride;
	u32	max_len;
	u16	slots;
	u16	pmtu;
	u32	dmalen;
	u32	done;
	u64	va;
	bool	in_msg;
	bool	tail_due;
	bool	results;
	bool	nak_sent;
	bool	ooo_queued;
	u8	unacked;
};

/**
 * struct inc_responder_run - message that a packet beyond a gap belongs to
 * @end: PSN after its last packet
 * @tail: bytes of the last packet
 */
struct inc_responder_run {
	u32	end;
	u16	tail;
};

/**
 * enum inc_responder_ooo - check of a packet beyond a gap
 * @INC_RESP_OOO_GOOD: it may be queued
 * @INC_RESP_OOO_UNKNOWN: the packet that opens its message has not arrived
 * @INC_RESP_OOO_WRONG: it cannot belong there: wrong key, length or place
 */
enum inc_responder_ooo {
	INC_RESP_OOO_GOOD,
	INC_RESP_OOO_UNKNOWN,
	INC_RESP_OOO_WRONG,
};

/**
 * enum inc_responder_queued - is a packet queued beyond a gap the next one?
 * @INC_RESP_QUEUED_LATER: the gap before it is open
 * @INC_RESP_QUEUED_NEXT: it is the expected one: check and accept it
 * @INC_RESP_QUEUED_PAST: it has been retransmitted and accepted: drop it
 */
enum inc_responder_queued {
	INC_RESP_QUEUED_LATER,
	INC_RESP_QUEUED_NEXT,
	INC_RESP_QUEUED_PAST,
};

/**
 * enum inc_responder_verdict - class of a request packet
 * @INC_RESP_NEW: the expected one, and valid
 * @INC_RESP_DUP: a duplicate: acknowledge, change nothing
 * @INC_RESP_OOO: beyond a gap: queue or drop, and send NAK - PSN sequence error if
 *	inc_responder_nak_due()
 * @INC_RESP_STRANGE: not the member's: drop, change nothing
 * @INC_RESP_INVALID: NAK - invalid request, then error state
 * @INC_RESP_ACCESS: NAK - remote access error, then error state
 */
enum inc_responder_verdict {
	INC_RESP_NEW,
	INC_RESP_DUP,
	INC_RESP_OOO,
	INC_RESP_STRANGE,
	INC_RESP_INVALID,
	INC_RESP_ACCESS,
};

/**
 * enum inc_responder_solicit - how to solicit a silent member
 * @INC_RESP_SOLICIT_NOTHING: not at all: nothing is known to be due
 * @INC_RESP_SOLICIT_NAK: by a NAK - PSN sequence error, the first for that PSN
 * @INC_RESP_SOLICIT_RNR: by an RNR NAK, since a NAK was sent already, or
 *	nothing is known to be lost
 */
enum inc_responder_solicit {
	INC_RESP_SOLICIT_NOTHING,
	INC_RESP_SOLICIT_NAK,
	INC_RESP_SOLICIT_RNR,
};

/**
 * inc_responder_owed() - check whether the member still owes packets
 * @r: responder
 *
 * Return: true in the middle of a message and before a gap is closed.
 */
static inline bool inc_responder_owed(const struct inc_responder *r)
{
	return r->in_msg || r->nak_sent || r->ooo_queued;
}

/**
 * inc_responder_is_empty() - check whether a request is a zero-length write
 * @pkt: parsed packet, a request
 *
 * An empty write is acknowledged, and nothing else happens. A member may use one to
 * see whether the switch is alive. An rxe that has lost its place sends one, too
 * (lost_place.h).
 *
 * Return: true if so.
 */
static inline bool inc_responder_is_empty(const struct inc_pkt *pkt)
{
	const u8 only = INC_PKT_FIRST | INC_PKT_LAST | INC_PKT_RETH;

	return (pkt->flags & only) == only && pkt->flags & INC_PKT_PAYLOAD &&
	       !pkt->dmalen && !pkt->payload_len;
}

enum inc_responder_verdict inc_responder_check(const struct inc_responder *r,
					       const struct inc_pkt *pkt);
bool inc_responder_nak_due(struct inc_responder *r);
void inc_responder_run(const struct inc_responder *r,
		       struct inc_responder_run *run);
enum inc_responder_ooo inc_responder_ooo(const struct inc_responder *r,
					 const struct inc_pkt *pkt,
					 struct inc_responder_run *run);
enum inc_responder_queued inc_responder_queued(const struct inc_responder *r,
					       u32 psn);
bool inc_responder_check_uc(const struct inc_responder *r,
			    const struct inc_pkt *pkt);
void inc_responder_accept(struct inc_responder *r, const struct inc_pkt *pkt);
enum inc_responder_solicit inc_responder_silence(struct inc_responder *r,
						 bool waited);
bool inc_responder_ack_due(struct inc_responder *r, bool ackreq);

#endif /* _INC_RESPONDER_H */
