// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See history.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/history.h"

/**
 * series_kind_name() - name a kind of object
 * @kind: kind
 *
 * Return: its name.
 */
const char *series_kind_name(enum series_kind kind)
{
	static const char *const names[] = { "task", "switch", "client" };

	return kind < SERIES_KINDS ? names[kind] : "?";
}

static uint32_t mix(uint32_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static unsigned int hash(enum series_kind kind, const char *tenant,
			 const char *name)
{
	return mix(mix(2166136261u ^ (uint32_t)kind, tenant), name) %
	       SERIES_BUCKETS;
}

/**
 * history_find() - find an object
 * @h: objects
 * @kind: what it is
 * @tenant: whose it is; empty if it is no task
 * @name: its name
 *
 * Return: object, or NULL.
 */
struct series *history_find(const struct history *h, enum series_kind kind,
			    const char *tenant, const char *name)
{
	struct series *s = h->bucket[hash(kind, tenant, name)];

	while (s && (s->kind != kind || strcmp(s->name, name) ||
		     strcmp(s->tenant, tenant)))
		s = s->next;
	return s;
}

/**
 * history_init() - begin without objects
 * @h: objects
 */
void history_init(struct history *h)
{
	memset(h, 0, sizeof(*h));
	TAILQ_INIT(&h->by_use);
	TAILQ_INIT(&h->by_end);
}

static void drop_ring(struct history *h, struct series *s)
{
	if (!s->ring)
		return;
	TAILQ_REMOVE(&h->by_use, s, by_use);
	free(s->ring);
	s->ring = NULL;
	h->rings--;
}

/* From the object that was not counted for longest, if there are too many. */
static void take_ring(struct history *h, struct series *s, int64_t second)
{
	struct series *oldest = TAILQ_FIRST(&h->by_use);

	if (h->rings >= HISTORY_MAX) {
		if (oldest->used_at >= second - 1)
			return;
		drop_ring(h, oldest);
	}
	s->ring = calloc(HISTORY_SECONDS, sizeof(*s->ring));
	if (!s->ring)
		return;
	TAILQ_INSERT_TAIL(&h->by_use, s, by_use);
	h->rings++;
}

static void drop(struct history *h, struct series *s)
{
	struct series **link = &h->bucket[hash(s->kind, s->tenant, s->name)];

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	drop_ring(h, s);
	history_end(h, s, false);
	h->n--;
	free(s);
}

/**
 * history_get() - find or make an object
 * @h: objects
 * @kind: what it is
 * @tenant: whose it is; empty if it is no task
 * @name: its name
 * @second: present time
 *
 * Return: object, or NULL: no memory.
 */
struct series *history_get(struct history *h, enum series_kind kind,
			   const char *tenant, const char *name, int64_t second)
{
	struct series *s = history_find(h, kind, tenant, name);
	unsigned int i = hash(kind, tenant, name);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->kind = kind;
	snprintf(s->tenant, sizeof(s->tenant), "%s", tenant);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->first = second;
	s->seconds = second;
	s->used_at = second;
	s->next = h->bucket[i];
	h->bucket[i] = s;
	h->n++;
	take_ring(h, s, second);
	return s;
}

/**
 * history_end() - say whether a task has ended
 * @h: objects
 * @s: task; may be freed, if it has
 * @ended: whether it has
 */
void history_end(struct history *h, struct series *s, bool ended)
{
	if (s->ended) {
		TAILQ_REMOVE(&h->by_end, s, by_end);
		h->ended--;
	}
	s->ended = ended;
	if (!ended)
		return;
	TAILQ_INSERT_TAIL(&h->by_end, s, by_end);
	h->ended++;
	if (h->ended > ENDED_MAX)
		drop(h, TAILQ_FIRST(&h->by_end));
}

/**
 * history_add() - count
 * @h: objects
 * @s: object
 * @delta: what is new
 * @second: present time
 */
void history_add(struct history *h, struct series *s,
		 const struct counts *delta, int64_t second)
{
	s->total.rx += delta->rx;
	s->total.tx += delta->tx;
	s->total.messages += delta->messages;
	s->total.trouble += delta->trouble;
	s->used_at = second;
	if (!s->ring)
		return;
	TAILQ_REMOVE(&h->by_use, s, by_use);
	TAILQ_INSERT_TAIL(&h->by_use, s, by_use);
}

static void take(struct series *s, int64_t second, double seconds)
{
	const struct counts *a = &s->taken, *b = &s->total;

	s->last = (struct sample){
		.rx = (float)((double)(b->rx - a->rx) / seconds),
		.tx = (float)((double)(b->tx - a->tx) / seconds),
		.messages = (float)((double)(b->messages - a->messages) /
				    seconds),
		.trouble = (float)((double)(b->trouble - a->trouble) /
				   seconds),
	};
	s->taken = s->total;
	/* Seconds that were missed had the same rate. */
	for (; s->seconds <= second; s->seconds++)
		if (s->ring)
			s->ring[s->seconds % HISTORY_SECONDS] = s->last;
}

/**
 * history_tick() - take a sample of each object
 * @h: objects; those that were not counted for an hour are freed
 * @second: present time
 * @seconds: time since the last samples
 */
void history_tick(struct history *h, int64_t second, double seconds)
{
	struct series *s, *next;
	unsigned int i;

	for (i = 0; i < SERIES_BUCKETS; i++)
		for (s = h->bucket[i]; s; s = next) {
			next = s->next;
			if (s->used_at < second - HISTORY_SECONDS)
				drop(h, s);
			else
				take(s, second, seconds);
		}
}

/**
 * series_at() - find a sample
 * @s: object
 * @second: time
 *
 * Return: the sample, or NULL if there is none of this second, or none any more.
 */
const struct sample *series_at(const struct series *s, int64_t second)
{
	if (!s->ring || second < s->first || second >= s->seconds ||
	    second < s->seconds - HISTORY_SECONDS)
		return NULL;
	return &s->ring[second % HISTORY_SECONDS];
}

/**
 * history_free() - free all objects
 * @h: objects
 */
void history_free(struct history *h)
{
	unsigned int i;

	for (i = 0; i < SERIES_BUCKETS; i++)
		while (h->bucket[i])
			drop(h, h->bucket[i]);
}
