// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How long a tree takes in a large fabric: fat-trees of three tiers, whose
 * agents' answers are made up, and a group of all hosts. It takes the ways of
 * inc-amd: what the agents tell goes to the topology, each host is looked up by
 * its address, and the tree is computed.
 *
 *   scale_place [PODS]...
 *
 * Prints one line of JSON for each fabric. A pod has 16 leaves with 32 hosts
 * each, and 8 switches above them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "manager.h"
#include "fabric/seen.h"

#define LEAVES	16
#define MIDS	8
#define HOSTS	32
#define CORES	64	/* each switch in the middle has 8 of them */

/* Numbers of switches: those of pods first, then the cores. */
static uint32_t leaf(uint32_t pod, uint32_t i)
{
	return pod * (LEAVES + MIDS) + i;
}

static uint32_t mid(uint32_t pod, uint32_t i)
{
	return pod * (LEAVES + MIDS) + LEAVES + i;
}

static void mac_of(char *text, uint32_t kind, uint32_t n)
{
	snprintf(text, MAC_LEN, "02:%02x:00:%02x:%02x:%02x", kind,
		 n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff);
}

static void addr_of(struct inc_rdv_addr *addr, uint32_t kind, uint32_t n)
{
	*addr = (struct inc_rdv_addr){ .len = 4, .bytes = {
		10, (uint8_t)(kind << 4 | n >> 16), (uint8_t)(n >> 8),
		(uint8_t)n } };
}

static struct sw_if *add_if(struct sw *sw)
{
	struct sw_info *info = sw->info;
	struct sw_if *itf;

	if (!(info->nifs & (info->nifs - 1)))
		info->ifs = realloc(info->ifs, (info->nifs ? 2 * info->nifs : 1)
				    * sizeof(*info->ifs));
	itf = &info->ifs[info->nifs];
	memset(itf, 0, sizeof(*itf));
	snprintf(itf->name, sizeof(itf->name), "p%u", info->nifs);
	mac_of(itf->mac, 1, sw->index);
	itf->up = true;
	itf->speed = 100000000000ULL;
	itf->nneighs = 1;
	itf->neighs = calloc(1, sizeof(*itf->neighs));
	info->nifs++;
	return itf;
}

/* Both announce themselves to each other. */
static void link_up(struct manager *m, uint32_t a, uint32_t b)
{
	struct sw_if *x = add_if(&m->switches[a]);
	struct sw_if *y = add_if(&m->switches[b]);

	mac_of(x->neighs->mac, 1, b);
	mac_of(y->neighs->mac, 1, a);
	strcpy(x->neighs->switch_id, m->switches[b].info->id);
	strcpy(y->neighs->switch_id, m->switches[a].info->id);
	strcpy(x->neighs->switch_port, y->name);
	strcpy(y->neighs->switch_port, x->name);
}

static void host_up(struct manager *m, uint32_t sw, uint32_t host)
{
	struct sw_if *itf = add_if(&m->switches[sw]);

	mac_of(itf->neighs->mac, 2, host);
	itf->neighs->addrs = calloc(1, sizeof(*itf->neighs->addrs));
	itf->neighs->naddrs = 1;
	addr_of(itf->neighs->addrs, 1, host);
}

static void make(struct manager *m, uint32_t pods)
{
	uint32_t n = pods * (LEAVES + MIDS) + CORES, p, i, k, host = 0;

	m->o.nswitches = n;
	m->o.first_tree = 1;
	m->o.last_tree = 1;
	m->switches = calloc(n, sizeof(*m->switches));
	for (i = 0; i < n; i++) {
		m->switches[i].index = i;
		m->switches[i].up = true;
		m->switches[i].info = calloc(1, sizeof(struct sw_info));
		m->switches[i].info->collectives = 1;
		snprintf(m->switches[i].info->id, sizeof(m->switches[i].info->id),
			 "s%u", i);
	}
	for (p = 0; p < pods; p++)
		for (i = 0; i < LEAVES; i++) {
			for (k = 0; k < MIDS; k++)
				link_up(m, leaf(p, i), mid(p, k));
			for (k = 0; k < HOSTS; k++)
				host_up(m, leaf(p, i), host++);
		}
	for (p = 0; p < pods; p++)
		for (i = 0; i < MIDS; i++)
			for (k = 0; k < CORES / MIDS; k++)
				link_up(m, mid(p, i), pods * (LEAVES + MIDS) +
					i * (CORES / MIDS) + k);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void measure(uint32_t pods)
{
	uint32_t hosts = pods * LEAVES * HOSTS, i, lost = 0;
	uint32_t *at = calloc(hosts, sizeof(*at));
	double begin, told, found, done;
	struct manager m = { .stop = false };
	const struct sw_if *itf;
	struct inc_rdv_addr addr;
	const struct sw *sw;
	struct place p;
	struct rusage ru;

	make(&m, pods);
	m.topo = topo_new(&m);
	begin = now();
	for (i = 0; i < m.o.nswitches; i++)
		topo_changed(m.topo, &m.switches[i]);
	topo_fabric(&m);
	told = now();
	for (i = 0; i < hosts; i++) {
		addr_of(&addr, 1, i);
		sw = topo_find(&m, &addr, &itf);
		lost += !sw || sw->index != leaf(i / HOSTS / LEAVES,
						 i / HOSTS % LEAVES);
		at[i] = sw ? sw->index : 0;
	}
	found = now();
	if (lost || !place_compute(topo_fabric(&m), hosts, at, &p)) {
		printf("not ok: %u hosts not found, or no tree\n", lost);
		exit(1);
	}
	done = now();
	getrusage(RUSAGE_SELF, &ru);
	printf("{\"switches\": %u, \"hosts\": %u, \"told_ms\": %.1f, \"found_ms\": %.1f, \"tree_ms\": %.1f, \"cost\": %llu, \"levels\": %u, \"nodes\": %u, \"mib\": %ld}\n",
	       m.o.nswitches, hosts, told - begin, found - told, done - found,
	       (unsigned long long)p.cost, p.depth, p.n, ru.ru_maxrss / 1024);
	place_free(&p);
	topo_free(m.topo);
	for (i = 0; i < m.o.nswitches; i++)
		sw_info_free(m.switches[i].info);
	free(m.switches);
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
