// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Places one group: reads a fabric from standard input, as numbers
 *
 *   SWITCHES MAX_HOSTS MAX_MEMBERS
 *   ROOM MEMBERS				for each switch
 *   LINKS, then A B for each link
 *   RANKS, then the switch of each rank
 *
 * and prints the tree's nodes, "AT FIRST COUNT" each, or nothing if there is no
 * tree. For selftests/fabric/exact.py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "place/place.h"

static uint32_t number(void)
{
	unsigned int n;

	if (scanf("%u", &n) != 1) {
		fputs("try_place: a number is missing\n", stderr);
		exit(2);
	}
	return n;
}

static void read_links(struct place_fabric *f)
{
	uint32_t n = number(), i, k = 0, s;
	uint32_t (*ends)[2] = calloc(n + 1, sizeof(*ends));
	struct place_link *links = calloc(2 * (size_t)n + 1, sizeof(*links));
	uint32_t *first = calloc(f->n + 1, sizeof(*first));

	for (i = 0; i < n; i++) {
		ends[i][0] = number();
		ends[i][1] = number();
	}
	for (s = 0; s < f->n; s++) {
		first[s] = k;
		for (i = 0; i < n; i++)
			if (ends[i][0] == s || ends[i][1] == s)
				links[k++] = (struct place_link){
					.to = ends[i][ends[i][0] == s],
					.cost = 1 };
	}
	first[f->n] = k;
	f->first = first;
	f->links = links;
	free(ends);
}

int main(void)
{
	struct place_fabric f = { .n = number() };
	struct place_switch *sw = calloc(f.n, sizeof(*sw));
	uint32_t i, nranks, *at;
	struct place p;

	f.max_hosts = number();
	f.max_members = number();
	f.switches = sw;
	for (i = 0; i < f.n; i++) {
		sw[i].room = number();
		sw[i].members = number();
	}
	read_links(&f);
	nranks = number();
	at = calloc(nranks, sizeof(*at));
	for (i = 0; i < nranks; i++)
		at[i] = number();
	if (place_compute(&f, nranks, at, &p))
		for (i = 0; i < p.n; i++)
			printf("%u %u %u\n", p.nodes[i].sw, p.nodes[i].first,
			       p.nodes[i].count);
	place_free(&p);
	free((void *)f.first);
	free((void *)f.links);
	free(sw);
	free(at);
	return 0;
}
