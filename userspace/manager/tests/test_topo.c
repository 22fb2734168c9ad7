// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * fabric/: links and hosts, as random fabrics and some small ones tell of them.
 *
 *   test_topo [FABRICS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manager.h"
#include "event_get.h"
#include "fabric/row.h"

#define SWITCHES	12
#define IFS		48
#define NEIGHS		96
#define HOSTS		24
#define MANY		60000U

static unsigned int failed;

static void check(bool ok, const char *what)
{
	failed += !ok;
	printf("%sok - %s\n", ok ? "" : "not ", what);
}

/* --- A fabric ------------------------------------------------------------ */

enum { MAC_BRIDGE, MAC_PORT, MAC_HOST };

static struct manager m;
static struct sw_snapshot infos[SWITCHES];

static void mac_of(char *mac, int kind, unsigned int a, unsigned int b)
{
	snprintf(mac, MAC_LEN, "02:00:%02x:00:%02x:%02x", kind, a, b);
}

static struct inc_rdv_addr *addr_of(unsigned int host)
{
	struct inc_rdv_addr *addr = calloc(1, sizeof(*addr));

	addr->len = 4;
	memcpy(addr->bytes, (uint8_t []){ 10, 0, 0, (uint8_t)host }, 4);
	return addr;
}

static struct sw_if *if_of(unsigned int sw, const char *name)
{
	unsigned int i;

	for (i = 0; i < infos[sw].nifs; i++)
		if (!strcmp(infos[sw].ifs[i].name, name))
			return &infos[sw].ifs[i];
	abort();
}

/* A port of the bridge, which is its first interface. */
static struct sw_if *add_if(unsigned int sw, const char *name)
{
	struct sw_if *itf = &infos[sw].ifs[infos[sw].nifs];

	if (infos[sw].nifs == IFS)
		abort();
	memset(itf, 0, sizeof(*itf));
	snprintf(itf->name, sizeof(itf->name), "%s", name);
	mac_of(itf->mac, infos[sw].nifs ? MAC_PORT : MAC_BRIDGE, sw,
	       infos[sw].nifs);
	itf->bridge = !infos[sw].nifs;
	itf->port = infos[sw].nifs;
	itf->up = true;
	itf->neighs = calloc(NEIGHS, sizeof(*itf->neighs));
	infos[sw].nifs++;
	return itf;
}

static struct sw_neigh *add_neigh(struct sw_if *itf, const char *mac)
{
	struct sw_neigh *neigh = &itf->neighs[itf->nneighs++];

	if (itf->nneighs > NEIGHS)
		abort();
	memset(neigh, 0, sizeof(*neigh));
	strcpy(neigh->mac, mac);
	return neigh;
}

static void sees(struct sw_if *itf, int kind, unsigned int a, unsigned int b)
{
	char mac[MAC_LEN];

	mac_of(mac, kind, a, b);
	add_neigh(itf, mac);
}

static void announce(unsigned int a, const char *a_if, unsigned int b,
		     const char *b_if)
{
	struct sw_neigh *neigh = add_neigh(if_of(a, a_if), if_of(b, b_if)->mac);

	strcpy(neigh->switch_id, infos[b].id);
	strcpy(neigh->switch_port, b_if);
}

static void begin(unsigned int n)
{
	unsigned int i;

	m.fabric.n = n;
	m.fabric.loop = &m.loop;
	m.fabric.events = &m.events;
	m.fabric.switches = calloc(n, sizeof(*m.fabric.switches));
	for (i = 0; i < n; i++) {
		memset(&infos[i], 0, sizeof(infos[i]));
		snprintf(infos[i].id, sizeof(infos[i].id), "s%u", i);
		infos[i].ifs = calloc(IFS, sizeof(*infos[i].ifs));
		add_if(i, "br0");
		m.fabric.switches[i].index = i;
		m.fabric.switches[i].up = true;
		m.fabric.switches[i].info = &infos[i];
	}
	m.fabric.topo = topo_new(&m.fabric);
}

static void told(void)
{
	unsigned int i;

	for (i = 0; i < m.fabric.n; i++) {
		if (!sw_ifs_order(&infos[i]))
			abort();
		sw_ifs_chain(&infos[i]);
		topo_changed(m.fabric.topo, &m.fabric.switches[i]);
	}
}

static void end(void)
{
	unsigned int i;

	topo_free(m.fabric.topo);
	for (i = 0; i < m.fabric.n; i++)
		sw_ifs_free(&infos[i]);
	free(m.fabric.switches);
}

/* A host with the address of its number. */
static void host_says(struct sw_if *itf, unsigned int host)
{
	struct sw_neigh *neigh;
	char mac[MAC_LEN];

	mac_of(mac, MAC_HOST, 0, host);
	neigh = add_neigh(itf, mac);
	neigh->addrs = addr_of(host);
	neigh->naddrs = 1;
}

static bool host_at(unsigned int host, unsigned int sw, const char *name)
{
	struct inc_rdv_addr *addr = addr_of(host);
	const struct sw_if *itf;
	const struct sw *at = topo_find(&m.fabric, addr, &itf);

	free(addr);
	return at && at->index == sw && !strcmp(itf->name, name);
}

static bool rival_is(unsigned int host, uint32_t sw)
{
	struct inc_rdv_addr *addr = addr_of(host);
	const struct sw *other;
	const struct sw *rival = topo_rival(&m.fabric, addr, &other);

	free(addr);
	return sw == PLACE_NONE ? !rival : rival && rival->index == sw;
}

/* Two claim a host, and neither is believed; there is nobody else. */
static bool unknown_of(unsigned int host, uint32_t a, uint32_t b)
{
	struct inc_rdv_addr *addr = addr_of(host);
	const struct sw *other = NULL, *rival = topo_rival(&m.fabric, addr, &other);
	const struct sw_if *itf;
	bool found = topo_find(&m.fabric, addr, &itf) || topo_near(&m.fabric, addr);

	free(addr);
	return !found && rival && other && rival != other &&
	       (rival->index == a || rival->index == b) &&
	       (other->index == a || other->index == b);
}

static bool link_is(const struct topo_link *l, unsigned int a, const char *a_if,
		    unsigned int b, const char *b_if, const char *how)
{
	return l->a == a && l->b == b && !strcmp(l->how, how) &&
	       l->b_if != FDB_OWN && !strcmp(infos[a].ifs[l->a_if].name, a_if) &&
	       !strcmp(infos[b].ifs[l->b_if].name, b_if);
}

/* --- Small ones ---------------------------------------------------------- */

/* Members of an aggregation hear LLDP; the bridge knows the aggregation. */
static void bonds(void)
{
	static const char *const members[] = { "eth1", "eth2" };
	const struct topo_link *l;
	unsigned int sw, i;
	struct sw_if *itf;
	uint32_t n;

	begin(2);
	for (sw = 0; sw < 2; sw++) {
		add_if(sw, "bond0")->speed = 20000;
		sees(if_of(sw, "bond0"), MAC_BRIDGE, !sw, 0);
		for (i = 0; i < 2; i++) {
			itf = add_if(sw, members[i]);
			strcpy(itf->mac, if_of(sw, "bond0")->mac);
			itf->port = false;
			itf->member = true;
			itf->upper = 1;
			itf->speed = 10000;
		}
		host_says(add_if(sw, "v0"), sw);
	}
	for (sw = 0; sw < 2; sw++) {
		sees(if_of(!sw, "bond0"), MAC_HOST, 0, sw);
		for (i = 0; i < 2; i++)
			announce(sw, members[i], !sw, members[i]);
	}
	told();
	l = topo_links(&m.fabric, &n);
	check(n == 1 && link_is(l, 0, "bond0", 1, "bond0", "lldp") &&
	      l->speed == 20000, "an aggregation is one link, by LLDP");
	check(host_at(0, 0, "v0") && host_at(1, 1, "v0"),
	      "hosts beside an aggregation");
	check(!strcmp(topo_way(&m.fabric, &m.fabric.switches[0], &m.fabric.switches[1])->name,
		      "bond0"), "the way is the aggregation");
	if_of(0, "eth1")->up = false;
	told();
	topo_links(&m.fabric, &n);
	check(n == 1, "an aggregation with a member that is down");
	if_of(0, "bond0")->up = false;
	told();
	topo_links(&m.fabric, &n);
	check(!n, "an aggregation that is down");
	end();
}

/* Anybody can claim to be a switch. */
static void one_sided(void)
{
	uint32_t n;

	begin(3);
	add_if(0, "p0");
	add_if(1, "p0");
	add_if(2, "p0");
	announce(0, "p0", 1, "p0");
	announce(1, "p0", 2, "p0");
	announce(2, "p0", 1, "p0");
	told();
	topo_links(&m.fabric, &n);
	check(n == 1 && m.fabric.topo->links->a == 1,
	      "by LLDP, both have to see each other");
	end();
}

/* The bridge knows who it is, but not by which port. */
static void unknown_port(void)
{
	uint32_t n;

	begin(2);
	add_if(0, "p0");
	add_if(1, "p0");
	sees(if_of(0, "br0"), MAC_BRIDGE, 1, 0);
	sees(if_of(1, "br0"), MAC_BRIDGE, 0, 0);
	told();
	topo_links(&m.fabric, &n);
	check(!n, "bridges are no ends of links");
	end();
}

/* The first one claims a leaf's host: the others see it where it is. */
static void claimed(void)
{
	unsigned int sw;

	begin(3);
	add_if(0, "up");
	host_says(add_if(0, "mine"), 7);
	add_if(1, "up");
	host_says(add_if(1, "v0"), 7);
	add_if(2, "p0");
	add_if(2, "p1");
	for (sw = 0; sw < 2; sw++) {
		sees(if_of(sw, "up"), MAC_BRIDGE, 2, 0);
		sees(if_of(2, sw ? "p1" : "p0"), MAC_BRIDGE, sw, 0);
		sees(if_of(sw, "up"), MAC_BRIDGE, !sw, 0);
	}
	sees(if_of(2, "p1"), MAC_HOST, 0, 7);
	told();
	check(host_at(7, 1, "v0"), "a host is where others see it, too");
	check(rival_is(7, 0), "who claims it as well is known");
	end();
}

/* Say that an address belongs to another MAC address than its host's. */
static void lie(struct sw_if *itf, unsigned int host, unsigned int mac_host)
{
	struct sw_neigh *neigh;
	char mac[MAC_LEN];

	mac_of(mac, MAC_HOST, 0, mac_host);
	neigh = add_neigh(itf, mac);
	neigh->addrs = addr_of(host);
	neigh->naddrs = 1;
}

/* There is nobody else: who had it first keeps it. */
static void claimed_addr(void)
{
	begin(2);
	add_if(0, "v0");
	host_says(add_if(1, "v0"), 7);
	told();
	check(host_at(7, 1, "v0") && rival_is(7, PLACE_NONE),
	      "a host that one switch has");
	lie(if_of(0, "v0"), 7, 9);
	told();
	check(host_at(7, 1, "v0") && rival_is(7, 0),
	      "its address stays where it was when another one claims it");
	end();
}

/*
 * From the start, @liar claims the address of a host at @right with a MAC address
 * that it invents. The one that is left, if any, connects both.
 */
static void claimed_at_once(unsigned int n, unsigned int liar,
			    unsigned int right, bool seen)
{
	unsigned int mid = 3 - liar - right, i;
	char text[80];

	begin(n);
	for (i = 0; i < n; i++) {
		add_if(i, "v0");
		add_if(i, "p0");
		add_if(i, "p1");
	}
	host_says(if_of(right, "v0"), 7);
	lie(if_of(liar, "v0"), 7, 9);
	sees(if_of(right, "p0"), MAC_BRIDGE, liar, 0);
	sees(if_of(liar, "p0"), MAC_BRIDGE, right, 0);
	if (n == 3) {
		sees(if_of(right, "p0"), MAC_BRIDGE, mid, 0);
		sees(if_of(liar, "p0"), MAC_BRIDGE, mid, 0);
		sees(if_of(mid, "p0"), MAC_BRIDGE, right, 0);
		sees(if_of(mid, "p1"), MAC_BRIDGE, liar, 0);
	}
	if (seen)
		sees(n == 3 ? if_of(mid, "p0") : if_of(liar, "p0"), MAC_HOST,
		     0, 7);
	told();
	snprintf(text, sizeof(text), "%u switches, s%u lies, %s", n, liar,
		 seen ? "another one sees the host" : "nobody else sees it");
	check(seen ? host_at(7, right, "v0") && rival_is(7, liar) :
		     unknown_of(7, liar, right), text);
	end();
}

static void claimed_from_start(void)
{
	unsigned int n;

	for (n = 2; n <= 3; n++) {
		claimed_at_once(n, 0, 1, true);
		claimed_at_once(n, 1, 0, true);
		claimed_at_once(n, 0, 1, false);
		claimed_at_once(n, 1, 0, false);
	}
	claimed_at_once(3, 0, 2, true);
	claimed_at_once(3, 2, 0, true);
}

/* Two switches that do not see each other have a MAC address at their edges. */
static void claimed_apart(void)
{
	begin(2);
	host_says(add_if(0, "v0"), 7);
	host_says(add_if(1, "v0"), 7);
	told();
	check(unknown_of(7, 0, 1), "a MAC address at two edges that are apart");
	end();
	begin(2);
	host_says(add_if(0, "v0"), 7);
	/* It has moved: nobody sees that MAC address any more. */
	add_if(1, "br1")->bridge = true;
	lie(if_of(1, "br1"), 7, 9);
	told();
	check(host_at(7, 0, "v0"),
	      "one at an edge is worth more than one that is nowhere");
	end();
}

/*
 * Two that lie have as many interfaces as an answer has room for: each sees the same
 * host, and, by LLDP, one of the other liar's.
 */
static void many(void)
{
	uint32_t sw, i, n;
	struct timespec a, b;
	struct sw_if *itf;
	double took;

	begin(2);
	for (sw = 0; sw < 2; sw++) {
		free(infos[sw].ifs->neighs);
		free(infos[sw].ifs);
		infos[sw].ifs = calloc(MANY, sizeof(*itf));
		for (i = 0; i < MANY; i++) {
			itf = &infos[sw].ifs[i];
			snprintf(itf->name, sizeof(itf->name), "p%u", i);
			itf->up = true;
			itf->neighs = calloc(1, sizeof(*itf->neighs));
			itf->nneighs = 1;
			mac_of(itf->neighs->mac, MAC_HOST, 0, 1);
			sprintf(itf->neighs->switch_id, "s%u", !sw);
			sprintf(itf->neighs->switch_port, "p%u", MANY - 1 - i);
		}
		infos[sw].nifs = MANY;
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	told();
	topo_links(&m.fabric, &n);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	took = (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	printf("# two switches with %u interfaces: %.1f s\n", MANY, took);
	check(n == MANY && took < 5, "so many interfaces do not take long");
	end();
}

/* What others know of the host's switch is wrong: it is still where it is. */
static void contradiction(void)
{
	begin(3);
	add_if(0, "v0");
	add_if(0, "up");
	add_if(1, "p0");
	add_if(1, "p1");
	add_if(2, "p0");
	host_says(if_of(0, "v0"), 7);
	sees(if_of(0, "up"), MAC_BRIDGE, 1, 0);
	sees(if_of(1, "p0"), MAC_HOST, 0, 7);
	sees(if_of(1, "p0"), MAC_BRIDGE, 2, 0);
	sees(if_of(1, "p1"), MAC_BRIDGE, 0, 0);
	told();
	check(host_at(7, 0, "v0"), "a host that one switch alone has at its edge");
	end();
}

/* Three switches in a ring; s2 blocks its port to s1. */
static void begin_ring(void)
{
	begin(3);
	add_if(0, "to1");
	add_if(0, "to2");
	add_if(1, "to0");
	add_if(1, "to2");
	add_if(2, "to0");
	add_if(2, "to1")->blocked = true;
	sees(if_of(0, "to1"), MAC_BRIDGE, 1, 0);
	sees(if_of(0, "to2"), MAC_BRIDGE, 2, 0);
	sees(if_of(1, "to0"), MAC_BRIDGE, 0, 0);
	sees(if_of(1, "to0"), MAC_BRIDGE, 2, 0);
	sees(if_of(2, "to0"), MAC_BRIDGE, 0, 0);
}

static bool two_links(const char *how)
{
	const struct topo_link *l;
	uint32_t n;

	l = topo_links(&m.fabric, &n);
	return n == 2 && link_is(l, 0, "to1", 1, "to0", how) &&
	       link_is(l + 1, 0, "to2", 2, "to0", how);
}

/* What was learnt before a port was blocked is no link. */
static void ring_by_fdb(void)
{
	begin_ring();
	sees(if_of(2, "to1"), MAC_BRIDGE, 1, 0);
	told();
	check(two_links("fdb"), "a ring: no link by a port that is blocked");
	end();
}

/* s1 is between, and the others have forgotten it. */
static void forgotten(void)
{
	uint32_t n;

	begin(3);
	add_if(0, "p0");
	add_if(1, "p0");
	add_if(1, "p1");
	add_if(2, "p1");
	sees(if_of(0, "p0"), MAC_BRIDGE, 2, 0);
	sees(if_of(2, "p1"), MAC_BRIDGE, 0, 0);
	sees(if_of(1, "p0"), MAC_BRIDGE, 0, 0);
	sees(if_of(1, "p1"), MAC_BRIDGE, 2, 0);
	told();
	topo_links(&m.fabric, &n);
	check(!n, "no link past a switch that its neighbours have forgotten");
	end();
}

static void ring_by_lldp(void)
{
	uint32_t n;

	begin_ring();
	sees(if_of(2, "to0"), MAC_BRIDGE, 1, 0);
	announce(0, "to1", 1, "to0");
	announce(1, "to0", 0, "to1");
	announce(0, "to2", 2, "to0");
	announce(2, "to0", 0, "to2");
	announce(1, "to2", 2, "to1");
	announce(2, "to1", 1, "to2");
	told();
	check(two_links("lldp"), "a ring by LLDP: not the link that is blocked");
	check(!strcmp(topo_way(&m.fabric, &m.fabric.switches[1], &m.fabric.switches[2])->name,
		      "to0") &&
	      !strcmp(topo_way(&m.fabric, &m.fabric.switches[2], &m.fabric.switches[1])->name,
		      "to0"), "a ring by LLDP: the way round");
	if_of(2, "to1")->blocked = false;
	told();
	topo_links(&m.fabric, &n);
	check(n == 3, "a ring by LLDP: the link is there when it is open");
	end();
}

static void count_host(void *ctx, const struct inc_rdv_addr *addr,
		       const struct sw *sw, const struct sw_if *itf)
{
	unsigned int *count = ctx;

	(void)sw;
	(void)itf;
	*count += addr->len == 4 ? 1 : 100;
}

/* Each host has an address of its link, too, which is left out. */
static void local_address(void)
{
	static const uint8_t local[] = { 0xfe, 0xbf, 0 };
	unsigned int count = 0;

	begin(1);
	host_says(add_if(0, "v0"), 1);
	host_says(add_if(0, "v1"), 2);
	if_of(0, "v1")->neighs[0].addrs->len = 16;
	memcpy(if_of(0, "v1")->neighs[0].addrs->bytes, local, sizeof(local));
	told();
	topo_hosts(&m.fabric, count_host, &count);
	check(count == 1, "addresses of a link are left out");
	end();
}

/* Give a switch a VLAN of its bridge, and a host with address 1 at port "v0". */
static void add_vlan(unsigned int sw, uint16_t vlan, unsigned int mac)
{
	struct sw_neigh *neigh;
	struct sw_if *itf;
	char text[MAC_LEN];

	mac_of(text, MAC_HOST, 0, mac);
	add_neigh(add_if(sw, "v0"), text);
	itf = add_if(sw, "br0.x");
	itf->port = false;
	itf->vlan = vlan;
	itf->tagged = true;
	itf->index = vlan;
	neigh = add_neigh(itf, text);
	neigh->addrs = addr_of(1);
	neigh->addrs->vlan = vlan;
	neigh->naddrs = 1;
}

/* Hosts in two VLANs have the same address. */
static void same_address(void)
{
	struct inc_rdv_addr *addr = addr_of(1);
	const struct sw_if *itf;
	const struct sw *other;
	unsigned int count = 0;
	uint16_t vlan;

	begin(2);
	add_vlan(0, 10, 1);
	add_vlan(1, 20, 2);
	told();
	for (vlan = 10; vlan <= 20; vlan += 10) {
		addr->vlan = vlan;
		check(topo_find(&m.fabric, addr, &itf) ==
		      &m.fabric.switches[vlan / 20] && itf &&
		      !strcmp(itf->name, "v0") &&
		      !topo_rival(&m.fabric, addr, &other) &&
		      sw_if_vlan(&infos[vlan / 20], addr) == vlan &&
		      !sw_if_vlan(&infos[!(vlan / 20)], addr),
		      "its host, and not the other VLAN's");
	}
	addr->vlan = 30;
	check(!topo_find(&m.fabric, addr, &itf), "a VLAN without that host");
	addr->vlan = 0;
	check(topo_find(&m.fabric, addr, &itf), "a host in any VLAN");
	topo_hosts(&m.fabric, count_host, &count);
	check(count == 2, "they are two hosts");
	free(addr);
	end();
}

/* --- Chosen addresses ---------------------------------------------------- */

#define CHOSEN	8000U

static uint32_t fnv(uint32_t h, const char *text)
{
	while (*text)
		h = (h ^ (uint8_t)*text++) * 16777619U;
	return h;
}

/* One of a few that an unkeyed hash puts into the same of 65,536 buckets. */
static void colliding_mac(char *mac)
{
	static const char hex[] = "0123456789abcdef";
	static unsigned int next;
	uint32_t begun = 0, h;

	do {
		if (!(next % 256) || !begun) {
			sprintf(mac, "02:00:%02x:%02x:%02x:", next >> 24 & 255,
				next >> 16 & 255, next >> 8 & 255);
			begun = fnv(2166136261U, mac);
		}
		mac[15] = hex[next / 16 % 16];
		mac[16] = hex[next++ % 16];
		h = (begun ^ (uint8_t)mac[15]) * 16777619U;
		h = (h ^ (uint8_t)mac[16]) * 16777619U;
	} while ((h ^ h >> 16) % 65536);
	mac[17] = '\0';
}

/* Seconds that it takes to learn of so many. */
static double learn(bool colliding)
{
	struct timespec a, b;
	struct sw_if *itf;
	char mac[MAC_LEN];
	unsigned int i;

	begin(1);
	itf = add_if(0, "v0");
	free(itf->neighs);
	itf->neighs = calloc(CHOSEN, sizeof(*itf->neighs));
	for (i = 0; i < CHOSEN; i++) {
		if (colliding)
			colliding_mac(mac);
		else
			sprintf(mac, "02:01:00:%02x:%02x:%02x", i >> 16 & 255,
				i >> 8 & 255, i & 255);
		strcpy(itf->neighs[i].mac, mac);
	}
	itf->nneighs = CHOSEN;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	told();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	end();
	return (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static void many_colliding(void)
{
	unsigned int tries = 5;
	double any, chosen;

	/* As in test_base.c. */
	do {
		any = learn(false);
		chosen = learn(true);
	} while (chosen >= 8 * any && --tries);
	printf("# %u MAC addresses: %.1f ms, chosen ones %.1f ms\n", CHOSEN,
	       any * 1e3, chosen * 1e3);
	check(chosen < 8 * any, "chosen MAC addresses take no longer");
}

/* --- Random trees of switches -------------------------------------------- */

static unsigned int parent[SWITCHES], depth[SWITCHES], at_switch[HOSTS];

static unsigned int up_to(unsigned int n)
{
	return (unsigned int)random() % n;
}

static const char *to(unsigned int sw)
{
	static char name[4][16];
	static unsigned int turn;

	snprintf(name[++turn % 4], sizeof(name[0]), "to%u", sw);
	return name[turn % 4];
}

/* The switch beside @sw that is on the way to @target. */
static unsigned int next_to(unsigned int sw, unsigned int target)
{
	unsigned int below = target;

	while (depth[below] > depth[sw] + 1)
		below = parent[below];
	return depth[below] == depth[sw] + 1 && parent[below] == sw ? below :
								     parent[sw];
}

static struct sw_if *towards(unsigned int sw, unsigned int target)
{
	return if_of(sw, to(next_to(sw, target)));
}

static void make_tree(unsigned int n)
{
	unsigned int i, k;

	begin(n);
	for (i = 1; i < n; i++) {
		parent[i] = up_to(i);
		depth[i] = depth[parent[i]] + 1;
		add_if(i, to(parent[i]));
		add_if(parent[i], to(i));
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (i != k)
				sees(towards(i, k), MAC_BRIDGE, k, 0);
}

/*
 * Addresses of ports are where the bridge once was that had them, or where BPDUs
 * come from; a few are somewhere.
 */
static void add_ports(unsigned int n)
{
	unsigned int i, k, left = up_to(2 * n);

	while (left--) {
		i = up_to(n);
		k = up_to(n);
		if (i != k && infos[i].nifs > 1)
			sees(&infos[i].ifs[1 + up_to(infos[i].nifs - 1)],
			     MAC_PORT, k, 1 + up_to(infos[k].nifs));
	}
}

static void add_hosts(unsigned int n)
{
	unsigned int h, i;
	char name[16];

	for (h = 0; h < HOSTS; h++) {
		at_switch[h] = up_to(n);
		snprintf(name, sizeof(name), "v%u", h);
		host_says(add_if(at_switch[h], name), h);
		for (i = 0; i < n; i++)
			/* Not all have heard of it. */
			if (i != at_switch[h] && up_to(3))
				sees(towards(i, at_switch[h]), MAC_HOST, 0, h);
	}
}

static bool links_right(unsigned int n)
{
	const struct topo_link *l;
	uint32_t i, nlinks;

	l = topo_links(&m.fabric, &nlinks);
	for (i = 0; i < nlinks; i++)
		if (!(parent[l[i].b] == l[i].a && l[i].b) ||
		    !link_is(&l[i], l[i].a, to(l[i].b), l[i].b, to(l[i].a),
			     "fdb"))
			return false;
	return nlinks == n - 1;
}

static bool hosts_right(void)
{
	unsigned int h;
	char name[16];

	for (h = 0; h < HOSTS; h++) {
		snprintf(name, sizeof(name), "v%u", h);
		if (!host_at(h, at_switch[h], name))
			return false;
	}
	return true;
}

static void random_trees(unsigned long fabrics)
{
	unsigned int n, links = 0, hosts = 0;
	unsigned long i;

	for (i = 0; i < fabrics; i++) {
		n = 2 + up_to(SWITCHES - 1);
		make_tree(n);
		add_ports(n);
		add_hosts(n);
		told();
		links += links_right(n);
		hosts += hosts_right();
		end();
	}
	check(links == fabrics, "random trees: links");
	check(hosts == fabrics, "random trees: hosts");
}

/* A switch says that an interface of its own has the address of a host. */
static void claimed_as_own(void)
{
	struct inc_rdv_addr addr, *wanted = addr_of(9);
	const struct event *ev;
	struct sw_if *itf;
	char text[256];

	begin(2);
	add_if(0, "up");
	add_if(1, "up");
	sees(if_of(0, "up"), MAC_BRIDGE, 1, 0);
	sees(if_of(1, "up"), MAC_BRIDGE, 0, 0);
	add_if(0, "v7");
	host_says(if_of(0, "v7"), 7);
	itf = if_of(0, "br0");
	itf->addrs = addr_of(8);
	itf->naddrs = 1;
	itf = if_of(1, "br0");
	itf->addrs = addr_of(7);
	itf->naddrs = 1;
	if (events_init(&m.events))
		abort();
	told();
	check(!topo_addr(&m.fabric, &m.fabric.switches[1], &m.fabric.switches[0], &addr),
	      "own address: a host's is not used");
	topo_log_taken(&m.fabric, &m.fabric.switches[1], text, sizeof(text));
	check(strstr(text, "which s1 has at br0, at s0:v7"),
	      "own address: where it is, in words");
	check(topo_addr(&m.fabric, &m.fabric.switches[0], &m.fabric.switches[1], &addr),
	      "own address: another one's is");
	m.loop.now = 1000000;
	hosts_turn(&m.fabric);
	ev = event_get(&m.events, m.events.last);
	check(ev && !strcmp(ev->kind, EVENT_HOST_CLAIMED) &&
	      strstr(ev->text, "at s0 v7, and s1 claims"),
	      "own address: an event");
	itf = if_of(1, "up");
	itf->addrs = addr_of(9);
	itf->naddrs = 1;
	told();
	check(topo_addr(&m.fabric, &m.fabric.switches[1], &m.fabric.switches[0], &addr) &&
	      inc_rdv_addr_same(&addr, wanted),
	      "own address: one that is no host's is found");
	m.loop.now += 10000;
	hosts_turn(&m.fabric);
	check(event_get(&m.events, m.events.last) == ev,
	      "own address: one event");
	events_free(&m.events);
	m.events.last = 0;
	free(wanted);
	end();
}

/* Of requests to a switch, which nobody takes. */
static unsigned int asked(unsigned int sw)
{
	unsigned int n = 0;
	struct sw_op *op;

	for (op = m.fabric.switches[sw].queue.head; op; op = op->next)
		n++;
	return n;
}

static void forget_asked(unsigned int sw)
{
	struct sw_op *op;

	while ((op = m.fabric.switches[sw].queue.head)) {
		m.fabric.switches[sw].queue.head = op->next;
		free(op);
	}
}

/* Two switches with a routed link, and one without. */
static void meetings(void)
{
	struct sw_if *itf;
	unsigned int i;

	begin(3);
	for (i = 0; i < 3; i++) {
		sw_ops_start(&m.fabric.switches[i]);
		m.fabric.switches[i].queue.job_active = true;
		itf = add_if(i, "up");
		itf->port = i == 2;
		itf->addrs = addr_of(i);
		itf->naddrs = 1;
	}
	told();
	m.loop.now = 1000000;
	meet_turn(&m.fabric, false);
	check(asked(0) == 1 && asked(1) == 1 && !asked(2),
	      "routed link: both ends are asked, at once");
	m.loop.now += 999;
	meet_turn(&m.fabric, true);
	check(asked(0) == 1 && meet_deadline(&m.fabric) == 1001000,
	      "routed link: not again if something else changes");
	m.loop.now++;
	meet_turn(&m.fabric, false);
	check(asked(0) == 2 && meet_deadline(&m.fabric) == 1003000,
	      "routed link: again, after 1 and 2 s");
	sees(if_of(0, "up"), MAC_PORT, 1, 1);
	sees(if_of(1, "up"), MAC_PORT, 0, 1);
	told();
	m.loop.now += 100;
	meet_turn(&m.fabric, true);
	check(asked(0) == 2 && meet_deadline(&m.fabric) == INT64_MAX,
	      "routed link: not if it is known");
	if_of(0, "up")->nneighs = 0;
	if_of(1, "up")->nneighs = 0;
	told();
	meet_turn(&m.fabric, true);
	check(asked(0) == 2 && meet_deadline(&m.fabric) == 1002000,
	      "routed link: once a second at most");
	m.loop.now = 1002000;
	meet_turn(&m.fabric, false);
	check(asked(0) == 3 && asked(1) == 3 && !asked(2),
	      "routed link: asked again when it is unknown again");
	for (i = 0; i < 3; i++)
		forget_asked(i);
	end();
}

/* Three switches in a row, two links between the first ones. */
static void narrowest(void)
{
	static uint32_t pairs[][2] = { { 1, 0 }, { 1, 2 } };
	struct topo_charge c = { .n = 2, .pairs = pairs };
	struct topo_port port = { NULL };
	uint32_t n, node = 1;

	begin(3);
	add_if(0, "a")->mtu = 9000;
	add_if(0, "b")->mtu = 1400;
	add_if(1, "a")->mtu = 9000;
	add_if(1, "b")->mtu = 9000;
	add_if(1, "c")->mtu = 1500;
	add_if(1, "unused")->mtu = 600;
	add_if(2, "c");
	announce(0, "a", 1, "a");
	announce(1, "a", 0, "a");
	announce(0, "b", 1, "b");
	announce(1, "b", 0, "b");
	announce(1, "c", 2, "c");
	announce(2, "c", 1, "c");
	told();
	check(topo_links(&m.fabric, &n) && n == 3, "narrow: links");
	topo_narrowest(&m.fabric, &c, &port);
	check(port.sw == &m.fabric.switches[0] && !strcmp(port.itf->name, "b"),
	      "narrow: the narrowest port, of links beside each other too");
	port = (struct topo_port){ NULL };
	c.pairs = pairs + 1;
	c.n = 1;
	topo_narrowest(&m.fabric, &c, &port);
	check(port.sw == &m.fabric.switches[1] && !strcmp(port.itf->name, "c"),
	      "narrow: a port whose MTU is unknown does not count");
	topo_narrow(&port, &c, &m.fabric.switches[2], if_of(0, "a"));
	check(port.sw == &m.fabric.switches[1], "narrow: a wider one does not count");
	if_of(1, "br0")->mtu = 1200;
	if_of(1, "c")->master = 1;
	c.nodes = &node;
	topo_narrowest(&m.fabric, &c, &port);
	check(!strcmp(port.itf->name, "c"),
	      "narrow: nor the bridge of one that forwards");
	c.nnodes = 1;
	topo_narrowest(&m.fabric, &c, &port);
	check(!strcmp(port.itf->name, "br0"),
	      "narrow: but that of one that sends");
	end();
}

int main(int argc, char **argv)
{
	unsigned long fabrics = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
	unsigned int seed = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10)
				     : (unsigned int)time(NULL);

	printf("# seed %u, %lu random trees\n", seed, fabrics);
	srandom(seed);
	bonds();
	one_sided();
	unknown_port();
	many();
	claimed();
	claimed_addr();
	claimed_from_start();
	claimed_apart();
	many_colliding();
	contradiction();
	ring_by_fdb();
	forgotten();
	ring_by_lldp();
	local_address();
	same_address();
	claimed_as_own();
	meetings();
	narrowest();
	random_trees(fabrics);
	return failed > 0;
}
