/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a UC member does about loss: when to ask for which message, and how many
 * messages to have under way. Pure functions over the caller's clock
 * (microseconds) and message IDs, tested by test_rtx.c.
 *
 * A message is open from when it is sent until its result or an error comes. Its
 * time-out follows the measured round trip. When it expires the switch is
 * asked, not sent the data again, so a time-out that was too short costs a
 * short packet; the switch then says "again", "wait", or repeats the result.
 * What is lost in the middle is known sooner: requests by the switch, which
 * says "again" unasked, results by the mark that later results carry; and the
 * loss of what was sent again, or of a question, by the answers to what was sent
 * after it.
 */
#ifndef INC_LIB_RTX_H
#define INC_LIB_RTX_H

#include <stdbool.h>
#include <stdint.h>

#define INC_RTX_BURST	16	/* messages asked for at a time */

/**
 * struct inc_rtx_msg - a message
 * @sent: when it was sent or asked for last
 * @data_at: when it was sent last
 * @due: when it is to be asked for
 * @tries: times that it was asked for and nothing was heard
 * @backoff: doublings of its time-out
 * @open: its result has not come
 * @again: it was sent more than once, or asked for
 * @missed: the switch has sent its result
 * @waiting: the switch waits for other ranks
 */
struct inc_rtx_msg {
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
 * struct inc_rtx - state of a member
 * @ring: messages, by message ID & @mask
 * @mask: size of the ring - 1
 * @head: oldest open message; @next: none
 * @next: behind the newest message sent
 * @high: behind the newest message whose result came
 * @marked: all results before this message were sent, as last told
 * @next_due: no message is due before
 * @looked: when the messages were last gone through
 * @answered: when the newest message that was answered was sent
 * @srtt: smoothed round trip, 0: none measured
 * @rttvar: its mean deviation
 * @seed: of the jitter
 */
struct inc_rtx {
	struct inc_rtx_msg	*ring;
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
	uint32_t		seed;
};

void inc_rtx_init(struct inc_rtx *r, struct inc_rtx_msg *ring, uint32_t entries,
		  uint32_t first, uint32_t seed);
bool inc_rtx_may_send(const struct inc_rtx *r, uint32_t window);
void inc_rtx_sent(struct inc_rtx *r, uint64_t now);
bool inc_rtx_done(struct inc_rtx *r, uint32_t id, uint64_t now);
void inc_rtx_mark(struct inc_rtx *r, uint32_t mark, uint64_t now);
bool inc_rtx_again(struct inc_rtx *r, uint32_t id, uint64_t now);
void inc_rtx_wait(struct inc_rtx *r, uint32_t id, uint64_t now);
unsigned int inc_rtx_due(struct inc_rtx *r, uint64_t now,
			 uint32_t ids[INC_RTX_BURST], unsigned int *tries);

static inline bool inc_rtx_is_open(const struct inc_rtx *r, uint32_t id)
{
	return id - r->head < r->next - r->head && r->ring[id & r->mask].open;
}

#endif /* INC_LIB_RTX_H */
