// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Callers that may not do what they tried: counted, and reported as events.
 * Somebody who tries often must not fill the events.
 */
#include <stdio.h>

#include "manager.h"

#define PAUSE_MS	1000

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
	static int64_t last = -PAUSE_MS;
	static unsigned int untold;
	struct manager *m = ctx;

	untold++;
	if (now_ms() - last < PAUSE_MS)
		return;
	last = now_ms();
	event_say(&m->events, EVENT_REFUSED, peer, "%s (%u refused since the last such event)",
		  why, untold);
	untold = 0;
}
