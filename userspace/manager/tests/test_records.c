// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records of the store that are damaged, or cannot be written: what events say,
 * and what is done. KTAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "manager.h"
#include "event_get.h"

#define PATIENCE_MS	60000	/* more than any machine takes */
#define FIRST		(1U << 30)	/* as in ids.c */
#define SHARE_IDS	(1U << 18)

static unsigned int number, failures;
static struct manager m;

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

/* --- A database that has the last record --------------------------------- */

/**
 * struct last - the database
 * @db: what the store sees
 * @full: nothing can be written
 * @writes: how often it was tried
 * @key: of the record that was written or deleted last
 * @text: what it has; empty: it was deleted
 */
static struct last {
	struct store_db	db;
	_Atomic bool	full;
	_Atomic int	writes;
	char		key[STORE_KEY_MAX + 1];
	char		text[512];
} last;

static int last_write(const char *key, const uint8_t *data, size_t len,
		      char *err)
{
	int ret = 0;

	if (last.full) {
		ret = store_failed(err, -ENOSPC, "full");
	} else {
		snprintf(last.key, sizeof(last.key), "%s", key);
		snprintf(last.text, sizeof(last.text), "%.*s", (int)len, data);
	}
	last.writes++;
	return ret;
}

static int last_put(struct store_db *db, const char *key, const uint8_t *data,
		    size_t len, char *err)
{
	(void)db;
	return last_write(key, data, len, err);
}

static int last_del(struct store_db *db, const char *key, char *err)
{
	(void)db;
	return last_write(key, (const uint8_t *)"", 0, err);
}

static int last_lead(struct store_db *db, struct store_lead *lead, char *err)
{
	(void)db;
	(void)err;
	lead->leads = true;
	lead->valid_until = INT64_MAX;
	return 0;
}

static void last_close(struct store_db *db)
{
	(void)db;
}

static void begin(bool full)
{
	static const struct store_ops ops = {
		.put = last_put, .del = last_del, .lead = last_lead,
		.close = last_close,
	};

	memset(&m, 0, sizeof(m));
	memset(&last, 0, sizeof(last));
	last.full = full;
	last.db.ops = &ops;
	m.o.store = "sqlite:/FILE";
	loop_init(&m.loop);
	m.tenants.policy = policy_new();
	if (events_init(&m.events) || !m.tenants.policy)
		abort();
	m.state.store = store_start(&m.loop, &last.db);
}

static void end(void)
{
	store_stop(m.state.store);
	links_free(&m);
	drain_forget(&m);
	tenants_close(&m.tenants);
	events_free(&m.events);
	timers_free(&m.loop.timers);
}

static void wait_writes(int n)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (last.writes < n && now_ms() < until)
		loop_turn(&m.loop, now_ms() + 10);
	loop_turn(&m.loop, now_ms() + 10);
}

/* The last event says that. */
static bool said(const char *tenant, const char *subject, const char *text)
{
	const struct event *ev = event_get(&m.events, m.events.last);

	return ev && !strcmp(ev->kind, EVENT_STORE_FAILED) &&
	       !strcmp(ev->tenant, tenant) && !strcmp(ev->subject, subject) &&
	       strstr(ev->text, text);
}

/* It does when the store's thread has told the loop, which may take its time. */
static bool will_say(const char *tenant, const char *subject, const char *text)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (!said(tenant, subject, text) && now_ms() < until)
		loop_turn(&m.loop, now_ms() + 10);
	return said(tenant, subject, text);
}

static struct store_record *record(const char *key, const char *text)
{
	return store_record_new(key, text, strlen(text));
}

/* --- Cases --------------------------------------------------------------- */

static void good_share(void)
{
	struct store_record *rec = record("tree-ids", "{\"share\":5}");

	begin(false);
	ids_restore(&m, rec);
	ok(m.fabric.ids.first == FIRST + 5 * SHARE_IDS && !m.events.last &&
	   !last.writes, "the store's share of the IDs of trees is used");
	store_list_free(rec);
	end();
}

/* What is said of such a tree's end may come late. */
static void used_ids(void)
{
	uint32_t next;

	begin(false);
	m.o.first_tree = 100;
	m.o.last_tree = 200;
	ids_start(&m);
	m.fabric.ids.next = 150;
	ids_used(&m, 150);
	next = m.fabric.ids.next;
	ids_used(&m, 120);
	ok(next == 151 && m.fabric.ids.next == 151,
	   "new trees have other IDs than one that was taken over");
	ids_used(&m, 160);
	ids_used(&m, 155);
	ok(m.fabric.ids.next == 161, "than all of them");
	ids_used(&m, 201);
	ok(m.fabric.ids.next == 161, "another manager's do not count");
	ids_used(&m, 200);
	ok(m.fabric.ids.next == 100, "the first comes after the last");
	end();
}

static void damaged_share(const char *text)
{
	struct store_record *rec = record("tree-ids", text);
	struct json_object *o;
	uint32_t share;
	char what[80];

	begin(false);
	ids_restore(&m, rec);
	wait_writes(1);
	o = json_tokener_parse(last.text);
	share = (uint32_t)json_object_get_int(json_object_object_get(o,
								     "share"));
	snprintf(what, sizeof(what), "tree-ids is %s: there is an event", text);
	ok(said("", "tree-ids", "tree-ids"), what);
	ok(!strcmp(last.key, "tree-ids") && json_object_object_length(o) == 1 &&
	   m.fabric.ids.first == FIRST + share * SHARE_IDS,
	   "and a new share is drawn, and written");
	json_object_put(o);
	store_list_free(rec);
	end();
}

static void damaged(const char *key, const char *tenant, const char *subject,
		    void (*restore)(struct manager *m,
				    const struct store_record *list))
{
	struct store_record *rec = record(key, "{");
	char what[80];

	begin(false);
	restore(&m, rec);
	snprintf(what, sizeof(what), "%s is damaged: there is an event", key);
	ok(m.events.last == 1 && said(tenant, subject, "is damaged"), what);
	store_list_free(rec);
	end();
}

static void full(const char *tenant, const char *name)
{
	struct reservation wish = {
		.groups = 1, .ranks = 4, .until = INT64_MAX,
		.requester = "ruth",
	}, *made;
	char why[256], what[80];

	begin(true);
	wish.tenant = tenant_get(&m.tenants, tenant);
	snprintf(wish.name, sizeof(wish.name), "%s", name);
	if (reserve_add(&m, &wish, &made, why, sizeof(why)))
		abort();
	wait_writes(1);
	snprintf(what, sizeof(what), "an event names reservation %s of \"%s\"",
		 name, tenant);
	ok(will_say(tenant, name, "tried again: full"), what);
	end();
}

/* The clock was set back, or forth, after it was made for an hour. */
static void restored(int64_t set_s, const char *length, int64_t left_s,
		     const char *what)
{
	char text[256];
	struct store_record rec = {
		.key = "reserve/3/red/r1", .data = (uint8_t *)text,
	};
	const struct reservation *r;

	begin(false);
	rec.len = (size_t)snprintf(text, sizeof(text),
		"{\"name\":\"r1\",\"tenant\":\"red\",\"by\":\"ruth\",\"groups\":1,\"ranks\":4,\"until\":%lld%s}",
		(long long)(time(NULL) - set_s + 3600), length);
	reserve_restore(&m, &rec);
	r = m.tenants.reservations;
	ok(left_s ? r && llabs((r->until - now_ms()) / 1000 - left_s) < 5 : !r,
	   what);
	reserve_forget(&m);
	end();
}

/* Else it would come back with the next manager, and nobody would know why. */
static void not_deleted(const char *tenant, const char *name)
{
	struct reservation wish = {
		.groups = 1, .ranks = 4, .until = INT64_MAX,
		.requester = "ruth",
	}, *made;
	char why[256], what[96];

	begin(false);
	wish.tenant = tenant_get(&m.tenants, tenant);
	snprintf(wish.name, sizeof(wish.name), "%s", name);
	if (reserve_add(&m, &wish, &made, why, sizeof(why)))
		abort();
	wait_writes(1);
	last.full = true;
	reserve_end(&m, made, "by ruth");
	wait_writes(2);
	snprintf(what, sizeof(what), "%s of \"%s\" cannot be deleted: there is an event",
		 name, tenant);
	ok(last.text[0] &&
	   will_say(tenant, name, "not deleted, which is tried again: full"),
	   what);
	last.full = false;
	end();
	ok(!last.text[0], "and it is deleted when there is room");
}

static void group_not_deleted(void)
{
	begin(true);
	state_del(&m, "group/job/7");
	wait_writes(1);
	ok(will_say("", "job", "record group/job/7 is not deleted"),
	   "the record of a group cannot be deleted: the event names the group");
	end();
}

/* --- Who waits for records ------------------------------------------------ */

static struct waiting {
	struct state_wait	wait;
	unsigned int		calls;
	char			err[64];
} waiting[2];

static void was_told(struct state_wait *wait, const char *err)
{
	struct waiting *w = container_of(wait, struct waiting, wait);

	w->calls++;
	snprintf(w->err, sizeof(w->err), "%s", err ? err : "");
}

static void waits(struct waiting *w)
{
	uint64_t since = state_writes(&m);
	int64_t until = now_ms() + PATIENCE_MS;

	state_del(&m, "drain/a");
	state_del(&m, "drain/b");
	w->wait.done = was_told;
	state_wait(&m, &w->wait, since);
	while (!w->calls && now_ms() < until)
		loop_turn(&m.loop, now_ms() + 10);
}

static void waited(void)
{
	memset(waiting, 0, sizeof(waiting));
	begin(false);
	waits(&waiting[0]);
	ok(waiting[0].calls == 1 && !waiting[0].err[0] && last.writes == 2,
	   "stored: who waits is told once, after the last record");
	last.full = true;
	waits(&waiting[1]);
	ok(waiting[1].calls == 1 && !strcmp(waiting[1].err, "full") &&
	   waiting[0].calls == 1, "not stored: who waits is told why");
	end();
}

/* The manager ends: nothing is left behind. */
static void waited_at_the_end(void)
{
	memset(waiting, 0, sizeof(waiting));
	begin(false);
	waiting[0].wait.done = was_told;
	m.state.writes++;
	state_wait(&m, &waiting[0].wait, 0);
	state_wait_end(&m);
	ok(waiting[0].calls == 1 && waiting[0].err[0] && !m.state.waits,
	   "the manager ends: who waits is told");
	end();
}

int main(void)
{
	good_share();
	used_ids();
	damaged_share("{");
	damaged_share("[5]");
	damaged_share("{}");
	damaged_share("{\"share\":\"x\"}");
	damaged_share("{\"share\":4096}");
	damaged_share("{\"share\":-1}");
	damaged("drain/sw1", "", "sw1", drain_restore);
	damaged("name/sw1", "", "sw1", names_restore);
	damaged("links/sw1", "", "sw1", links_restore);
	damaged("reserve/3/red/r1", "red", "r1", reserve_restore);
	damaged("reserve/x", "", "x", reserve_restore);
	full("", "r1");
	full("a/b", "c/d");
	restored(0, ",\"length\":3600", 3600, "a reservation for an hour");
	restored(-6 * 86400, ",\"length\":3600", 3600,
		 "the clock was set back: it lasts no longer than an hour");
	restored(1800, ",\"length\":3600", 1800, "half of it is over");
	restored(7200, ",\"length\":3600", 0, "all of it is over");
	restored(-1800, "", 5400, "an earlier manager's record has no length");
	not_deleted("", "r1");
	not_deleted("a/b", "c/d");
	group_not_deleted();
	waited();
	waited_at_the_end();
	return failures != 0;
}
