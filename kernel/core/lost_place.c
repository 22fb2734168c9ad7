// SPDX-License-Identifier: GPL-2.0
/*
 * A stock rxe that loses its place, see lost_place.h.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "core/lost_place.h"
#include "core/psn.h"

/*
 * Packets that rxe sends beyond the first one not acknowledged, and one: once
 * these have been accepted, it has obeyed a later ACK.
 */
#define RXE_UNACKED	(128 + 1)

/* A packet's kind, and the slot that it names. */
enum kind {
	UNKNOWN,	/* it is too old, or the QP is new */
	INSIDE,		/* FIRST was another one, and more is to come */
	END,		/* LAST with Immediate */
	PART,		/* LAST without */
	EMPTY,
	OPENS,		/* FIRST or ONLY */
};

#define SLOT_BITS	13
#define SLOT_MASK	((1U << SLOT_BITS) - 1)

static u16 encode_packet(const struct inc_responder *r,
			 const struct inc_pkt *pkt)
{
	if (inc_responder_is_empty(pkt))
		return EMPTY << SLOT_BITS;
	if (pkt->flags & INC_PKT_FIRST)
		return OPENS << SLOT_BITS |
		       ((u32)pkt->va / r->stride & SLOT_MASK);
	if (!(pkt->flags & INC_PKT_LAST))
		return INSIDE << SLOT_BITS;
	return pkt->flags & INC_PKT_IMM ?
	       END << SLOT_BITS | (pkt->imm & SLOT_MASK) : PART << SLOT_BITS;
}

static u16 said_at(const struct inc_lost_place *p,
		   const struct inc_responder *r, u32 psn)
{
	s32 back = inc_psn_diff(r->epsn, psn);

	return p->said && back > 0 && back <= INC_PLACE_PSNS ?
	       p->said[psn % INC_PLACE_PSNS] : UNKNOWN;
}

/**
 * inc_place_note() - remember a packet that is accepted
 * @p: recent packets of a host
 * @r: responder, before inc_responder_accept()
 * @pkt: parsed packet
 *
 * Context: the QP's receive lock is held.
 */
void inc_place_note(struct inc_lost_place *p, const struct inc_responder *r,
		    const struct inc_pkt *pkt)
{
	if (likely(p->said))
		p->said[pkt->psn % INC_PLACE_PSNS] = encode_packet(r, pkt);
	if (!r->in_msg)
		p->proof = INC_PLACE_SURE;
	else if (p->proof == INC_PLACE_BACK)
		p->proof = INC_PLACE_DOUBT;
	if (p->risky && inc_psn_diff(pkt->psn, p->risk) > RXE_UNACKED)
		p->risky = false;
}

/* The rest of the message that ended one PSN before: nothing is left of it. */
static bool is_remnant(const struct inc_lost_place *p,
		       const struct inc_responder *r, const struct inc_pkt *pkt)
{
	return inc_responder_is_empty(pkt) && pkt->flags & INC_PKT_IMM &&
	       pkt->va == (u64)(pkt->imm & (r->slots - 1)) * r->stride &&
	       said_at(p, r, inc_psn_add(pkt->psn, -1)) ==
	       (END << SLOT_BITS | (pkt->imm & SLOT_MASK));
}

/* The requester may have gone back within a message while there was a risk. */
static void note_back(struct inc_lost_place *p, const struct inc_responder *r,
		      const struct inc_pkt *pkt,
		      enum inc_responder_verdict verdict)
{
	if (verdict != INC_RESP_NEW && r->in_msg && p->risky &&
	    p->proof == INC_PLACE_SURE && inc_psn_diff(pkt->psn, p->risk) >= 0)
		p->proof = INC_PLACE_BACK;
}

/**
 * inc_place_contradicts() - check whether a requester has lost its place
 * @p: recent packets of a host
 * @r: responder, of a host
 * @pkt: parsed packet, a request
 * @verdict: from inc_responder_check()
 *
 * Only packets with the right R_Key are believed; but one that ends the QP
 * anyway, where the place may be lost, does so for that cause.
 *
 * Context: the QP's receive lock is held.
 * Return: true if this packet contradicts an earlier one of the requester.
 */
bool inc_place_contradicts(struct inc_lost_place *p,
			   const struct inc_responder *r,
			   const struct inc_pkt *pkt,
			   enum inc_responder_verdict verdict)
{
	u16 before;

	if (verdict == INC_RESP_INVALID && r->in_msg && p->proof >= INC_PLACE_DOUBT)
		return true;
	note_back(p, r, pkt, verdict);
	if (!(pkt->flags & INC_PKT_FIRST) || !(pkt->flags & INC_PKT_SUPPORTED) ||
	    pkt->rkey != r->rkey)
		return false;
	switch (verdict) {
	case INC_RESP_DUP:
		before = said_at(p, r, pkt->psn);
		return before && before != encode_packet(r, pkt);
	case INC_RESP_NEW:
		return is_remnant(p, r, pkt);
	case INC_RESP_INVALID:
		/* A message opens within another one. */
		return r->in_msg && !inc_responder_is_empty(pkt);
	default:
		return false;
	}
}

/**
 * inc_place_asks_again() - check whether the end of a message has to come again
 * @p: recent packets of a host
 * @pkt: parsed packet, the expected one, before it is accepted
 *
 * A packet that moved into a message has no R_Key, and may differ in its payload
 * only. A late end, sent before the move, fits as well.
 *
 * Context: the QP's receive lock is held.
 * Return: true, once for a message in doubt, if this packet is its end: drop it.
 */
bool inc_place_asks_again(struct inc_lost_place *p, const struct inc_pkt *pkt)
{
	const u8 end = INC_PKT_LAST | INC_PKT_IMM;

	if (p->proof != INC_PLACE_DOUBT ||
	    (pkt->flags & (end | INC_PKT_FIRST)) != end)
		return false;
	p->proof = INC_PLACE_ASKED;
	return true;
}

/**
 * inc_place_ends_write() - check whether a packet was the last of several
 * @p: recent packets of a host
 * @r: responder
 * @psn: PSN that has been accepted
 *
 * Context: the QP's receive lock is held.
 * Return: true if it ended a write of several packets.
 */
bool inc_place_ends_write(const struct inc_lost_place *p,
			  const struct inc_responder *r, u32 psn)
{
	u16 kind = said_at(p, r, psn) >> SLOT_BITS;

	return kind == END || kind == PART;
}

/**
 * inc_place_ack_psn() - choose the PSN that an ACK names
 * @p: recent packets of a host
 * @r: responder
 * @psn: PSN that has been accepted
 *
 * An ACK may name a later packet that was accepted, or an earlier one.
 *
 * Context: the QP's receive lock is held.
 * Return: the PSN to name, in an ACK that is sent.
 */
u32 inc_place_ack_psn(struct inc_lost_place *p, const struct inc_responder *r,
		      u32 psn)
{
	u32 next = inc_psn_add(psn, 1);

	if (!inc_place_ends_write(p, r, psn))
		return psn;
	if (next != r->epsn)
		return next;
	if (said_at(p, r, psn) >> SLOT_BITS == PART || r->ooo_queued)
		return inc_psn_add(psn, -1);
	p->risky = true;
	p->risk = next;
	return psn;
}
