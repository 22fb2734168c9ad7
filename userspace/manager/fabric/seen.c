// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See seen.h.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/seen.h"
#include "place/place.h"
#include "rendezvous/network.h"

/* Of a switch, that see one MAC address; and those, that have one IP address. */
#define PORTS	8

static struct mac *mac_find(const struct seen *s, const char *text,
			    uint64_t hash)
{
	struct index_node *node;
	struct mac *mac;

	for (node = index_first(&s->macs, hash); node;
	     node = index_next(node)) {
		mac = container_of(node, struct mac, node);
		if (!strcmp(mac->text, text))
			return mac;
	}
	return NULL;
}

static struct mac *mac_get(struct seen *s, const char *text)
{
	uint64_t hash = index_hash_text(0, text);
	struct mac *mac = mac_find(s, text, hash);

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

static void mac_put(struct mac *mac)
{
	if (mac->seen || mac->users)
		return;
	index_remove(&mac->node);
	free(mac);
}

static struct addr *addr_find(const struct seen *s,
			      const struct inc_rdv_addr *addr, uint64_t hash)
{
	struct index_node *node;
	struct addr *a;

	for (node = index_first(&s->addrs, hash); node;
	     node = index_next(node)) {
		a = container_of(node, struct addr, node);
		if (inc_rdv_addr_same(&a->addr, addr))
			return a;
	}
	return NULL;
}

static struct addr *addr_get(struct seen *s, const struct inc_rdv_addr *addr)
{
	uint64_t hash = index_hash(0, addr->bytes, addr->len);
	struct addr *a = addr_find(s, addr, hash);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->addr = *addr;
	index_add(&s->addrs, &a->node, hash);
	return a;
}

static void addr_put(struct addr *addr)
{
	if (addr->said)
		return;
	index_remove(&addr->node);
	free(addr);
}

/* --- Learning ------------------------------------------------------------ */

/*
 * Has this switch, which is learnt from at the moment, told enough of it? A host is
 * at one of its ports, or has just moved.
 */
static bool is_told(const struct mac *mac, uint32_t sw, uint32_t itf)
{
	const struct sighting *n;
	unsigned int ports = 0;

	for (n = mac->seen; n && n->sw == sw; n = n->of_mac)
		if (n->itf == itf || ++ports == PORTS)
			return true;
	return false;
}

static struct mac *see_mac(struct seen *s, uint32_t sw, uint32_t itf,
			   const char *text)
{
	struct mac *mac = mac_get(s, text);
	struct sighting *n;

	if (!mac || is_told(mac, sw, itf))
		return mac;
	n = calloc(1, sizeof(*n));
	if (!n) {
		mac_put(mac);
		return NULL;
	}
	n->mac = mac;
	n->sw = sw;
	n->itf = itf;
	n->of_mac = mac->seen;
	n->by_mac = &mac->seen;
	if (n->of_mac)
		n->of_mac->by_mac = &n->of_mac;
	mac->seen = n;
	n->of_sw = s->sightings[sw];
	s->sightings[sw] = n;
	return mac;
}

/* The same of a switch's words about an IP address. */
static bool is_said(const struct addr *addr, uint32_t sw, const struct mac *mac)
{
	const struct saying *n;
	unsigned int macs = 0;

	for (n = addr->said; n && n->sw == sw; n = n->of_addr)
		if (n->mac == mac || ++macs == PORTS)
			return true;
	return false;
}

static bool say_addr(struct seen *s, uint32_t sw, struct mac *mac,
		     const struct inc_rdv_addr *text)
{
	struct addr *addr = addr_get(s, text);
	struct saying *n;

	if (addr && is_said(addr, sw, mac))
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
	n->of_addr = addr->said;
	n->by_addr = &addr->said;
	if (n->of_addr)
		n->of_addr->by_addr = &n->of_addr;
	addr->said = n;
	n->of_sw = s->sayings[sw];
	s->sayings[sw] = n;
	return true;
}

/**
 * seen_learn() - take in what a switch tells
 * @s: all of it, without what this switch has told before
 * @sw: switch
 * @info: what it tells
 *
 * Return: false: no memory.
 */
bool seen_learn(struct seen *s, uint32_t sw, const struct sw_info *info)
{
	const struct sw_if *itf;
	const struct sw_neigh *neigh;
	unsigned int i, k, n, upper;
	struct mac *mac;
	bool port;

	for (i = 0; i < info->nifs; i++) {
		itf = &info->ifs[i];
		upper = sw_if_upper(info, i);
		port = itf->port || info->ifs[upper].port;
		if (itf->mac[0] &&
		    !see_mac(s, sw, port ? SEEN_OWN_PORT : SEEN_OWN, itf->mac))
			return false;
		for (k = 0; k < itf->nneighs; k++) {
			neigh = &itf->neighs[k];
			if (itf->bridge && !neigh->naddrs)
				continue;
			/* The bridge knows who it is, but not where. */
			mac = itf->bridge ? mac_get(s, neigh->mac) :
					    see_mac(s, sw, upper, neigh->mac);
			if (!mac)
				return false;
			for (n = 0; n < neigh->naddrs; n++)
				if (!say_addr(s, sw, mac, &neigh->addrs[n]))
					return false;
		}
	}
	return true;
}

/* --- Forgetting ---------------------------------------------------------- */

static void forget_saying(struct saying *n)
{
	*n->by_addr = n->of_addr;
	if (n->of_addr)
		n->of_addr->by_addr = n->by_addr;
	addr_put(n->addr);
	n->mac->users--;
	mac_put(n->mac);
	free(n);
}

static void forget_sighting(struct sighting *n)
{
	*n->by_mac = n->of_mac;
	if (n->of_mac)
		n->of_mac->by_mac = n->by_mac;
	mac_put(n->mac);
	free(n);
}

/**
 * seen_forget() - forget what a switch has told
 * @s: all of it
 * @sw: switch
 */
void seen_forget(struct seen *s, uint32_t sw)
{
	struct sighting *sighting;
	struct saying *saying;

	while ((saying = s->sayings[sw])) {
		s->sayings[sw] = saying->of_sw;
		forget_saying(saying);
	}
	while ((sighting = s->sightings[sw])) {
		s->sightings[sw] = sighting->of_sw;
		forget_sighting(sighting);
	}
}

/* --- All ----------------------------------------------------------------- */

/**
 * seen_by_mac() - find a MAC address
 * @s: all of it
 * @text: as text
 *
 * Return: what is known of it, or NULL.
 */
struct mac *seen_by_mac(const struct seen *s, const char *text)
{
	return mac_find(s, text, index_hash_text(0, text));
}

/**
 * seen_by_addr() - find an IP address
 * @s: all of it
 * @addr: address
 *
 * Return: what is known of it, or NULL.
 */
struct addr *seen_by_addr(const struct seen *s, const struct inc_rdv_addr *addr)
{
	return addr_find(s, addr, index_hash(0, addr->bytes, addr->len));
}

/**
 * seen_sayers() - count who says that a MAC address has an IP address
 * @a: IP address
 * @mac: MAC address
 *
 * Return: number of switches.
 */
uint32_t seen_sayers(const struct addr *a, const struct mac *mac)
{
	uint32_t last = SEEN_OWN, n = 0;
	const struct saying *s;

	/* Each switch's are adjacent. */
	for (s = a->said; s; s = s->of_addr) {
		if (s->mac != mac || s->sw == last)
			continue;
		last = s->sw;
		n++;
	}
	return n;
}

/**
 * seen_init() - begin without any
 * @s: all of it
 * @nswitches: number of switches
 *
 * Return: false: no memory.
 */
bool seen_init(struct seen *s, uint32_t nswitches)
{
	s->sightings = calloc(nswitches, sizeof(*s->sightings));
	s->sayings = calloc(nswitches, sizeof(*s->sayings));
	return s->sightings && s->sayings;
}

/**
 * seen_free() - free everything
 * @s: all of it
 * @nswitches: number of switches
 */
void seen_free(struct seen *s, uint32_t nswitches)
{
	uint32_t i;

	for (i = 0; i < nswitches; i++)
		seen_forget(s, i);
	index_free(&s->macs);
	index_free(&s->addrs);
	free(s->sightings);
	free(s->sayings);
}
