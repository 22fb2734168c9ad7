// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The tree for a given root. Switches are visited from the farthest to the
 * nearest: at each, streams merge where they can, and move on to a neighbour
 * that is nearer to the root. Of several, this is the neighbour to which
 * streams can move from most switches, since they can merge there; among
 * equals, the one whose link has the least load.
 *
 * Each stream is visited once at each switch on its path: O(S + L + R D) for
 * paths of D links, and R initial streams.
 */
#include <stdlib.h>
#include <string.h>

#include "place/work.h"

/* Get a node's limit of members. Returns the limit. */
uint32_t merge_limit(const struct place_fabric *f, uint32_t sw, bool nodes)
{
	uint32_t most = nodes ? f->max_members : f->max_hosts;
	uint32_t own = f->switches[sw].members;

	return own && own < most ? own : most;
}

/*
 * Check whether a node must not have a member. Returns true if so.
 * @hosts: the member is a host, else a node
 */
bool merge_apart(const struct place_fabric *f, uint32_t sw, uint32_t below,
		 bool hosts)
{
	const struct place_apart *a;

	for (a = f->apart; a < f->apart + f->naparts; a++)
		if (a->hosts == hosts &&
		    ((a->sw == sw && a->below == below) ||
		     (!hosts && a->sw == below && a->below == sw)))
			return true;
	return false;
}

static bool is_apart(const struct place_work *w, const struct stream *s,
		     uint32_t sw)
{
	bool hosts = s->node == PLACE_NONE;

	return w->f->naparts &&
	       merge_apart(w->f, sw, hosts ? w->rank_switches[s->first] :
					     w->nodes[s->node].sw, hosts);
}

static uint32_t count_members(const struct stream *s)
{
	return s->node == PLACE_NONE ? s->count : 1;
}

/* Cut ranks into streams: consecutive ranks at the same switch. */
void merge_start(struct place_work *w, uint32_t first, uint32_t count)
{
	struct stream *s = NULL;
	uint32_t r, n = 0;

	w->first = first;
	w->count = count;
	for (r = first; r < first + count; r++) {
		if (s && s->sw == w->rank_switches[r]) {
			s->count++;
			continue;
		}
		s = &w->start[n];
		*s = (struct stream){
			.first = r, .count = 1, .node = PLACE_NONE,
			.sw = w->rank_switches[r], .prev = n - 1, .next = n + 1,
		};
		n++;
	}
	/* The first one's @prev is PLACE_NONE already: 0 - 1. */
	s->next = PLACE_NONE;
	w->nstart = n;
}

/* --- Moving -------------------------------------------------------------- */

static bool is_nearer(const struct place_work *w, uint32_t sw,
		      const struct place_link *link)
{
	return w->way.dist[link->to] != PLACE_FAR &&
	       w->way.dist[link->to] + link->cost == w->way.dist[sw];
}

/* Add a stream to a switch. */
static void add_stream(struct place_work *w, uint32_t stream, uint32_t sw)
{
	const struct place_fabric *f = w->f;
	uint32_t i;

	if (w->head[sw] == PLACE_NONE)
		for (i = f->first[sw]; i < f->first[sw + 1]; i++)
			if (is_nearer(w, sw, &f->links[i]))
				w->wanted[f->links[i].to]++;
	w->streams[stream].sw = sw;
	w->streams[stream].peer = w->head[sw];
	w->head[sw] = stream;
}

static const struct place_link *choose_link(const struct place_work *w,
					    uint32_t sw)
{
	const struct place_link *best = NULL, *link;
	uint32_t i;

	for (i = w->f->first[sw]; i < w->f->first[sw + 1]; i++) {
		link = &w->f->links[i];
		if (!is_nearer(w, sw, link))
			continue;
		if (best && w->wanted[best->to] != w->wanted[link->to]) {
			if (w->wanted[link->to] > w->wanted[best->to])
				best = link;
			continue;
		}
		if (!best || link->load < best->load)
			best = link;
	}
	return best;
}

static void move_on(struct place_work *w, uint32_t sw)
{
	const struct place_link *link = choose_link(w, sw);
	uint32_t i, next, n;

	for (i = w->head[sw]; i != PLACE_NONE; i = next) {
		next = w->streams[i].peer;
		if (w->streams[i].sw != sw)
			continue;
		n = count_members(&w->streams[i]);
		w->cost += (uint64_t)n * link->cost;
		w->load += n * link->load;
		add_stream(w, i, link->to);
	}
}

/* --- Merging ------------------------------------------------------------- */

static int by_members(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->members != y->members)
		return x->members < y->members ? 1 : -1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* Find runs of more than one member at a switch. */
static uint32_t find_runs(struct place_work *w, uint32_t sw)
{
	const struct stream *s;
	uint32_t i, k, n = 0;

	for (i = w->head[sw]; i != PLACE_NONE; i = w->streams[i].peer) {
		s = &w->streams[i];
		if (s->prev != PLACE_NONE && w->streams[s->prev].sw == sw)
			continue;
		w->runs[n] = (struct run){ .stream = i };
		for (k = i; k != PLACE_NONE && w->streams[k].sw == sw;
		     k = w->streams[k].next)
			w->runs[n].members += count_members(&w->streams[k]);
		n += w->runs[n].members > 1;
	}
	/* If not all have room, the largest runs go first: they save most. */
	if (n > w->room[sw] - w->used[sw])
		qsort(w->runs, n, sizeof(*w->runs), by_members);
	return n;
}

/* Shorten a stream of hosts; a new stream gets the rest. */
static void split_stream(struct place_work *w, uint32_t stream, uint32_t count)
{
	struct stream *s = &w->streams[stream];
	uint32_t other = w->nstreams++;
	struct stream *o = &w->streams[other];

	*o = *s;
	o->first += count;
	o->count -= count;
	o->prev = stream;
	if (s->next != PLACE_NONE)
		w->streams[s->next].prev = other;
	s->count = count;
	s->next = other;
	s->peer = other;
}

/* Make a node. Returns its place in @w->nodes. */
uint32_t merge_node(struct place_work *w, uint32_t sw, uint32_t first,
		    uint32_t count, uint32_t m)
{
	w->nodes[w->ntried] = (struct place_node){
		.sw = sw, .parent = PLACE_NONE, .first = first, .count = count,
		.members = m,
	};
	w->used[sw]++;
	w->load += w->f->switches[sw].load;
	return w->ntried++;
}

/*
 * Make a node, with as many members as it may have, from a stream on. Returns
 * the next stream after the members, or after one that may not be a member.
 */
static uint32_t make_node(struct place_work *w, uint32_t sw, uint32_t stream)
{
	struct stream *head = &w->streams[stream], *s;
	uint32_t n = 0, count = 0, depth = 0, i, most;
	bool nodes = false;

	for (i = stream; i != PLACE_NONE; i = s->next) {
		s = &w->streams[i];
		if (s->sw != sw || is_apart(w, s, sw))
			break;
		most = merge_limit(w->f, sw, nodes || s->node != PLACE_NONE);
		if (n >= most)
			break;
		if (count_members(s) > most - n)
			split_stream(w, i, most - n);
		nodes |= s->node != PLACE_NONE;
		n += count_members(s);
		count += s->count;
		depth = s->depth > depth ? s->depth : depth;
		if (s != head)
			s->sw = PLACE_NONE;
	}
	if (n < 2)
		return i == stream ? s->next : i;
	head->count = count;
	head->depth = depth + 1;
	head->node = merge_node(w, sw, head->first, count, n);
	head->next = i;
	if (i != PLACE_NONE)
		w->streams[i].prev = stream;
	return i;
}

static void become_one(struct place_work *w, uint32_t sw)
{
	uint32_t n, i, k;

	if (w->flat || w->room[sw] <= w->used[sw] ||
	    merge_limit(w->f, sw, true) < 2)
		return;
	n = find_runs(w, sw);
	for (i = 0; i < n; i++)
		for (k = w->runs[i].stream;
		     k != PLACE_NONE && w->streams[k].sw == sw &&
		     w->room[sw] > w->used[sw];)
			k = make_node(w, sw, k);
}

/* --- All ----------------------------------------------------------------- */

static bool begin_trial(struct place_work *w)
{
	uint32_t i;

	/* Most roots are too far away from some rank. */
	for (i = 0; i < w->nstart; i++)
		if (w->way.dist[w->start[i].sw] == PLACE_FAR)
			return false;
	memset(w->head, 0xff, w->f->n * sizeof(*w->head));
	memset(w->wanted, 0, w->f->n * sizeof(*w->wanted));
	memset(w->used, 0, w->f->n * sizeof(*w->used));
	memcpy(w->streams, w->start, w->nstart * sizeof(*w->start));
	w->nstreams = w->nstart;
	w->ntried = w->nnodes;
	w->cost = 0;
	w->load = 0;
	for (i = 0; i < w->nstart; i++)
		add_stream(w, i, w->start[i].sw);
	return true;
}

/*
 * Move all streams to a root. Returns false if one cannot reach it, or if this
 * costs more than @w->limit.
 */
bool merge_to(struct place_work *w, uint32_t root)
{
	uint32_t i, sw;

	if (!begin_trial(w))
		return false;
	for (i = w->way.n; i-- && w->cost <= w->limit;) {
		sw = w->way.order[i];
		if (w->head[sw] == PLACE_NONE || sw == root)
			continue;
		become_one(w, sw);
		move_on(w, sw);
	}
	return w->cost <= w->limit;
}

/* Count the members that the root would have. Returns their number. */
uint32_t merge_members(struct place_work *w, bool *nodes)
{
	uint32_t i, n = 0;

	*nodes = false;
	w->depth = 1;
	for (i = 0; i != PLACE_NONE; i = w->streams[i].next) {
		n += count_members(&w->streams[i]);
		*nodes |= w->streams[i].node != PLACE_NONE;
		if (w->streams[i].depth >= w->depth)
			w->depth = w->streams[i].depth + 1;
	}
	return n;
}

/*
 * Check whether the root has routes to its members. Returns true if so,
 * whatever their number is.
 */
bool merge_fits(const struct place_work *w, uint32_t root)
{
	uint32_t i;

	for (i = 0; i != PLACE_NONE && w->f->naparts; i = w->streams[i].next)
		if (is_apart(w, &w->streams[i], root))
			return false;
	return true;
}
