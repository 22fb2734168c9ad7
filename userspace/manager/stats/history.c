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

static unsigned int hash(enum series_kind kind, const char *name)
{
	uint32_t h = 2166136261u ^ (uint32_t)kind;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h % SERIES_BUCKETS;
}

/**
 * history_find() - find an object
 * @h: objects
 * @kind: what it is
 * @name: its name
 *
 * Return: object, or NULL.
 */
struct series *history_find(const struct history *h, enum series_kind kind,
			    const char *name)
{
	struct series *s = h->bucket[hash(kind, name)];

	while (s && (s->kind != kind || strcmp(s->name, name)))
		s = s->next;
	return s;
}

static void drop_ring(struct history *h, struct series *s)
{
	if (!s->ring)
		return;
	free(s->ring);
	s->ring = NULL;
	h->rings--;
}

/* Make room for a history: of the object that was not counted for longest. */
static bool make_room(struct history *h, int64_t second)
{
	struct series *s, *oldest = NULL;
	unsigned int i;

	if (h->rings < HISTORY_MAX)
		return true;
	for (i = 0; i < SERIES_BUCKETS; i++)
		for (s = h->bucket[i]; s; s = s->next)
			if (s->ring && s->used_at < second - 1 &&
			    (!oldest || s->used_at < oldest->used_at))
				oldest = s;
	if (!oldest)
		return false;
	drop_ring(h, oldest);
	return true;
}

/**
 * history_get() - find or make an object
 * @h: objects
 * @kind: what it is
 * @name: its name
 * @second: present time
 *
 * Return: object, or NULL: no memory.
 */
struct series *history_get(struct history *h, enum series_kind kind,
			   const char *name, int64_t second)
{
	struct series *s = history_find(h, kind, name);
	unsigned int i = hash(kind, name);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->kind = kind;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->first = second;
	s->seconds = second;
	s->used_at = second;
	s->next = h->bucket[i];
	h->bucket[i] = s;
	h->n++;
	if (make_room(h, second))
		s->ring = calloc(HISTORY_SECONDS, sizeof(*s->ring));
	h->rings += s->ring != NULL;
	return s;
}

/**
 * series_add() - count
 * @s: object
 * @delta: what is new
 * @second: present time
 */
void series_add(struct series *s, const struct counts *delta, int64_t second)
{
	s->total.rx += delta->rx;
	s->total.tx += delta->tx;
	s->total.messages += delta->messages;
	s->total.trouble += delta->trouble;
	s->used_at = second;
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
	struct series **link, *s;
	unsigned int i;

	for (i = 0; i < SERIES_BUCKETS; i++) {
		link = &h->bucket[i];
		while ((s = *link)) {
			if (s->used_at < second - HISTORY_SECONDS) {
				*link = s->next;
				drop_ring(h, s);
				free(s);
				h->n--;
				continue;
			}
			take(s, second, seconds);
			link = &s->next;
		}
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
	struct series *s;
	unsigned int i;

	for (i = 0; i < SERIES_BUCKETS; i++)
		while ((s = h->bucket[i])) {
			h->bucket[i] = s->next;
			drop_ring(h, s);
			free(s);
		}
}
