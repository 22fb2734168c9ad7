// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The store: records in memory. An operation is done when the fuzzer says so; it
 * fails at times, and the lead is lost at times. In place of store/.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake.h"

/**
 * struct op - an operation that waits
 * @next: next one
 * @key: key, or prefix
 * @data: bytes; NULL: none are written
 * @lists: it lists, else it deletes if @data is NULL
 * @done: callback, or NULL
 * @ctx: its argument
 */
struct op {
	struct op	*next;
	char		key[STORE_KEY_MAX + 1];
	uint8_t		*data;
	bool		lists;
	store_done	*done;
	void		*ctx;
};

static struct op *ops;
static struct store_record *records;
static bool leading;

static void submit(const char *key, const uint8_t *data, bool lists,
		   store_done *done, void *ctx)
{
	struct op **link = &ops, *op = calloc(1, sizeof(*op));

	if (!op)
		abort();
	snprintf(op->key, sizeof(op->key), "%s", key);
	op->data = (uint8_t *)data;
	op->lists = lists;
	op->done = done;
	op->ctx = ctx;
	while (*link)
		link = &(*link)->next;
	*link = op;
}

static void del(const char *key)
{
	struct store_record **link = &records, *r;

	while ((r = *link)) {
		if (strcmp(r->key, key)) {
			link = &r->next;
			continue;
		}
		*link = r->next;
		r->next = NULL;
		store_list_free(r);
	}
}

static struct store_record *list(const char *prefix)
{
	struct store_record *out = NULL, **tail = &out, *r;

	for (r = records; r; r = r->next) {
		if (strncmp(r->key, prefix, strlen(prefix)))
			continue;
		*tail = store_record_new(r->key, r->data, r->len);
		tail = &(*tail)->next;
	}
	return out;
}

/**
 * fake_store_run() - do the next operation
 *
 * Return: false if there is none.
 */
bool fake_store_run(void)
{
	struct store_record *r, *found = NULL;
	struct op *op = ops;
	bool fails;

	if (!op)
		return false;
	ops = op->next;
	fails = !leading || !fuzz_any(20);
	if (!fails && op->lists) {
		found = list(op->key);
	} else if (!fails) {
		del(op->key);
		r = op->data ? store_record_new(op->key, op->data,
						strlen((char *)op->data)) :
			       NULL;
		if (r)
			r->next = records;
		if (r)
			records = r;
	}
	if (op->done)
		op->done(op->ctx, op->key, found, fails ? "full" : NULL);
	free(op->data);
	free(op);
	return true;
}

/**
 * fake_store_lead() - become the leader, or lose that
 * @leads: whether the manager leads
 */
void fake_store_lead(bool leads)
{
	leading = leads;
}

/**
 * fake_store_free() - forget everything
 */
void fake_store_free(void)
{
	store_list_free(records);
	records = NULL;
}

/* --- store.h ------------------------------------------------------------- */

struct store *store_start(struct loop *loop, struct store_db *db)
{
	static char some;

	(void)loop;
	(void)db;
	return (struct store *)&some;
}

void store_stop(struct store *s)
{
	(void)s;
	while (fake_store_run())
		;
}

void store_put(struct store *s, const char *key, const uint8_t *data,
	       size_t len, store_done *done, void *ctx)
{
	(void)s;
	(void)len;
	submit(key, data, false, done, ctx);
}

void store_del(struct store *s, const char *key, store_done *done, void *ctx)
{
	(void)s;
	submit(key, NULL, false, done, ctx);
}

void store_list(struct store *s, const char *prefix, store_done *done,
		void *ctx)
{
	(void)s;
	submit(prefix, NULL, true, done, ctx);
}

bool store_leads(const struct store *s)
{
	return !s || leading;
}

int64_t store_until(const struct store *s)
{
	(void)s;
	return INT64_MAX;
}

bool store_last_ended(const struct store *s)
{
	(void)s;
	return fuzz_any(2);
}

const char *store_why(const struct store *s)
{
	(void)s;
	return fuzz_any(2) ? "" : "trouble";
}

const char *store_leader(const struct store *s)
{
	(void)s;
	return "another:1";
}
