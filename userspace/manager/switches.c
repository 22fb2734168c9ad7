// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The switches: what they tell goes to the groups.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

static struct manager *manager;

/* --- Callbacks ----------------------------------------------------------- */

static void switch_on_snapshot(struct sw *sw, const struct sw_snapshot *before)
{
	if (sw->up) {
		topo_changed(manager->fabric.topo, sw);
		drain_seen(manager, sw);
	}
	if (manager->state.phase != PHASE_ACTIVE)
		return;
	if (sw->up)
		names_seen(manager, sw);
	if (sw->up && !manager->stop)
		restore_check(manager, sw);
	group_on_snapshot(manager, sw, before);
	group_find_links(manager);
	group_fabric_changed(manager);
	group_settle(manager);
}

static const struct sw *switch_namesake(const struct sw *sw, const char *id)
{
	return names_find(manager, sw, id);
}

static void switch_on_notif(const struct sw_notif *news)
{
	if (manager->state.phase != PHASE_ACTIVE)
		return;
	group_on_notif(manager, news);
	group_settle(manager);
}

/* Checked again by the thread: the lead may have been lost in the queue. */
static bool may_change(void)
{
	return store_leads(manager->state.store);
}

/* --- Start and stop ------------------------------------------------------ */

/*
 * Start communication with a switch. Returns 0 or -ENOMEM.
 * @i: its place
 * @address: to be freed with the switch
 */
int switches_add(struct manager *m, unsigned int i, const char *address)
{
	struct sw *sw = &m->fabric.switches[i];

	sw->address = address;
	sw->loop = &m->loop;
	sw->pool = &m->pool;
	sw->index = i;
	sw->refresh.interval_ms = m->o.agent_ms;
	sw->on.snapshot = switch_on_snapshot;
	sw->on.notif = switch_on_notif;
	sw->on.identity = switch_namesake;
	sw->on.change = may_change;
	options_target(m, sw);
	return sw_start(sw);
}

/* Start communication with all switches. */
int switches_start(struct manager *m)
{
	const char *address;
	unsigned int i;
	int ret = 0;

	manager = m;
	m->fabric.loop = &m->loop;
	m->fabric.events = &m->events;
	m->fabric.n = m->o.nswitches;
	m->fabric.cables = m->o.cables;
	m->fabric.ncables = m->o.ncables;
	m->fabric.switches = calloc(m->fabric.most, sizeof(*m->fabric.switches));
	m->fabric.topo = m->fabric.switches ? topo_new(&m->fabric) : NULL;
	if (!m->fabric.topo || sw_pool_start(&m->pool, m->fabric.most))
		return -ENOMEM;
	for (i = 0; i < m->fabric.n && !ret; i++) {
		address = strdup(m->o.switches[i]);
		ret = address ? switches_add(m, i, address) : -ENOMEM;
	}
	return ret;
}

/*
 * End communication with all switches, and free them. Returns false if an agent
 * still blocks a thread, which uses them.
 */
bool switches_stop(struct manager *m)
{
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++)
		if (!m->fabric.switches[i].gone)
			sw_stop(&m->fabric.switches[i]);
	if (!sw_pool_stop(&m->pool)) {
		log_error("an agent does not end its answer: not waited for");
		return false;
	}
	/* Take the last results of the threads. */
	loop_turn(&m->loop, 0);
	for (i = 0; i < m->fabric.n; i++) {
		sw_snapshot_free(m->fabric.switches[i].info);
		free((char *)m->fabric.switches[i].address);
	}
	topo_free(m->fabric.topo);
	free(m->fabric.switches);
	return true;
}
