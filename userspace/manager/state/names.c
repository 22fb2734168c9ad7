// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of switches, in the store by the addresses of their agents: a name belongs to
 * the one that has answered by it, also after this manager has ended. Otherwise, whoever
 * has the key of any agent could take another one's name while a manager starts, and
 * with it the groups that know their switches by name.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "manager.h"
#include "state/json_text.h"

#define PREFIX	"name/"		/* of keys; the agent's address follows, perhaps cut off */

static void name_key(char key[STORE_KEY_MAX + 1], const struct sw *sw)
{
	snprintf(key, STORE_KEY_MAX + 1, PREFIX "%s", sw->address);
}

/* Note the name by which a switch has answered. */
void names_seen(struct manager *m, struct sw *sw)
{
	struct json_object *o;
	char key[STORE_KEY_MAX + 1];

	if (!strcmp(sw->named, sw->info->id))
		return;
	snprintf(sw->named, sizeof(sw->named), "%s", sw->info->id);
	if (!m->state.store)
		return;
	o = json_object_new_object();
	put_text(o, "switch", sw->named);
	name_key(key, sw);
	state_put(m, key, o);
}

/* Find the switch that has a name, but for one; NULL: none has. */
struct sw *names_find(struct manager *m, const struct sw *but, const char *id)
{
	struct sw *sw;
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++) {
		sw = &m->fabric.switches[i];
		if (sw != but && !sw->gone &&
		    !strcmp(sw->info ? sw->info->id : sw->named, id))
			return sw;
	}
	return NULL;
}

/* The name's owner may not have answered, because another one did so before. */
static void give_back(struct manager *m, const struct sw *owner)
{
	struct sw *sw = owner->info ? NULL : names_find(m, owner, owner->named);

	if (!sw || !sw->info)
		return;
	snprintf(sw->info->id, sizeof(sw->info->id), "%s", sw->address);
	snprintf(sw->why, sizeof(sw->why), "its name, %s, is that of the one at %s",
		 owner->named, owner->address);
	log_info("switch %s: down: %s", sw->address, sw->why);
	sw->up = false;
}

static void restore_name(struct manager *m, const struct store_record *rec)
{
	struct json_object *o = state_get(m, rec, json_type_object);
	char key[STORE_KEY_MAX + 1];
	struct sw *sw = NULL;
	unsigned int i;

	for (i = 0; o && i < m->fabric.n && !sw; i++) {
		name_key(key, &m->fabric.switches[i]);
		if (!m->fabric.switches[i].gone && !strcmp(key, rec->key))
			sw = &m->fabric.switches[i];
	}
	if (sw) {
		snprintf(sw->named, sizeof(sw->named), "%s", text_of(o, "switch"));
		give_back(m, sw);
	} else if (o) {
		state_del(m, rec->key);
	}
	json_object_put(o);
}

/* Take over the names of the store. */
void names_restore(struct manager *m, const struct store_record *list)
{
	unsigned int i;

	for (; list; list = list->next)
		if (!strncmp(list->key, PREFIX, strlen(PREFIX)))
			restore_name(m, list);
	for (i = 0; i < m->fabric.n; i++)
		if (m->fabric.switches[i].up)
			names_seen(m, &m->fabric.switches[i]);
}
