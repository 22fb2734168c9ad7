// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The manager's switches: --switch names them. SIGHUP reads these options
 * again. A switch that is no longer named gets no more trees, as if it were
 * drained, and is removed when it has none left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "group/group.h"
#include "stats/stats.h"

/* Time until others that refer to a switch by its place, or name, forget it. */
#define REST_MS	60000

static struct sw *find_switch(struct manager *m, const char *address)
{
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++)
		if (!m->fabric.switches[i].gone &&
		    !strcmp(m->fabric.switches[i].address, address))
			return &m->fabric.switches[i];
	return NULL;
}

static bool is_named(const struct amd_options *o, const char *address)
{
	unsigned int i;

	for (i = 0; i < o->nswitches; i++)
		if (!strcmp(o->switches[i], address))
			return true;
	return false;
}

/* Can the place of a switch be used for another one? */
static bool is_free(struct manager *m, struct sw *sw)
{
	return sw->gone && m->loop.now - sw->gone_at >= REST_MS &&
	       sw_is_over(sw);
}

static unsigned int count_free(struct manager *m)
{
	unsigned int i, n = m->fabric.most - m->fabric.n;

	for (i = 0; i < m->fabric.n; i++)
		n += is_free(m, &m->fabric.switches[i]);
	return n;
}

static unsigned int count_new(struct manager *m, const struct amd_options *o)
{
	unsigned int i, n = 0;

	for (i = 0; i < o->nswitches; i++)
		n += !find_switch(m, o->switches[i]);
	return n;
}

/* Take a free place; the caller has checked that there is one. */
static unsigned int take_place(struct manager *m)
{
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++) {
		if (!is_free(m, &m->fabric.switches[i]))
			continue;
		stats_forget_switch(m->stats, &m->fabric.switches[i]);
		free((char *)m->fabric.switches[i].address);
		sw_clear(&m->fabric.switches[i]);
		return i;
	}
	return m->fabric.n++;
}

static void add_switch(struct manager *m, const char *address)
{
	const char *own = strdup(address);
	unsigned int i = own ? take_place(m) : 0;

	if (!own || switches_add(m, i, own)) {
		event_log(&m->events, EVENT_SWITCHES_WRONG, address,
			  "no memory");
		/* The place is free, like that of a removed switch. */
		if (own)
			m->fabric.switches[i].gone = true;
		return;
	}
	topo_grow(m->fabric.topo);
	drain_seen(m, &m->fabric.switches[i]);
}

static unsigned int add_all(struct manager *m, const struct amd_options *o)
{
	unsigned int i, n = 0;
	struct sw *sw;

	for (i = 0; i < o->nswitches; i++) {
		sw = find_switch(m, o->switches[i]);
		if (sw) {
			sw->leaving = false;
			continue;
		}
		add_switch(m, o->switches[i]);
		n++;
	}
	return n;
}

static unsigned int leave_all(struct manager *m, const struct amd_options *o)
{
	unsigned int i, n = 0;
	struct sw *sw;

	for (i = 0; i < m->fabric.n; i++) {
		sw = &m->fabric.switches[i];
		if (sw->gone || is_named(o, sw->address))
			continue;
		sw->leaving = true;
		n++;
	}
	if (n)
		m->drain_at = 0;
	return n;
}

/* Find the switch of an agent that calls, by the name in its certificate. */
struct sw *switches_caller(void *ctx, const char *id)
{
	char address[sizeof("callhome:") + IDENTITY_LEN];

	snprintf(address, sizeof(address), "callhome:%s", id);
	return find_switch(ctx, address);
}

/* May agents call? Returns false while another manager leads. */
bool switches_may_call(void *ctx)
{
	const struct manager *m = ctx;

	return m->state.phase != PHASE_STANDBY && !m->stop;
}

/* Read --switch and --link again. */
void switches_reload(struct manager *m)
{
	struct topo_cable *cables = m->o.cables;
	unsigned int left, added;
	struct amd_options o;

	if (options_again(&o, &m->o)) {
		event_log(&m->events, EVENT_SWITCHES_WRONG, m->o.advertise,
			  "%sthe switches are as before: %s", conf_where,
			  conf_why[0] ? conf_why : "the log says why");
		options_free(&o);
		return;
	}
	if (o.callhome && !m->o.callhome)
		event_log(&m->events, EVENT_SWITCHES_WRONG, m->o.advertise,
			  "--callhome counts from this manager's next start on");
	added = count_new(m, &o);
	left = count_free(m);
	if (added > left) {
		event_log(&m->events, EVENT_SWITCHES_WRONG, m->o.advertise,
			  "the switches are as before: %u are new, and there is room for %u until others are gone for a minute",
			  added, left);
		options_free(&o);
		return;
	}
	left = leave_all(m, &o);
	added = add_all(m, &o);
	m->o.cables = m->fabric.cables = o.cables;
	m->o.ncables = m->fabric.ncables = o.ncables;
	o.cables = cables;
	options_free(&o);
	topo_grow(m->fabric.topo);
	event_log(&m->events, EVENT_SWITCHES_READ, m->o.advertise,
		  "%u switches are new, %u are not named any more", added,
		  left);
}
