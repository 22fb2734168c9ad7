// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records whose writers do not wait: memory has the current state, the store is
 * for the next manager.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "state/json_text.h"

/* Parse a reservation's key into its name and tenant; NULL: another key. */
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
 * struct subject - subject of a record, for an event
 * @tenant: its tenant; empty: none, or unknown
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
	/* A group's name is followed by the root's tree ID. */
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

/* --- Waiting ------------------------------------------------------------- */

/**
 * struct write - a write or deletion of a record
 * @m: manager
 * @number: its number, from 1
 */
struct write {
	struct manager	*m;
	uint64_t	number;
};

/* Returns NULL without memory; then there is no event. */
static struct write *write_new(struct manager *m)
{
	struct write *w = calloc(1, sizeof(*w));

	m->state.writes++;
	if (w)
		*w = (struct write) { m, m->state.writes };
	return w;
}

/* Writes end in the order of their numbers. */
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
 * Count the writes and deletions of records. Returns their number so far.
 */
uint64_t state_writes(const struct manager *m)
{
	return m->state.writes;
}

/*
 * Have a function called once records are stored, or failed.
 * @since: state_writes() before the first of them; at least one follows
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

/* A failure gets an event: the next manager would take over ended things. */
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
 * Parse a record of state_put(). Returns JSON, for json_object_put(); NULL,
 * after an event: the record is damaged.
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
 * Write a record. A failure causes an event. Without memory the record is not
 * written: only the next manager would need it.
 */
void state_put(struct manager *m, const char *key, struct json_object *o)
{
	char *text = end_text(o);
	struct write *w = text ? write_new(m) : NULL;

	/* The store frees the text. */
	if (w)
		store_put(m->state.store, key, (uint8_t *)text, strlen(text),
			  put_done, w);
	else
		free(text);
}

/* Delete a record, if it exists. A failure causes an event. */
void state_del(struct manager *m, const char *key)
{
	struct write *w = write_new(m);

	if (w)
		store_del(m->state.store, key, del_done, w);
}
