// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * place.c against a brute-force search on small random fabrics: distances by
 * Floyd and Warshall's algorithm, all switches tried as the root, streams
 * counted rank by rank.
 *
 *   test_place [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place.h"

#define SWITCHES	8
#define RANKS		12
#define FABRICS		20000

static unsigned int failures;

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("not ok: line %d: %s\n", __LINE__, #cond); \
			failures++;					\
		}							\
	} while (0)

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)random() % n;
}

/* A random fabric; some of its switches may not be reached from others. */
static void make(uint32_t n, struct place_switch *sw, uint32_t *hops)
{
	uint32_t density = 1 + rnd(4), a, b, k, way;

	for (a = 0; a < n; a++) {
		sw[a].usable = rnd(4);
		sw[a].load = rnd(3);
		for (b = 0; b <= a; b++) {
			way = a == b ? 0 : rnd(4) < density ? 1 : PLACE_FAR;
			hops[a * n + b] = way;
			hops[b * n + a] = way;
		}
	}
	for (k = 0; k < n; k++)
		for (a = 0; a < n; a++)
			for (b = 0; b < n; b++) {
				if (hops[a * n + k] == PLACE_FAR ||
				    hops[k * n + b] == PLACE_FAR)
					continue;
				way = hops[a * n + k] + hops[k * n + b];
				if (way < hops[a * n + b])
					hops[a * n + b] = way;
			}
}

/* The switch that serves hosts at @at, found by looking at all. */
static uint32_t serve(const struct place_fabric *f, uint32_t at)
{
	uint32_t best = f->n, s;
	uint64_t least = UINT64_MAX, cost;

	for (s = 0; s < f->n; s++) {
		if (!f->switches[s].usable || f->hops[at * f->n + s] == PLACE_FAR)
			continue;
		cost = f->hops[at * f->n + s] * 1000ULL +
		       (s == at ? 0 : f->switches[s].load * 10 + 1);
		if (cost < least) {
			least = cost;
			best = s;
		}
	}
	return best;
}

/* Links that streams cross to this root; UINT64_MAX: it cannot be reached. */
static uint64_t cost(const struct place_fabric *f, const uint32_t *by,
		     uint32_t nranks, uint32_t root)
{
	uint64_t sum = 0;
	uint32_t r;

	for (r = 0; r < nranks; r++) {
		if (f->hops[by[r] * f->n + root] == PLACE_FAR)
			return UINT64_MAX;
		/* Ranks that follow each other at a switch share a stream. */
		if (!r || by[r] != by[r - 1])
			sum += f->hops[by[r] * f->n + root];
	}
	return sum;
}

static void check_parts(const struct place_fabric *f, const struct place *p,
			const uint32_t *by, uint32_t nranks)
{
	uint32_t next = 0, i, r;

	for (i = 0; i < p->nparts; i++) {
		const struct place_part *part = &p->parts[i];

		CHECK(part->first == next && part->count);
		CHECK(f->switches[part->at].usable);
		CHECK(part->tree == (part->count > 1 && part->at != p->root));
		for (r = 0; r < part->count; r++)
			CHECK(by[part->first + r] == part->at);
		CHECK(!i || p->parts[i - 1].at != part->at);
		next += part->count;
	}
	CHECK(next == nranks);
}

static bool one(void)
{
	uint32_t n = 1 + rnd(SWITCHES), nranks = 1 + rnd(RANKS), r, s;
	uint32_t hops[SWITCHES * SWITCHES], at[RANKS], by[RANKS];
	struct place_switch sw[SWITCHES];
	struct place_fabric f = { .n = n, .switches = sw, .hops = hops };
	struct place_part parts[RANKS];
	struct place p = { .parts = parts };
	uint64_t least = UINT64_MAX, load = 0, c;
	bool found, served = true;

	make(n, sw, hops);
	for (r = 0; r < nranks; r++) {
		at[r] = r && rnd(2) ? at[r - 1] : rnd(n);
		by[r] = serve(&f, at[r]);
		served &= by[r] < n;
	}
	for (s = 0; s < n && served; s++) {
		c = sw[s].usable ? cost(&f, by, nranks, s) : UINT64_MAX;
		if (c < least || (c == least && c != UINT64_MAX &&
				  sw[s].load < load)) {
			least = c;
			load = sw[s].load;
		}
	}
	found = place_compute(&f, nranks, at, &p);
	CHECK(found == (least != UINT64_MAX));
	if (!found)
		return false;
	CHECK(p.cost == least);
	CHECK(cost(&f, by, nranks, p.root) == least);
	CHECK(sw[p.root].usable && sw[p.root].load == load);
	check_parts(&f, &p, by, nranks);
	return true;
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)atoi(argv[1]) :
				       (unsigned int)time(NULL);
	unsigned int i, placed = 0;

	printf("# seed %u\n", seed);
	srandom(seed);
	for (i = 0; i < FABRICS && !failures; i++)
		placed += one();
	printf("# %u fabrics, %u groups placed\n", i, placed);
	/* A test in which hardly anything is placed would show nothing. */
	CHECK(placed > FABRICS / 4 || failures);
	printf("%s 1 - trees are those of a brute-force search\n1..1\n",
	       failures ? "not ok" : "ok");
	return failures != 0;
}
