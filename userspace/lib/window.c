// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window, see window.h.
 */
#include "window.h"

#define SECOND		1000000U
#define GAIN		2
/*
 * A measurement that shows a lower rate, fewer losses or more of them counts for
 * one of so many. Of 256 messages LOSS_SLACK more than usual may be lost by
 * chance. Losses take a quarter of the window at most, since one that is made
 * good late may make many; it grows again by a LIMIT_SHAREth. What is
 * usual must follow more quickly than that when it becomes less, or a window
 * that is too large would become usual. All found by trying, with test_window.
 */
#define RATE_SHARE	8
#define FEWER_SHARE	4
#define MORE_SHARE	32
#define LOSS_SLACK	40
#define LOSS_CUT	64
#define LIMIT_SHARE	64

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/**
 * inc_window_init() - nothing is known of the path
 * @w: state
 * @first: the window to begin with
 * @min: the window at least
 * @max: the window at most, which also limits the others
 * @queue: so much time's results are under way at least, microseconds
 */
void inc_window_init(struct inc_window *w, uint32_t first, uint32_t min,
		     uint32_t max, uint32_t queue)
{
	*w = (struct inc_window) {
		.now = least(first, max), .min = least(min, max), .max = max,
		.limit = max, .queue = queue, .usual = 256,
	};
}

/**
 * inc_window_filled() - a message was sent, and no more may be
 * @w: state
 * @id: message, sent because results had just come
 * @now: time
 */
void inc_window_filled(struct inc_window *w, uint32_t id, uint64_t now)
{
	if (w->measures || w->min == w->max)
		return;
	w->measures = true;
	w->id = id;
	w->since = now;
	w->done_then = w->done;
	w->lost_then = w->lost;
}

/* Of @done messages some were lost: too many for this window? */
static void judge_losses(struct inc_window *w, uint32_t done)
{
	uint32_t lost = least(w->lost - w->lost_then, done);
	uint32_t share = (uint32_t)(256ULL * lost / done);

	if (w->settle) {
		w->settle--;
	} else if (share > w->usual + LOSS_SLACK) {
		/* As many as came through. */
		w->limit = w->now - w->now * least(share - w->usual, LOSS_CUT) / 256;
		w->settle = 1;
	} else if (w->limit < w->max) {
		w->limit += w->limit / LIMIT_SHARE + 1;
	}
	if (share < w->usual)
		w->usual -= (w->usual - share + FEWER_SHARE - 1) / FEWER_SHARE;
	else
		w->usual += (share - w->usual) / MORE_SHARE;
}

static void judge_rate(struct inc_window *w, uint32_t done, uint64_t time)
{
	uint64_t rate = (uint64_t)done * SECOND / (time ? time : 1);

	if (rate > UINT32_MAX)
		rate = UINT32_MAX;
	if (rate > w->rate)
		w->rate = (uint32_t)rate;
	else
		w->rate -= (w->rate - (uint32_t)rate) / RATE_SHARE;
}

static uint32_t clamp(uint64_t n, uint32_t min, uint32_t max)
{
	return n < min ? min : n > max ? max : (uint32_t)n;
}

/**
 * inc_window_done() - a message's result has come
 * @w: state
 * @id: message, or one sent later
 * @rtt: its round trip; 0: not known, it was sent more than once
 * @now: time, if inc_window_ends()
 *
 * Return: true if @w->now may have changed.
 */
bool inc_window_done(struct inc_window *w, uint32_t id, uint64_t rtt,
		     uint64_t now)
{
	uint64_t time;

	w->done++;
	if (rtt && rtt < UINT32_MAX && (!w->rtt || rtt < w->rtt))
		w->rtt = (uint32_t)rtt;
	if (!inc_window_ends(w, id))
		return false;
	w->measures = false;
	judge_rate(w, w->done - w->done_then, now - w->since);
	judge_losses(w, w->done - w->done_then);
	time = GAIN * (uint64_t)w->rtt;
	if (time < w->queue)
		time = w->queue;
	w->now = clamp(w->rate * time / SECOND, w->min,
		       clamp(w->limit, w->min, w->max));
	return true;
}
