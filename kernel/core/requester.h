/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RC requester: packets in flight to a member, what to send next, and the
 * effect of acknowledgments, NAKs and timeouts (IBTA 1.x, sections 9.7.5 and
 * 9.7.6), without packets, locks, timers or memory. Times are microseconds of
 * the caller's clock.
 */
#ifndef _INC_REQUESTER_H
#define _INC_REQUESTER_H

#include <linux/types.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/psn.h"

#define INC_REQ_MAX_WINDOW	256

/**
 * enum inc_wqe_source - where in its slot a packet's payload lies
 * @INC_WQE_RESULT: in the result, and no other member gets the same packet
 * @INC_WQE_CHUNK: it is a chunk of the result, whose CRC the slot knows
 * @INC_WQE_REQUEST: in the request to the parent, INC header included
 */
enum inc_wqe_source {
	INC_WQE_RESULT,
	INC_WQE_CHUNK,
	INC_WQE_REQUEST,
};

/**
 * struct inc_wqe - one request packet, see payload.h for its payload
 * @va: address in the member's memory
 * @rkey: key of that memory
 * @msg_id: message whose result it carries
 * @imm: Immediate, status and message ID, host order
 * @off: offset of the payload in the slot's result or request
 * @slot: slot of that message
 * @len: bytes of payload
 * @opcode: of the packet: a kind of RDMA WRITE
 * @source: enum inc_wqe_source
 * @dmalen: bytes that all packets of the RDMA WRITE message have together
 */
struct inc_wqe {
	u64	va;
	u32	rkey;
	u32	msg_id;
	u32	imm;
	u32	off;
	u16	slot;
	u16	len;
	u8	opcode;
	u8	source;
	u32	dmalen;
};

/* The Immediate of a message's last packet. */
static inline u32 inc_wqe_imm(u32 msg_id, u8 status)
{
	return (u32)status << INC_IMM_STATUS_SHIFT |
	       (msg_id & INC_IMM_MSG_ID_MASK);
}

/**
 * struct inc_requester - state of the requester half of a QP
 * @una: oldest PSN that is not acknowledged
 * @next: PSN to send next; goes back to @una to retransmit
 * @fresh: first PSN that was never sent
 * @max: first PSN that is not given to a packet yet
 * @asked: first PSN after the last packet with AckReq
 * @nak_psn: PSN of the last NAK obeyed, to obey each once
 * @refused_end: first PSN that was never sent when the last RNR NAK came
 * @window: maximum number of packets in flight that the tree allows
 * @cwnd: present maximum number of packets in flight: a loss takes a quarter,
 *	it grows with acknowledgments
 * @grown: packets acknowledged since @cwnd grew
 * @path: maximum number of packets in flight that the path to the member takes
 *	without a long queue
 * @fixed: @path does not change
 * @held: the window held a packet back since the last packet of @path_psn
 * @path_timing: the path's round trip is being measured
 * @measure: round trips that are still to be measured with one packet in flight
 * @period: in which that was done last, see PERIOD_SHIFT
 * @path_psn: ... by the acknowledgment of this PSN
 * @path_at: ... which was sent at this time, its lower half
 * @since_ackreq: packets sent since the last with AckReq
 * @backoff: timeouts since a round trip was measured or a loss was reported;
 *	each doubles the timeout
 * @tries: timeouts and RNR waits since the last progress
 * @rnr: waiting for @resume after an RNR NAK
 * @probing: only the oldest packet is retransmitted, after a timeout or an RNR
 *	NAK
 * @refused: that packet was refused by an RNR NAK, and not lost
 * @patient: the peer may send RNR NAKs for long
 * @asking: the newest packet is to be retransmitted with AckReq
 * @nak_seen: @nak_psn is valid
 * @silent: it was told that there is no progress
 * @timing: a round trip is being measured
 * @timed_psn: ... by the acknowledgment of this PSN
 * @timed_at: ... which was sent at this time, its lower half
 * @min_rtt: shortest round trip, 0 before the first
 * @srtt: smoothed round trip, 0 before the first
 * @rttvar: its mean deviation
 * @min_rto_us: lower limit of the timeout
 * @dead: time without progress after which the member is dead
 * @quiet: time without progress after which that is told
 * @asked_at: when the last packet with AckReq was sent, its lower half
 * @sent_at: latest of: when the oldest packet was sent, when the first one with
 *	AckReq was sent, when the last progress was made
 * @progress_at: when the last progress was made, or a packet first became due,
 *	or a later sign of life
 * @proved_at: the same without signs of life
 * @resume: when sending may continue after an RNR NAK
 * @mask: entries of @ring less one; a power of two less one
 * @ring: packets in flight, by PSN; if it has fewer entries than the window, it is
 *	the window
 */
struct inc_requester {
	u32		una;
	u32		next;
	u32		fresh;
	u32		max;
	u32		asked;
	u32		nak_psn;
	u32		refused_end;
	u32		mask;
	u16		window;
	u16		cwnd;
	u16		grown;
	u16		path;
	u8		since_ackreq;
	u8		backoff;
	u8		tries;
	bool		rnr;
	bool		probing;
	bool		refused;
	bool		patient;
	bool		asking;
	bool		nak_seen;
	bool		silent;
	bool		timing;
	bool		fixed : 1;
	bool		held : 1;
	bool		path_timing : 1;
	u8		measure : 2;
	u8		period : 3;
	u32		timed_psn;
	u32		path_psn;
	u32		path_at;
	u32		timed_at;
	u32		asked_at;
	u32		srtt;
	u32		rttvar;
	u32		min_rto_us;
	u32		dead;
	u32		quiet;
	u32		min_rtt;
	u64		sent_at;
	u64		progress_at;
	u64		proved_at;
	u64		resume;
	struct inc_wqe	*ring;
};

/**
 * enum inc_requester_verdict - effect of a response
 * @INC_REQ_OLD: nothing new
 * @INC_REQ_PROGRESS: packets were acknowledged
 * @INC_REQ_BACK: go back to the PSN that the member expects
 * @INC_REQ_WAIT: go back, after the RNR time
 * @INC_REQ_BAD: a PSN that was never sent; drop it
 */
enum inc_requester_verdict {
	INC_REQ_OLD,
	INC_REQ_PROGRESS,
	INC_REQ_BACK,
	INC_REQ_WAIT,
	INC_REQ_BAD,
};

/**
 * enum inc_requester_end - is the newest packet the last for now?
 * @INC_REQ_MORE: more packets, very soon
 * @INC_REQ_END_SHARED: nothing; several such packets may share an
 *	acknowledgment
 * @INC_REQ_END: nothing; it needs AckReq
 */
enum inc_requester_end {
	INC_REQ_MORE,
	INC_REQ_END_SHARED,
	INC_REQ_END,
};

/**
 * enum inc_requester_kind - kind of packet
 * @INC_REQ_FRESH: sent for the first time
 * @INC_REQ_RETRANSMIT: retransmitted, as it was or may be lost
 * @INC_REQ_SOLICIT: retransmitted because no packet in flight has AckReq
 */
enum inc_requester_kind {
	INC_REQ_FRESH,
	INC_REQ_RETRANSMIT,
	INC_REQ_SOLICIT,
};

/**
 * enum inc_requester_timer - result of the timer
 * @INC_REQ_TIMER_IDLE: nothing is in flight
 * @INC_REQ_TIMER_LATER: not due yet; call again at inc_requester_deadline()
 * @INC_REQ_TIMER_BACK: expired: retransmit the oldest packet
 * @INC_REQ_TIMER_RESUME: the RNR time is over
 * @INC_REQ_TIMER_SOLICIT: no packet in flight has AckReq
 * @INC_REQ_TIMER_DEAD: the member did not answer for the dead time
 */
enum inc_requester_timer {
	INC_REQ_TIMER_IDLE,
	INC_REQ_TIMER_LATER,
	INC_REQ_TIMER_BACK,
	INC_REQ_TIMER_RESUME,
	INC_REQ_TIMER_SOLICIT,
	INC_REQ_TIMER_DEAD,
};

/* Is the ring full, and smaller than the window that the tree allows? */
static inline bool inc_requester_must_grow(const struct inc_requester *r)
{
	return inc_psn_diff(r->max, r->una) > (s32)r->mask &&
	       r->mask + 1 < r->window;
}

u32 inc_requester_entries(u16 window);
void inc_requester_init(struct inc_requester *r, struct inc_wqe *ring,
			u32 entries, u32 psn);
struct inc_wqe *inc_requester_grow(struct inc_requester *r,
				   struct inc_wqe *ring, u32 entries);
void inc_requester_heard(struct inc_requester *r, u64 now);
void inc_requester_alive(struct inc_requester *r, u64 at);
void inc_requester_tune(struct inc_requester *r, u16 window, u32 min_rto_us,
			u32 dead_us);
void inc_requester_fix_window(struct inc_requester *r);
struct inc_wqe *inc_requester_push(struct inc_requester *r);
struct inc_wqe *inc_requester_next(struct inc_requester *r, u64 now,
				   enum inc_requester_end end, u32 *psn,
				   bool *ackreq, enum inc_requester_kind *kind);
u32 inc_requester_oldest_len(struct inc_requester *r);
enum inc_requester_verdict inc_requester_known(const struct inc_requester *r,
					       u32 psn);
enum inc_requester_verdict inc_requester_ack(struct inc_requester *r, u32 psn,
					     u64 now);
enum inc_requester_verdict inc_requester_nak_seq(struct inc_requester *r,
						 u32 psn, u64 now);
enum inc_requester_verdict inc_requester_rnr_nak(struct inc_requester *r,
						 u32 psn, u8 timer, u64 now);
enum inc_requester_timer inc_requester_timeout(struct inc_requester *r,
					       u64 now);
bool inc_requester_falls_silent(struct inc_requester *r, u64 now);
u64 inc_requester_rto(const struct inc_requester *r);
u64 inc_requester_deadline(const struct inc_requester *r);

#endif /* _INC_REQUESTER_H */
