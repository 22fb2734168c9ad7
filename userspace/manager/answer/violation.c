// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Callers that may not do what they tried, and connections that were cut: counted,
 * and reported as events. Somebody who tries often must not fill the events.
 */

#include "conf/pace.h"
#include "manager.h"

static void report_violation(struct manager *m, struct pace *p,
			     const char *kind, const char *peer,
			     const char *why, const char *what)
{
	unsigned int n = pace_take(p);

	if (n)
		event_log(&m->events, kind, peer,
			  "%s (%u %s since the last such event)", why, n, what);
}

/*
 * Report a caller that was refused. One event a second says how many there
 * were since the last one.
 */
void violation_call(void *ctx, const char *peer, const char *why)
{
	static struct pace pace;

	report_violation(ctx, &pace, EVENT_REFUSED, peer, why, "refused");
}

/* Report a connection that was cut. As violation_call(). */
void violation_cut(void *ctx, const char *peer, const char *why)
{
	static struct pace pace;

	report_violation(ctx, &pace, EVENT_CUT, peer, why, "cut");
}
