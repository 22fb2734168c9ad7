/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stock rxe that loses its place.
 *
 * If an rxe learns in the middle of retransmitting a write of several packets,
 * by an ACK that names exactly the last one, that all of it has arrived, and
 * then has to go back, it skips the payload and sends the rest: the remnant, an
 * empty ONLY with the write's terms, at the next PSN. Each write that follows
 * gets new PSNs. If it has to go back once more before the remnant is
 * acknowledged, it sends the whole write from the remnant's PSN on, and all
 * that follows moves again.
 *
 * Nothing is accepted from a requester that may have lost its place, and nothing
 * is guessed:
 *
 * - Such an ACK is avoided. The end of a write without Immediate is never named:
 *   the message's last packet follows it (protocol.rst). The end of a message
 *   in one write is named by the ACK of a later packet if there is one.
 * - Where it was sent, no packet is kept beyond a gap for as long as the requester
 *   may not have obeyed a later ACK: the packet that fills the gap may have moved.
 *   Then a message that contains anything that has moved can't end: its LAST has
 *   moved as well. A LAST that was sent before that may be late in the network, and
 *   fit. So if the requester may have gone back within the message, the end is not
 *   taken when it arrives first: a retransmission has the same end only if nothing
 *   has moved. Nothing is asked at once: the switch's RNR NAK makes an rxe lose its
 *   place, and the solicitation of a silent member begins with a NAK.
 * - A packet with the right R_Key that opens a message where none was opened, or
 *   another one was, or the remnant, shows that the place is lost: the QP goes
 *   to error.
 */
#ifndef _INC_LOST_PLACE_H
#define _INC_LOST_PLACE_H

#include <linux/types.h>

#include "core/responder.h"

/* PSNs whose content is remembered; rxe stalls at 128. */
#define INC_PLACE_PSNS		256

/**
 * enum inc_place_proof - whether the message in progress may contain a moved packet
 * @INC_PLACE_SURE: no
 * @INC_PLACE_BACK: not yet, but the requester may have gone back while there was
 *	a risk: a packet came twice, or was missing
 * @INC_PLACE_DOUBT: that, and then a packet without R_Key was accepted
 * @INC_PLACE_ASKED: that, and the end has arrived once
 */
enum inc_place_proof {
	INC_PLACE_SURE,
	INC_PLACE_BACK,
	INC_PLACE_DOUBT,
	INC_PLACE_ASKED,
};

/**
 * struct inc_lost_place - recent packets of a host over RC
 * @said: kinds and slots of packets, by PSN modulo INC_PLACE_PSNS; NULL before the
 *	first message begins
 * @risky: the end of a write was acknowledged by name
 * @proof: enum inc_place_proof, of the message in progress
 * @risk: if @risky, the PSN behind it
 */
struct inc_lost_place {
	u16	*said;
	bool	risky;
	u8	proof;
	u32	risk;
};

/**
 * inc_place_may_queue() - check whether packets beyond a gap may be queued
 * @p: recent packets of a host
 *
 * Return: false if the packet that closes the gap may have moved.
 */
static inline bool inc_place_may_queue(const struct inc_lost_place *p)
{
	return !p->risky;
}

void inc_place_note(struct inc_lost_place *p, const struct inc_responder *r,
		    const struct inc_pkt *pkt);
bool inc_place_contradicts(struct inc_lost_place *p,
			   const struct inc_responder *r,
			   const struct inc_pkt *pkt,
			   enum inc_responder_verdict verdict);
bool inc_place_asks_again(struct inc_lost_place *p, const struct inc_pkt *pkt);
bool inc_place_ends_write(const struct inc_lost_place *p,
			  const struct inc_responder *r, u32 psn);
u32 inc_place_ack_psn(struct inc_lost_place *p, const struct inc_responder *r,
		      u32 psn);

#endif /* _INC_LOST_PLACE_H */
