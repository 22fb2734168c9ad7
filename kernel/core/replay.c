// SPDX-License-Identifier: GPL-2.0
/*
 * What a stock rxe sends when it has lost its place, see replay.h.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/psn.h"
#include "core/replay.h"

static void begin(struct inc_replay *p, u32 psn)
{
	p->on = true;
	p->renumbered = true;
	p->repeat = 0;
	p->seen = psn;
}

/* The rest of a message that has arrived: nothing is left of it. */
static bool is_remnant(const struct inc_responder *r, const struct inc_pkt *pkt,
		       enum inc_replay_place place)
{
	return inc_responder_is_empty(pkt) && pkt->flags & INC_PKT_IMM &&
	       pkt->rkey == r->rkey &&
	       pkt->va == (u64)(pkt->imm & (r->slots - 1)) * r->stride &&
	       (place == INC_REPLAY_BEFORE ||
		(place == INC_REPLAY_LAST && !r->in_msg));
}

/*
 * The rest of the last message, which had several packets. Its PSN has not been
 * acknowledged, so the RNR NAK makes an rxe send that message again from there.
 * If it were accepted, there would be no telling whether the message or the next
 * one follows.
 */
static bool is_last_remnant(const struct inc_responder *r,
			    const struct inc_pkt *pkt,
			    enum inc_replay_place place)
{
	return place == INC_REPLAY_LAST && r->dmalen > r->pmtu &&
	       is_remnant(r, pkt, place);
}

/* Did the packet with this PSN, a duplicate's, open a message? */
static bool opened_message(const struct inc_responder *r, u32 psn)
{
	u32 back = inc_psn_diff(r->epsn, psn) - 1;

	return r->opened[back / 64] >> back % 64 & 1;
}

static void note_opened(struct inc_responder *r, const struct inc_pkt *pkt)
{
	u32 back = inc_psn_diff(r->epsn, pkt->psn) - 1;
	u64 bit = 1ULL << back % 64;

	if (pkt->flags & INC_PKT_FIRST)
		r->opened[back / 64] |= bit;
	else
		r->opened[back / 64] &= ~bit;
}

/*
 * A duplicate that opens a message where none was opened, or not this one. It
 * may have come too late to tell.
 */
static bool contradicts(const struct inc_responder *r, const struct inc_pkt *pkt)
{
	if (!(pkt->flags & INC_PKT_FIRST) || pkt->rkey != r->rkey)
		return false;
	if (!opened_message(r, pkt->psn))
		return true;
	return pkt->psn == r->first_psn &&
	       (pkt->va != r->va || pkt->dmalen != r->dmalen);
}

/*
 * A message opens that has arrived or within another one, or goes on that was
 * not opened. This may be the first packet that shows that the requester has
 * numbered anew.
 */
static bool out_of_place(const struct inc_replay *p,
			 const struct inc_responder *r,
			 const struct inc_pkt *pkt, enum inc_replay_place place)
{
	if (!pkt->payload_len)
		return false;
	if (!(pkt->flags & INC_PKT_FIRST))
		return !r->in_msg && (p->renumbered || place == INC_REPLAY_END);
	if (place == INC_REPLAY_BEFORE)
		return true;
	if (!r->in_msg)
		return place == INC_REPLAY_LAST;
	return p->renumbered ||
	       (place == INC_REPLAY_LAST && p->went_back &&
		inc_psn_diff(r->epsn, p->back_at) < INC_RESP_OPENED);
}

/* Packets of the message in progress that have arrived; all are full. */
static s32 arrived(const struct inc_responder *r)
{
	return r->done / r->pmtu;
}

/*
 * The last message begins at @psn now. If it is in progress it goes on from
 * there, with packets that have arrived.
 */
static void note_last(struct inc_replay *p, struct inc_responder *r, u32 psn)
{
	s32 repeat = arrived(r) - inc_psn_diff(r->epsn, psn);

	if (!r->in_msg) {
		r->first_psn = psn;
	} else if (repeat >= 0) {
		r->first_psn = psn;
		p->on = false;
		p->repeat = repeat;
	}
}

/* Its end shows as well where it begins. */
static void note_end(struct inc_replay *p, struct inc_responder *r, u32 psn)
{
	s32 packets = DIV_ROUND_UP(r->dmalen, r->pmtu);
	u32 first = inc_psn_add(psn, 1 - packets);

	if (p->on && r->in_msg && inc_psn_diff(r->epsn, first) >= 0)
		note_last(p, r, first);
}

static void note_dup(struct inc_replay *p, struct inc_responder *r,
		     const struct inc_pkt *pkt, enum inc_replay_place place)
{
	bool remnant;

	p->went_back = true;
	p->back_at = r->epsn;
	if (!r->dmalen || inc_psn_diff(r->epsn, pkt->psn) > INC_RESP_OPENED)
		return;
	remnant = is_remnant(r, pkt, place) &&
		  !(p->renumbered && pkt->psn == p->remnant);
	if (remnant)
		p->remnant = pkt->psn;
	if (remnant || contradicts(r, pkt))
		begin(p, pkt->psn);
	if (!p->renumbered)
		return;
	note_opened(r, pkt);
	if (!p->on)
		return;
	if (pkt->psn == p->seen)
		p->seen = inc_psn_add(p->seen, 1);
	if (place == INC_REPLAY_LAST && pkt->payload_len &&
	    pkt->rkey == r->rkey)
		note_last(p, r, pkt->psn);
}

/* The expected PSN, but which message's is it? */
static enum inc_replay_verdict judge_expected(struct inc_replay *p,
					      struct inc_responder *r,
					      const struct inc_pkt *pkt,
					      enum inc_replay_place place)
{
	switch (place) {
	case INC_REPLAY_END:
		note_end(p, r, r->epsn);
		if (!p->on)
			return INC_REPLAY_NONE;
		fallthrough;
	case INC_REPLAY_UNKNOWN:
		/* The place where the message in progress begins may be lost. */
		if (r->in_msg && p->seen != r->epsn)
			return INC_REPLAY_GO_BACK;
		return INC_REPLAY_DISCARD;
	case INC_REPLAY_BEFORE:
		return INC_REPLAY_DISCARD;
	case INC_REPLAY_LAST:
		note_last(p, r, r->epsn);
		return INC_REPLAY_DISCARD;
	case INC_REPLAY_AFTER:
		break;
	}
	p->on = false;
	return INC_REPLAY_NONE;
}

/**
 * inc_replay_place() - find out what a packet says of its message
 * @pkt: parsed packet, a request
 * @payload: its payload
 * @last: last message that was begun
 * @msg_id: set to its message, if INC_REPLAY_AFTER
 *
 * An Immediate has the low 24 bits of a message ID, which is next to @last.
 *
 * Return: enum inc_replay_place; INC_REPLAY_AFTER also for a message that was
 * begun before @last, which the caller has to find out.
 */
enum inc_replay_place inc_replay_place(const struct inc_pkt *pkt,
				       const void *payload, u32 last,
				       u32 *msg_id)
{
	struct inc_hdr hdr;

	if (pkt->flags & INC_PKT_FIRST && pkt->payload_len >= sizeof(hdr)) {
		memcpy(&hdr, payload, sizeof(hdr));
		*msg_id = be32_to_cpu(hdr.msg_id);
	} else if (pkt->flags & INC_PKT_IMM) {
		*msg_id = last + inc_psn_diff(pkt->imm, last);
	} else {
		return INC_REPLAY_UNKNOWN;
	}
	if (!(pkt->flags & INC_PKT_FIRST))
		return *msg_id == last ? INC_REPLAY_END : INC_REPLAY_UNKNOWN;
	return *msg_id == last ? INC_REPLAY_LAST : INC_REPLAY_AFTER;
}

/**
 * inc_replay_judge() - check whether a packet has been numbered anew
 * @p: replay
 * @r: responder, of a host
 * @pkt: parsed packet, a request
 * @verdict: what inc_responder_check() said
 * @place: what it says of itself
 *
 * Once @p->on, packets queued beyond a gap are worthless.
 *
 * Context: the QP's receive lock is held.
 * Return: enum inc_replay_verdict.
 */
enum inc_replay_verdict inc_replay_judge(struct inc_replay *p,
					 struct inc_responder *r,
					 const struct inc_pkt *pkt,
					 enum inc_responder_verdict verdict,
					 enum inc_replay_place place)
{
	switch (verdict) {
	case INC_RESP_DUP:
		note_dup(p, r, pkt, place);
		return INC_REPLAY_NONE;
	case INC_RESP_OOO:
	case INC_RESP_OOO_NAK:
		if (place == INC_REPLAY_END)
			note_end(p, r, pkt->psn);
		return INC_REPLAY_NONE;
	case INC_RESP_ACCESS:
		return INC_REPLAY_NONE;
	case INC_RESP_NEW:
	case INC_RESP_INVALID:
		break;
	}
	/* Without a message so far, nothing can come again. */
	if (!r->dmalen || !(pkt->flags & INC_PKT_SUPPORTED) ||
	    (place >= INC_REPLAY_BEFORE && pkt->rkey != r->rkey))
		return INC_REPLAY_NONE;
	if (is_last_remnant(r, pkt, place)) {
		begin(p, pkt->psn);
		p->remnant = pkt->psn;
		return INC_REPLAY_GO_BACK;
	}
	if (p->repeat && !(pkt->flags & (INC_PKT_FIRST | INC_PKT_LAST)))
		return INC_REPLAY_DISCARD;
	if (is_remnant(r, pkt, place) || p->repeat ||
	    out_of_place(p, r, pkt, place))
		begin(p, pkt->psn);
	return p->on ? judge_expected(p, r, pkt, place) : INC_REPLAY_NONE;
}

/**
 * inc_replay_discard() - advance to the next PSN
 * @p: replay
 * @r: responder
 * @pkt: packet that is discarded; a message does not count twice, but an empty
 *	one does
 *
 * Context: the QP's receive lock is held.
 */
void inc_replay_discard(struct inc_replay *p, struct inc_responder *r,
			const struct inc_pkt *pkt)
{
	if (inc_responder_is_empty(pkt))
		r->msn = (r->msn + 1) & INC_PSN_MASK;
	if (p->repeat)
		p->repeat--;
	if (p->seen == r->epsn)
		p->seen = inc_psn_add(p->seen, 1);
	inc_responder_advance(r, pkt);
}
