// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See place.h. Every switch with room is tried as the root (merge.c), which
 * takes O(S (S + L + R D)) for S switches, L links, and R runs of ranks at one
 * switch that are at most D links from the root. Most trials end early, as soon
 * as they cost more than the best one; and paths are not searched beyond this
 * cost, so a small group does not need the time of the whole fabric.
 *
 * If no root may have as many members as would arrive, the ranks are cut into
 * as many parts as needed, and each part gets a tree of its own below the root.
 * If this fails, all ranks become members of one switch, and without room
 * there, of any switches with room (pack.c).
 */
#include <stdlib.h>
#include <string.h>

#include "place/work.h"

/**
 * struct trial - a root that was tried
 * @root: switch
 * @cost: see place.h
 * @depth: see place.h
 * @nodes: number of nodes
 * @load: see place.h
 */
struct trial {
	uint32_t	root;
	uint64_t	cost;
	uint32_t	depth;
	uint32_t	nodes;
	uint64_t	load;
};

static bool is_better(const struct trial *a, const struct trial *b)
{
	if (b->root == PLACE_NONE || a->cost != b->cost)
		return b->root == PLACE_NONE || a->cost < b->cost;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	if (a->nodes != b->nodes)
		return a->nodes < b->nodes;
	return a->load < b->load;
}

/*
 * Try a root; @below: switch of its parent, or PLACE_NONE. Returns false if it
 * does not work, or costs more than w->limit. @fits: it may have so many members.
 */
static bool try_root(struct place_work *w, uint32_t r, uint32_t below,
		     struct trial *t, bool *fits)
{
	uint32_t n;
	bool nodes;

	if (!w->room[r] || r == below ||
	    (below != PLACE_NONE && merge_apart(w->f, below, r, false)))
		return false;
	/* A stream from beyond the limit would cost too much. */
	way_find(&w->way, w->f, r, w->limit);
	if (below != PLACE_NONE && w->way.dist[below] == PLACE_FAR)
		return false;
	if (!merge_to(w, r) || !merge_fits(w, r))
		return false;
	n = merge_members(w, &nodes);
	/* A single node needs no root above it. */
	if (n == 1 && nodes)
		return false;
	t->root = r;
	t->cost = w->cost;
	t->depth = w->depth;
	t->nodes = w->ntried - w->nnodes;
	t->load = w->load + w->f->switches[r].load;
	if (below != PLACE_NONE)
		t->cost += w->way.dist[below];
	*fits = n <= merge_limit(w->f, r, nodes);
	return true;
}

/*
 * Find the best root of the ranks at hand, and the best one with too many
 * members. @below: switch of its parent, or PLACE_NONE. The first rank's switch
 * is usually near the best root: its cost bounds the search.
 */
static struct trial search_root(struct place_work *w, uint32_t below,
				struct trial *wide)
{
	struct trial best = { .root = PLACE_NONE }, t, *which;
	uint64_t bound = UINT64_MAX;
	uint32_t r;
	bool fits;

	*wide = best;
	way_find(&w->way, w->f, w->rank_switches[w->first], UINT64_MAX);
	memcpy(w->distance, w->way.dist, w->f->n * sizeof(*w->distance));
	w->limit = UINT64_MAX;
	if (try_root(w, w->rank_switches[w->first], below, &t, &fits) && fits)
		bound = t.cost;
	for (r = 0; r < w->f->n; r++) {
		w->limit = best.root == PLACE_NONE ? bound : best.cost;
		/* The first rank's stream alone would cost too much. */
		if (w->distance[r] > w->limit ||
		    !try_root(w, r, below, &t, &fits))
			continue;
		which = fits ? &best : wide;
		if (is_better(&t, which))
			*which = t;
	}
	return best;
}

/* Repeat the trial of a root. */
static uint32_t retry_root(struct place_work *w, uint32_t root, bool *nodes)
{
	way_find(&w->way, w->f, root, UINT64_MAX);
	w->limit = UINT64_MAX;
	merge_to(w, root);
	return merge_members(w, nodes);
}

/* Keep the nodes of a trial, and its root. */
static void keep_trial(struct place_work *w, uint32_t root, uint32_t first,
		       uint32_t count, uint32_t members)
{
	merge_node(w, root, first, count, members);
	for (; w->nnodes < w->ntried; w->nnodes++)
		w->room[w->nodes[w->nnodes].sw]--;
}

static bool solve_ranks(struct place_work *w, uint32_t first, uint32_t count,
			uint32_t below);

/* Cut the ranks into parts of at most @most members. */
static uint32_t cut_ranks(const struct place_work *w, uint32_t most,
			  uint32_t *counts)
{
	uint32_t i, k, n = 0, parts = 0;
	const struct stream *s;
	bool hosts;

	for (i = 0; i != PLACE_NONE; i = s->next) {
		s = &w->streams[i];
		hosts = s->node == PLACE_NONE;
		for (k = 0; k < (hosts ? s->count : 1); k++) {
			parts += n++ % most == 0;
			counts[parts - 1] += hosts ? 1 : s->count;
		}
	}
	return parts;
}

/* Reduce the members of a root by intermediate nodes. */
static bool divide_ranks(struct place_work *w, uint32_t root)
{
	uint32_t *counts = calloc(w->count, sizeof(*counts));
	uint32_t most = merge_limit(w->f, root, true), first = w->first;
	uint32_t count = w->count, start = first, parts, members, room, i;
	bool ok = counts && most > 1, nodes;

	members = retry_root(w, root, &nodes);
	/* If there are too many parts, make them larger: they are cut again. */
	if (ok && (members + most - 1) / most > most)
		parts = cut_ranks(w, (members + most - 1) / most, counts);
	else
		parts = ok ? cut_ranks(w, most, counts) : 0;
	/* A node and its parent must not be at the same switch. */
	room = w->room[root];
	w->room[root] = 0;
	for (i = 0; i < parts && ok; start += counts[i++])
		ok = counts[i] == 1 || solve_ranks(w, start, counts[i], root);
	w->room[root] = room;
	free(counts);
	w->ntried = w->nnodes;
	if (ok)
		keep_trial(w, root, first, count, parts);
	return ok;
}

static bool solve_ranks(struct place_work *w, uint32_t first, uint32_t count,
			uint32_t below)
{
	struct trial best, wide;
	uint32_t members;
	bool nodes;

	merge_start(w, first, count);
	best = search_root(w, below, &wide);
	if (best.root == PLACE_NONE)
		return wide.root != PLACE_NONE && !w->flat &&
		       divide_ranks(w, wide.root);
	members = retry_root(w, best.root, &nodes);
	keep_trial(w, best.root, first, count, members);
	return true;
}

/* --- The result ---------------------------------------------------------- */

static int by_ranks(const void *a, const void *b)
{
	const struct place_node *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->count > y->count ? -1 : x->count < y->count;
}

/* After sorting, nodes follow the nodes that they are below. */
static void set_parents(struct place *p)
{
	uint32_t i, up, k;

	for (i = 0; i < p->n; i++) {
		up = i ? i - 1 : PLACE_NONE;
		while (up != PLACE_NONE &&
		       p->nodes[up].first + p->nodes[up].count <=
		       p->nodes[i].first)
			up = p->nodes[up].parent;
		p->nodes[i].parent = up;
		for (k = 0; k < p->nodes[i].count; k++)
			p->node_of[p->nodes[i].first + k] = i;
	}
}

/*
 * Find the member of a node that a rank is, or is below. Returns the node that
 * is this member; PLACE_NONE: a host.
 */
uint32_t place_member(const struct place *p, uint32_t node, uint32_t rank)
{
	uint32_t member = p->node_of[rank];

	if (member == node)
		return PLACE_NONE;
	while (p->nodes[member].parent != node)
		member = p->nodes[member].parent;
	return member;
}

static const struct place_link *next_link(const struct place_fabric *f,
					  const uint32_t *dist, uint32_t sw)
{
	const struct place_link *best = NULL, *link;
	uint32_t i;

	for (i = f->first[sw]; i < f->first[sw + 1]; i++) {
		link = &f->links[i];
		if (dist[link->to] != PLACE_FAR &&
		    dist[link->to] + link->cost == dist[sw] &&
		    (!best || link->load < best->load))
			best = link;
	}
	return best;
}

static void walk_node(const struct place_fabric *f, const struct place *p,
		      const uint32_t *at, uint32_t node, struct way *way,
		      void (*cross)(void *ctx, const struct place_link *link),
		      void *ctx)
{
	const struct place_node *k = &p->nodes[node];
	const struct place_link *link;
	uint32_t r, member, sw;
	bool found = false;

	for (r = k->first; r < k->first + k->count;) {
		member = place_member(p, node, r);
		sw = member == PLACE_NONE ? at[r] : p->nodes[member].sw;
		r += member == PLACE_NONE ? 1 : p->nodes[member].count;
		/* Paths are rarely needed: most members are at the node's switch. */
		if (sw != k->sw && !found) {
			way_find(way, f, k->sw, UINT64_MAX);
			found = true;
		}
		for (; sw != k->sw; sw = link->to) {
			link = next_link(f, way->dist, sw);
			cross(ctx, link);
		}
	}
}

/*
 * Walk over the links that a tree's queue pairs cross. Returns false: no
 * memory.
 * @at: for each rank the switch of its host
 * @cross: called for each crossing of a link
 */
bool place_walk(const struct place_fabric *f, const struct place *p,
		const uint32_t *at,
		void (*cross)(void *ctx, const struct place_link *link),
		void *ctx)
{
	struct way way;
	bool ok = way_init(&way, f->n);
	uint32_t i;

	for (i = 0; i < p->n && ok; i++)
		walk_node(f, p, at, i, &way, cross, ctx);
	way_free(&way);
	return ok;
}

static void add_cost(void *ctx, const struct place_link *link)
{
	struct place *p = ctx;

	p->cost += link->cost;
}

static bool finish_place(const struct place_work *w, uint32_t nranks,
			 struct place *p)
{
	uint32_t i, up, depth;

	p->n = w->nnodes;
	p->nodes = malloc(p->n * sizeof(*p->nodes));
	p->node_of = malloc(nranks * sizeof(*p->node_of));
	if (!p->nodes || !p->node_of)
		return false;
	memcpy(p->nodes, w->nodes, p->n * sizeof(*p->nodes));
	qsort(p->nodes, p->n, sizeof(*p->nodes), by_ranks);
	set_parents(p);
	for (i = 0; i < p->n; i++) {
		depth = 1;
		for (up = p->nodes[i].parent; up != PLACE_NONE; depth++)
			up = p->nodes[up].parent;
		p->depth = depth > p->depth ? depth : p->depth;
	}
	return place_walk(w->f, p, w->rank_switches, add_cost, p);
}

/* --- All ----------------------------------------------------------------- */

static bool work_init(struct place_work *w, uint32_t n, uint32_t nranks)
{
	bool ok = way_init(&w->way, n);

	w->distance = calloc(n, sizeof(*w->distance));
	w->room = calloc(n, sizeof(*w->room));
	w->head = calloc(n, sizeof(*w->head));
	w->wanted = calloc(n, sizeof(*w->wanted));
	w->used = calloc(n, sizeof(*w->used));
	w->streams = calloc(2 * (size_t)nranks, sizeof(*w->streams));
	w->start = calloc(nranks, sizeof(*w->start));
	w->runs = calloc(nranks, sizeof(*w->runs));
	w->nodes = calloc(2 * (size_t)nranks + 1, sizeof(*w->nodes));
	return ok && w->distance && w->room && w->head && w->wanted &&
	       w->used && w->streams && w->start && w->runs && w->nodes;
}

static void work_free(struct place_work *w)
{
	way_free(&w->way);
	free(w->distance);
	free(w->room);
	free(w->head);
	free(w->wanted);
	free(w->used);
	free(w->streams);
	free(w->start);
	free(w->runs);
	free(w->nodes);
}

static void reset_work(struct place_work *w)
{
	uint32_t i;

	for (i = 0; i < w->f->n; i++)
		w->room[i] = w->f->switches[i].room;
	w->nnodes = 0;
	w->ntried = 0;
}

static bool find_place(struct place_work *w, uint32_t nranks)
{
	reset_work(w);
	if (solve_ranks(w, 0, nranks, PLACE_NONE))
		return true;
	reset_work(w);
	w->flat = true;
	if (solve_ranks(w, 0, nranks, PLACE_NONE))
		return true;
	reset_work(w);
	w->flat = false;
	return pack(w, nranks);
}

/*
 * Compute the tree of a group. Returns false if there is no tree, or no memory.
 * @nranks: number of ranks, at least 1
 * @at: for each rank the switch of its host
 */
bool place_compute(const struct place_fabric *f, uint32_t nranks,
		   const uint32_t *at, struct place *p)
{
	struct place_work w = { .f = f, .rank_switches = at };
	bool ok;

	*p = (struct place){ .n = 0 };
	ok = work_init(&w, f->n, nranks) && find_place(&w, nranks) &&
	     finish_place(&w, nranks, p);
	work_free(&w);
	if (!ok)
		place_free(p);
	return ok;
}

static void judge_root(struct place_work *w, uint32_t root,
		       struct place_why *why)
{
	bool nodes;

	way_find(&w->way, w->f, root, UINT64_MAX);
	why->usable = w->room[root];
	why->load = w->f->switches[root].load;
	why->cost = UINT64_MAX;
	why->apart = false;
	if (merge_to(w, root)) {
		why->apart = !merge_fits(w, root);
		why->load += w->load;
		why->cost = w->cost;
		merge_members(w, &nodes);
		why->depth = w->depth;
		why->nodes = w->ntried + 1;
	}
}

/*
 * Judge all candidates for the root. Returns false: no memory.
 * @at: for each rank the switch of its host
 */
bool place_why(const struct place_fabric *f, uint32_t nranks,
	       const uint32_t *at, struct place_why *list)
{
	struct place_work w = {
		.f = f, .rank_switches = at, .limit = UINT64_MAX,
	};
	bool ok = work_init(&w, f->n, nranks);
	uint32_t r;

	if (ok) {
		reset_work(&w);
		merge_start(&w, 0, nranks);
		for (r = 0; r < f->n; r++)
			judge_root(&w, r, &list[r]);
	}
	work_free(&w);
	return ok;
}

/* Free a tree. */
void place_free(struct place *p)
{
	free(p->nodes);
	free(p->node_of);
	*p = (struct place){ .n = 0 };
}
