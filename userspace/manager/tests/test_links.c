// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * state/links.c: links of the store that are not there, or cannot be judged yet.
 * KTAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "manager.h"

#define SWITCHES	3
#define HOUR		(3600 * 1000LL)

static unsigned int number, failures;
static struct sw_snapshot infos[SWITCHES];
static struct sw switches[SWITCHES];
static struct manager m;

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

/* The first @n of them have answered. */
static void begin(unsigned int n)
{
	unsigned int i;

	memset(&m, 0, sizeof(m));
	memset(switches, 0, sizeof(switches));
	m.fabric.switches = switches;
	m.fabric.n = SWITCHES;
	m.fabric.loop = &m.loop;
	m.fabric.events = &m.events;
	for (i = 0; i < SWITCHES; i++) {
		snprintf(infos[i].id, sizeof(infos[i].id), "s%u", i);
		switches[i].index = i;
		switches[i].info = i < n ? &infos[i] : NULL;
	}
	m.fabric.topo = topo_new(&m.fabric);
}

static void end(void)
{
	links_free(&m);
	topo_free(m.fabric.topo);
}

/* A record of links from s0 to s1, that were seen at these times; 0: not cut. */
static void restore(const int64_t *seen, unsigned int n)
{
	struct store_record rec = { .key = "links/s0" };
	char text[1024] = "[";
	unsigned int i;

	for (i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s{\"from-switch\":\"s0\",\"from-interface\":\"p%u\",\"to-switch\":\"s1\",\"to-interface\":\"p%u\",\"seen\":%lld}",
			 i ? "," : "", i, i, (long long)seen[i]);
	strcat(text, "]");
	rec.data = (uint8_t *)text;
	links_restore(&m, &rec);
}

static int look(int64_t now)
{
	struct json_object *cuts = links_update(&m, now);
	int n = (int)json_object_array_length(cuts);

	json_object_put(cuts);
	return n;
}

int main(void)
{
	/* What is restored is not of the same millisecond. */
	int64_t now = unix_ms() - 1000;
	const int64_t old[] = { now - 25 * HOUR, now - HOUR, now - 2 * HOUR };
	const int64_t there[] = { 0 }, cut[] = { now - HOUR };

	begin(SWITCHES);
	restore(old, 3);
	ok(look(now) == 2, "the first of three has expired: two are missing");
	ok(look(now + HOUR) == 2 && json_object_object_length(m.links) == 2,
	   "and they stay");
	ok(look(now + 23 * HOUR) == 1, "for a day");
	end();

	begin(SWITCHES);
	restore(there, 1);
	ok(look(now) == 1, "a link that was there at the last manager's end is cut");
	end();

	begin(1);
	restore(there, 1);
	ok(!look(now) && !look(now + 48 * HOUR),
	   "no end of a link is cut before its switch has answered");
	switches[1].info = &infos[1];
	ok(look(now + 48 * HOUR + 1) == 1, "then it is");
	end();

	begin(1);
	restore(cut, 1);
	ok(look(now) == 1, "what was cut is cut without an answer");
	end();

	begin(SWITCHES);
	snprintf(infos[1].id, sizeof(infos[1].id), "other");
	restore(cut, 1);
	ok(!look(now) && !json_object_object_length(m.links),
	   "links of a switch that is none of these are forgotten");
	end();
	return failures != 0;
}
