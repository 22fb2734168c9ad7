// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shortest ways to a switch: Dijkstra's algorithm with a bucket queue (Dial),
 * O(S + L) for S switches and L links, as the costs of links are small.
 */
#include <stdlib.h>

#include "place/work.h"

#define BUCKETS	(PLACE_COST_MAX + 1)

/**
 * struct queue - switches by their distance so far
 * @w: has the links of the lists
 * @heads: first of each bucket, which has distances that are equal modulo
 *	BUCKETS
 * @n: number of switches in it
 */
struct queue {
	struct way	*w;
	uint32_t	heads[BUCKETS];
	uint32_t	n;
};

static void insert_switch(struct queue *q, uint32_t sw)
{
	uint32_t *head = &q->heads[q->w->dist[sw] % BUCKETS];

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
		q->heads[q->w->dist[sw] % BUCKETS] = next;
	else
		q->w->next[prev] = next;
	if (next != PLACE_NONE)
		q->w->prev[next] = prev;
	q->n--;
}

static void settle_switch(struct queue *q, const struct place_fabric *f,
			  uint32_t sw)
{
	struct way *w = q->w;
	const struct place_link *link;
	uint32_t i, dist;

	delete_switch(q, sw);
	w->order[w->n++] = sw;
	for (i = f->first[sw]; i < f->first[sw + 1]; i++) {
		link = &f->links[i];
		dist = w->dist[sw] + link->cost;
		if (dist >= w->dist[link->to])
			continue;
		if (w->dist[link->to] != PLACE_FAR)
			delete_switch(q, link->to);
		w->dist[link->to] = dist;
		insert_switch(q, link->to);
	}
}

/* Switches left in the queue are unreachable. */
static void drop_bucket(struct queue *q, uint32_t bucket)
{
	uint32_t sw;

	while ((sw = q->heads[bucket]) != PLACE_NONE) {
		delete_switch(q, sw);
		q->w->dist[sw] = PLACE_FAR;
	}
}

/**
 * way_find() - find the shortest ways to a switch
 * @w: result; has room for all switches
 * @f: fabric
 * @to: switch
 * @limit: what is farther away is not found
 */
void way_find(struct way *w, const struct place_fabric *f, uint32_t to,
	      uint64_t limit)
{
	struct queue q = { .w = w };
	uint32_t i, dist = 0;

	for (i = 0; i < BUCKETS; i++)
		q.heads[i] = PLACE_NONE;
	for (i = 0; i < f->n; i++)
		w->dist[i] = PLACE_FAR;
	w->n = 0;
	w->dist[to] = 0;
	insert_switch(&q, to);
	while (q.n) {
		while (q.heads[dist % BUCKETS] == PLACE_NONE)
			dist++;
		if (dist > limit)
			break;
		settle_switch(&q, f, q.heads[dist % BUCKETS]);
	}
	for (i = 0; q.n && i < BUCKETS; i++)
		drop_bucket(&q, i);
}
