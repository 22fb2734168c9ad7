// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See fdb.h.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fdb.h"
#include "place/place.h"
#include "rendezvous/network.h"

/* Limit, per switch, of ports that see one MAC address, and of MACs of one IP. */
#define PORTS	8

static struct fdb_mac *mac_find(const struct fdb *s, const char *text,
				uint64_t hash)
{
	struct index_node *node;
	struct fdb_mac *mac;

	for (node = index_first(&s->macs, hash); node;
	     node = index_next(node)) {
		mac = container_of(node, struct fdb_mac, node);
		if (!strcmp(mac->text, text))
			return mac;
	}
	return NULL;
}

static struct fdb_mac *mac_get(struct fdb *s, const char *text)
{
	uint64_t hash = index_hash_text(0, text);
	struct fdb_mac *mac = mac_find(s, text, hash);

	if (mac)
		return mac;
	mac = calloc(1, sizeof(*mac));
	if (!mac)
		return NULL;
	memcpy(mac->text, text, MAC_LEN);
	mac->sw = PLACE_NONE;
	mac->rival = PLACE_NONE;
	index_add(&s->macs, &mac->node, hash);
	return mac;
}

static void mac_put(struct fdb_mac *mac)
{
	if (mac->entries || mac->users)
		return;
	index_remove(&mac->node);
	free(mac);
}

/* Find an address: in its VLAN; if that is 0, in none, or else in any. */
static struct fdb_addr *addr_find(const struct fdb *s,
				  const struct inc_rdv_addr *addr,
				  uint64_t hash)
{
	struct fdb_addr *a, *any = NULL;
	struct index_node *node;

	for (node = index_first(&s->addrs, hash); node;
	     node = index_next(node)) {
		a = container_of(node, struct fdb_addr, node);
		if (a->addr.vlan == addr->vlan &&
		    inc_rdv_addr_same(&a->addr, addr))
			return a;
		if (!any && inc_rdv_addr_same(&a->addr, addr))
			any = a;
	}
	return addr->vlan ? NULL : any;
}

static struct fdb_addr *addr_get(struct fdb *s, const struct inc_rdv_addr *addr)
{
	uint64_t hash = index_hash(0, addr->bytes, addr->len);
	struct fdb_addr *a = addr_find(s, addr, hash);

	if (a && a->addr.vlan == addr->vlan)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->addr = *addr;
	index_add(&s->addrs, &a->node, hash);
	return a;
}

static void addr_put(struct fdb_addr *addr)
{
	if (addr->neighs)
		return;
	index_remove(&addr->node);
	free(addr);
}

/* --- Learning ------------------------------------------------------------ */

/*
 * Is this port of the switch that is being learnt from known, or are there
 * enough? A host is at one port, or has just moved.
 */
static bool has_entry(const struct fdb_mac *mac, uint32_t sw, uint32_t itf)
{
	const struct fdb_entry *n;
	unsigned int ports = 0;

	for (n = mac->entries; n && n->sw == sw; n = n->of_mac)
		if (n->itf == itf || ++ports == PORTS)
			return true;
	return false;
}

static struct fdb_mac *add_entry(struct fdb *s, uint32_t sw, uint32_t itf,
				 const char *text)
{
	struct fdb_mac *mac = mac_get(s, text);
	struct fdb_entry *n;

	if (!mac || has_entry(mac, sw, itf))
		return mac;
	n = calloc(1, sizeof(*n));
	if (!n) {
		mac_put(mac);
		return NULL;
	}
	n->mac = mac;
	n->sw = sw;
	n->itf = itf;
	n->of_mac = mac->entries;
	n->by_mac = &mac->entries;
	if (n->of_mac)
		n->of_mac->by_mac = &n->of_mac;
	mac->entries = n;
	n->of_sw = s->entries[sw];
	s->entries[sw] = n;
	return mac;
}

/* As has_entry(), for an IP address. */
static bool has_neigh(const struct fdb_addr *addr, uint32_t sw,
		      const struct fdb_mac *mac)
{
	const struct fdb_neigh *n;
	unsigned int macs = 0;

	for (n = addr->neighs; n && n->sw == sw; n = n->of_addr)
		if (n->mac == mac || ++macs == PORTS)
			return true;
	return false;
}

static bool add_neigh(struct fdb *s, uint32_t sw, struct fdb_mac *mac,
		      const struct inc_rdv_addr *text)
{
	struct fdb_addr *addr = addr_get(s, text);
	struct fdb_neigh *n;

	if (addr && has_neigh(addr, sw, mac))
		return true;
	n = addr ? calloc(1, sizeof(*n)) : NULL;
	if (!n) {
		if (addr)
			addr_put(addr);
		return false;
	}
	n->addr = addr;
	n->mac = mac;
	n->sw = sw;
	mac->users++;
	n->of_addr = addr->neighs;
	n->by_addr = &addr->neighs;
	if (n->of_addr)
		n->of_addr->by_addr = &n->of_addr;
	addr->neighs = n;
	n->of_sw = s->neighs[sw];
	s->neighs[sw] = n;
	return true;
}

/*
 * Add a switch's tables. Returns false: no memory.
 * @s: all tables, without this switch's previous ones
 */
bool fdb_learn(struct fdb *s, uint32_t sw, const struct sw_snapshot *info)
{
	const struct sw_if *itf;
	const struct sw_neigh *neigh;
	unsigned int i, k, n, upper;
	struct fdb_mac *mac;
	bool port, over_bridge;

	for (i = 0; i < info->nifs; i++) {
		itf = &info->ifs[i];
		upper = sw_if_upper(info, i);
		over_bridge = itf->bridge || itf->tagged;
		port = itf->port || info->ifs[upper].port;
		if (itf->mac[0] &&
		    !add_entry(s, sw, port ? FDB_OWN_PORT : FDB_OWN, itf->mac))
			return false;
		for (k = 0; k < itf->nneighs; k++) {
			neigh = &itf->neighs[k];
			if (over_bridge && !neigh->naddrs)
				continue;
			/* A bridge does not know behind which port. */
			mac = over_bridge ? mac_get(s, neigh->mac) :
					    add_entry(s, sw, upper, neigh->mac);
			if (!mac)
				return false;
			for (n = 0; n < neigh->naddrs; n++)
				if (!add_neigh(s, sw, mac, &neigh->addrs[n]))
					return false;
		}
	}
	return true;
}

/* --- Forgetting ---------------------------------------------------------- */

static void remove_neigh(struct fdb_neigh *n)
{
	*n->by_addr = n->of_addr;
	if (n->of_addr)
		n->of_addr->by_addr = n->by_addr;
	addr_put(n->addr);
	n->mac->users--;
	mac_put(n->mac);
	free(n);
}

static void remove_entry(struct fdb_entry *n)
{
	*n->by_mac = n->of_mac;
	if (n->of_mac)
		n->of_mac->by_mac = n->by_mac;
	mac_put(n->mac);
	free(n);
}

/* Remove a switch's tables. */
void fdb_forget(struct fdb *s, uint32_t sw)
{
	struct fdb_entry *entry;
	struct fdb_neigh *neigh;

	while ((neigh = s->neighs[sw])) {
		s->neighs[sw] = neigh->of_sw;
		remove_neigh(neigh);
	}
	while ((entry = s->entries[sw])) {
		s->entries[sw] = entry->of_sw;
		remove_entry(entry);
	}
}

/* --- All ----------------------------------------------------------------- */

/* Find a MAC address. Returns the MAC address, or NULL: unknown. */
struct fdb_mac *fdb_find_mac(const struct fdb *s, const char *text)
{
	return mac_find(s, text, index_hash_text(0, text));
}

/* Find an IP address. Returns the IP address, or NULL: unknown. */
struct fdb_addr *fdb_find_addr(const struct fdb *s,
			       const struct inc_rdv_addr *addr)
{
	return addr_find(s, addr, index_hash(0, addr->bytes, addr->len));
}

/*
 * Count the switches that map an IP address to a MAC address. Returns their
 * number.
 */
uint32_t fdb_count_neighs(const struct fdb_addr *a, const struct fdb_mac *mac)
{
	uint32_t last = FDB_OWN, n = 0;
	const struct fdb_neigh *s;

	/* Entries of the same switch are adjacent. */
	for (s = a->neighs; s; s = s->of_addr) {
		if (s->mac != mac || s->sw == last)
			continue;
		last = s->sw;
		n++;
	}
	return n;
}

/* Begin with empty tables. Returns false: no memory. */
bool fdb_init(struct fdb *s, uint32_t nswitches)
{
	s->entries = calloc(nswitches, sizeof(*s->entries));
	s->neighs = calloc(nswitches, sizeof(*s->neighs));
	return s->entries && s->neighs;
}

/* Free all tables. */
void fdb_free(struct fdb *s, uint32_t nswitches)
{
	uint32_t i;

	for (i = 0; i < nswitches; i++)
		fdb_forget(s, i);
	index_free(&s->macs);
	index_free(&s->addrs);
	free(s->entries);
	free(s->neighs);
}
