// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Switches that get no more trees, until they are resumed; the store has them,
 * too. A switch is known by its identity, and if that has changed, or until its agent
 * has answered, by the agent's address.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/list.h"
#include "group/group.h"
#include "state/json_text.h"

#define PREFIX	"drain/"

static void name_key(char key[STORE_KEY_MAX + 1], const struct drain *d)
{
	snprintf(key, STORE_KEY_MAX + 1, PREFIX "%s",
		 d->id[0] ? d->id : d->address);
}

static void persist_drain(struct manager *m, const struct drain *d)
{
	struct json_object *o = json_object_new_object();
	char key[STORE_KEY_MAX + 1];

	put_text(o, "switch", d->id);
	put_text(o, "address", d->address);
	put_text(o, "by", d->requester);
	json_object_object_add(o, "since", json_object_new_int64(d->since));
	name_key(key, d);
	state_put(m, key, o);
}

static struct drain *find_named(const struct manager *m, const char *id)
{
	struct drain *d = m->drains;

	while (d && strcmp(d->id, id))
		d = d->next;
	return d;
}

static struct drain *find_at(const struct manager *m, const struct sw *sw)
{
	struct drain *d = m->drains;

	while (d && strncmp(d->address, sw->address, sizeof(d->address) - 1))
		d = d->next;
	return d;
}

/* Does a switch elsewhere have the name that this one was drained by? */
static bool is_elsewhere(const struct manager *m, const struct drain *d,
			 const struct sw *sw)
{
	const struct sw *other;

	for_each_switch(&m->fabric, other)
		if (other != sw && other->info && !strcmp(other->info->id, d->id))
			return true;
	return false;
}

/*
 * Check whether a switch is drained. One that has got another name, whoever gave it that,
 * stays so.
 * @sw: switch, whose identity may have changed
 */
void drain_seen(struct manager *m, struct sw *sw)
{
	struct drain *d = sw->info ? find_named(m, sw->info->id) : NULL;
	char key[STORE_KEY_MAX + 1];

	if (!d)
		d = find_at(m, sw);
	if (d && d->id[0] && sw->info && is_elsewhere(m, d, sw))
		d = NULL;
	sw->drain = d;
	if (!d || !sw->info || !strcmp(d->id, sw->info->id))
		return;
	name_key(key, d);
	snprintf(d->id, sizeof(d->id), "%s", sw->info->id);
	if (!m->state.store)
		return;
	state_del(m, key);
	persist_drain(m, d);
}

static void enter_drain(struct manager *m, struct drain *d)
{
	unsigned int i;

	d->next = m->drains;
	m->drains = d;
	m->drain_at = 0;
	for (i = 0; i < m->fabric.n; i++)
		drain_seen(m, &m->fabric.switches[i]);
}

/*
 * Drain a switch: make no more trees there. Returns 0 or -ENOMEM.
 * @sw: switch, which may be drained already
 */
int drain_add(struct manager *m, struct sw *sw, const char *by)
{
	struct drain *d;

	if (sw->drain)
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	snprintf(d->id, sizeof(d->id), "%s", sw->info ? sw->info->id : "");
	snprintf(d->address, sizeof(d->address), "%s", sw->address);
	snprintf(d->requester, sizeof(d->requester), "%s", by);
	d->since = time(NULL);
	enter_drain(m, d);
	if (m->state.store)
		persist_drain(m, d);
	event_log(&m->events, EVENT_SWITCH_DRAINING, sw_name(sw),
		  "it gets no more trees, and has %u: by %s", sw->subtrees, by);
	return 0;
}

static void take_out(struct manager *m, struct drain *d)
{
	unsigned int i;

	list_remove(m->drains, d);
	for (i = 0; i < m->fabric.n; i++)
		if (m->fabric.switches[i].drain == d)
			m->fabric.switches[i].drain = NULL;
	free(d);
}

/* Resume a switch: make trees there again. */
void drain_end(struct manager *m, struct sw *sw, const char *by)
{
	char key[STORE_KEY_MAX + 1];

	if (!sw->drain)
		return;
	name_key(key, sw->drain);
	if (m->state.store)
		state_del(m, key);
	take_out(m, sw->drain);
	event_log(&m->events, EVENT_SWITCH_RESUMED, sw_name(sw), "by %s", by);
}

/* Forget drained switches, without a change of the store. */
void drain_forget(struct manager *m)
{
	while (m->drains)
		take_out(m, m->drains);
}

static void restore_drain(struct manager *m, const struct store_record *rec)
{
	struct json_object *o = state_get(m, rec, json_type_object);
	struct drain *d = calloc(1, sizeof(*d));

	if (o && d) {
		snprintf(d->id, sizeof(d->id), "%s", text_of(o, "switch"));
		snprintf(d->address, sizeof(d->address), "%s",
			 text_of(o, "address"));
		snprintf(d->requester, sizeof(d->requester), "%s",
			 text_of(o, "by"));
		d->since = json_object_get_int64(json_object_object_get(o,
									"since"));
		enter_drain(m, d);
	} else {
		free(d);
	}
	json_object_put(o);
}

/* Take over the drained switches of the store. */
void drain_restore(struct manager *m, const struct store_record *list)
{
	for (; list; list = list->next)
		if (!strncmp(list->key, PREFIX, strlen(PREFIX)))
			restore_drain(m, list);
}
