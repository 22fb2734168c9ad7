// SPDX-License-Identifier: GPL-2.0
/*
 * RC responder. The checks are in the order of IBTA 1.x, figure 78: PSN, opcode
 * sequence, R_Key and address, length.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/psn.h"
#include "core/responder.h"
#include "core/wire.h"

/* The last packet of a message as a write of its own, see protocol.rst. */
static bool is_tail(const struct inc_pkt *pkt)
{
	const u8 need = INC_PKT_FIRST | INC_PKT_LAST | INC_PKT_IMM;

	return (pkt->flags & need) == need && !inc_responder_is_empty(pkt);
}

/*
 * IBTA C9-81 ... C9-84: which opcode may follow which. Each packet of a result
 * is a message of its own.
 */
static bool sequence_ok(const struct inc_responder *r,
			const struct inc_pkt *pkt)
{
	const u8 only = INC_PKT_FIRST | INC_PKT_LAST;

	if (r->results)
		return (pkt->flags & only) == only;
	if (r->tail_due)
		return is_tail(pkt);
	return r->in_msg != !!(pkt->flags & INC_PKT_FIRST);
}

/* IBTA C9-88 ... C9-93: FIRST and MIDDLE are full, LAST is not empty. */
static bool length_ok(const struct inc_responder *r, const struct inc_pkt *pkt,
		      u32 dmalen, u32 done)
{
	/* A zero-length write is useless but legal (IBTA C9-88). */
	if (inc_responder_is_empty(pkt))
		return true;
	/* Every other message opens with an INC header; checked only here. */
	if (dmalen < INC_HDR_LEN && !r->results && !r->tail_due)
		return false;
	/* IBTA 9.2.4: the pad makes a multiple of 4, and no more. */
	if (pkt->pad != (-pkt->payload_len & 3))
		return false;
	if (pkt->flags & INC_PKT_LAST) {
		if (pkt->payload_len > r->pmtu || pkt->payload_len + done != dmalen)
			return false;
		/* Without an Immediate, there is one more packet. */
		if (!r->results && !(pkt->flags & INC_PKT_IMM))
			return pkt->payload_len == r->pmtu;
		return pkt->payload_len || pkt->flags & INC_PKT_FIRST;
	}
	return pkt->payload_len == r->pmtu &&
	       pkt->payload_len + done < dmalen;
}

static u32 max_len(const struct inc_responder *r)
{
	return r->max_len ? r->max_len : r->stride;
}

/*
 * A member may write only to its slots: a message starts at the beginning of a
 * slot and stays within it, except that a switch's request may have several
 * planes of that size. A result lies anywhere in a slot.
 */
static bool key_ok(const struct inc_responder *r, const struct inc_pkt *pkt)
{
	u32 off;

	if (pkt->rkey != r->rkey)
		return false;
	if (pkt->va >= (u64)r->stride * r->slots)
		return false;
	off = (u32)pkt->va % r->stride;
	if (r->results)
		return pkt->dmalen <= r->stride - off;
	return !off && pkt->dmalen <= max_len(r);
}

/* The last packet of a message, where the message has room for it. */
static bool tail_key_ok(const struct inc_responder *r, const struct inc_pkt *pkt,
			u64 slot, u32 off)
{
	return pkt->rkey == r->rkey && pkt->va == slot + off &&
	       pkt->dmalen <= max_len(r) - off;
}

/*
 * A packet @diff beyond the expected one, or before it: not the member's? A member
 * has far fewer in flight (rxe 128, a switch 256), and the right key.
 */
static bool is_strange(const struct inc_responder *r, const struct inc_pkt *pkt,
		       s32 diff)
{
	const u8 keyed = INC_PKT_FIRST | INC_PKT_SUPPORTED;

	return diff > INC_RESP_NEAR || diff < -INC_RESP_NEAR ||
	       ((pkt->flags & keyed) == keyed && pkt->rkey != r->rkey &&
		!inc_responder_is_empty(pkt));
}

/**
 * inc_responder_check() - classify a request packet
 * @r: responder
 * @pkt: parsed packet, a request
 *
 * An INC_RESP_NEW packet that is accepted has to be given to
 * inc_responder_accept().
 *
 * Context: the QP's receive lock is held.
 * Return: enum inc_responder_verdict.
 * Spec: IBTA 1.x section 9.7.4 and 9.7.5.1. Deviates from C9-110: duplicates of
 * long ago are not acknowledged.
 */
enum inc_responder_verdict inc_responder_check(const struct inc_responder *r,
					       const struct inc_pkt *pkt)
{
	s32 diff = inc_psn_diff(pkt->psn, r->epsn);
	u32 dmalen, done;

	if (diff) {
		if (is_strange(r, pkt, diff))
			return INC_RESP_STRANGE;
		return diff < 0 ? INC_RESP_DUP : INC_RESP_OOO;
	}

	if (!(pkt->flags & INC_PKT_SUPPORTED) || !sequence_ok(r, pkt))
		return INC_RESP_INVALID;
	if (pkt->flags & INC_PKT_FIRST && !inc_responder_is_empty(pkt) &&
	    !(r->tail_due ? tail_key_ok(r, pkt, r->va, r->done) :
			    key_ok(r, pkt)))
		return INC_RESP_ACCESS;

	dmalen = pkt->flags & INC_PKT_FIRST ? pkt->dmalen : r->dmalen;
	done = pkt->flags & INC_PKT_FIRST ? 0 : r->done;
	return length_ok(r, pkt, dmalen, done) ? INC_RESP_NEW : INC_RESP_INVALID;
}

/**
 * inc_responder_nak_due() - check whether to send a NAK for a packet beyond a gap
 * @r: responder
 *
 * Context: the QP's receive lock is held.
 * Return: true once per gap, and for its first packet that may be the member's.
 * Spec: IBTA 1.x C9-114.
 */
bool inc_responder_nak_due(struct inc_responder *r)
{
	bool due = !r->nak_sent;

	r->nak_sent = true;
	return due;
}

/* Describe the message of which @left bytes remain from packet @psn on. */
static void run_from(const struct inc_responder *r, u32 psn, u32 left,
		     struct inc_responder_run *run)
{
	u32 packets = max(DIV_ROUND_UP(left, r->pmtu), 1U);

	run->end = inc_psn_add(psn, packets);
	run->tail = left - (packets - 1) * r->pmtu;
}

/**
 * inc_responder_run() - describe the message in progress
 * @r: responder
 * @run: filled in; it ends at the expected PSN if there is no message
 *
 * Context: the QP's receive lock is held.
 */
void inc_responder_run(const struct inc_responder *r,
		       struct inc_responder_run *run)
{
	if (r->in_msg)
		run_from(r, r->epsn, r->dmalen - r->done, run);
	else
		*run = (struct inc_responder_run) { .end = r->epsn };
}

/* MIDDLE or LAST: no key, but a place in a message that has one. */
static bool continues_run(const struct inc_responder *r,
			  const struct inc_pkt *pkt,
			  const struct inc_responder_run *run)
{
	bool last = pkt->psn == inc_psn_add(run->end, -1);

	if (pkt->flags & INC_PKT_FIRST || last != !!(pkt->flags & INC_PKT_LAST))
		return false;
	if (last)
		return (pkt->flags & INC_PKT_IMM || run->tail == r->pmtu) &&
		       pkt->payload_len == run->tail &&
		       pkt->pad == (-run->tail & 3);
	return pkt->payload_len == r->pmtu && !pkt->pad;
}

/* ONLY, and valid as the last packet of a message with the rest before it. */
static bool ends_message(const struct inc_responder *r,
			 const struct inc_pkt *pkt, u32 off)
{
	return is_tail(pkt) && !(off % r->pmtu) && off < max_len(r) &&
	       pkt->va < (u64)r->stride * r->slots &&
	       tail_key_ok(r, pkt, pkt->va - off, off) &&
	       pkt->payload_len == pkt->dmalen && pkt->payload_len <= r->pmtu &&
	       pkt->pad == (-pkt->payload_len & 3);
}

/* FIRST or ONLY, and valid as the beginning of a message, or as its end. */
static bool opens_message(const struct inc_responder *r,
			  const struct inc_pkt *pkt)
{
	u32 off = (u32)pkt->va % r->stride;

	if (inc_responder_is_empty(pkt))
		return true;
	if (!(pkt->flags & INC_PKT_LAST) && r->results)
		return false;
	if (off && !r->results)
		return ends_message(r, pkt, off);
	return key_ok(r, pkt) && length_ok(r, pkt, pkt->dmalen, 0);
}

/**
 * inc_responder_ooo() - check a request packet beyond a gap
 * @r: responder
 * @pkt: parsed packet, a request
 * @run: message of the nearest queued packet before it, or else from
 *	inc_responder_run(); set to the message of this packet
 *
 * Queued packets will be trusted when the gap is closed. So all that can be
 * checked has to be right: the key of a packet that has one, and for the others
 * that a message with a valid key has room for them in this very place.
 *
 * Context: the QP's receive lock is held.
 * Return: enum inc_responder_ooo.
 */
enum inc_responder_ooo inc_responder_ooo(const struct inc_responder *r,
					 const struct inc_pkt *pkt,
					 struct inc_responder_run *run)
{
	if (!(pkt->flags & INC_PKT_SUPPORTED))
		return INC_RESP_OOO_WRONG;
	if (inc_psn_diff(pkt->psn, run->end) < 0)
		return continues_run(r, pkt, run) ? INC_RESP_OOO_GOOD :
						    INC_RESP_OOO_WRONG;
	if (!(pkt->flags & INC_PKT_FIRST))
		return pkt->psn == run->end ? INC_RESP_OOO_WRONG :
					      INC_RESP_OOO_UNKNOWN;
	if (!opens_message(r, pkt))
		return INC_RESP_OOO_WRONG;
	run_from(r, pkt->psn, pkt->dmalen, run);
	return INC_RESP_OOO_GOOD;
}

/**
 * inc_responder_queued() - check whether a queued packet is the next one
 * @r: responder
 * @psn: PSN of the first packet queued beyond a gap
 *
 * Context: the QP's receive lock is held.
 * Return: enum inc_responder_queued.
 */
enum inc_responder_queued inc_responder_queued(const struct inc_responder *r,
					       u32 psn)
{
	s32 diff = inc_psn_diff(psn, r->epsn);

	if (diff > 0)
		return INC_RESP_QUEUED_LATER;
	return diff ? INC_RESP_QUEUED_PAST : INC_RESP_QUEUED_NEXT;
}

/**
 * inc_responder_check_uc() - check a request packet of a UC member
 * @r: responder
 * @pkt: parsed packet, a request
 *
 * A request is one packet here. A wrong one is dropped silently (IBTA 1.x,
 * section 9.8.3). Its PSN does not matter.
 *
 * Context: the QP's receive lock is held.
 * Return: true if it is a request within the member's slots.
 * Spec: IBTA 1.x section 9.8.
 */
bool inc_responder_check_uc(const struct inc_responder *r,
			    const struct inc_pkt *pkt)
{
	const u8 need = INC_PKT_FIRST | INC_PKT_LAST | INC_PKT_IMM |
			INC_PKT_SUPPORTED;

	return (pkt->flags & need) == need && !inc_responder_is_empty(pkt) &&
	       key_ok(r, pkt) && length_ok(r, pkt, pkt->dmalen, 0);
}

/**
 * inc_responder_accept() - advance to the next PSN
 * @r: responder
 * @pkt: packet that inc_responder_check() called new and whose payload is safe
 *
 * Context: the QP's receive lock is held.
 */
void inc_responder_accept(struct inc_responder *r, const struct inc_pkt *pkt)
{
	bool opens = pkt->flags & INC_PKT_FIRST && !r->tail_due;

	/* An empty write is no message. */
	if (opens && pkt->payload_len) {
		r->dmalen = pkt->dmalen;
		r->done = 0;
		r->va = pkt->va;
	}
	r->done += pkt->payload_len;
	r->tail_due = pkt->flags & INC_PKT_LAST && !(pkt->flags & INC_PKT_IMM) &&
		      pkt->payload_len && !r->results;
	r->in_msg = !(pkt->flags & INC_PKT_LAST) || r->tail_due;
	if (pkt->flags & INC_PKT_LAST)
		r->msn = (r->msn + 1) & INC_PSN_MASK;
	r->epsn = inc_psn_add(r->epsn, 1);
	r->nak_sent = false;
}

/**
 * inc_responder_silence() - choose how to solicit a silent member
 * @r: responder
 * @waited: others wait for data that the member has not begun to send
 *
 * If the end of the member's data was lost, or our NAK, or its retransmission,
 * the member finds out by its own timeout, which is long. A second NAK for one
 * PSN would not help: a requester may obey only one until there is progress
 * (rxe does). It obeys every RNR NAK. And where it is unknown whether the
 * member has sent anything, an RNR NAK saves the one NAK for a later gap.
 *
 * Context: the QP's receive lock is held.
 * Return: enum inc_responder_solicit.
 */
enum inc_responder_solicit inc_responder_silence(struct inc_responder *r,
						 bool waited)
{
	if (!inc_responder_owed(r))
		return waited ? INC_RESP_SOLICIT_RNR : INC_RESP_SOLICIT_NOTHING;
	if (r->nak_sent)
		return INC_RESP_SOLICIT_RNR;
	r->nak_sent = true;
	return INC_RESP_SOLICIT_NAK;
}

/**
 * inc_responder_ack_due() - check whether to acknowledge one more request
 * @r: responder
 * @ackreq: the request has AckReq
 *
 * Acknowledgments are coalesced (IBTA C9-112): the requester sets AckReq where
 * it wants one, and does not stall in between.
 *
 * Context: the QP's receive lock is held.
 * Return: true if an acknowledgment has to be sent now.
 */
bool inc_responder_ack_due(struct inc_responder *r, bool ackreq)
{
	if (!ackreq && ++r->unacked < INC_RESP_ACK_EVERY)
		return false;
	r->unacked = 0;
	return true;
}
