// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Unit test of stats/history.c: two hours of random traffic, compared with
 * arrays that hold every second; and more objects than may have a history.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stats/history.h"

#define SECONDS	(2 * HISTORY_SECONDS)
#define OBJECTS	5
#define TASKS	300000

static unsigned int bad;

static void check(bool good, const char *what)
{
	printf("%sok - %s\n", good ? "" : "not ", what);
	bad += !good;
}

static void rates(void)
{
	static double sent[OBJECTS][SECONDS];
	const struct sample *sample;
	struct history h;
	struct counts delta = { 0 };
	bool same = true, bounded = true;
	struct series *s;
	char name[16];
	int t, i;

	history_init(&h);
	for (t = 0; t < SECONDS; t++) {
		for (i = 0; i < OBJECTS; i++) {
			snprintf(name, sizeof(name), "o%d", i);
			s = history_get(&h, (enum series_kind)(i % SERIES_KINDS),
					"", name, t);
			delta.rx = (uint64_t)(rand() % 1000000);
			sent[i][t] = (double)delta.rx;
			history_add(s, &delta, t);
		}
		history_tick(&h, t, 1);
	}
	for (i = 0; i < OBJECTS; i++) {
		snprintf(name, sizeof(name), "o%d", i);
		s = history_find(&h, (enum series_kind)(i % SERIES_KINDS), "",
				 name);
		for (t = 0; t < SECONDS + 10; t++) {
			sample = series_at(s, t);
			bounded = bounded && !sample == (t < SECONDS -
					HISTORY_SECONDS || t >= SECONDS);
			same = same && (!sample ||
					fabs(sample->rx - sent[i][t]) < 1);
		}
	}
	check(same, "each second of the last hour is what was counted");
	check(bounded, "the last hour is there, nothing else");
	history_free(&h);
}

static void gaps(void)
{
	struct counts delta = { .tx = 300 };
	struct series *s;
	struct history h;

	history_init(&h);
	s = history_get(&h, SERIES_TASK, "", "x", 10);
	history_tick(&h, 10, 1);
	history_add(s, &delta, 13);
	/* Samples of three seconds were late. */
	history_tick(&h, 13, 3);
	check(series_at(s, 11)->tx == 100 && series_at(s, 13)->tx == 100 &&
	      !series_at(s, 14), "seconds that were missed have the mean");
	history_tick(&h, 13 + HISTORY_SECONDS + 1, 1);
	check(!history_find(&h, SERIES_TASK, "", "x") && !h.n && !h.rings,
	      "what was idle for an hour is freed");
	history_free(&h);
}

static void bounds(void)
{
	struct history h;
	struct series *s;
	char name[16];
	int i;

	history_init(&h);
	for (i = 0; i < HISTORY_MAX + 100; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		history_get(&h, SERIES_CLIENT, "", name, 0);
	}
	check(h.rings == HISTORY_MAX && h.n == HISTORY_MAX + 100,
	      "memory is bounded");
	s = history_get(&h, SERIES_TASK, "", "later", 100);
	check(s->ring && h.rings == HISTORY_MAX,
	      "a new object takes the history of one that is idle");
	history_free(&h);
}

/*
 * As a manager makes them all day. If a new one looked at all others, this would
 * take hours.
 */
static void many_tasks(void)
{
	struct counts delta = { .rx = 1 };
	bool last = true, first = false;
	struct history h;
	struct series *s;
	char name[16];
	int i;

	history_init(&h);
	for (i = 0; i < TASKS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		s = history_get(&h, SERIES_TASK, "", name, i / 100);
		history_add(s, &delta, i / 100);
		history_end(&h, s, true);
	}
	for (i = 0; i < TASKS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		s = history_find(&h, SERIES_TASK, "", name);
		first = first || (s && i < TASKS - ENDED_MAX);
		last = last && (i < TASKS - ENDED_MAX || (s && s->ended));
	}
	check(h.n == ENDED_MAX && h.n_ended == ENDED_MAX && last && !first,
	      "the last tasks that have ended are kept, and no others");
	s = history_get(&h, SERIES_TASK, "", name, TASKS / 100);
	history_end(&h, s, false);
	check(!s->ended && h.n_ended == ENDED_MAX - 1,
	      "a task that comes again has not ended");
	history_free(&h);
	check(!h.n && !h.rings && !h.n_ended, "nothing is left");
}

/* A tenant with many tasks displaces its own, not those of one who has few. */
static void tenants(void)
{
	struct series *s, *idle;
	struct history h;
	char name[16];
	int i;

	history_init(&h);
	idle = history_get(&h, SERIES_TASK, "few", "idle", 0);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		s = history_get(&h, SERIES_TASK, "few", name, 0);
		history_end(&h, s, true);
	}
	for (i = 0; i < 4 * ENDED_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		s = history_get(&h, SERIES_TASK, "many", name, 10 + i / 100);
		history_end(&h, s, true);
	}
	check(h.n_ended == ENDED_MAX && h.rings == HISTORY_MAX,
	      "many tasks: no more than there is room for");
	check(s->ring && idle->ring, "their histories: both tenants have some");
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		s = history_find(&h, SERIES_TASK, "few", name);
		check(s && s->ended && s->ring,
		      "the other's tasks that have ended stay");
	}
	/* And who comes late gets a share. */
	for (i = 0; i < ENDED_MAX; i++) {
		snprintf(name, sizeof(name), "u%d", i);
		s = history_get(&h, SERIES_TASK, "late", name, 100);
		history_end(&h, s, true);
	}
	check(h.n_ended == ENDED_MAX && s->owner->n_ended >= ENDED_MAX / 2 - 2,
	      "a third tenant gets half of the room");
	history_free(&h);
	check(LIST_EMPTY(&h.owners), "no owner is left");
}

static void same_names(void)
{
	struct counts red = { .rx = 1 }, blue = { .rx = 10 };
	struct series *a, *b, *none;
	struct history h;

	history_init(&h);
	a = history_get(&h, SERIES_TASK, "red", "job", 0);
	b = history_get(&h, SERIES_TASK, "blue", "job", 0);
	none = history_get(&h, SERIES_TASK, "", "job", 0);
	history_add(a, &red, 0);
	history_add(b, &blue, 0);
	history_end(&h, a, true);
	check(h.n == 3 && a->total.rx == 1 && b->total.rx == 10 &&
	      !none->total.rx && a->ended && !b->ended,
	      "tasks of several tenants have one name");
	check(history_find(&h, SERIES_TASK, "red", "job") == a &&
	      history_find(&h, SERIES_TASK, "blue", "job") == b &&
	      history_find(&h, SERIES_TASK, "", "job") == none &&
	      !history_find(&h, SERIES_TASK, "redj", "ob"),
	      "each is found");
	history_free(&h);
}

int main(void)
{
	unsigned int seed = (unsigned int)time(NULL);

	printf("# seed %u, %zu bytes for each object\n", seed, HISTORY_BYTES);
	srand(seed);
	rates();
	gaps();
	bounds();
	many_tasks();
	tenants();
	same_names();
	return bad != 0;
}
