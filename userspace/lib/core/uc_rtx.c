// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Retransmission over UC, see uc_rtx.h.
 */
#include <string.h>

#include "uc_rtx.h"

#define RTO_FIRST	100000		/* before a round trip was measured */
#define RTO_MIN		10000
#define RTO_MIN_AGAIN	4000
#define PROBE_MIN	2000
#define RTO_MAX		200000
/*
 * A result that waits for other ranks to recover from a loss looks like a long
 * round trip. Without a limit, each such wait would prolong the next ones.
 */
#define RTT_MAX		100000
#define BACKOFF_MAX	7
/* After this many unanswered queries each is sent twice, then four times. */
#define TWICE_AFTER	1
#define FOUR_AFTER	4
/* Maximum delay of a result after a newer one: a share of the round trip. */
#define LATE_SHARE	8
#define LATE_MIN	200
/* After this many unmeasured results in a row, the timeout may be too short. */
#define UNMEASURED_MAX	16
/* A second RESEND within this time refers to a message already resent. */
#define TOLD_TWICE	500

/*
 * Initialize the state of a member.
 * @entries: maximum number of open messages, a power of two
 */
void inc_uc_rtx_init(struct inc_uc_rtx *r, struct inc_uc_rtx_msg *ring,
		     uint32_t entries, uint32_t first, uint32_t seed)
{
	memset(ring, 0, entries * sizeof(*ring));
	*r = (struct inc_uc_rtx) {
		.ring = ring, .mask = entries - 1,
		.head = first, .next = first, .high = first, .marked = first,
		.next_due = UINT64_MAX, .seed = seed | 1,
	};
}

/* Jitter, at most an eighth of @time, to keep ranks from querying in step. */
static uint32_t draw_jitter(struct inc_uc_rtx *r, uint32_t time)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 17;
	r->seed ^= r->seed << 5;
	return r->seed % (time / 8 + 1);
}

/*
 * The switch answers a query at once, so little more than a round trip is
 * enough, the shortest one if nothing else is under way. A result may have to
 * wait for other ranks.
 */
static uint32_t compute_rto(struct inc_uc_rtx *r, bool again,
			    unsigned int backoff)
{
	uint64_t time = RTO_FIRST, min = again ? RTO_MIN_AGAIN : RTO_MIN;

	if (r->srtt) {
		time = (again ? r->srtt / 4 : r->srtt) + (uint64_t)r->srtt +
		       4 * (uint64_t)r->rttvar;
		if (again && r->probing) {
			time = 2 * (uint64_t)r->min_rtt;
			min = PROBE_MIN;
		}
		if (time < min)
			time = min;
	}
	time <<= backoff;
	/* On a longer path queries are sent too early, which costs little. */
	if (time > RTO_MAX)
		time = RTO_MAX;
	return (uint32_t)time + draw_jitter(r, (uint32_t)time);
}

static void set_due(struct inc_uc_rtx *r, struct inc_uc_rtx_msg *m,
		    uint64_t due)
{
	m->due = due;
	if (due < r->next_due)
		r->next_due = due;
}

/*
 * Put off the tail probe, as the stream goes on: a message was sent for the
 * first time, or the newest or one sent once was answered. Other results come
 * at its end, too.
 */
static void put_off_probing(struct inc_uc_rtx *r, uint64_t now)
{
	uint32_t time = 2 * r->srtt + 4 * r->rttvar;

	if (r->probing || !r->srtt)
		return;
	if (time > RTO_MIN)
		time = RTO_MIN;
	if (time < PROBE_MIN)
		time = PROBE_MIN;
	if (time < 2 * r->min_rtt)
		time = 2 * r->min_rtt;
	r->probe_at = now + time + draw_jitter(r, time);
	if (r->probe_at < r->next_due)
		r->next_due = r->probe_at;
}

/*
 * Check whether one more message may be sent. A missing result does not hold
 * up later messages: messages in flight are counted from the newest result.
 * The ring, as large as the switch's slots, is the limit. Returns true if so.
 */
bool inc_uc_rtx_may_send(const struct inc_uc_rtx *r, uint32_t window)
{
	return r->next - r->head <= r->mask && r->next - r->high < window;
}

/* Record that the next message was sent. */
void inc_uc_rtx_sent(struct inc_uc_rtx *r, uint64_t now)
{
	struct inc_uc_rtx_msg *m = &r->ring[r->next++ & r->mask];

	*m = (struct inc_uc_rtx_msg) {
		.sent = now, .data_at = now, .open = true,
	};
	r->probing = false;
	set_due(r, m, now + compute_rto(r, false, 0));
	put_off_probing(r, now);
}

static void note_min_rtt(struct inc_uc_rtx *r, uint64_t rtt)
{
	if (rtt > RTT_MAX)
		rtt = RTT_MAX;
	if (!r->srtt || rtt < r->min_rtt)
		r->min_rtt = rtt ? (uint32_t)rtt : 1;
}

/* RFC 6298, 2; retransmitted messages are not measured (Karn). */
static void measure_rtt(struct inc_uc_rtx *r, uint64_t time)
{
	/* A late rank says nothing about the network. */
	uint32_t max = r->srtt ? 4 * r->srtt : RTO_MIN;
	uint32_t rtt, diff;

	if (max > RTT_MAX)
		max = RTT_MAX;
	rtt = time > max ? max : time ? (uint32_t)time : 1;
	r->unmeasured = 0;
	note_min_rtt(r, time);
	if (!r->srtt) {
		r->srtt = rtt;
		r->rttvar = rtt / 2;
		return;
	}
	diff = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;
	r->rttvar = (3 * r->rttvar + diff) / 4;
	r->srtt = (7 * r->srtt + rtt) / 8;
	if (!r->srtt)
		r->srtt = 1;
}

/*
 * Record a message's result or error. Returns false if the message was not
 * open.
 */
bool inc_uc_rtx_done(struct inc_uc_rtx *r, uint32_t id, uint64_t now)
{
	struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];
	bool newest = (int32_t)(id - r->high) >= 0;

	if (!inc_uc_rtx_is_open(r, id))
		return false;
	m->open = false;
	if (!m->again) {
		measure_rtt(r, now - m->sent);
		if (m->sent > r->answered)
			r->answered = m->sent;
	} else if (++r->unmeasured > UNMEASURED_MAX && m->waiting) {
		/*
		 * The switch had not sent the result when it answered the last
		 * query, so this is no answer to one. Mostly it has waited for
		 * other ranks, but where round trips get longer than the
		 * timeout, no others would be measured.
		 */
		measure_rtt(r, now - m->data_at);
	}
	if (newest)
		r->high = id + 1;
	if (newest || !m->again)
		put_off_probing(r, now);
	while (r->head != r->next && !r->ring[r->head & r->mask].open)
		r->head++;
	if (r->head == r->next)
		r->next_due = UINT64_MAX;
	return true;
}

static uint32_t late_time(const struct inc_uc_rtx *r)
{
	return r->srtt / LATE_SHARE + LATE_MIN;
}

/*
 * Record the switch's low-water mark. Missing results before @mark were lost,
 * unless they are merely late.
 * @mark: the switch has sent all results before this message
 */
void inc_uc_rtx_mark(struct inc_uc_rtx *r, uint32_t mark, uint64_t now)
{
	uint64_t due = now + late_time(r);
	uint32_t id = r->marked;

	if ((int32_t)(id - r->head) < 0)
		id = r->head;
	if ((int32_t)(mark - r->next) > 0)
		mark = r->next;
	for (; (int32_t)(mark - id) > 0; id++) {
		struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];

		if (!m->open)
			continue;
		m->missed = true;
		if (m->due > due)
			set_due(r, m, due);
	}
	if ((int32_t)(mark - r->marked) > 0)
		r->marked = mark;
}

/*
 * Handle RESEND: the switch lacks a message. Returns true if the caller must
 * retransmit it now; false if it is not open or has just been retransmitted.
 */
bool inc_uc_rtx_resend(struct inc_uc_rtx *r, uint32_t id, uint64_t now)
{
	struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];

	if (!inc_uc_rtx_is_open(r, id))
		return false;
	m->tries = 0;
	if (now - m->data_at < TOLD_TWICE)
		return false;
	m->sent = now;
	m->data_at = now;
	m->again = true;
	m->waiting = false;
	m->backoff = 0;
	set_due(r, m, now + compute_rto(r, true, 0));
	return true;
}

/* Handle PENDING: the switch waits for other ranks. */
void inc_uc_rtx_pending(struct inc_uc_rtx *r, uint32_t id, uint64_t now)
{
	struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];

	if (!inc_uc_rtx_is_open(r, id))
		return;
	/* The answer to a single query, which took just a round trip. */
	if (m->tries == 1 && m->backoff == 1)
		note_min_rtt(r, now - m->sent);
	m->tries = 0;
	m->waiting = true;
	set_due(r, m, now + compute_rto(r, true, m->backoff));
}

/* Is it time to query a message? If not, @m->due says when it will be. */
static bool is_due(struct inc_uc_rtx *r, struct inc_uc_rtx_msg *m, uint64_t now)
{
	/* Something sent later has been answered. */
	if (m->again && !m->waiting && m->sent + late_time(r) < r->answered)
		return true;
	/* The measured round trip may have grown since. */
	if (!m->again && !m->missed && !r->probing && m->due <= now)
		m->due = m->sent + compute_rto(r, false, 0);
	return m->due <= now;
}

static void note_queried(struct inc_uc_rtx *r, struct inc_uc_rtx_msg *m,
		       uint64_t now)
{
	set_due(r, m, now + compute_rto(r, true, m->backoff));
	m->sent = now;
	m->tries++;
	m->again = true;
	m->waiting = false;
	if (m->backoff < BACKOFF_MAX)
		m->backoff++;
}

/*
 * Begin tail loss probes (RFC 8985, 7): no later message's answer reveals losses
 * at the end of a stream. The path is idle then: from now on an answer takes the
 * shortest round trip, without queueing.
 *
 * Messages already queried keep their schedule: a stream that stops again and
 * again must not use up their tries.
 */
static void begin_probing(struct inc_uc_rtx *r, uint64_t now)
{
	uint32_t id;

	r->probing = true;
	for (id = r->head; id != r->next; id++) {
		struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];
		uint64_t due = now;

		if (m->again)
			due = m->sent + compute_rto(r, true, m->backoff);
		if (m->due > due)
			m->due = due;
	}
}

/*
 * Find the messages to query now. Other due messages are deferred.
 * @r->next_due says when to call again. Returns the number of messages.
 * @ids: filled in with the oldest INC_UC_RTX_BURST due messages
 * @tries: set to the maximum number of unanswered queries of one of these
 */
unsigned int inc_uc_rtx_due(struct inc_uc_rtx *r, uint64_t now,
			    uint32_t ids[INC_UC_RTX_BURST], unsigned int *tries)
{
	uint64_t look = r->looked + late_time(r) / 2;
	unsigned int n = 0;
	uint32_t id;

	*tries = 0;
	if (now < r->next_due && (r->head == r->high || now < look))
		return 0;
	if (!r->probing && r->srtt && r->probe_at <= now)
		begin_probing(r, now);
	r->next_due = r->probing || !r->srtt ? UINT64_MAX : r->probe_at;
	r->looked = now;
	for (id = r->head; id != r->next; id++) {
		struct inc_uc_rtx_msg *m = &r->ring[id & r->mask];

		if (!m->open)
			continue;
		if (!is_due(r, m, now)) {
			set_due(r, m, m->due);
		} else if (n == INC_UC_RTX_BURST) {
			set_due(r, m, now + compute_rto(r, true, m->backoff));
		} else {
			ids[n++] = id;
			if (m->tries > *tries)
				*tries = m->tries;
			note_queried(r, m, now);
		}
	}
	return n;
}

/*
 * Compute how often to send a query at once. Bursts of loss often last for a
 * number of packets, however long those take. A single query per timeout would
 * spend all of its tries within one burst; the return path has bursts, too.
 * (RFC 9002, section 6.2.4, sends two probes.) Returns the number of packets.
 */
unsigned int inc_uc_rtx_copies(const struct inc_uc_rtx *r, uint32_t id)
{
	unsigned int vain = r->ring[id & r->mask].tries - 1;

	return vain >= FOUR_AFTER ? 4 : vain >= TWICE_AFTER ? 2 : 1;
}
