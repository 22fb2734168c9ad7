// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window, see bdp.h.
 */
#include <sys/param.h>

#include "bdp.h"

#define SECOND		1000000U
#define GAIN		2
/*
 * A measurement that shows a lower rate, fewer losses or more losses has the
 * weight 1/RATE_SHARE, 1/FEWER_SHARE or 1/MORE_SHARE. LOSS_SLACK more losses
 * than usual in 256 messages may be chance. Losses cut the window by at most a
 * quarter, as one loss that is recovered late may cause many; the window grows
 * back by 1/LIMIT_SHARE at a time. @usual must fall faster than that, or the
 * losses of a window that is too large would become usual. All values were
 * found by experiments with test_bdp.
 */
#define RATE_SHARE	8
#define FEWER_SHARE	4
#define MORE_SHARE	32
#define LOSS_SLACK	40
#define LOSS_CUT	64
#define LIMIT_SHARE	64

/*
 * Initialize a window for an unknown path.
 * @max: maximum window, which also limits the others
 * @queue: the results of this much time are always in flight, microseconds
 */
void inc_bdp_init(struct inc_bdp *w, uint32_t first, uint32_t min,
		  uint32_t max, uint32_t queue)
{
	*w = (struct inc_bdp) {
		.now = MIN(first, max), .min = MIN(min, max),
		.max = max,
		.limit = max, .queue = queue, .usual = 256,
	};
}

/*
 * Record that a message has filled the window.
 * @id: message, sent because results had just arrived
 */
void inc_bdp_filled(struct inc_bdp *w, uint32_t id, uint64_t now)
{
	if (w->measures || w->min == w->max)
		return;
	w->measures = true;
	w->id = id;
	w->since = now;
	w->done_then = w->done;
	w->lost_then = w->lost;
}

/* Adapt the limit to the losses among the last @done messages. */
static void judge_losses(struct inc_bdp *w, uint32_t done)
{
	uint32_t lost = MIN(w->lost - w->lost_then, done);
	uint32_t share = (uint32_t)(256ULL * lost / done);

	if (w->settle) {
		w->settle--;
	} else if (share > w->usual + LOSS_SLACK) {
		/* Limit the window to the messages that got through. */
		w->limit = w->now -
			   w->now * MIN(share - w->usual, LOSS_CUT) / 256;
		w->settle = 1;
	} else if (w->limit < w->max) {
		w->limit += w->limit / LIMIT_SHARE + 1;
	}
	if (share < w->usual)
		w->usual -= (w->usual - share + FEWER_SHARE - 1) / FEWER_SHARE;
	else
		w->usual += (share - w->usual) / MORE_SHARE;
}

static void judge_rate(struct inc_bdp *w, uint32_t done, uint64_t time)
{
	uint64_t rate = (uint64_t)done * SECOND / (time ? time : 1);

	if (rate > UINT32_MAX)
		rate = UINT32_MAX;
	if (rate > w->rate)
		w->rate = (uint32_t)rate;
	else
		w->rate -= (w->rate - (uint32_t)rate) / RATE_SHARE;
}

static uint32_t clamp_u32(uint64_t n, uint32_t min, uint32_t max)
{
	return n < min ? min : n > max ? max : (uint32_t)n;
}

/*
 * Record a message's result. Returns true if @w->now may have changed.
 * @rtt: its round trip; 0: unknown, for example after a retransmission
 */
bool inc_bdp_done(struct inc_bdp *w, uint32_t id, uint64_t rtt,
		  uint64_t now)
{
	uint64_t time;

	w->done++;
	if (rtt && rtt < UINT32_MAX && (!w->rtt || rtt < w->rtt))
		w->rtt = (uint32_t)rtt;
	if (!inc_bdp_ends(w, id))
		return false;
	w->measures = false;
	judge_rate(w, w->done - w->done_then, now - w->since);
	judge_losses(w, w->done - w->done_then);
	time = GAIN * (uint64_t)w->rtt;
	if (time < w->queue)
		time = w->queue;
	w->now = clamp_u32(w->rate * time / SECOND, w->min,
			   clamp_u32(w->limit, w->min, w->max));
	return true;
}
