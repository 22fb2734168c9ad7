// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How long a tree takes in a large fabric: fat-trees of three tiers, whose
 * agents' answers are made up, and a group of all hosts. It takes the ways of
 * inc-amd: what the agents tell goes to the topology, each host is looked up by
 * its address, and the tree is computed.
 *
 *   scale_place [PODS]...
 *
 * Prints one line of JSON for each fabric, of so many pods (fat_tree.h) with 32
 * hosts at each leaf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "manager.h"
#include "fabric/fdb.h"
#include "tests/fat_tree.h"

#define HOSTS	32	/* at each leaf */

static void make(struct manager *m, struct fat_tree *t, uint32_t pods)
{
	uint32_t i;

	fat_tree_make(t, pods, HOSTS);
	m->fabric.n = t->n;
	m->fabric.loop = &m->loop;
	m->fabric.events = &m->events;
	m->fabric.ids.first = 1;
	m->fabric.ids.last = 1;
	m->fabric.switches = calloc(t->n, sizeof(*m->fabric.switches));
	for (i = 0; i < t->n; i++) {
		m->fabric.switches[i].index = i;
		m->fabric.switches[i].up = true;
		m->fabric.switches[i].info = t->infos[i];
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void measure(uint32_t pods)
{
	uint32_t hosts = pods * FAT_LEAVES * HOSTS, i, lost = 0;
	uint32_t *at = calloc(hosts, sizeof(*at));
	double begin, told, found, done;
	struct manager m = { .stop = false };
	const struct sw_if *itf;
	struct inc_rdv_addr addr;
	const struct sw *sw;
	struct place p;
	struct fat_tree t;
	struct rusage ru;

	make(&m, &t, pods);
	m.fabric.topo = topo_new(&m.fabric);
	begin = now();
	for (i = 0; i < m.fabric.n; i++)
		topo_changed(m.fabric.topo, &m.fabric.switches[i]);
	topo_fabric(&m.fabric);
	told = now();
	for (i = 0; i < hosts; i++) {
		fat_tree_addr(&addr, i);
		sw = topo_find(&m.fabric, &addr, &itf);
		lost += !sw || sw->index != fat_tree_leaf(&t, i);
		at[i] = sw ? sw->index : 0;
	}
	found = now();
	if (lost || !place_compute(topo_fabric(&m.fabric), hosts, at, &p)) {
		printf("not ok: %u hosts not found, or no tree\n", lost);
		exit(1);
	}
	done = now();
	getrusage(RUSAGE_SELF, &ru);
	printf("{\"switches\": %u, \"hosts\": %u, \"told_ms\": %.1f, \"found_ms\": %.1f, \"tree_ms\": %.1f, \"cost\": %llu, \"levels\": %u, \"nodes\": %u, \"mib\": %ld}\n",
	       m.fabric.n, hosts, told - begin, found - told, done - found,
	       (unsigned long long)p.cost, p.depth, p.n, ru.ru_maxrss / 1024);
	place_free(&p);
	topo_free(m.fabric.topo);
	fat_tree_free(&t);
	free(m.fabric.switches);
	free(at);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2)
		measure(39);
	for (i = 1; i < argc; i++)
		measure((uint32_t)atoi(argv[i]));
	return 0;
}
