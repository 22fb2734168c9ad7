// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What ends a group, and who is told.
 */
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
	[CAUSE_PREEMPTED] = "preempted",
};

/**
 * group_blame() - record why a group ends
 * @g: group; what was recorded first counts
 * @cause: kind of cause
 * @fmt: more
 */
void group_blame(struct group *g, enum group_cause cause, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX - 32];
	va_list ap;

	if (g->cause[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(g->cause, sizeof(g->cause), "%s: %s", names[cause], text);
}

/**
 * group_fail() - end a group, or make another tree, because of the fabric
 * @g: group; may be freed
 * @cause: kind of cause
 * @rank: rank that caused it; -1: none
 * @status: enum inc_status that requests are answered with
 * @fmt: reason, for the ranks
 */
void group_fail(struct group *g, enum group_cause cause, int rank,
		unsigned int status, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX - 128];
	va_list ap;

	g->vague.tree_at = 0;
	group_touch(g);
	/* Who ends a group in order also deletes its trees. */
	if (g->ending || g->over)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (g->state == GROUP_REJOINING)
		return;
	group_say(g, EVENT_GROUP_FAILED, "%s: %s", names[cause], text);
	g->is_cut = status == INC_STATUS_PEER_DEAD || cause == CAUSE_SWITCH;
	if (g->state >= GROUP_JOINED ? group_rebuild(g, text) :
				       group_start_over(g, text))
		return;
	group_blame(g, cause, "%s", text);
	if (g->state < GROUP_JOINED) {
		group_refuse(g, ECONNRESET, "%s", text);
		return;
	}
	group_tell_failed(g, rank, status, "%s", text);
	group_end(g);
}
