// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records that nobody waits for: what holds is in memory, the store is for the
 * next manager.
 */
#include <json-c/json.h>
#include <string.h>

#include "manager.h"
#include "state/json_text.h"

static void report_failure(void *ctx, const char *key,
			   struct store_record *list, const char *err)
{
	const char *name = strchr(key, '/');
	struct manager *m = ctx;

	(void)list;
	if (err)
		event_say(&m->events, EVENT_STORE_FAILED,
			  name ? name + 1 : key,
			  "the record %s is not stored, and tried again: %.200s",
			  key, err);
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
