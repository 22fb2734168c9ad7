// SPDX-License-Identifier: GPL-2.0
/*
 * RC requester: go-back-N with an adaptive timeout and an adaptive window.
 * Every packet is a message of its own (WRITE ONLY), so a PSN names a packet,
 * and the packet's description is kept in a ring until it is acknowledged.
 *
 * The peer may drop all that follows a lost packet (rxe does), so a loss costs all
 * packets in flight. The window loses a quarter with each loss and grows by one
 * packet with each window acknowledged. With random loss it settles where that cost
 * is small (some fifteen packets at 1 %, fifty at 0.1 %); without loss it reaches
 * the tree's limit. Halving would be too much: acknowledgments wait behind the
 * member's own packets, and the link would be idle meanwhile.
 *
 * More than the path delivers in its shortest round trip only makes a queue, which
 * delays all that shares a port. So the window is limited to about that, too. It is
 * found from below, as a queue that is there already looks like a long way:
 * it starts small, and grows with each round trip in which it held packets back and
 * which was not much longer than the shortest one.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <uapi/linux/rdma_inc.h>

#include "core/psn.h"
#include "core/requester.h"

/*
 * Timeout before the first measured round trip, microseconds: longer than the queue
 * of a shaped link, well below the default dead time.
 */
#define INITIAL_RTO	50000
/* The longest timeout fits so many times into the time that is silence. */
#define QUIET_TRIES	5
/* Maximum number of packets from one with AckReq to the next. */
#define ACKREQ_EVERY	16
#define MAX_BACKOFF	10
/* Minimum window, however many packets are lost. */
#define MIN_CWND	2
/* What any path takes: so many packets are no long queue; and what is tried at first. */
#define MIN_PATH	4
#define FIRST_PATH	10
/* Beside what the shortest round trip delivers: packets, and microseconds. */
#define PATH_SPARE	1
#define PATH_DELAY	1000
/*
 * Who began while others filled a queue has never seen the path without it, and a path
 * may become longer. So in each 2^PERIOD_SHIFT microseconds of the clock, that is at the
 * same time, all measure MEASURE round trips anew with one packet in flight each.
 */
#define PERIOD_SHIFT	22
#define MEASURE		3
/*
 * Minimum number of tries before a member is dead: if this machine stalled for
 * the dead time, all members seem to have been silent.
 */
#define MIN_TRIES	5
/*
 * For so many microseconds a parent's RNR NAKs do: it may wait for a rank that is
 * late, or yet to join, as long as a manager waits for it (300 s by default).
 */
#define MAX_REFUSED	360000000
/*
 * A timer that runs this long after its deadline is late; two ticks of 100 Hz.
 */
#define LATE		20000

/* IBTA table 46: encoded RNR NAK timer, microseconds. */
static const u32 rnr_time[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120,
	160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
	40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static struct inc_wqe *wqe_of(struct inc_requester *r, u32 psn)
{
	return &r->ring[psn & r->mask];
}

static u32 in_flight(const struct inc_requester *r)
{
	return inc_psn_diff(r->max, r->una);
}

/* Maximum number of packets in flight now: the ring may be smaller. */
static u32 room(const struct inc_requester *r)
{
	u32 path = r->measure ? 1 : r->path;

	return min3((u32)r->cwnd, path, r->mask + 1);
}

/**
 * inc_requester_entries() - get how large a requester's ring has to be
 * @window: maximum number of packets in flight, 1 ... INC_REQ_MAX_WINDOW
 *
 * PSNs wrap, so it is a power of two.
 *
 * Context: any.
 * Return: entries.
 */
u32 inc_requester_entries(u16 window)
{
	return roundup_pow_of_two(window);
}

/**
 * inc_requester_init() - initialize a requester that has sent nothing
 * @r: requester, to be tuned before use
 * @ring: room for packets in flight; stays the caller's
 * @entries: of @ring, a power of two
 * @psn: first PSN
 */
void inc_requester_init(struct inc_requester *r, struct inc_wqe *ring,
			u32 entries, u32 psn)
{
	memset(r, 0, sizeof(*r));
	r->ring = ring;
	r->mask = entries - 1;
	r->path = FIRST_PATH;
	r->una = psn;
	r->next = psn;
	r->fresh = psn;
	r->max = psn;
	r->asked = psn;
	r->refused_end = psn;
}

/**
 * inc_requester_grow() - give a requester a larger ring
 * @r: requester
 * @ring: room for packets in flight
 * @entries: of @ring, more than it has
 *
 * Context: the QP's transmit lock is held.
 * Return: the last ring, which is not used any more.
 */
struct inc_wqe *inc_requester_grow(struct inc_requester *r,
				   struct inc_wqe *ring, u32 entries)
{
	struct inc_wqe *last = r->ring;
	u32 psn;

	for (psn = r->una; psn != r->max; psn = inc_psn_add(psn, 1))
		ring[psn & (entries - 1)] = *wqe_of(r, psn);
	r->ring = ring;
	r->mask = entries - 1;
	return last;
}

/**
 * inc_requester_tune() - change settings, at any time
 * @r: requester
 * @window: maximum number of packets in flight
 * @min_rto_us: lower limit of the timeout, microseconds
 * @dead_us: time without progress after which the member is dead, microseconds,
 *	if it was tried at least 5 times meanwhile
 */
void inc_requester_tune(struct inc_requester *r, u16 window, u32 min_rto_us,
			u32 dead_us)
{
	r->window = window;
	r->cwnd = window;
	r->grown = 0;
	r->min_rto_us = min_rto_us;
	r->dead = dead_us;
	r->quiet = min(dead_us, 1000U * RDMA_INC_SILENT_TIME);
}

/**
 * inc_requester_fix_window() - do not fit the window to the path
 * @r: requester
 *
 * For a window that an operator has chosen.
 */
void inc_requester_fix_window(struct inc_requester *r)
{
	r->fixed = true;
	r->path = INC_REQ_MAX_WINDOW;
}

/**
 * inc_requester_push() - take the next PSN for a new packet
 * @r: requester
 *
 * Context: the QP's transmit lock is held.
 * Return: entry for the caller to describe the packet in, or NULL when the
 * window or the ring is full.
 */
struct inc_wqe *inc_requester_push(struct inc_requester *r)
{
	struct inc_wqe *w;

	if (in_flight(r) >= room(r)) {
		r->held = true;
		return NULL;
	}
	w = wqe_of(r, r->max);
	r->max = inc_psn_add(r->max, 1);
	return w;
}

/* The peer answers, or has nothing to answer yet. */
static void note_proved(struct inc_requester *r, u64 now)
{
	r->progress_at = now;
	r->proved_at = now;
	r->silent = false;
}

static bool any_asked(const struct inc_requester *r)
{
	return inc_psn_diff(r->asked, r->una) > 0;
}

/* The packet with this PSN has AckReq. */
static void request_ack(struct inc_requester *r, u32 psn, u64 now)
{
	/* No answer is due before. */
	if (!any_asked(r))
		r->sent_at = now;
	if (inc_psn_diff(psn, r->asked) >= 0)
		r->asked = inc_psn_add(psn, 1);
	r->asked_at = now;
	r->since_ackreq = 0;
}

static void start_timing(struct inc_requester *r, u32 psn, u64 now)
{
	if (r->timing)
		return;
	r->timing = true;
	r->timed_psn = psn;
	r->timed_at = now;
}

/*
 * Does the newest packet need AckReq? Packets that may share an acknowledgment
 * need it if the last AckReq is at least the minimum timeout ago: so a few
 * short operations in a row share one, and a lone one has its own.
 */
static bool must_ask(const struct inc_requester *r, enum inc_requester_end end,
		     u64 now)
{
	return end == INC_REQ_END || (end == INC_REQ_END_SHARED &&
				      (u32)now - r->asked_at >= r->min_rto_us);
}

static void time_path(struct inc_requester *r, u32 psn, u64 now)
{
	u8 period = (now >> PERIOD_SHIFT) % 8;

	if (r->period != period) {
		r->period = period;
		/* Without a queue worth mentioning, there is nothing to find out. */
		if (r->srtt > PATH_DELAY && !r->fixed) {
			r->measure = MEASURE;
			r->min_rtt = 0;
		}
	}
	r->held = false;
	r->path_timing = true;
	r->path_psn = psn;
	r->path_at = now;
}

/*
 * Packets from one with AckReq to the next. What an acknowledgment lets go at once looks
 * like a queue: where the path limits the window, that is less.
 */
static u32 ackreq_every(const struct inc_requester *r)
{
	u32 every = min(r->cwnd / 2, ACKREQ_EVERY);

	if (r->held || r->path_timing)
		every = min(every, max(r->path / 4, 2));
	return max(every, 1);
}

/* Retransmit the newest packet, only for its AckReq. */
static struct inc_wqe *ask_alone(struct inc_requester *r, u64 now, u32 *psn)
{
	r->asking = false;
	/* New packets have AckReq by themselves. */
	if (r->una == r->fresh || r->next != r->fresh || r->next != r->max ||
	    any_asked(r))
		return NULL;
	*psn = inc_psn_add(r->fresh, -1);
	request_ack(r, *psn, now);
	start_timing(r, *psn, now);
	return wqe_of(r, *psn);
}

/**
 * inc_requester_next() - pick the packet to send now
 * @r: requester
 * @now: time
 * @end: is the newest packet the last for now?
 * @psn: set to the packet's PSN
 * @ackreq: set if the packet needs AckReq
 * @kind: set to the kind of packet
 *
 * rxe acknowledges only packets with AckReq: where the caller wants it, where
 * the window closes, often enough in between, and every few milliseconds.
 *
 * After a timeout only the oldest packet is sent, until its acknowledgment
 * tells whether the others are lost, too: see inc_requester_timeout().
 *
 * Context: the QP's transmit lock is held.
 * Return: the packet, or NULL if there is none to send now.
 */
struct inc_wqe *inc_requester_next(struct inc_requester *r, u64 now,
				   enum inc_requester_end end, u32 *psn,
				   bool *ackreq, enum inc_requester_kind *kind)
{
	u32 every = ackreq_every(r);
	bool again, tail, closes, times;

	if (r->asking) {
		struct inc_wqe *w = ask_alone(r, now, psn);

		*ackreq = true;
		*kind = INC_REQ_SOLICIT;
		if (w)
			return w;
	}
	if (r->rnr || r->next == r->max ||
	    (r->probing && r->next != r->una) ||
	    inc_psn_diff(r->next, r->una) >= r->cwnd)
		return NULL;

	*psn = r->next;
	if (r->next == r->una) {
		r->sent_at = now;
		if (r->una == r->fresh)
			note_proved(r, now);
	}
	again = inc_psn_diff(r->fresh, r->next) > 0;
	*kind = again ? INC_REQ_RETRANSMIT : INC_REQ_FRESH;
	r->next = inc_psn_add(r->next, 1);
	if (!again)
		r->fresh = r->next;

	if (again)
		tail = r->next == r->fresh;
	else
		tail = r->next == r->max && must_ask(r, end, now);
	closes = inc_psn_diff(r->next, r->una) >= room(r);
	/* The first one after an answer is timed: none of this burst is before it. */
	times = !again && !r->path_timing && r->held;
	*ackreq = tail || closes || times || r->probing ||
		  ++r->since_ackreq >= every;
	if (*ackreq) {
		request_ack(r, *psn, now);
		if (!again)
			start_timing(r, *psn, now);
	}
	if (times)
		time_path(r, *psn, now);
	return wqe_of(r, *psn);
}

static void note_shortest(struct inc_requester *r, u32 rtt)
{
	if (!r->min_rtt || rtt < r->min_rtt)
		r->min_rtt = max_t(u32, rtt, 1);
}

/* RFC 6298, in integers. */
static void update_rtt(struct inc_requester *r, u32 rtt)
{
	u32 dev;

	note_shortest(r, rtt);
	if (!r->srtt) {
		r->srtt = max_t(u32, rtt, 1);
		r->rttvar = rtt / 2;
		return;
	}
	dev = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;
	r->rttvar = r->rttvar - r->rttvar / 4 + dev / 4;
	r->srtt = max_t(u32, r->srtt - r->srtt / 8 + rtt / 8, 1);
}

/*
 * Fit the window to the path: a window of packets was delivered in @rtt, so many more or
 * less, in proportion, are in the shortest one. If the window held nothing back, the path
 * may deliver more.
 */
static void fit_path(struct inc_requester *r, u32 rtt)
{
	u64 fits;

	rtt = max_t(u32, rtt, 1);
	note_shortest(r, rtt);
	if (r->measure) {
		if (!--r->measure)
			r->path = MIN_PATH;
		return;
	}
	if (!r->held || r->fixed)
		return;
	fits = (u64)r->min_rtt + r->min_rtt / 16 + PATH_DELAY;
	fits = div_u64(room(r) * fits, rtt) + PATH_SPARE;
	/* Nothing waited. Otherwise, not too much at once. */
	if (rtt - r->min_rtt <= PATH_DELAY / 4 + r->min_rtt / 32)
		fits = r->path * 2ULL;
	fits = clamp(fits, r->path * 3ULL / 4, r->path * 2ULL);
	r->path = max_t(u16, min_t(u64, fits, r->window), MIN_PATH);
}

/* A packet was lost, and with it all that followed. */
static void shrink_window(struct inc_requester *r)
{
	r->cwnd = max_t(u16, r->cwnd * 3 / 4, min_t(u16, MIN_CWND, r->window));
	r->grown = 0;
}

/*
 * Account for packets that arrived. The window grows if it holds packets back,
 * or has just held these back.
 */
static void grow_window(struct inc_requester *r, u32 packets)
{
	if (r->cwnd >= r->window || in_flight(r) < r->cwnd)
		return;
	r->grown += packets;
	if (r->grown >= r->cwnd) {
		r->grown -= r->cwnd;
		r->cwnd++;
	}
}

static void go_back(struct inc_requester *r)
{
	r->probing = false;
	r->next = r->una;
	r->asked = r->una;
	r->since_ackreq = 0;
	/* Karn: the acknowledgment of a retransmission measures nothing. */
	r->timing = false;
	r->path_timing = false;
}

/* Everything before @psn has arrived. */
static void note_progress(struct inc_requester *r, u32 psn, u64 now)
{
	bool alone;

	if (r->timing && inc_psn_diff(psn, r->timed_psn) > 0) {
		/* Without a queue, it would be shorter than it soon is again. */
		if (!r->measure)
			update_rtt(r, now - r->timed_at);
		r->timing = false;
		/*
		 * Not by any other progress (Karn): if the round trip has
		 * become longer than the timeout, all that is acknowledged has
		 * been retransmitted, and no round trip would ever be measured.
		 */
		r->backoff = 0;
	}
	if (r->path_timing && inc_psn_diff(psn, r->path_psn) > 0) {
		fit_path(r, now - r->path_at);
		r->path_timing = false;
	}
	/* Only the oldest packet is acknowledged: the rest is lost, too. */
	alone = psn == inc_psn_add(r->una, 1);
	grow_window(r, inc_psn_diff(psn, r->una));
	r->una = psn;
	if (r->probing) {
		r->probing = false;
		r->next = r->fresh;
		if (alone) {
			if (!r->refused)
				shrink_window(r);
			go_back(r);
		}
	} else if (inc_psn_diff(r->next, psn) < 0) {
		r->next = psn;
	}
	r->sent_at = now;
	note_proved(r, now);
	r->tries = 0;
	r->nak_seen = false;
	r->refused = false;
}

/**
 * inc_requester_oldest_len() - get the length of the oldest packet in flight
 * @r: requester
 *
 * Context: the QP's transmit lock is held.
 * Return: bytes of its payload; 0 without any.
 */
u32 inc_requester_oldest_len(struct inc_requester *r)
{
	return in_flight(r) ? wqe_of(r, r->una)->len : 0;
}

/**
 * inc_requester_known() - check whether a response is about a packet in flight
 * @r: requester
 * @psn: PSN that it names
 *
 * A NAK that ends the QP is only trusted if it is.
 *
 * Context: the QP's transmit lock is held.
 * Return: INC_REQ_OLD, INC_REQ_PROGRESS or INC_REQ_BAD.
 */
enum inc_requester_verdict inc_requester_known(const struct inc_requester *r,
					       u32 psn)
{
	if (inc_psn_diff(psn, r->fresh) >= 0)
		return INC_REQ_BAD;
	if (inc_psn_diff(psn, r->una) < 0)
		return INC_REQ_OLD;
	return INC_REQ_PROGRESS;
}

/**
 * inc_requester_ack() - process an acknowledgment
 * @r: requester
 * @psn: last PSN that it acknowledges
 * @now: time
 *
 * Context: the QP's transmit lock is held.
 * Return: INC_REQ_OLD, INC_REQ_PROGRESS or INC_REQ_BAD.
 * Spec: IBTA 1.x section 9.7.5.1.2, coalesced acknowledgments.
 */
enum inc_requester_verdict inc_requester_ack(struct inc_requester *r, u32 psn,
					     u64 now)
{
	enum inc_requester_verdict known = inc_requester_known(r, psn);

	if (known != INC_REQ_PROGRESS)
		return known;
	r->rnr = false;
	note_progress(r, inc_psn_add(psn, 1), now);
	return INC_REQ_PROGRESS;
}

/**
 * inc_requester_nak_seq() - process a NAK - PSN sequence error
 * @r: requester
 * @psn: PSN that the member expects
 * @now: time
 *
 * During the wait after an RNR NAK, packets after the refused one are out of
 * sequence to the member, but not lost: no reason to go back now.
 *
 * Context: the QP's transmit lock is held.
 * Return: INC_REQ_OLD, INC_REQ_BACK or INC_REQ_BAD.
 * Spec: IBTA 1.x section 9.7.5.1.2 and C9-114.
 */
enum inc_requester_verdict inc_requester_nak_seq(struct inc_requester *r,
						 u32 psn, u64 now)
{
	enum inc_requester_verdict known = inc_requester_known(r, psn);

	if (known != INC_REQ_PROGRESS)
		return known;
	if (r->rnr || (r->nak_seen && r->nak_psn == psn))
		return INC_REQ_OLD;

	if (psn != r->una)
		note_progress(r, psn, now);
	r->nak_seen = true;
	r->nak_psn = psn;
	/* A real loss: the round trip is not to blame. */
	r->backoff = 0;
	shrink_window(r);
	go_back(r);
	return INC_REQ_BACK;
}

/**
 * inc_requester_rnr_nak() - process an RNR NAK
 * @r: requester
 * @psn: PSN of the packet that the member refused
 * @timer: encoded time to wait
 * @now: time
 *
 * Nothing is sent before the wait is over, so another RNR NAK for the same PSN
 * is about the same packet. It does not extend the wait, or a member could put
 * off its death forever. One that takes that packet and refuses the next takes
 * from the window as a loss does: each time all that follows is sent again. A
 * parent is different: it may wait for a rank of another switch, though not for
 * ever.
 *
 * Context: the QP's transmit lock is held.
 * Return: INC_REQ_OLD, INC_REQ_WAIT or INC_REQ_BAD.
 * Spec: IBTA 1.x section 9.7.5.2.8.
 */
enum inc_requester_verdict inc_requester_rnr_nak(struct inc_requester *r,
						 u32 psn, u8 timer, u64 now)
{
	enum inc_requester_verdict known = inc_requester_known(r, psn);

	if (known != INC_REQ_PROGRESS)
		return known;
	if (r->patient && now - r->proved_at < MAX_REFUSED) {
		r->progress_at = now;
		r->tries = 0;
	}
	if (r->rnr && psn == r->una)
		return INC_REQ_OLD;
	if (psn != r->una)
		note_progress(r, psn, now);
	/* Packets after the last refused one were sent again for nothing. */
	if (!r->patient && inc_psn_diff(r->refused_end, psn) > 0)
		shrink_window(r);
	r->refused_end = r->fresh;
	go_back(r);
	r->rnr = true;
	r->resume = now + rnr_time[timer & 31];
	return INC_REQ_WAIT;
}

/**
 * inc_requester_rto() - compute the timeout from the measured round trips
 * @r: requester
 *
 * Context: the QP's transmit lock is held, unless a stale answer will do.
 * Return: timeout before backoff, microseconds.
 */
u64 inc_requester_rto(const struct inc_requester *r)
{
	u32 srtt = READ_ONCE(r->srtt);
	/* In a queue that does not change, there is no deviation, until it does. */
	u32 more = max(4 * READ_ONCE(r->rttvar), srtt / 4);

	return max_t(u64, srtt ? srtt + more : INITIAL_RTO, r->min_rto_us);
}

/**
 * inc_requester_deadline() - get the time to call inc_requester_timeout()
 * @r: requester
 *
 * Context: the QP's transmit lock is held.
 * Return: time, or 0 when nothing is in flight.
 */
u64 inc_requester_deadline(const struct inc_requester *r)
{
	u64 most = max_t(u64, r->quiet / QUIET_TRIES, 2 * r->srtt);

	if (r->rnr)
		return r->resume;
	if (r->una == r->fresh)
		return 0;
	/* So a loss is detected as soon as if every packet had AckReq. */
	if (!any_asked(r) && r->next == r->fresh)
		return r->sent_at + r->min_rto_us;
	/* Whatever the backoff: a link that is up again is noticed soon. */
	return r->sent_at + min_t(u64, inc_requester_rto(r) << r->backoff,
				  max_t(u64, most, r->min_rto_us));
}

/**
 * inc_requester_alive() - note a sign of life
 * @r: requester
 * @at: time of the sign; the dead time does not begin before it
 *
 * Nothing else changes: retransmissions are due as before.
 *
 * Context: the QP's transmit lock is held.
 */
void inc_requester_alive(struct inc_requester *r, u64 at)
{
	if (at > r->progress_at)
		r->progress_at = at;
}

/**
 * inc_requester_falls_silent() - check whether the peer's silence is news
 * @r: requester whose timer has expired
 * @now: time
 *
 * Context: the QP's transmit lock is held.
 * Return: true once for each time that it is silent.
 */
bool inc_requester_falls_silent(struct inc_requester *r, u64 now)
{
	bool was = r->silent;

	r->silent = now - r->progress_at >= r->quiet;
	return r->silent && !was;
}

/**
 * inc_requester_heard() - process the first packet from a peer
 * @r: requester
 * @now: time
 *
 * All that was sent before may have been lost: retransmit it at once.
 *
 * Context: the QP's transmit lock is held.
 */
void inc_requester_heard(struct inc_requester *r, u64 now)
{
	r->backoff = 0;
	note_proved(r, now);
	if (r->rnr || r->una == r->fresh)
		return;
	r->sent_at = now;
	go_back(r);
}

/*
 * If a timer runs late, the machine stalled or had no time: answers may still
 * be queued, and nothing was sent meanwhile. So that time does not count.
 */
static void excuse_delay(struct inc_requester *r, u64 deadline, u64 now)
{
	u64 late = now - deadline;

	if (late > LATE)
		r->progress_at = min(r->progress_at + late, now);
}

/**
 * inc_requester_timeout() - process expiry of the timer
 * @r: requester
 * @now: time
 *
 * A timeout may be a loss, or a busy member. So only the oldest packet is
 * retransmitted. If it was lost, the member acknowledges just that one, and the
 * rest follows. If not, the member acknowledges all that it has, and nothing
 * else is sent twice. Without this, members that share one busy CPU spend a
 * third of it on retransmissions without any loss.
 *
 * The same holds after an RNR NAK: the member may refuse that packet again, and
 * a NAK must not cost a whole window.
 *
 * Context: the QP's transmit lock is held.
 * Return: enum inc_requester_timer; after INC_REQ_TIMER_BACK, INC_REQ_TIMER_RESUME
 * and INC_REQ_TIMER_SOLICIT inc_requester_next() has packets.
 * Spec: IBTA 1.x section 9.7.6.1.3 (local ACK timeout) with a timeout that
 * follows the measured round trip, and a time instead of a number of retries.
 */
enum inc_requester_timer inc_requester_timeout(struct inc_requester *r, u64 now)
{
	u64 deadline = inc_requester_deadline(r);

	if (!deadline)
		return INC_REQ_TIMER_IDLE;
	if (now < deadline)
		return INC_REQ_TIMER_LATER;
	if (!r->rnr && !any_asked(r) && r->next == r->fresh) {
		r->asking = true;
		return INC_REQ_TIMER_SOLICIT;
	}
	excuse_delay(r, deadline, now);
	if (now - r->progress_at >= r->dead && r->tries >= MIN_TRIES)
		return INC_REQ_TIMER_DEAD;
	if (r->tries < MIN_TRIES)
		r->tries++;

	r->probing = true;
	if (r->rnr) {
		r->rnr = false;
		r->refused = true;
		return INC_REQ_TIMER_RESUME;
	}
	r->next = r->una;
	r->since_ackreq = 0;
	if (r->timed_psn == r->una)
		r->timing = false;
	/* One packet in flight, and that is retransmitted: it would measure nothing. */
	r->measure = 0;
	r->nak_seen = false;
	r->sent_at = now;
	if (r->backoff < MAX_BACKOFF)
		r->backoff++;
	return INC_REQ_TIMER_BACK;
}
