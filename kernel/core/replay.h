/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a stock rxe sends when it has lost its place.
 *
 * If an rxe learns in the middle of retransmitting a message that all of it has
 * arrived, and then has to go back, it skips the payload and sends the rest: the
 * remnant, an empty ONLY with the message's terms, at the next PSN. Each message
 * that follows gets new PSNs. If it has to go back once more before the remnant
 * is acknowledged, it sends the whole message, from the remnant's PSN on, and
 * all that follows moves again.
 *
 * So a PSN may come again with other contents, but only with contents that have
 * arrived: numbers only grow. What has the expected PSN and has arrived before
 * is acknowledged and discarded, until the message that is not complete, or a
 * new one, begins. Only packets with the right R_Key are believed to say that
 * the requester has numbered messages anew.
 */
#ifndef _INC_REPLAY_H
#define _INC_REPLAY_H

#include <linux/types.h>

#include "core/responder.h"

/**
 * struct inc_replay - what is known of a requester's numbering
 * @on: what has the expected PSN may have arrived before
 * @renumbered: it has numbered messages anew at least once
 * @went_back: it has retransmitted at least once
 * @repeat: so many packets of the message in progress arrive again
 * @seen: all from where the new numbers begin up to this PSN has been seen
 * @remnant: PSN of the last remnant, if @renumbered
 * @back_at: PSN that was expected when it last retransmitted, if @went_back
 */
struct inc_replay {
	bool	on;
	bool	renumbered;
	bool	went_back;
	u16	repeat;
	u32	seen;
	u32	remnant;
	u32	back_at;
};

/**
 * enum inc_replay_place - what a packet's INC header says, or else its Immediate
 * @INC_REPLAY_UNKNOWN: it has neither
 * @INC_REPLAY_END: it ends the last message that was begun, and did not open it
 * @INC_REPLAY_BEFORE: it opens a message that was begun before the last one
 * @INC_REPLAY_LAST: it opens the last message that was begun
 * @INC_REPLAY_AFTER: it opens a message that was not begun
 */
enum inc_replay_place {
	INC_REPLAY_UNKNOWN,
	INC_REPLAY_END,
	INC_REPLAY_BEFORE,
	INC_REPLAY_LAST,
	INC_REPLAY_AFTER,
};

/**
 * enum inc_replay_verdict - what to do with a packet
 * @INC_REPLAY_NONE: what inc_responder_check() said
 * @INC_REPLAY_DISCARD: the expected one, but its contents have arrived: call
 *	inc_replay_discard() and acknowledge it
 * @INC_REPLAY_GO_BACK: drop it, and make the requester go back by an RNR NAK
 */
enum inc_replay_verdict {
	INC_REPLAY_NONE,
	INC_REPLAY_DISCARD,
	INC_REPLAY_GO_BACK,
};

/**
 * inc_replay_expected() - check for the common case
 * @p: replay
 * @r: responder
 * @pkt: parsed packet, a request
 * @verdict: what inc_responder_check() said
 *
 * What is queued beyond a gap may have old numbers, so what opens a message
 * before it is looked at more closely.
 *
 * Return: true if inc_replay_judge() need not be called.
 */
static inline bool inc_replay_expected(const struct inc_replay *p,
				       const struct inc_responder *r,
				       const struct inc_pkt *pkt,
				       enum inc_responder_verdict verdict)
{
	return verdict == INC_RESP_NEW && !p->on && !p->repeat &&
	       pkt->payload_len &&
	       !(r->ooo_queued && pkt->flags & INC_PKT_FIRST);
}

/**
 * inc_replay_may_queue() - check whether packets beyond a gap may be queued
 * @p: replay
 *
 * Return: false if nothing is known of where they belong.
 */
static inline bool inc_replay_may_queue(const struct inc_replay *p)
{
	return !p->on && !p->repeat;
}

enum inc_replay_place inc_replay_place(const struct inc_pkt *pkt,
				       const void *payload, u32 last,
				       u32 *msg_id);
enum inc_replay_verdict inc_replay_judge(struct inc_replay *p,
					 struct inc_responder *r,
					 const struct inc_pkt *pkt,
					 enum inc_responder_verdict verdict,
					 enum inc_replay_place place);
void inc_replay_discard(struct inc_replay *p, struct inc_responder *r,
			const struct inc_pkt *pkt);

#endif /* _INC_REPLAY_H */
