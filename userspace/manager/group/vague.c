// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Failures whose cause only another switch can name. The switch that has lost a
 * rank, or got its wrong request, knows which one that is; to the others, its
 * parent did it, or a child with many ranks; and a rank knows only that its tree
 * does not work. Who is heard first is chance. So the others' word counts only
 * if nobody has said more after a while.
 */
#include <stdarg.h>
#include <stdio.h>

#include "group/group.h"

#define WAIT_MS		200

/**
 * group_vague_tree() - fail soon, unless somebody knows the cause by then
 * @g: group
 * @status: enum inc_status that requests are answered with
 * @fmt: what is known, for the ranks
 */
void group_vague_tree(struct group *g, unsigned int status, const char *fmt,
		      ...)
{
	struct group_vague *v = &g->vague;
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

/**
 * group_vague_message() - tell soon that a message has failed
 * @g: group
 * @msg: what is known; the first report is kept
 */
void group_vague_message(struct group *g, const struct inc_rdv_msg *msg)
{
	if (g->vague.msg_at)
		return;
	g->vague.msg = *msg;
	g->vague.msg_at = g->manager->loop.now + WAIT_MS;
	group_touch(g);
}

/**
 * group_say_wrong() - tell all ranks why a message has failed
 * @g: group
 * @msg: the cause; a vague one of the same message is not told any more
 */
void group_say_wrong(struct group *g, const struct inc_rdv_msg *msg)
{
	if (g->vague.msg.msg_id == msg->msg_id)
		g->vague.msg_at = 0;
	group_say(g, EVENT_MESSAGE_FAILED, "%s", msg->text);
	group_tell_all(g, msg);
}

/**
 * group_vague_at() - get the time when group_vague_due() must be called
 * @g: group
 *
 * Return: milliseconds, INT64_MAX if never.
 */
int64_t group_vague_at(const struct group *g)
{
	const struct group_vague *v = &g->vague;
	int64_t at = INT64_MAX;

	if (g->state >= GROUP_ENDING)
		return at;
	if (v->tree_at)
		at = v->tree_at;
	if (v->msg_at && v->msg_at < at)
		at = v->msg_at;
	return at;
}

/**
 * group_vague_due() - tell what nobody knows more about
 * @g: group
 */
void group_vague_due(struct group *g)
{
	struct group_vague *v = &g->vague;
	int64_t now = g->manager->loop.now;

	if (v->msg_at && v->msg_at <= now)
		group_say_wrong(g, &v->msg);
	if (v->tree_at && v->tree_at <= now)
		group_fail(g, CAUSE_TREE, -1, v->tree_status, "%s", v->tree);
}
