// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Unit test of stats/member_counts.c: what agents tell of members, right, wrong and too
 * much, in any order, compared with a search of all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stats/member_counts.h"

#define TREES	50
#define RANKS	40

static unsigned int bad;

static void check(bool good, const char *what)
{
	printf("%sok - %s\n", good ? "" : "not ", what);
	bad += !good;
}

static const struct stats_member *find(const struct member_counts *c, uint32_t tree,
				       uint32_t rank)
{
	const struct stats_member who = { .tree = tree, .rank = rank };

	return member_counts_find(c, &who);
}

static void wrong(void)
{
	static const struct {
		const char	*text;
		unsigned int	n;
	} cases[] = {
		{ "", 0 }, { ";", 0 }, { "1", 0 }, { "1 2 3 4", 0 },
		{ "1 2 3 4 5", 0 }, { "1 2 3 4;", 0 }, { "1 2 3 4 5 6;", 0 },
		{ "x 2 3 4 5;", 0 }, { "1 2 3 4 5;;", 1 },
		{ "1 2 3 4 5;6", 1 }, { "1 2 3 4 5;6 7 8 9 x;", 1 },
		{ "1 2 3 4 5;6 7 8 9 10;", 2 },
		{ "99999999999999999999999 2 3 4 5;", 1 },
	};
	struct member_counts c = { .list = NULL };
	bool good = true;
	size_t i;

	check(!find(&c, 1, 1), "of none, none is found");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		member_counts_add(&c, 7, cases[i].text);
		member_counts_sort(&c);
		good = good && c.n == cases[i].n;
		member_counts_free(&c);
	}
	check(good, "what is wrong, and what follows it, is left out");
	member_counts_add(&c, 7, "3 18446744073709551615 20 30 40;");
	member_counts_sort(&c);
	check(find(&c, 7, 3) && find(&c, 7, 3)->counts.rx == UINT64_MAX &&
	      find(&c, 7, 3)->counts.tx == 20 &&
	      find(&c, 7, 3)->counts.messages == 30 &&
	      find(&c, 7, 3)->counts.trouble == 40 && !find(&c, 7, 4) &&
	      !find(&c, 8, 3), "each value is where it belongs");
	member_counts_free(&c);
}

/* Members of random trees and ranks, some twice, each with a value of its own. */
static void any_order(void)
{
	static uint64_t rx[TREES][RANKS];
	struct member_counts c = { .list = NULL };
	const struct stats_member *m;
	unsigned int i, tree, rank;
	bool good = true;
	char text[64];

	for (i = 0; i < 3000; i++) {
		tree = (unsigned int)rand() % TREES;
		rank = (unsigned int)rand() % RANKS;
		rx[tree][rank] = 1000 * tree + rank + 1;
		snprintf(text, sizeof(text), "%u %llu 0 0 0;", rank,
			 (unsigned long long)rx[tree][rank]);
		member_counts_add(&c, tree, text);
	}
	member_counts_sort(&c);
	for (tree = 0; tree < TREES; tree++)
		for (rank = 0; rank < RANKS; rank++) {
			m = find(&c, tree, rank);
			good = good && (m ? m->counts.rx : 0) == rx[tree][rank];
		}
	check(c.n == 3000 && good, "all are found, and no others");
	member_counts_free(&c);
}

/* A lie of 32 MiB, of which each member is where it was not the last time. */
static void lie(void)
{
	const size_t n = 3U << 20;
	struct member_counts c = { .list = NULL };
	char *text = malloc(n * 20), *at = text;
	unsigned int i, found = 0;

	if (!text)
		exit(1);
	for (i = 0; i < n; i++)
		at += sprintf(at, "%u 0 0 0 0;", (i * 2654435761U) >> 12);
	member_counts_add(&c, 1, text);
	free(text);
	member_counts_sort(&c);
	check(c.n == MEMBER_COUNTS_MOST, "no more than a kernel may have are kept");
	for (i = c.n; i-- > 0;)
		found += member_counts_find(&c, &c.list[i]) != NULL;
	check(found == c.n, "each of these is found");
	member_counts_free(&c);
}

int main(void)
{
	unsigned int seed = (unsigned int)time(NULL);

	printf("# seed %u\n", seed);
	srand(seed);
	wrong();
	any_order();
	lie();
	return bad != 0;
}
