/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Loss recovery of a UC member: when to query which message, and how many
 * messages to have in flight. Pure functions over the caller's clock
 * (microseconds) and message IDs, tested by test_uc_rtx.c.
 *
 * A message is open from when it is sent until its result or an error arrives.
 * Its timeout follows the measured round trip. When it expires, the member
 * queries the switch instead of retransmitting the data, so a premature timeout
 * costs only a short packet. The switch answers RESEND or PENDING, or
 * retransmits the result.
 *
 * Losses in the middle of the stream are detected sooner. The switch detects
 * lost requests and sends RESEND on its own. The low mark in later results
 * reveals lost results. Answers to later messages reveal lost retransmissions
 * and lost queries. At the end of a stream there are no later messages: after a
 * pause, all messages not queried yet are queried.
 */
#ifndef INC_LIB_UC_RTX_H
#define INC_LIB_UC_RTX_H

#include <stdbool.h>
#include <stdint.h>

#define INC_UC_RTX_BURST	16	/* messages queried at a time */

/**
 * struct inc_uc_rtx_msg - a message
 * @sent: when it was last sent or queried
 * @data_at: when it was last sent
 * @due: when to query it
 * @tries: unanswered queries, those sent at once counted as one
 * @backoff: doublings of its timeout
 * @open: its result has not arrived
 * @again: it was retransmitted or queried
 * @missed: the switch has sent its result
 * @waiting: the switch waits for other ranks
 */
struct inc_uc_rtx_msg {
	uint64_t	sent;
	uint64_t	data_at;
	uint64_t	due;
	uint16_t	tries;
	uint8_t		backoff;
	bool		open;
	bool		again;
	bool		missed;
	bool		waiting;
};

/**
 * struct inc_uc_rtx - state of a member
 * @ring: messages, by message ID & @mask
 * @mask: size of the ring - 1
 * @head: oldest open message; @next: none
 * @next: one past the newest message sent
 * @high: one past the newest message whose result has arrived
 * @marked: latest mark: the switch has sent all results before this message
 * @next_due: no message is due before this time
 * @looked: time of the last scan of the messages
 * @answered: when the newest answered message was sent
 * @srtt: smoothed round trip, 0: none measured
 * @rttvar: its mean deviation
 * @min_rtt: shortest round trip ever measured, mostly that of an idle path
 * @probing: the stream has ended, open messages are queried in short intervals
 * @probe_at: when to begin @probing, unless the stream goes on
 * @unmeasured: results since the last one whose round trip was measured
 * @seed: state of the jitter
 */
struct inc_uc_rtx {
	struct inc_uc_rtx_msg	*ring;
	uint32_t		mask;
	uint32_t		head;
	uint32_t		next;
	uint32_t		high;
	uint32_t		marked;
	uint64_t		next_due;
	uint64_t		looked;
	uint64_t		answered;
	uint32_t		srtt;
	uint32_t		rttvar;
	uint32_t		min_rtt;
	bool			probing;
	uint64_t		probe_at;
	uint32_t		unmeasured;
	uint32_t		seed;
};

void inc_uc_rtx_init(struct inc_uc_rtx *r, struct inc_uc_rtx_msg *ring,
		     uint32_t entries, uint32_t first, uint32_t seed);
bool inc_uc_rtx_may_send(const struct inc_uc_rtx *r, uint32_t window);
void inc_uc_rtx_sent(struct inc_uc_rtx *r, uint64_t now);
bool inc_uc_rtx_done(struct inc_uc_rtx *r, uint32_t id, uint64_t now);
void inc_uc_rtx_mark(struct inc_uc_rtx *r, uint32_t mark, uint64_t now);
bool inc_uc_rtx_resend(struct inc_uc_rtx *r, uint32_t id, uint64_t now);
void inc_uc_rtx_pending(struct inc_uc_rtx *r, uint32_t id, uint64_t now);
unsigned int inc_uc_rtx_due(struct inc_uc_rtx *r, uint64_t now,
			    uint32_t ids[INC_UC_RTX_BURST],
			    unsigned int *tries);
unsigned int inc_uc_rtx_copies(const struct inc_uc_rtx *r, uint32_t id);

static inline bool inc_uc_rtx_is_open(const struct inc_uc_rtx *r, uint32_t id)
{
	return id - r->head < r->next - r->head && r->ring[id & r->mask].open;
}

#endif /* INC_LIB_UC_RTX_H */
