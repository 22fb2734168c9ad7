// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events: who loses some if there are too many, compared with an array that is
 * searched from end to end; and what the log has of them. KTAP.
 *
 *   test_event [SEED]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/event.h"
#include "event_get.h"

#define FLOOD	10000
#define STEPS	12000
#define OWNERS	3000
#define KINDS	4
#define LISTENERS	100000

static const char *const kinds[KINDS] = {
	EVENT_SWITCH_UP, EVENT_SWITCH_DOWN, EVENT_HOST_MOVED, EVENT_REFUSED
};

static unsigned int number, failures;
static struct events e;
static int64_t clock_ms = 1000;
static uint64_t state;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = clock_ms / 1000;
	ts->tv_nsec = clock_ms % 1000 * 1000000;
	return 0;
}

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void begin(void)
{
	memset(&e, 0, sizeof(e));
	if (events_init(&e))
		abort();
}

/* How many of these are left; -1: they are not in order. */
static int left(const char *kind, const char *tenant)
{
	const struct event *ev;
	uint64_t last = 0;
	int n = 0;

	for (ev = event_from(&e, 0); ev; ev = event_from(&e, ev->seq + 1)) {
		if (ev->seq <= last || event_get(&e, ev->seq) != ev)
			return -1;
		last = ev->seq;
		n += !strcmp(ev->kind, kind) && !strcmp(ev->tenant, tenant);
	}
	return n;
}

/* Of 50 events that are chosen to be shown; -1: they are not the newest first. */
static int shown(const char *kind)
{
	const struct event *list[50];
	size_t n = event_recent(&e, list, 50), i;
	int of = 0;

	for (i = 0; i < n; i++) {
		if (i && list[i]->seq >= list[i - 1]->seq)
			return -1;
		of += !strcmp(list[i]->kind, kind);
	}
	return of;
}

static void flood(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < FLOOD; i++) {
		if (i % 20 == 0)
			event_log(&e, EVENT_SWITCH_DOWN, "s0", "%u", i);
		if (i % 20 == 1)
			event_log_of(&e, EVENT_GROUP_READY, "blue", "g", "%u", i);
		if (i % 50 == 2)
			event_log_of(&e, EVENT_GROUP_READY, "", "g", "%u", i);
		event_log_of(&e, EVENT_RESERVED, "red", "r", "%u", i);
	}
	ok(left(EVENT_SWITCH_DOWN, "") == FLOOD / 20,
	   "a tenant floods: the fabric's events are all there");
	ok(left(EVENT_GROUP_READY, "blue") == FLOOD / 20,
	   "and another tenant's");
	ok(left(EVENT_GROUP_READY, "") == FLOOD / 50,
	   "and those of callers without a tenant");
	ok(left(EVENT_RESERVED, "red") ==
	   EVENT_HALF - FLOOD / 20 - FLOOD / 50, "and its last ones");
	ok(shown(EVENT_RESERVED) == 25 && shown(EVENT_GROUP_READY) +
	   shown(EVENT_SWITCH_DOWN) == 25, "half of those that are shown");
	ok(event_get(&e, e.last) && !event_get(&e, e.last + 1) &&
	   !event_from(&e, e.last + 1) && !event_get(&e, 0) &&
	   event_get(&e, 1), "by number");
	for (i = 0; i < FLOOD; i++)
		event_log(&e, EVENT_REFUSED, "somebody", "%u", i);
	ok(left(EVENT_SWITCH_DOWN, "") == FLOOD / 20 &&
	   left(EVENT_REFUSED, "") == EVENT_HALF - FLOOD / 20 &&
	   left(EVENT_GROUP_READY, "blue") == FLOOD / 20,
	   "refused callers hide nothing else");
	events_free(&e);
}

/* --- Compared with an array ---------------------------------------------- */

/**
 * struct seen - an event that is to be there
 * @seq: its number
 * @owner: tenant, or kind
 * @fabric: it is the fabric's
 */
struct seen {
	uint64_t	seq;
	unsigned int	owner;
	bool		fabric;
};

static struct seen all[EVENT_MAX + 1];
static unsigned int n;

static unsigned int has(const struct seen *of)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += all[i].owner == of->owner && all[i].fabric == of->fabric;
	return sum;
}

/* May this one go? All are there, the last one, too. */
static bool may_go(unsigned int at)
{
	static unsigned int sums[OWNERS];
	unsigned int i, sum = 0, most = 0;

	memset(sums, 0, sizeof(sums));
	for (i = 0; i < n; i++) {
		if (all[i].fabric != all[at].fabric)
			continue;
		if (i < at && all[i].owner == all[at].owner)
			return false;
		if (++sums[all[i].owner] > most)
			most = sums[all[i].owner];
		sum++;
	}
	return at != n - 1 && sum > EVENT_HALF && has(&all[at]) == most;
}

/* One may have gone, none must have gone otherwise. */
static bool is_right(const struct seen *new)
{
	const struct event *ev = event_from(&e, 0);
	unsigned int i, sum = 0;
	int gone = -1;

	for (i = 0; i < n; i++) {
		sum += all[i].fabric == new->fabric;
		if (ev && ev->seq == all[i].seq)
			ev = TAILQ_NEXT(ev, by_seq);
		else if (gone < 0)
			gone = (int)i;
		else
			return false;
	}
	if (ev)
		return false;
	if (gone < 0)
		return sum <= EVENT_HALF;
	if (all[gone].fabric != new->fabric || !may_go((unsigned int)gone))
		return false;
	n--;
	memmove(&all[gone], &all[gone + 1], (n - gone) * sizeof(all[0]));
	return true;
}

static bool finds(void)
{
	uint64_t seq = draw((uint32_t)e.last + 2);
	const struct event *ev = event_from(&e, seq);
	unsigned int i = 0;

	while (i < n && all[i].seq < seq)
		i++;
	return i == n ? !ev : ev && ev->seq == all[i].seq;
}

/* @owners: few, or so many that not each can have an event. */
static bool random_events(unsigned int owners)
{
	char tenant[16], text[16];
	const struct event *ev;
	struct seen new;
	unsigned int i;

	n = 0;
	begin();
	for (i = 0; i < STEPS; i++) {
		new = (struct seen){ e.last + 1, draw(owners), !draw(3) };
		/* Some have more to say. */
		if (draw(2))
			new.owner = draw(1 + new.owner / 8);
		if (new.fabric)
			new.owner %= KINDS;
		snprintf(tenant, sizeof(tenant), "t%u", new.owner);
		snprintf(text, sizeof(text), "%u", i);
		if (new.fabric)
			event_log(&e, kinds[new.owner], "s0", "%s", text);
		else
			event_log_of(&e, EVENT_RESERVED, tenant, "r", "%s",
				     text);
		all[n++] = new;
		ev = event_get(&e, new.seq);
		if (!ev || strcmp(ev->text, text) ||
		    strcmp(ev->tenant, new.fabric ? "" : tenant) ||
		    !is_right(&new) || !finds())
			break;
	}
	events_free(&e);
	if (i < STEPS)
		printf("# event %u of %u owners\n", i + 1, owners);
	return i == STEPS;
}

/* --- Listeners ----------------------------------------------------------- */

static void hear(struct event_listener *l, const struct event *ev)
{
	clock_ms++;
}

/* Clients that follow the events go all at once when the manager ends. */
static void listeners(void)
{
	struct event_listener *l = calloc(LISTENERS, sizeof(*l));
	int64_t before = clock_ms;
	clock_t start;
	unsigned int i;

	if (!l)
		abort();
	begin();
	for (i = 0; i < LISTENERS; i++) {
		l[i].on_event = hear;
		event_listen(&e, &l[i]);
	}
	event_log(&e, EVENT_SWITCH_UP, "s0", "there");
	start = clock();
	for (i = 0; i < LISTENERS; i++)
		event_ignore(&e, &l[i]);
	ok(clock() - start < CLOCKS_PER_SEC, "many listeners go in no time");
	event_log(&e, EVENT_SWITCH_UP, "s0", "there");
	ok(clock_ms - before == LISTENERS, "each has heard of what was before");
	events_free(&e);
	free(l);
}

/* --- The log ------------------------------------------------------------- */

static FILE *err;

/* Lines of the log with this text, since the last call of log_begin(). */
static unsigned int logged(const char *text)
{
	unsigned int lines = 0;
	char line[600];

	rewind(err);
	while (fgets(line, sizeof(line), err))
		lines += strstr(line, text) != NULL;
	return lines;
}

static void log_begin(void)
{
	if (!err || dup2(fileno(err), STDERR_FILENO) < 0 ||
	    ftruncate(fileno(err), 0) || lseek(fileno(err), 0, SEEK_SET))
		abort();
}

static void log_lines(void)
{
	unsigned int i;

	begin();
	log_begin();
	event_log_of(&e, EVENT_GROUP_ENDED, "red", "job", "by hand");
	event_log_of(&e, EVENT_GROUP_ENDED, "", "job", "by hand");
	event_log(&e, EVENT_SWITCH_UP, "s0", "there");
	ok(logged("group-ended job: by hand (tenant red)\n") == 1 &&
	   logged("group-ended job: by hand\n") == 1 &&
	   logged("switch-up s0: there\n") == 1,
	   "the log says whose a group is");
	for (i = 0; i < FLOOD; i++) {
		event_log_of(&e, EVENT_RESERVED, "red", "r", "%u", i);
		event_log(&e, EVENT_SWITCH_UP, "s0", "%u", i);
		if (i % 200 == 0)
			event_log_of(&e, EVENT_RESERVED, "blue", "r", "%u", i);
	}
	ok(logged("(tenant red)\n") == 100 &&
	   logged("too many events of tenant red") == 1,
	   "it has only so many lines of a tenant");
	ok(logged("(tenant blue)\n") == FLOOD / 200 &&
	   logged("switch-up") == FLOOD + 1, "but all of others");
	clock_ms += 20000;
	event_log_of(&e, EVENT_RESERVED, "red", "r", "later");
	ok(logged("9901 events of tenant red are not in this log\n") == 1 &&
	   logged("later (tenant red)\n") == 1,
	   "later it says how many there were");
	events_free(&e);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) :
				   (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);

	puts("KTAP version 1");
	err = tmpfile();
	log_begin();
	flood();
	state = seed;
	printf("# seed %" PRIu64 "\n", seed);
	ok(random_events(2), "random events: two tenants");
	ok(random_events(40), "random events: 40 tenants");
	ok(random_events(OWNERS), "random events: more tenants than events");
	log_lines();
	listeners();
	printf("1..%u\n", number);
	return failures ? 1 : 0;
}
