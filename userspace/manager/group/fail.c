// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Faults of groups: any file may raise one here; only step.c acts on it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "group/group.h"
#include "rdma_inc_proto.h"

static const char *const names[] = {
	[CAUSE_LEFT]	= "a rank left",
	[CAUSE_CLIENT]	= "a rank was lost",
	[CAUSE_LINK]	= "a link failed",
	[CAUSE_SWITCH]	= "a switch was lost",
	[CAUSE_TREE]	= "a tree failed",
	[CAUSE_HAND]	= "by hand",
	[CAUSE_STOP]	= "the manager stops",
	[CAUSE_REFUSED]	= "refused",
};

/* Record why a group ends. */
void group_blame(struct group *g, enum group_cause cause, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX - 32];
	va_list ap;

	if (g->end.cause[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(g->end.cause, sizeof(g->end.cause), "%s: %s", names[cause], text);
}

/*
 * The first fault counts, unless a later one leaves the group no way to go on:
 * an operator's command must not be lost because a tree has failed.
 */
static void raise_fault(struct group *g, const struct group_fault *fault,
			const char *fmt, va_list ap)
{
	const unsigned int faults = (2U << GROUP_EV_FAILED) - 1;

	if (g->raised.events & ((2U << fault->event) - 1))
		return;
	g->raised.events &= ~faults;
	g->raised.fault = *fault;
	vsnprintf(g->raised.fault.text, sizeof(g->raised.fault.text), fmt, ap);
	group_raise(g, fault->event);
}

/*
 * Raise an event with a reason.
 * @g: group; its state does not change before group_settle()
 * @err: error that the ranks' streams end with, positive errno value
 */
void group_raise_fault(struct group *g, enum group_event event,
		       enum group_cause cause, int err, const char *fmt, ...)
{
	const struct group_fault fault = {
		.event = event, .cause = cause, .rank = -1,
		.status = INC_STATUS_TREE_GONE, .err = err,
	};
	va_list ap;

	va_start(ap, fmt);
	raise_fault(g, &fault, fmt, ap);
	va_end(ap);
}

/*
 * Raise the failure of a group's tree, for a cause in the fabric.
 * @g: group, which ends, or gets another tree
 * @rank: rank that caused it; -1: none
 * @status: enum inc_status that requests are answered with
 */
void group_fail(struct group *g, enum group_cause cause, int rank,
		unsigned int status, const char *fmt, ...)
{
	const struct group_fault fault = {
		.event = GROUP_EV_FAILED, .cause = cause, .rank = rank,
		.status = status, .err = ECONNRESET,
	};
	va_list ap;

	g->undetermined.tree_at = 0;
	va_start(ap, fmt);
	raise_fault(g, &fault, fmt, ap);
	va_end(ap);
}

/* Log the cause of a group's failure. */
void group_log_fault(struct group *g)
{
	group_log(g, EVENT_GROUP_FAILED, "%s: %s", names[g->raised.fault.cause],
		  g->raised.fault.text);
}
