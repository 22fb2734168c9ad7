// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Polling of the agents: how often, and when a switch counts as down. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"

#define SILENT_MS	10000	/* an agent that has not answered is down */

/* Set the timer, unless the switch is not to be polled. */
static void set_timer(struct sw *sw, int64_t at)
{
	if (!sw->gone)
		timer_set(&sw->loop->timers, &sw->refresh.timer,
			  sw->refresh.quiet ? TIMER_NEVER : at);
}

struct refresh {
	struct sw_op		op;
	char			known_id[SWITCH_ID_MAX + 1];
	struct sw_snapshot	*info;
};

static int refresh_run(struct sw_op *op, struct sw_session *n)
{
	struct refresh *r = container_of(op, struct refresh, op);

	r->info = sw_snapshot_get(n, r->known_id, op->err);
	return r->info ? 0 : -errno;
}

/* Unchanged interfaces were not read again. */
static void keep_interfaces(struct sw_snapshot *info,
			    struct sw_snapshot *before)
{
	if (!info->same_ifs)
		return;
	info->ifs = before->ifs;
	info->nifs = before->nifs;
	info->by_name = before->by_name;
	info->by_index = before->by_index;
	before->ifs = NULL;
	before->by_name = NULL;
	before->by_index = NULL;
	before->nifs = 0;
}

/*
 * Two switches with one name are one switch with two addresses, or cannot be
 * distinguished: the first one's trees would be deleted as the second one's. So
 * the second is down for as long as the first has this name: its answer is
 * dropped, and true is returned. The name that it had itself is free then.
 */
static bool reject_namesake(struct sw *sw, struct refresh *r)
{
	const struct sw *other;

	if (sw->info && !strcmp(sw->info->id, r->info->id))
		return false;
	other = sw->on.identity(sw, r->info->id);
	if (!other)
		return false;
	if (strcmp(sw->named, r->info->id))
		sw->named[0] = '\0';
	snprintf(r->op.err, sizeof(r->op.err), "it calls itself %s, as the one at %s does: is it the same, or has inc-agentd no --id of its own?",
		 r->info->id, other->address);
	sw_snapshot_free(r->info);
	return true;
}

static void note_missed(struct sw *sw)
{
	int64_t now = sw->loop->now;

	if (sw->refresh.missed && now - sw->refresh.missed_at < sw->refresh.interval_ms)
		return;
	sw->refresh.missed++;
	sw->refresh.missed_at = now;
}

static void refresh_done(struct sw_op *op)
{
	struct refresh *r = container_of(op, struct refresh, op);
	struct sw *sw = op->sw;
	struct sw_snapshot *before = NULL;
	bool up;

	if (sw->gone) {
		sw_snapshot_free(r->info);
		free(r);
		return;
	}
	up = !op->ret && !reject_namesake(sw, r);
	if (up && (!sw->up || !sw->info || strcmp(sw->info->id, r->info->id)))
		log_info("switch %s (%s): up", r->info->id, sw->address);
	else if (!up && (sw->up || strcmp(sw->why, op->err)))
		log_info("switch %s: down: %s", sw_name(sw), op->err);
	sw->up = up;
	if (up)
		sw->refresh.missed = 0;
	else
		note_missed(sw);
	if (up && !sw->refresh.known_at)
		sw->refresh.known_at = sw->loop->now;
	snprintf(sw->why, sizeof(sw->why), "%s", op->err);
	if (up) {
		before = sw->info;
		sw->info = r->info;
		sw->info->asked_at = sw->refresh.asked_at;
		sw->info->told_at = sw->loop->now;
		keep_interfaces(sw->info, before);
	}
	sw->refresh.running = false;
	set_timer(sw, sw->loop->now + (sw->refresh.again ? 0 : sw->refresh.interval_ms));
	sw->refresh.again = false;
	sw->on.snapshot(sw, before);
	sw_snapshot_free(before);
	free(r);
}

/*
 * Poll a switch's agent. If a poll is under way already, another one follows
 * it.
 */
void sw_refresh(struct sw *sw)
{
	struct refresh *r;

	if (sw->gone)
		return;
	if (sw->refresh.running) {
		sw->refresh.again = true;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	if (sw->info)
		memcpy(r->known_id, sw->info->version, sizeof(r->known_id));
	r->op.run = refresh_run;
	r->op.done = refresh_done;
	r->op.reads = true;
	sw->refresh.running = true;
	sw->refresh.asked_at = sw->loop->now;
	set_timer(sw, sw->refresh.asked_at + SILENT_MS);
	sw_submit(sw, &r->op);
}

/* Needed since a thread may wait a minute for a connection. */
static void note_overdue(struct sw *sw)
{
	static const char why[] = "the agent is silent";

	if (sw->up || strcmp(sw->why, why))
		log_info("switch %s: down: %s", sw_name(sw), why);
	sw->up = false;
	note_missed(sw);
	snprintf(sw->why, sizeof(sw->why), "%s", why);
	set_timer(sw, sw->loop->now + sw->refresh.interval_ms);
	sw->on.snapshot(sw, NULL);
}

/*
 * Check whether a switch's answer is worth waiting for. Returns true if its
 * agent is being asked, and not silent.
 */
bool sw_awaited(const struct sw *sw)
{
	return sw->refresh.running && sw->loop->now - sw->refresh.asked_at < SILENT_MS;
}

static void on_timer(struct timer *timer)
{
	struct sw *sw = container_of(timer, struct sw, refresh.timer);

	if (sw->refresh.running)
		note_overdue(sw);
	else
		sw_refresh(sw);
}

/* Stop polling a switch's agent, except by sw_refresh(). */
void sw_silence(struct sw *sw)
{
	sw->refresh.quiet = true;
	set_timer(sw, TIMER_NEVER);
}

/* Start polling a switch's agent. Returns 0 or -ENOMEM. */
int sw_refresh_start(struct sw *sw)
{
	if (timer_add(&sw->loop->timers, &sw->refresh.timer, on_timer))
		return -ENOMEM;
	set_timer(sw, sw->loop->now);
	return 0;
}
