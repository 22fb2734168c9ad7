// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See history.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop/loop.h"
#include "stats/history.h"

/* Name a kind of object. */
const char *series_kind_name(enum series_kind kind)
{
	static const char *const names[] = { "task", "switch", "client" };

	return kind < SERIES_KINDS ? names[kind] : "?";
}

static uint64_t hash_series(enum series_kind kind, const char *tenant,
			    const char *name)
{
	return index_hash_text(index_hash_text(kind, tenant), name);
}

/*
 * Find an object. Returns the object, or NULL.
 * @tenant: owner of a task; else empty
 */
struct series *history_find(const struct history *h, enum series_kind kind,
			    const char *tenant, const char *name)
{
	struct index_node *node =
		index_first(&h->index, hash_series(kind, tenant, name));
	struct series *s;

	for (; node; node = index_next(node)) {
		s = container_of(node, struct series, node);
		if (s->kind == kind && !strcmp(s->name, name) &&
		    !strcmp(s->tenant, tenant))
			return s;
	}
	return NULL;
}

/* Begin without objects. */
void history_init(struct history *h)
{
	memset(h, 0, sizeof(*h));
	LIST_INIT(&h->owners);
}

/* A list will do: owners are few, and looked up only for new objects. */
static struct series_owner *get_owner(struct history *h, enum series_kind kind,
				      const char *tenant)
{
	struct series_owner *o;

	LIST_FOREACH(o, &h->owners, next)
		if (o->kind == kind && !strcmp(o->tenant, tenant))
			return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->kind = kind;
	snprintf(o->tenant, sizeof(o->tenant), "%s", tenant);
	TAILQ_INIT(&o->by_use);
	TAILQ_INIT(&o->by_end);
	LIST_INSERT_HEAD(&h->owners, o, next);
	return o;
}

static void put_owner(struct series_owner *o)
{
	if (o->n)
		return;
	LIST_REMOVE(o, next);
	free(o);
}

/* Find the owner with most histories: @mine, if no other has two more. */
static struct series_owner *most_rings(struct history *h,
				       struct series_owner *mine)
{
	struct series_owner *o, *most = mine;
	unsigned int n = mine->rings + 1;

	LIST_FOREACH(o, &h->owners, next)
		if (o->rings > n) {
			most = o;
			n = o->rings;
		}
	return most;
}

/* Find the owner with most ended tasks: @mine, unless another has more. */
static struct series_owner *most_ended(struct history *h,
				       struct series_owner *mine)
{
	struct series_owner *o, *most = mine;

	LIST_FOREACH(o, &h->owners, next)
		if (o->n_ended > most->n_ended)
			most = o;
	return most;
}

static void drop_ring(struct history *h, struct series *s)
{
	if (!s->ring)
		return;
	TAILQ_REMOVE(&s->owner->by_use, s, by_use);
	free(s->ring);
	s->ring = NULL;
	s->owner->rings--;
	h->rings--;
}

/*
 * Give an object a history. At the limit, the owner with most loses its least
 * recently used one; if that is the object's own owner, only an idle one.
 */
static void take_ring(struct history *h, struct series *s, int64_t second)
{
	struct series_owner *most;
	struct series *oldest;

	if (h->rings >= HISTORY_MAX) {
		most = most_rings(h, s->owner);
		oldest = TAILQ_FIRST(&most->by_use);
		if (!oldest || (most == s->owner && oldest->used_at >= second - 1))
			return;
		drop_ring(h, oldest);
	}
	s->ring = calloc(HISTORY_SECONDS, sizeof(*s->ring));
	if (!s->ring)
		return;
	TAILQ_INSERT_TAIL(&s->owner->by_use, s, by_use);
	s->owner->rings++;
	h->rings++;
}

static void drop_series(struct history *h, struct series *s)
{
	index_remove(&s->node);
	LIST_REMOVE(s, next);
	drop_ring(h, s);
	history_end(h, s, false);
	h->n--;
	s->owner->n--;
	put_owner(s->owner);
	free(s);
}

/*
 * Find or make an object. Returns the object, or NULL: no memory.
 * @tenant: owner of a task; else empty
 */
struct series *history_get(struct history *h, enum series_kind kind,
			   const char *tenant, const char *name, int64_t second)
{
	struct series *s = history_find(h, kind, tenant, name);
	struct series_owner *owner;

	if (s)
		return s;
	owner = get_owner(h, kind, tenant);
	s = owner ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		if (owner)
			put_owner(owner);
		return NULL;
	}
	owner->n++;
	s->owner = owner;
	s->kind = kind;
	snprintf(s->tenant, sizeof(s->tenant), "%s", tenant);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->first = second;
	s->seconds = second;
	s->used_at = second;
	index_add(&h->index, &s->node, hash_series(kind, tenant, name));
	LIST_INSERT_HEAD(&h->all, s, next);
	h->n++;
	take_ring(h, s, second);
	return s;
}

/*
 * Set whether a task has ended.
 * @s: task; may be freed if it has ended
 */
void history_end(struct history *h, struct series *s, bool ended)
{
	if (s->ended) {
		TAILQ_REMOVE(&s->owner->by_end, s, by_end);
		s->owner->n_ended--;
		h->n_ended--;
	}
	s->ended = ended;
	if (!ended)
		return;
	TAILQ_INSERT_TAIL(&s->owner->by_end, s, by_end);
	s->owner->n_ended++;
	h->n_ended++;
	if (h->n_ended > ENDED_MAX)
		drop_series(h, TAILQ_FIRST(&most_ended(h, s->owner)->by_end));
}

/* Count activity of an object. */
void history_add(struct series *s, const struct counts *delta, int64_t second)
{
	s->total.rx += delta->rx;
	s->total.tx += delta->tx;
	s->total.messages += delta->messages;
	s->total.trouble += delta->trouble;
	s->used_at = second;
	if (!s->ring)
		return;
	TAILQ_REMOVE(&s->owner->by_use, s, by_use);
	TAILQ_INSERT_TAIL(&s->owner->by_use, s, by_use);
}

static void take_sample(struct series *s, int64_t second, double seconds)
{
	const struct counts *a = &s->sampled, *b = &s->total;

	s->last = (struct sample){
		.rx = (float)((double)(b->rx - a->rx) / seconds),
		.tx = (float)((double)(b->tx - a->tx) / seconds),
		.messages = (float)((double)(b->messages - a->messages) /
				    seconds),
		.trouble = (float)((double)(b->trouble - a->trouble) /
				   seconds),
	};
	s->sampled = s->total;
	/* Missed seconds get the same rate. */
	for (; s->seconds <= second; s->seconds++)
		if (s->ring)
			s->ring[s->seconds % HISTORY_SECONDS] = s->last;
}

/*
 * Take a sample of each object.
 * @h: objects; they are freed an hour after they were last counted
 */
void history_tick(struct history *h, int64_t second, double seconds)
{
	struct series *s, *next;

	for (s = LIST_FIRST(&h->all); s; s = next) {
		next = LIST_NEXT(s, next);
		if (s->used_at < second - HISTORY_SECONDS)
			drop_series(h, s);
		else
			take_sample(s, second, seconds);
	}
}

/*
 * Find a sample. Returns the sample, or NULL: there is none for this second, or
 * it has been overwritten.
 */
const struct sample *series_at(const struct series *s, int64_t second)
{
	if (!s->ring || second < s->first || second >= s->seconds ||
	    second < s->seconds - HISTORY_SECONDS)
		return NULL;
	return &s->ring[second % HISTORY_SECONDS];
}

/* Free all objects. */
void history_free(struct history *h)
{
	while (!LIST_EMPTY(&h->all))
		drop_series(h, LIST_FIRST(&h->all));
	index_free(&h->index);
}
