// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The last resort: a tree of any switches with room, wherever they are. Each
 * node reduces the members by one less than it has itself; the largest nodes
 * are made first. So a tree is found if the room of all switches together is
 * enough, except for the rule that a node's parent is at another switch.
 */
#include <stdlib.h>

#include "place/work.h"

/* Find the switch with room that may have most members. */
static uint32_t find_widest(const struct place_work *w, bool nodes)
{
	uint32_t best = PLACE_NONE, s;

	for (s = 0; s < w->f->n; s++) {
		if (!w->room[s] || w->way.dist[s] == PLACE_FAR)
			continue;
		if (best == PLACE_NONE || merge_limit(w->f, s, nodes) >
					  merge_limit(w->f, best, nodes))
			best = s;
	}
	return best;
}

/**
 * struct member - member of a node that is not made yet
 * @first: first rank
 * @count: number of ranks
 * @sw: its node's switch; PLACE_NONE: a host
 */
struct member {
	uint32_t	first;
	uint32_t	count;
	uint32_t	sw;
};

static bool is_apart(const struct place_work *w, const struct member *m,
		     uint32_t sw)
{
	bool hosts = m->sw == PLACE_NONE;

	return merge_apart(w->f, sw, hosts ? w->rank_switches[m->first] : m->sw, hosts);
}

/* Count the members from @from on that one node at a switch may have. */
static uint32_t fit_window(const struct place_work *w,
			   const struct member *list, uint32_t n, uint32_t from,
			   uint32_t sw)
{
	bool nodes = false;
	uint32_t k;

	for (k = 0; from + k < n; k++) {
		nodes |= list[from + k].sw != PLACE_NONE;
		if (list[from + k].sw == sw || is_apart(w, &list[from + k], sw) ||
		    k >= merge_limit(w->f, sw, nodes))
			break;
	}
	return k;
}

/* Make the largest node that this switch can have. Returns the members left. */
static uint32_t make_node(struct place_work *w, struct member *list, uint32_t n,
			  uint32_t sw)
{
	uint32_t i, k, best = 0, most = 0;

	/* The first window that fills the node will do. */
	for (i = 0; i < n && most < merge_limit(w->f, sw, true); i++) {
		k = fit_window(w, list, n, i, sw);
		if (k > most) {
			most = k;
			best = i;
		}
	}
	w->room[sw]--;
	/* Room may be unlimited: do not try this switch again. */
	if (most < 2 && w->f->naparts)
		w->room[sw] = 0;
	if (most < 2)
		return n;
	for (i = 1; i < most; i++)
		list[best].count += list[best + i].count;
	list[best].sw = sw;
	merge_node(w, sw, list[best].first, list[best].count, most);
	for (i = best + most; i < n; i++)
		list[i - most + 1] = list[i];
	return n - most + 1;
}

/* Reduce the members until a root may have them. */
static bool pack_below(struct place_work *w, struct member *list, uint32_t n,
		       uint32_t root)
{
	uint32_t all = n, sw;

	for (;;) {
		if (fit_window(w, list, n, 0, root) == n)
			break;
		sw = find_widest(w, n < all);
		if (sw == PLACE_NONE)
			return false;
		n = make_node(w, list, n, sw);
	}
	merge_node(w, root, 0, all, n);
	return n > 1;
}

/* Would the room be enough if switches could be combined freely? */
static bool is_enough(const struct place_work *w, uint32_t nranks)
{
	uint64_t sum = 0;
	uint32_t s;

	for (s = 0; s < w->f->n; s++)
		if (w->way.dist[s] != PLACE_FAR)
			sum += (uint64_t)w->f->switches[s].room *
			       (merge_limit(w->f, s, false) - 1);
	return sum >= nranks - 1;
}

/* Find any tree. Returns false if none was found. */
bool pack(struct place_work *w, uint32_t nranks)
{
	struct member *list = calloc(nranks, sizeof(*list));
	uint32_t i, root;
	bool found = false;

	/* All ranks of a tree reach the same switches: try one rank's. */
	way_find(&w->way, w->f, w->rank_switches[0], UINT64_MAX);
	for (i = 0; i < nranks; i++)
		if (w->way.dist[w->rank_switches[i]] == PLACE_FAR)
			nranks = 0;
	if (nranks && !is_enough(w, nranks))
		nranks = 0;
	for (root = 0; list && nranks > 1 && root < w->f->n && !found; root++) {
		if (!w->f->switches[root].room ||
		    w->way.dist[root] == PLACE_FAR)
			continue;
		for (i = 0; i < w->f->n; i++)
			w->room[i] = w->f->switches[i].room - (i == root);
		for (i = 0; i < nranks; i++)
			list[i] = (struct member){
				.first = i, .count = 1, .sw = PLACE_NONE,
			};
		w->ntried = 0;
		found = pack_below(w, list, nranks, root);
	}
	free(list);
	w->nnodes = w->ntried;
	return found;
}
