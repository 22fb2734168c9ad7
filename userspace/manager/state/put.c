// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records that nobody waits for: what holds is in memory, the store is for the
 * next manager.
 */
#include <json-c/json.h>
#include <stdio.h>
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

/**
 * struct subject - what a record is of, for an event
 * @tenant: whose it is; empty: nobody's, or it is not known
 * @name: its name
 */
struct subject {
	char	tenant[IDENTITY_LEN];
	char	name[STORE_KEY_MAX + 1];
};

static void find_subject(struct subject *s, const char *key)
{
	const char *name = reservation_of(key, s->tenant);
	char *end;

	if (!name) {
		s->tenant[0] = '\0';
		name = strchr(key, '/');
		name = name ? name + 1 : key;
	}
	snprintf(s->name, sizeof(s->name), "%s", name);
	/* The root's tree follows. */
	end = strrchr(s->name, '/');
	if (end && !strncmp(key, GROUP_PREFIX, strlen(GROUP_PREFIX)))
		*end = '\0';
}

static void tell_failure(struct manager *m, const char *key, const char *what,
			 const char *err)
{
	struct subject s;

	find_subject(&s, key);
	event_log_of(&m->events, EVENT_STORE_FAILED,
		     s.tenant[0] ? s.tenant : NULL, s.name,
		     "the record %s is %s%s%.200s", key, what, err ? ": " : "",
		     err ? err : "");
}

/* --- Who waits ----------------------------------------------------------- */

/**
 * struct write - a record is written or deleted
 * @m: manager
 * @number: its number, from 1
 */
struct write {
	struct manager	*m;
	uint64_t	number;
};

/* NULL: no memory; then there is no event. */
static struct write *write_new(struct manager *m)
{
	struct write *w = calloc(1, sizeof(*w));

	m->state.writes++;
	if (w)
		*w = (struct write) { m, m->state.writes };
	return w;
}

/* They end in their order. */
static void write_end(const struct write *done, const char *err)
{
	struct state_wait **link = &done->m->state.waits, *w;

	while ((w = *link)) {
		if (err && !w->err[0] && done->number >= w->first)
			snprintf(w->err, sizeof(w->err), "%s", err);
		if (done->number < w->last) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		w->done(w, w->err[0] ? w->err : NULL);
	}
}

/*
 * Count the records that were to be written or deleted. Returns the number so
 * far.
 */
uint64_t state_writes(const struct manager *m)
{
	return m->state.writes;
}

/*
 * Have a function called once records are stored, or failed.
 * @since: state_writes() before the first of them; there is one
 */
void state_wait(struct manager *m, struct state_wait *w, uint64_t since)
{
	w->first = since + 1;
	w->last = m->state.writes;
	w->err[0] = '\0';
	w->next = m->state.waits;
	m->state.waits = w;
}

void state_wait_end(struct manager *m)
{
	struct state_wait *w;

	while ((w = m->state.waits)) {
		m->state.waits = w->next;
		w->done(w, "the manager ends");
	}
}

/* --- Records ------------------------------------------------------------- */

static void put_done(void *ctx, const char *key, struct store_record *list,
		     const char *err)
{
	struct write *w = ctx;

	if (err)
		tell_failure(w->m, key, "not stored, and tried again", err);
	write_end(w, err);
	free(w);
}

/* The next manager would take for real what has ended. */
static void del_done(void *ctx, const char *key, struct store_record *list,
		     const char *err)
{
	struct write *w = ctx;

	if (err)
		tell_failure(w->m, key, "not deleted, which is tried again",
			     err);
	write_end(w, err);
	free(w);
}

/*
 * Read a record that was written so. Returns JSON, for json_object_put();
 * NULL, after an event: it is damaged.
 */
struct json_object *state_get(struct manager *m, const struct store_record *rec,
			      enum json_type type)
{
	struct json_object *o = json_tokener_parse((const char *)rec->data);

	if (o && json_object_is_type(o, type))
		return o;
	json_object_put(o);
	tell_failure(m, rec->key, "damaged, and left out", NULL);
	return NULL;
}

/*
 * Write a record. If that fails there is an event. A record for which there is
 * no memory is not written: what holds is in memory.
 */
void state_put(struct manager *m, const char *key, struct json_object *o)
{
	char *text = end_text(o);
	struct write *w = text ? write_new(m) : NULL;

	/* The text is the store's then. */
	if (w)
		store_put(m->state.store, key, (uint8_t *)text, strlen(text),
			  put_done, w);
	else
		free(text);
}

/* Delete a record, if it exists. If that fails there is an event. */
void state_del(struct manager *m, const char *key)
{
	struct write *w = write_new(m);

	if (w)
		store_del(m->state.store, key, del_done, w);
}
