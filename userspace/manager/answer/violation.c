// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Callers that may not do what they tried, and connections that were cut: counted,
 * and reported as events. Somebody who tries often must not fill the events.
 */

#include "manager.h"

#define PAUSE_MS	1000

/**
 * struct pace - how often an event may be
 * @last_at: milliseconds; when it was last
 * @suppressed: how many there would have been since then
 */
struct pace {
	int64_t		last_at;
	unsigned int	suppressed;
};

static void report_violation(struct manager *m, struct pace *p,
			     const char *kind, const char *peer,
			     const char *why, const char *what)
{
	p->suppressed++;
	if (now_ms() - p->last_at < PAUSE_MS)
		return;
	p->last_at = now_ms();
	event_log(&m->events, kind, peer, "%s (%u %s since the last such event)",
		  why, p->suppressed, what);
	p->suppressed = 0;
}

/**
 * violation_call() - report a caller that was refused
 * @ctx: manager
 * @peer: its address
 * @why: what was wrong
 *
 * One event a second says how many there were since the last one.
 */
void violation_call(void *ctx, const char *peer, const char *why)
{
	static struct pace pace = { .last_at = -PAUSE_MS };

	report_violation(ctx, &pace, EVENT_REFUSED, peer, why, "refused");
}

/**
 * violation_cut() - report a connection that was cut
 * @ctx: manager
 * @peer: its address
 * @why: what was wrong
 *
 * As violation_call().
 */
void violation_cut(void *ctx, const char *peer, const char *why)
{
	static struct pace pace = { .last_at = -PAUSE_MS };

	report_violation(ctx, &pace, EVENT_CUT, peer, why, "cut");
}
