// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The right to act: this manager has it once it leads, has read the store, and
 * has asked the switches. Before that, and after it has lost the lead, clients
 * must try another manager, and no switch is touched.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

#define LOOK_MS		1000	/* time for the switches to answer */
#define RETRY_MS	500	/* after an error of the store */

static void say_phase(struct manager *m, enum phase phase)
{
	if (m->state.phase == phase)
		return;
	m->state.phase = phase;
	if (phase == PHASE_ACTIVE)
		event_log(&m->events, EVENT_LEADER, m->o.advertise,
			  "this manager leads, %lld ms after it could",
			  (long long)(now_ms() - m->state.started_at));
	else if (phase == PHASE_STANDBY)
		event_log(&m->events, EVENT_STANDBY, m->o.advertise,
			  "this manager does not lead any more");
}

/* Log the leader that this manager stands by for. */
static void say_standby(struct manager *m)
{
	const char *who = store_leader(m->state.store);

	if (!*who || !strcmp(who, m->state.named_leader))
		return;
	snprintf(m->state.named_leader, sizeof(m->state.named_leader), "%s",
		 who);
	event_log(&m->events, EVENT_STANDBY, m->o.advertise,
		  "this manager stands by for %s, which leads", who);
}

/* Log errors of the database. */
static void say_trouble(struct manager *m)
{
	const char *why = store_why(m->state.store);

	if (*why && !m->state.error_reported)
		event_log(&m->events, EVENT_STORE_FAILED, m->o.store, "%s",
			  why);
	m->state.error_reported = *why;
}

/* --- Becoming the leader ------------------------------------------------- */

static void was_read(void *ctx, const char *key, struct store_record *list,
		     const char *err)
{
	struct manager *m = ctx;

	if (err && strcmp(m->state.read_error, err))
		event_log(&m->events, EVENT_STORE_FAILED, m->o.store,
			  "it cannot be read: %s", err);
	snprintf(m->state.read_error, sizeof(m->state.read_error), "%s",
		 err ? err : "");
	if (err || m->state.phase != PHASE_READING) {
		store_list_free(list);
		m->state.phase = PHASE_STANDBY;
		m->state.look_until = m->loop.now + RETRY_MS;
		return;
	}
	m->state.phase = PHASE_LOOKING;
	m->state.list = list;
	m->state.look_until = m->loop.now + LOOK_MS;
}

static void begin_leading(struct manager *m)
{
	unsigned int i;

	ids_restore(m, m->state.list);
	names_restore(m, m->state.list);
	reserve_restore(m, m->state.list);
	drain_restore(m, m->state.list);
	links_restore(m, m->state.list);
	restore_all(m, m->state.list);
	store_list_free(m->state.list);
	m->state.list = NULL;
	say_phase(m, PHASE_ACTIVE);
	/* Find missing trees, and trees of earlier managers. */
	for (i = 0; i < m->fabric.n; i++) {
		if (m->fabric.switches[i].up)
			restore_check(m, &m->fabric.switches[i]);
		sw_refresh(&m->fabric.switches[i]);
	}
}

/* --- Losing the lead ----------------------------------------------------- */

/*
 * Forget all groups, without touching their records or trees.
 * @why: for the ranks, which will try another manager
 */
void state_forget(struct manager *m, const char *why)
{
	struct group *g;

	/* Records and trees belong to the next leader. */
	for (g = m->groups; g; g = g->next)
		group_raise_fault(g, GROUP_EV_ABANDONED, CAUSE_STOP,
				  EHOSTUNREACH, "%s", why);
	group_settle(m);
	reserve_forget(m);
	drain_forget(m);
}

static void step_down(struct manager *m)
{
	char why[256];

	say_phase(m, PHASE_STANDBY);
	store_list_free(m->state.list);
	m->state.list = NULL;
	m->state.look_until = 0;
	state_refuses(m, why, sizeof(why));
	state_forget(m, why);
}

/* Follow changes of the leadership. */
void state_turn(struct manager *m)
{
	struct state *st = &m->state;
	bool leads = store_leads(st->store);

	if (!st->store || m->stop)
		return;
	say_trouble(m);
	if (!leads && st->phase != PHASE_STANDBY)
		step_down(m);
	if (!leads)
		say_standby(m);
	if (leads && st->phase == PHASE_STANDBY &&
	    st->look_until <= m->loop.now) {
		st->phase = PHASE_READING;
		st->named_leader[0] = '\0';
		st->started_at = now_ms();
		store_list(st->store, "", was_read, m);
	}
	if (st->phase == PHASE_LOOKING &&
	    (hosts_all_asked(&m->fabric) || st->look_until <= m->loop.now))
		begin_leading(m);
}

/*
 * Get the time when state_turn() must be called. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t state_deadline(const struct manager *m)
{
	const struct state *st = &m->state;
	int64_t until = store_until(st->store);

	if ((st->phase == PHASE_LOOKING || st->phase == PHASE_STANDBY) &&
	    st->look_until && st->look_until < until && store_leads(st->store))
		return st->look_until;
	return until;
}

/* --- Clients ------------------------------------------------------------- */

/*
 * Check whether clients must try another manager, or later. Returns true if so.
 * @len: size of @text in bytes
 */
bool state_refuses(const struct manager *m, char *text, size_t len)
{
	const char *who, *why;

	if (m->state.phase == PHASE_ACTIVE)
		return false;
	why = m->state.read_error[0] ? m->state.read_error :
				   store_why(m->state.store);
	if (*why) {
		snprintf(text, len, AM_NOT_LEADER ", as it cannot use its store: %s",
			 why);
		return true;
	}
	if (m->state.phase != PHASE_STANDBY) {
		snprintf(text, len, AM_STARTING ": try again");
		return true;
	}
	who = store_leader(m->state.store);
	if (*who)
		snprintf(text, len, AM_NOT_LEADER ", it is at %s", who);
	else
		snprintf(text, len, AM_NO_LEADER);
	return true;
}

/* --- Start and stop ------------------------------------------------------ */

/*
 * Begin to follow the store; without one, this manager may act at once.
 * @db: its database, which is closed on failure; NULL: none
 */
int state_start(struct manager *m, struct store_db *db, char *err)
{
	if (!db) {
		m->state.phase = PHASE_ACTIVE;
		return 0;
	}
	m->state.store = store_start(&m->loop, db);
	if (m->state.store)
		return 0;
	db->ops->close(db);
	return store_failed(err, -ENOMEM, "no memory");
}

/* Close the store. */
void state_stop(struct manager *m)
{
	if (m->state.store)
		store_stop(m->state.store);
	state_wait_end(m);
	store_list_free(m->state.list);
	links_free(m);
}
