// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What LLDP brings: the TLV of INC switches, as it should be, and as it should
 * not; and when beacons are sent.
 */
#include "announce.h"
#include "beacon.h"
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS	20000	/* unless the environment says how many */

static int failures;

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			failures++;					\
			printf("not ok - line %d: %s\n", __LINE__, #cond); \
		}							\
	} while (0)

static void test_valid(void)
{
	uint8_t buf[ANNOUNCE_MAX];
	char name[80];
	struct announce a;
	size_t n;

	n = announce_make(buf, "leaf0", "uplink");
	CHECK(n == 14);
	CHECK(!announce_parse(ANNOUNCE_SWITCH, buf, n, &a));
	CHECK(!strcmp(a.id, "leaf0") && !strcmp(a.port, "uplink"));
	/* A later version of this one may append something. */
	buf[n] = 77;
	CHECK(!announce_parse(ANNOUNCE_SWITCH, buf, n + 1, &a));
	CHECK(!announce_parse(ANNOUNCE_HOST, NULL, 0, &a) && !a.id[0]);
	memset(name, 'x', sizeof(name));
	name[63] = '\0';
	CHECK(announce_make(buf, name, "eth0") == 70);
	name[63] = 'x';
	name[64] = '\0';
	CHECK(!announce_make(buf, name, "eth0"));
}

static void test_wrong(void)
{
	uint8_t buf[ANNOUNCE_MAX], mac[6];
	struct announce a;
	size_t n = announce_make(buf, "leaf0", "uplink"), i;

	for (i = 0; i < n; i++)
		CHECK(announce_parse(ANNOUNCE_SWITCH, buf, i, &a));
	CHECK(announce_parse(ANNOUNCE_SWITCH, NULL, 0, &a));
	CHECK(announce_parse(3, buf, n, &a));
	CHECK(announce_parse(-1, buf, n, &a));
	buf[0] = 2;
	CHECK(announce_parse(ANNOUNCE_SWITCH, buf, n, &a));
	buf[0] = 1;
	buf[3] = '\n';
	CHECK(announce_parse(ANNOUNCE_SWITCH, buf, n, &a) && !a.id[0]);
	CHECK(announce_mac(NULL, 0, mac));
	CHECK(announce_mac((const uint8_t *)"\1\0\0\0\0\1", 6, mac));
	CHECK(announce_mac((const uint8_t *)"\0\0\0\0\0\0", 6, mac));
	CHECK(announce_mac((const uint8_t *)"\2\0\0\0\0\1", 5, mac));
	CHECK(!announce_mac((const uint8_t *)"\2\0\0\0\0\1", 6, mac));
}

static void check_text(const char *text, size_t room)
{
	size_t i, n = strnlen(text, room);

	CHECK(n < room);
	for (i = 0; i < n && i < room; i++)
		CHECK(text[i] > ' ' && text[i] <= '~');
}

/* Arbitrary bytes, and valid ones with a few that are not. */
static void test_fuzz(unsigned int seed)
{
	const char *text = getenv("INPUTS");
	unsigned int i, k, good = 0, inputs = text ? (unsigned int)atoi(text) :
						     INPUTS;
	struct announce a;
	uint8_t *buf, mac[6];
	size_t n;

	srand(seed);
	for (i = 0; i < inputs; i++) {
		/* Exactly as long as it is: the sanitizer sees each byte more. */
		n = (size_t)rand() % ANNOUNCE_MAX;
		buf = malloc(n + 1);
		for (k = 0; k < n; k++)
			buf[k] = (uint8_t)rand();
		if (i & 1) {
			free(buf);
			buf = malloc(ANNOUNCE_MAX);
			n = announce_make(buf, "spine12", "swp3");
			for (k = (unsigned int)rand() % 4; k; k--)
				buf[(size_t)rand() % n] = (uint8_t)rand();
			n -= (size_t)rand() % 3;
		}
		buf = realloc(buf, n ? n : 1);
		if (!announce_parse(rand() % 4, buf, n, &a))
			good++;
		check_text(a.id, sizeof(a.id));
		check_text(a.port, sizeof(a.port));
		announce_mac(buf, n, mac);
		free(buf);
	}
	CHECK(good > inputs / 20);
	printf("# %u inputs, %u of them valid, seed %u\n", inputs, good, seed);
}

static unsigned int beacons;
static struct beacon state;
static uint64_t changing;

void bridge_beacon(void)
{
	beacons++;
}

uint64_t bridge_changing(void)
{
	return changing;
}

/* Milliseconds until a beacon is sent, as many as @limit. */
static unsigned int next_beacon(uint64_t *now, unsigned int limit)
{
	unsigned int before = beacons, waited = 0;
	int wait = beacon_turn(&state, *now);

	while (beacons == before && waited < limit) {
		CHECK(wait > 0);
		waited += (unsigned int)wait;
		*now += (uint64_t)wait;
		wait = beacon_turn(&state, *now);
	}
	return waited;
}

/* The spanning tree changes somewhere, and nothing here does. */
static void test_beacon(void)
{
	uint64_t now = 1000000;
	unsigned int i;

	CHECK(!next_beacon(&now, 1));
	for (i = 0; i < 10; i++)
		next_beacon(&now, 100000);
	CHECK(next_beacon(&now, 100000) == 60000);
	changing = 1;
	CHECK(next_beacon(&now, 100000) <= 1100);
	CHECK(next_beacon(&now, 100000) <= 2000);
	for (i = 0; i < 10; i++)
		next_beacon(&now, 100000);
	CHECK(next_beacon(&now, 100000) == 60000);
	changing = 0;
	CHECK(next_beacon(&now, 100000) <= 1100);
}

int main(int argc, char **argv)
{
	test_valid();
	test_wrong();
	test_beacon();
	test_fuzz(argc > 1 ? (unsigned int)atoi(argv[1]) : 1);
	printf("%s 1 - announcements by LLDP\n", failures ? "not ok" : "ok");
	return !!failures;
}
