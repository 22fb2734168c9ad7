// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records that nobody waits for: what holds is in memory, the store is for the
 * next manager.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "state/json_text.h"

/* The name of a reservation, and whose it is; NULL: the key is no reservation's. */
static const char *reservation_of(const char *key, char tenant[IDENTITY_LEN])
{
	unsigned long len;
	char *at;

	if (strncmp(key, RESERVE_PREFIX, strlen(RESERVE_PREFIX)))
		return NULL;
	len = strtoul(key + strlen(RESERVE_PREFIX), &at, 10);
	if (*at++ != '/' || len >= IDENTITY_LEN || strlen(at) <= len ||
	    at[len] != '/')
		return NULL;
	memcpy(tenant, at, len);
	tenant[len] = '\0';
	return at + len + 1;
}

/* What a record is of, for an event. */
static const char *subject_of(const char *key, char tenant[IDENTITY_LEN])
{
	const char *name = reservation_of(key, tenant);

	if (name)
		return name;
	tenant[0] = '\0';
	name = strchr(key, '/');
	return name ? name + 1 : key;
}

static void report_failure(void *ctx, const char *key,
			   struct store_record *list, const char *err)
{
	char tenant[IDENTITY_LEN];
	struct manager *m = ctx;
	const char *subject = subject_of(key, tenant);

	(void)list;
	if (err)
		event_say_of(&m->events, EVENT_STORE_FAILED, tenant, subject,
			     "the record %s is not stored, and tried again: %.200s",
			     key, err);
}

/**
 * state_get() - read a record that was written so
 * @m: manager
 * @rec: record
 * @type: what it must be
 *
 * Return: JSON, for json_object_put(); NULL, after an event: it is damaged.
 */
struct json_object *state_get(struct manager *m, const struct store_record *rec,
			      enum json_type type)
{
	struct json_object *o = json_tokener_parse((const char *)rec->data);
	char tenant[IDENTITY_LEN];
	const char *subject = subject_of(rec->key, tenant);

	if (o && json_object_is_type(o, type))
		return o;
	json_object_put(o);
	event_say_of(&m->events, EVENT_STORE_FAILED, tenant, subject,
		     "the record %s is damaged, and left out", rec->key);
	return NULL;
}

/**
 * state_put() - write a record
 * @m: manager; has a store
 * @key: the record's key
 * @o: the record; freed
 *
 * If that fails there is an event. A record for which there is no memory is not
 * written: what holds is in memory.
 */
void state_put(struct manager *m, const char *key, struct json_object *o)
{
	char *text = end_text(o);

	/* The text is the store's then. */
	if (text)
		store_put(m->state.store, key, (uint8_t *)text, strlen(text),
			  report_failure, m);
}
