// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Callers that tried a forbidden call, and connections that were cut: counted,
 * and reported as events, but not so often that they fill the list of events.
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
 * Report a caller that was refused. At most one event a second, with the number
 * of refusals since the last one.
 */
void violation_call(void *ctx, const char *peer, const char *why)
{
	static struct pace pace;

	report_violation(ctx, &pace, EVENT_REFUSED, peer, why, "refused");
}

/* Report a connection that was cut. Limited like violation_call(). */
void violation_cut(void *ctx, const char *peer, const char *why)
{
	static struct pace pace;

	report_violation(ctx, &pace, EVENT_CUT, peer, why, "cut");
}
