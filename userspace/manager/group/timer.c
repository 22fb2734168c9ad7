// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is due for a group, and when. Each group has a timer; to find its time
 * takes a look at all ranks. So it is not set anew for each heartbeat, which only
 * makes things due later.
 */
#include <errno.h>
#include <stddef.h>

#include "group/group.h"

#define AWAIT_MS	9000	/* for ranks to resume, without heartbeats */
#define BEATS_MOST	1000	/* of all ranks together, in a second */
#define BEATS_LEAST	2

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* INT64_MAX: it sends no heartbeats. */
static int64_t beat_due_at(const struct rank *r)
{
	const struct options *o = &r->group->manager->o;
	int64_t beat_at = r->stream ? rpc_stream_heard(r->stream) : 0;
	int64_t heard_at = beat_at > r->heard_at ? beat_at : r->heard_at;
	int64_t late_at = r->group->manager->loop.late_at;

	/* Nobody has listened before that. */
	if (late_at > heard_at)
		heard_at = late_at;
	if (!r->stream && !o->heartbeat_ms)
		return heard_at + AWAIT_MS;
	/* Ranks learn the interval when the tree is there. */
	if (!o->heartbeat_ms ||
	    (r->group->state < GROUP_JOINED && !r->group->rebuilding))
		return INT64_MAX;
	return heard_at + (int64_t)o->heartbeat_ms * (o->misses + 1);
}

/* What has failed may lead to the rank, too: it has as long as another tree has. */
static int64_t silent_at(const struct rank *r)
{
	const struct group *g = r->group;
	int64_t at = beat_due_at(r);
	int64_t until = g->failed_at + g->manager->o.rebuild_ms;

	return g->rebuilding && g->is_cut && until > at ? until : at;
}

/**
 * group_beat_ms() - choose the interval of a rank's heartbeats
 * @m: manager
 *
 * The more ranks there are, the fewer heartbeats each sends, down to BEATS_LEAST
 * in the time after which it is lost, which stays the same.
 *
 * Return: milliseconds, 0: none.
 */
uint32_t group_beat_ms(const struct manager *m)
{
	uint64_t most = (uint64_t)m->o.heartbeat_ms * (m->o.misses + 1) /
			BEATS_LEAST;
	uint64_t ms = m->tenants.use.ranks * 1000 / BEATS_MOST;

	ms = ms < most ? ms : most;
	return ms > m->o.heartbeat_ms ? (uint32_t)ms : m->o.heartbeat_ms;
}

/* Does it wait for the time to look at the fabric? */
static bool waits(const struct group *g)
{
	return g->place_at && !g->ending &&
	       (g->state == GROUP_REJOINING || g->state == GROUP_PLACING);
}

static int64_t deadline(const struct group *g)
{
	int64_t next = INT64_MAX;
	const struct rank *r;
	uint32_t i;

	if (g->over)
		return INT64_MAX;
	if (g->state != GROUP_READY || g->ending)
		next = g->until;
	if (waits(g))
		next = least(next, g->place_at);
	if (g->leave_at)
		next = least(next, g->leave_at);
	next = least(next, group_vague_at(g));
	next = least(next, move_at(g));
	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		if (r->state != RANK_PRESENT)
			continue;
		next = least(next, silent_at(r));
		if (r->alive_at)
			next = least(next, r->alive_at);
	}
	return next;
}

/* The group may be freed. */
static void look_at_ranks(struct group *g)
{
	struct am_message alive = { .rdv = { .type = INC_RDV_ALIVE } };
	int64_t now = g->manager->loop.now;
	struct rank *r;
	uint32_t i;
	bool last;

	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		if (r->state != RANK_PRESENT)
			continue;
		if (silent_at(r) <= now) {
			last = g->present == 1;
			group_lost(r, "no heartbeat");
			if (last)
				return;
			continue;
		}
		if (r->alive_at && r->alive_at <= now) {
			group_tell(r, &alive);
			r->alive_at = rank_next_alive(r);
		}
	}
}

static void forming_takes_too_long(struct group *g)
{
	char missing[128];

	group_missing(g, NULL, missing, sizeof(missing));
	group_refuse(g, ETIMEDOUT, "%u of %u ranks came, %u are ready, within %u s: start all within that time, or raise --forming-time; waited for %s%s",
		     g->present, g->like.ranks, g->rts,
		     g->manager->o.forming_ms / 1000,
		     missing[0] ? missing : "the switches",
		     !missing[0] ? "" : g->state == GROUP_JOINED ?
		     " to connect" : " to come");
}

static void expire(struct group *g)
{
	int64_t now = g->manager->loop.now;

	if (!g->ending && g->state != GROUP_READY && g->until <= now) {
		forming_takes_too_long(g);
		return;
	}
	if (waits(g) && g->place_at <= now) {
		g->place_at = 0;
		group_look_again(g);
		return;
	}
	if (g->ending && g->until <= now) {
		group_end(g);
		return;
	}
	if (g->leave_at && g->leave_at <= now) {
		group_delete_left(g);
		return;
	}
	if (group_vague_at(g) <= now) {
		group_vague_due(g);
		return;
	}
	if (move_at(g) <= now) {
		move_due(g);
		return;
	}
	look_at_ranks(g);
}

/**
 * group_due() - do what is due
 * @timer: a group's
 */
void group_due(struct timer *timer)
{
	struct group *g = container_of(timer, struct group, timer);

	group_touch(g);
	if (deadline(g) <= g->manager->loop.now)
		expire(g);
}

/**
 * group_touch() - have a group's timer set anew before the main loop waits
 * @g: group for which something may become due earlier
 *
 * What becomes due later is found out when the timer goes off.
 */
void group_touch(struct group *g)
{
	if (g->touched)
		return;
	g->touched = true;
	g->next_touched = g->manager->touched;
	g->manager->touched = g;
}

/**
 * group_arm() - set the timers of all groups that were touched
 * @m: manager
 */
void group_arm(struct manager *m)
{
	struct group *g;

	while ((g = m->touched)) {
		m->touched = g->next_touched;
		g->touched = false;
		timer_set(&m->loop.timers, &g->timer, deadline(g));
	}
}
