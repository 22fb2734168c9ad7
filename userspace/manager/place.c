// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See place.h. For S switches and R ranks the time is O(R S) at worst; the
 * switches at which ranks are, times all candidates for the root.
 */
#include "place.h"

static uint32_t hops(const struct place_fabric *f, uint32_t a, uint32_t b)
{
	return f->hops[(uint64_t)a * f->n + b];
}

/**
 * place_serve() - find the switch that serves hosts at a switch
 * @f: fabric
 * @at: switch
 *
 * Return: @at itself if it is usable, else the usable one that is nearest, of
 * these the one with the least load; @f->n if there is none.
 */
uint32_t place_serve(const struct place_fabric *f, uint32_t at)
{
	uint32_t best = f->n, s, h, least = PLACE_FAR;

	if (f->switches[at].usable)
		return at;
	for (s = 0; s < f->n; s++) {
		h = hops(f, at, s);
		if (!f->switches[s].usable || h == PLACE_FAR || h > least)
			continue;
		if (best < f->n && h == least &&
		    f->switches[s].load >= f->switches[best].load)
			continue;
		best = s;
		least = h;
	}
	return best;
}

/* Cut the ranks into parts. */
static bool cut(const struct place_fabric *f, uint32_t nranks,
		const uint32_t *at, struct place *p)
{
	struct place_part *part = p->parts - 1;
	uint32_t r, s;

	p->nparts = 0;
	for (r = 0; r < nranks; r++) {
		/* Neighbours are mostly at the same switch. */
		s = r && at[r] == at[r - 1] ? part->at :
					      place_serve(f, at[r]);
		if (s == f->n)
			return false;
		if (!r || s != part->at) {
			part++;
			*part = (struct place_part){ .first = r, .at = s };
			p->nparts++;
		}
		part->count++;
	}
	return true;
}

/* Returns PLACE_FAR as 64 bits' worth if a part cannot reach the root. */
static uint64_t cost_of(const struct place_fabric *f, const struct place *p,
			uint32_t root, uint64_t limit)
{
	uint64_t cost = 0;
	uint32_t i, h;

	for (i = 0; i < p->nparts && cost <= limit; i++) {
		h = hops(f, p->parts[i].at, root);
		if (h == PLACE_FAR)
			return UINT64_MAX;
		cost += h;
	}
	return cost;
}

/**
 * place_compute() - compute the tree of a group
 * @f: fabric
 * @nranks: number of ranks
 * @at: for each rank the switch that its host is at
 * @p: result; @p->parts has room for @nranks parts
 *
 * Of all usable switches the root is the one to which the parts' streams cross
 * the fewest links, of these the one with the least load.
 *
 * Return: false if there is no such tree.
 */
bool place_compute(const struct place_fabric *f, uint32_t nranks,
		   const uint32_t *at, struct place *p)
{
	uint64_t cost;
	uint32_t s, i;

	if (!cut(f, nranks, at, p))
		return false;
	p->root = f->n;
	p->cost = UINT64_MAX - 1;
	for (s = 0; s < f->n; s++) {
		if (!f->switches[s].usable)
			continue;
		cost = cost_of(f, p, s, p->cost);
		if (cost > p->cost ||
		    (cost == p->cost && p->root < f->n &&
		     f->switches[s].load >= f->switches[p->root].load))
			continue;
		p->root = s;
		p->cost = cost;
	}
	for (i = 0; i < p->nparts; i++)
		p->parts[i].tree = p->parts[i].count > 1 &&
				   p->parts[i].at != p->root;
	return p->root < f->n;
}
