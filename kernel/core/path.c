// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a path. A round trip in which n packets were delivered gives the
 * path's rate. The window is what that rate delivers in the shortest round trip and a
 * time that packets may be queued, and SPARE packets: by these, flows that share a full
 * port come to equal windows, since all else is in proportion to what each has.
 *
 * The acknowledgments of some peers wait behind the peer's own packets, so a long
 * round trip alone is no reason to send less: the window follows what arrives.
 *
 * The shortest round trip may be too long: a flow that begins while others fill the
 * port's queue has never seen it empty. It may be too short: the path has changed. So
 * after a period without a round trip near it, it is measured anew, with one packet in
 * flight. Periods are those of the clock: all flows of this switch measure at the same
 * time, when none of them fills the queue.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/path.h"

/*
 * Minimum time that packets may be queued, microseconds. Less than that would be the
 * scheduling latency of a busy host.
 */
#define QUEUE		5000U
/*
 * On a longer path it is the shortest round trip, or this at most. Bursts of a window
 * would otherwise pass for a queue, and the window would not grow.
 */
#define MAX_QUEUE	10000U
#define SPARE		4
/*
 * No path is taken for longer. While queues are, flows that begin take them for the
 * path, and they must be short enough to be measured within a part of a period.
 */
#define LONGEST		100000U
/* Packets in flight while the shortest round trip is measured anew. */
#define DRAINED		1
/*
 * Round trips for that at least: in the first ones, packets of others are still in the
 * queue. Then, until they do not get shorter any more.
 */
#define DRAINS		3
/*
 * A period has 8 parts of 2^18 microseconds. In the first one others may measure anew:
 * a short round trip then does not say that the queue is short.
 */
#define PARTS		8
#define PART_SHIFT	18
/* If that has confirmed what was known, it is done in one of so many periods. */
#define CONFIRMED	4
/* A round trip with a full queue is QUEUE longer than the shortest, or more. */
#define NEAR		(QUEUE / 2)
/* The weight of a rate that was measured with a queue is one in so many. */
#define RATE_SHARE	2

/**
 * inc_path_init() - initialize a path that has not been measured
 * @p: path
 */
void inc_path_init(struct inc_path *p)
{
	memset(p, 0, sizeof(*p));
	p->window = INC_PATH_FIRST;
}

static void begin_period(struct inc_path *p, u32 period)
{
	if (p->least > p->min_rtt + NEAR &&
	    !(p->confirmed && period % CONFIRMED))
		p->drains = DRAINS + 1;
	p->period = period;
	p->least = 0;
}

/* Returns whether the queue may still be getting shorter. */
static bool drain(struct inc_path *p, u32 rtt)
{
	bool shorter = rtt < p->last - p->last / 8;

	p->last = rtt;
	if (p->drains > 1)
		p->drains--;
	else if (!shorter)
		p->drains = 0;
	return p->drains;
}

static void note_rtt(struct inc_path *p, u32 rtt, u64 now)
{
	u32 part = now >> PART_SHIFT;

	if (!p->min_rtt || rtt < p->min_rtt)
		p->min_rtt = rtt;
	if (part / PARTS != p->period)
		begin_period(p, part / PARTS);
	if (!p->drains && part % PARTS == 0)
		return;
	p->least = p->least ? min(p->least, rtt) : rtt;
	if (p->drains && !drain(p, rtt)) {
		p->confirmed = p->least <= p->min_rtt + NEAR;
		p->min_rtt = p->least;
		p->least = 0;
	}
}

/*
 * Without a queue, a low rate only says that there was little to send. With one, it
 * is the path's, shared with others.
 */
static void note_rate(struct inc_path *p, u32 rate, bool queued)
{
	if (!queued)
		p->rate = max(p->rate, rate);
	else if (!p->rate)
		p->rate = rate;
	else
		p->rate = p->rate - p->rate / RATE_SHARE + rate / RATE_SHARE;
}

/**
 * inc_path_measured() - take a measured round trip
 * @p: path
 * @packets: packets delivered in it, 1 ... 2 * INC_PATH_MAX
 * @rtt: round trip, microseconds
 * @now: time, microseconds
 */
void inc_path_measured(struct inc_path *p, u32 packets, u32 rtt, u64 now)
{
	u32 shortest, time;

	rtt = max(rtt, 1U);
	note_rtt(p, rtt, now);
	if (p->drains) {
		p->window = DRAINED;
		return;
	}
	shortest = min(p->min_rtt, LONGEST);
	time = shortest + clamp(shortest, QUEUE, MAX_QUEUE);
	note_rate(p, (packets << 16) / rtt, rtt > time);
	p->window = min_t(u64, (((u64)p->rate * time + 0x8000) >> 16) + SPARE,
			  INC_PATH_MAX);
}
