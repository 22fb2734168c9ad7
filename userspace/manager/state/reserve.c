// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reservations, which the store keeps until they end. The store has the wall
 * clock's time, the only one that a later manager shares; in memory they use a
 * clock that does not jump.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "manager.h"
#include "state/json_text.h"

/* A tenant's name may have slashes: its length makes the key unique. */
static void name_key(char key[STORE_KEY_MAX + 1], const struct reservation *r)
{
	snprintf(key, STORE_KEY_MAX + 1, RESERVE_PREFIX "%zu/%s/%s",
		 strlen(r->tenant->name), r->tenant->name, r->name);
}

static void put_number(struct json_object *o, const char *name, int64_t value)
{
	json_object_object_add(o, name, json_object_new_int64(value));
}

static int64_t get_number(struct json_object *o, const char *name)
{
	return json_object_get_int64(json_object_object_get(o, name));
}

/* --- The store ----------------------------------------------------------- */

static void persist_reservation(struct manager *m, const struct reservation *r)
{
	struct json_object *o = json_object_new_object();
	char key[STORE_KEY_MAX + 1];
	int64_t left = (r->until - now_ms() + 999) / 1000;

	put_text(o, "name", r->name);
	put_text(o, "tenant", r->tenant->name);
	put_text(o, "by", r->requester);
	put_number(o, "groups", r->groups);
	put_number(o, "ranks", r->ranks);
	if (r->until != INT64_MAX) {
		put_number(o, "until", time(NULL) + left);
		put_number(o, "length", left);
	}
	name_key(key, r);
	state_put(m, key, o);
}

/*
 * Get the seconds left of a reservation that ends. If the clock was set back, it
 * must not last longer than its whole length, which earlier managers did not store.
 */
static int64_t time_left(struct json_object *o)
{
	int64_t left = get_number(o, "until") - time(NULL);
	int64_t length = get_number(o, "length");

	return length && left > length ? length : left;
}

/* A promise holds even if the tenant's limits are lower today. */
static void restore_reservation(struct manager *m,
				const struct store_record *rec)
{
	struct json_object *o = state_get(m, rec, json_type_object);
	struct reservation wish = { .until = INT64_MAX }, *made;
	int64_t until = get_number(o, "until"), left = time_left(o);
	char why[256] = "its time is over";

	if (!o) {
		state_del(m, rec->key);
		return;
	}
	snprintf(wish.name, sizeof(wish.name), "%s", text_of(o, "name"));
	snprintf(wish.requester, sizeof(wish.requester), "%s",
		 text_of(o, "by"));
	wish.tenant = tenant_get(&m->tenants, text_of(o, "tenant"));
	wish.groups = (uint32_t)get_number(o, "groups");
	wish.ranks = (uint32_t)get_number(o, "ranks");
	if (until)
		wish.until = now_ms() + left * 1000;
	if (!wish.tenant || (until && left <= 0) ||
	    reservation_check(&m->tenants, &wish, why, sizeof(why)) ||
	    reservation_add(&m->tenants, &wish, &made, why, sizeof(why))) {
		state_del(m, rec->key);
		event_log_of(&m->events, EVENT_RESERVATION_OVER,
			     text_of(o, "tenant"), wish.name, "%s", why);
	}
	json_object_put(o);
}

/* Take over the reservations of the store. */
void reserve_restore(struct manager *m, const struct store_record *list)
{
	for (; list; list = list->next)
		if (!strncmp(list->key, RESERVE_PREFIX,
			     strlen(RESERVE_PREFIX)))
			restore_reservation(m, list);
}

/* Forget all reservations, without a change of the store. */
void reserve_forget(struct manager *m)
{
	while (m->tenants.reservations)
		reservation_end(&m->tenants, m->tenants.reservations);
}

/* --- Begin and end ------------------------------------------------------- */

/*
 * Make a reservation, and store it. Returns as tenant_reserve().
 * @len: size of @why in bytes
 */
int reserve_add(struct manager *m, const struct reservation *wish,
		struct reservation **made, char *why, size_t len)
{
	int ret = tenant_reserve(&m->tenants, wish, made, why, len);

	if (ret)
		return ret;
	if (m->state.store)
		persist_reservation(m, *made);
	event_log_of(&m->events, EVENT_RESERVED, wish->tenant->name,
		     wish->name, "%u group%s of %u ranks in all, by %s",
		     wish->groups, wish->groups == 1 ? "" : "s", wish->ranks,
		     wish->requester);
	return 0;
}

/* End a reservation. */
void reserve_end(struct manager *m, struct reservation *r, const char *why)
{
	char key[STORE_KEY_MAX + 1];

	name_key(key, r);
	if (m->state.store)
		state_del(m, key);
	event_log_of(&m->events, EVENT_RESERVATION_OVER, r->tenant->name,
		     r->name, "%s", why);
	reservation_end(&m->tenants, r);
}

/*
 * Get the time when reserve_expire() must be called. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t reserve_deadline(const struct manager *m)
{
	const struct reservation *r;
	int64_t at = INT64_MAX;

	for (r = m->tenants.reservations; r; r = r->next)
		if (r->until < at)
			at = r->until;
	return at;
}

/* End reservations whose time is over. */
void reserve_expire(struct manager *m)
{
	struct reservation *r, *next;

	for (r = m->tenants.reservations; r; r = next) {
		next = r->next;
		if (r->until <= m->loop.now)
			reserve_end(m, r, "its time is over");
	}
}
