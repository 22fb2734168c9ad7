// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Deadlines of groups. Each group has one timer, and all its ranks must be
 * looked at to find its time. So the timer is not set anew for heartbeats,
 * which only move deadlines later.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "group/group.h"

#define AWAIT_MS	14000	/* time for ranks to resume, without heartbeats */

static int64_t earlier_time(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later_time(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Get when a rank was, or could have been, last heard. Returns milliseconds. */
int64_t rank_heard_at(const struct rank *r)
{
	int64_t beat_at = r->stream ? rpc_stream_beat_at(r->stream) : 0;

	/* While the manager was late, it did not listen. */
	return later_time(later_time(beat_at, r->heard_at),
			  r->group->manager->loop.late_at);
}

/* Get when a rank's silence is too long. INT64_MAX: it sends no heartbeats. */
static int64_t beat_due_at(const struct rank *r)
{
	const struct amd_options *o = &r->group->manager->o;

	if (!r->stream && !o->heartbeat_ms)
		return rank_heard_at(r) + AWAIT_MS;
	/* Ranks learn the interval when the tree is there. */
	if (!o->heartbeat_ms || (r->stream && group_is_forming(r->group)))
		return INT64_MAX;
	return rank_heard_at(r) + (int64_t)o->heartbeat_ms * (o->misses + 1);
}

/*
 * May a rank be cut off, and come back? A cut remains unnoticed until a switch
 * loses packets there.
 */
static bool may_be_cut_off(const struct rank *r)
{
	return r->group->request.rebuild && r->group->state < GROUP_ENDING &&
	       !r->until;
}

/* A rank that may be cut off has as long as another tree may take. */
static int64_t silent_at(const struct rank *r)
{
	int64_t at = beat_due_at(r);

	if (r->until)
		return r->until;
	return !may_be_cut_off(r) ? at :
	       later_time(at, rank_heard_at(r) + r->group->manager->o.rebuild_ms);
}

static void lose_silent(struct rank *r)
{
	int64_t now = r->group->manager->loop.now;
	const char *broken = group_is_rebuilding(r->group) ? r->group->rebuild.broken : "";
	char text[INC_RDV_TEXT_MAX], link[192];

	if (group_down_link(r->group, (int)r->join.rank, link, sizeof(link)))
		snprintf(text, sizeof(text), "%s", link);
	else if (may_be_cut_off(r))
		snprintf(text, sizeof(text), "not heard of for %lld s%s%.200s",
			 (long long)(now - rank_heard_at(r)) / 1000,
			 *broken ? ", since the tree has failed: " : "", broken);
	else
		snprintf(text, sizeof(text), "%s", r->stream ? "no heartbeat" :
			 "connection lost");
	rank_lost(r, text);
}

/* Does the group wait for its time to look at the fabric? */
static bool awaits_look(const struct group *g)
{
	return g->where.place_at && (g->state == GROUP_PLACING ||
			       g->state == GROUP_REJOINING ||
			       g->state == GROUP_REPLACING);
}

static int64_t find_deadline(const struct group *g)
{
	const struct rank *r;
	int64_t next;

	if (g->state == GROUP_OVER)
		return INT64_MAX;
	next = inc_job_deadline(&g->core);
	if (awaits_look(g))
		next = earlier_time(next, g->where.place_at);
	next = earlier_time(next, group_undetermined_at(g));
	next = earlier_time(next, home_at(g));
	next = earlier_time(next, move_at(g));
	inc_job_for_each(&g->core, r, RANK_PRESENT)
		next = earlier_time(next, silent_at(r));
	return next;
}

static void look_at_ranks(struct group *g)
{
	int64_t now = g->manager->loop.now;
	struct rank *r;

	inc_job_for_each(&g->core, r, RANK_PRESENT)
		if (silent_at(r) <= now)
			lose_silent(r);
}

static void refuse_late(struct group *g)
{
	char missing[128];

	if (group_is_rebuilding(g)) {
		group_refuse(g, ETIMEDOUT, "the switches have not made it within %u s (--rebuild-time)",
			     g->manager->o.rebuild_ms / 1000);
		return;
	}
	group_missing(g, NULL, missing, sizeof(missing));
	group_refuse(g, ETIMEDOUT, "%u of %u ranks came, %u are ready, within %u s: start all within that time, or raise --forming-time; waited for %s%s",
		     g->core.present, g->request.ranks, g->core.rts,
		     g->manager->o.forming_ms / 1000,
		     missing[0] ? missing : "the switches",
		     !missing[0] ? "" : group_is_joined(g->state) ?
		     " to connect" : " to come");
}

/* Do what is due for a group. */
void group_expire(struct group *g)
{
	int64_t now = g->manager->loop.now;
	enum inc_job_due due;

	group_touch(g);
	if (find_deadline(g) > now)
		return;
	due = inc_job_due(&g->core, now);
	if (due == INC_JOB_END)
		group_raise(g, GROUP_EV_ENDED);
	else if (due == INC_JOB_LATE)
		refuse_late(g);
	else if (awaits_look(g) && g->where.place_at <= now)
		group_raise(g, GROUP_EV_LOOK);
	else if (due == INC_JOB_LEAVE)
		group_delete_left(g);
	else if (group_undetermined_at(g) <= now)
		group_undetermined_due(g);
	else if (home_at(g) <= now)
		home_due(g);
	else if (move_at(g) <= now)
		move_expire(g);
	else
		look_at_ranks(g);
}

/* Set the timers of all groups that were touched. */
void group_arm(struct manager *m)
{
	struct group *g;

	while ((g = m->touched)) {
		m->touched = g->due.next_touched;
		g->due.is_touched = false;
		timer_set(&m->loop.timers, &g->due.timer, find_deadline(g));
	}
}
