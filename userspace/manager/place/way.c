// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shortest paths to a switch: Dijkstra's algorithm with a bucket queue (Dial),
 * O(S + L) for S switches and L links, as the costs of links are small.
 */
#include <stdlib.h>
#include <string.h>

#include "place/work.h"

/**
 * struct queue - switches by their distance so far
 * @w: paths, with the lists
 * @n: number of switches in the queue
 */
struct queue {
	struct way	*w;
	uint32_t	n;
};

/*
 * Allocate room for paths. Returns false: no memory; way_free() must be called
 * anyway.
 */
bool way_init(struct way *w, uint32_t n)
{
	*w = (struct way){
		.dist = malloc(n * sizeof(*w->dist)),
		.order = calloc(n, sizeof(*w->order)),
		.next = calloc(n, sizeof(*w->next)),
		.prev = calloc(n, sizeof(*w->prev)),
	};
	/* PLACE_FAR and PLACE_NONE both have all bits set. */
	memset(w->heads, 0xff, sizeof(w->heads));
	if (w->dist)
		memset(w->dist, 0xff, n * sizeof(*w->dist));
	return w->dist && w->order && w->next && w->prev;
}

/* Free the room for paths. */
void way_free(struct way *w)
{
	free(w->dist);
	free(w->order);
	free(w->next);
	free(w->prev);
}

static void insert_switch(struct queue *q, uint32_t sw)
{
	uint32_t *head = &q->w->heads[q->w->dist[sw] % WAY_BUCKETS];

	q->w->next[sw] = *head;
	q->w->prev[sw] = PLACE_NONE;
	if (*head != PLACE_NONE)
		q->w->prev[*head] = sw;
	*head = sw;
	q->n++;
}

static void delete_switch(struct queue *q, uint32_t sw)
{
	uint32_t next = q->w->next[sw], prev = q->w->prev[sw];

	if (prev == PLACE_NONE)
		q->w->heads[q->w->dist[sw] % WAY_BUCKETS] = next;
	else
		q->w->next[prev] = next;
	if (next != PLACE_NONE)
		q->w->prev[next] = prev;
	q->n--;
}

static void settle_switch(struct queue *q, const struct place_fabric *f,
			  uint32_t sw, uint64_t limit)
{
	struct way *w = q->w;
	const struct place_link *link;
	uint32_t i, dist;

	delete_switch(q, sw);
	w->order[w->n++] = sw;
	for (i = f->first[sw]; i < f->first[sw + 1]; i++) {
		link = &f->links[i];
		dist = w->dist[sw] + link->cost;
		if (dist >= w->dist[link->to] || dist > limit)
			continue;
		if (w->dist[link->to] != PLACE_FAR)
			delete_switch(q, link->to);
		w->dist[link->to] = dist;
		insert_switch(q, link->to);
	}
}

/*
 * Find the shortest paths to a switch. Takes time only for the switches within the
 * limit: each switch is tried as the root of a tree, and most are too far away.
 * @limit: longest distance to search
 */
void way_find(struct way *w, const struct place_fabric *f, uint32_t to,
	      uint64_t limit)
{
	struct queue q = { .w = w };
	uint32_t dist = 0;

	/* Reset the last search: only switches in @order have a distance. */
	while (w->n)
		w->dist[w->order[--w->n]] = PLACE_FAR;
	w->dist[to] = 0;
	insert_switch(&q, to);
	while (q.n) {
		while (w->heads[dist % WAY_BUCKETS] == PLACE_NONE)
			dist++;
		settle_switch(&q, f, w->heads[dist % WAY_BUCKETS], limit);
	}
}
