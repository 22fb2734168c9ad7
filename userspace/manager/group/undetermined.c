// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Failures whose cause only another switch can name. The switch that has lost a
 * rank, or got its wrong request, knows which rank; other switches blame their
 * parent, or a child with many ranks; and a rank knows only that its tree does
 * not work. Reports arrive in any order. So an undetermined cause counts only
 * if no better one has arrived after a while.
 */
#include <stdarg.h>
#include <stdio.h>

#include "group/group.h"

#define WAIT_MS		200

/*
 * Fail a group soon, unless the cause becomes known.
 * @status: enum inc_status that requests are answered with
 */
void group_undetermined_tree(struct group *g, unsigned int status,
			     const char *fmt, ...)
{
	struct group_undetermined *v = &g->undetermined;
	va_list ap;

	if (v->tree_at || g->state >= GROUP_ENDING ||
	    g->state == GROUP_REJOINING)
		return;
	va_start(ap, fmt);
	vsnprintf(v->tree, sizeof(v->tree), fmt, ap);
	va_end(ap);
	v->tree_status = status;
	v->tree_at = g->manager->loop.now + WAIT_MS;
	group_touch(g);
}

/*
 * Report soon that a message has failed, unless the cause becomes known.
 * @msg: message as far as known; the first report is kept
 */
void group_undetermined_message(struct group *g, const struct inc_rdv_msg *msg)
{
	if (g->undetermined.msg_at)
		return;
	g->undetermined.msg = *msg;
	g->undetermined.msg_at = g->manager->loop.now + WAIT_MS;
	group_touch(g);
}

/*
 * Tell all ranks why a message has failed.
 * @msg: the cause; an undetermined one of the same message is dropped
 */
void group_log_wrong(struct group *g, const struct inc_rdv_msg *msg)
{
	if (g->undetermined.msg.msg_id == msg->msg_id)
		g->undetermined.msg_at = 0;
	group_log(g, EVENT_MESSAGE_FAILED, "%s", msg->text);
	group_tell_all(g, msg);
}

/*
 * Get the time when group_undetermined_due() must be called. Returns
 * milliseconds; INT64_MAX: never.
 */
int64_t group_undetermined_at(const struct group *g)
{
	const struct group_undetermined *v = &g->undetermined;
	int64_t at = INT64_MAX;

	if (g->state >= GROUP_ENDING)
		return at;
	if (v->tree_at)
		at = v->tree_at;
	if (v->msg_at && v->msg_at < at)
		at = v->msg_at;
	return at;
}

/* Report failures whose cause has not become known in time. */
void group_undetermined_due(struct group *g)
{
	struct group_undetermined *v = &g->undetermined;
	int64_t now = g->manager->loop.now;

	if (v->msg_at && v->msg_at <= now)
		group_log_wrong(g, &v->msg);
	if (v->tree_at && v->tree_at <= now)
		group_fail(g, CAUSE_TREE, -1, v->tree_status, "%s", v->tree);
}
