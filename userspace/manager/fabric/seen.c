// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See seen.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/seen.h"
#include "place/place.h"
#include "rendezvous/network.h"

#define BUCKETS	65536U	/* some fabrics have as many hosts */
/* Of a switch, that see one MAC address; and those, that have one IP address. */
#define PORTS	8

/* FNV-1a. */
static uint32_t hash(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t h = 2166136261U;

	while (len--)
		h = (h ^ *p++) * 16777619U;
	return (h ^ h >> 16) % BUCKETS;
}

static struct mac **mac_slot(const struct seen *s, const char *text)
{
	struct mac **slot = &s->macs[hash(text, strlen(text))];

	while (*slot && strcmp((*slot)->text, text))
		slot = &(*slot)->next;
	return slot;
}

static struct mac *mac_get(struct seen *s, const char *text)
{
	struct mac **slot = mac_slot(s, text);

	if (*slot)
		return *slot;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		return NULL;
	memcpy((*slot)->text, text, MAC_LEN);
	(*slot)->sw = PLACE_NONE;
	(*slot)->rival = PLACE_NONE;
	return *slot;
}

static void mac_put(struct seen *s, struct mac *mac)
{
	struct mac **slot;

	if (mac->seen || mac->users)
		return;
	slot = mac_slot(s, mac->text);
	*slot = mac->next;
	free(mac);
}

static struct addr **addr_slot(const struct seen *s,
			       const struct inc_rdv_addr *addr)
{
	struct addr **slot = &s->addrs[hash(addr->bytes, addr->len)];

	while (*slot && !inc_rdv_addr_same(&(*slot)->addr, addr))
		slot = &(*slot)->next;
	return slot;
}

static struct addr *addr_get(struct seen *s, const struct inc_rdv_addr *addr)
{
	struct addr **slot = addr_slot(s, addr);

	if (*slot)
		return *slot;
	*slot = calloc(1, sizeof(**slot));
	if (*slot)
		(*slot)->addr = *addr;
	return *slot;
}

static void addr_put(struct seen *s, struct addr *addr)
{
	struct addr **slot;

	if (addr->said)
		return;
	slot = addr_slot(s, &addr->addr);
	*slot = addr->next;
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

static struct mac *see(struct seen *s, uint32_t sw, uint32_t itf,
		       const char *text)
{
	struct mac *mac = mac_get(s, text);
	struct sighting *n;

	if (!mac || is_told(mac, sw, itf))
		return mac;
	n = calloc(1, sizeof(*n));
	if (!n) {
		mac_put(s, mac);
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

static bool say(struct seen *s, uint32_t sw, struct mac *mac,
		const struct inc_rdv_addr *text)
{
	struct addr *addr = addr_get(s, text);
	struct saying *n;

	if (addr && is_said(addr, sw, mac))
		return true;
	n = addr ? calloc(1, sizeof(*n)) : NULL;
	if (!n) {
		if (addr)
			addr_put(s, addr);
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
		    !see(s, sw, port ? SEEN_OWN_PORT : SEEN_OWN, itf->mac))
			return false;
		for (k = 0; k < itf->nneighs; k++) {
			neigh = &itf->neighs[k];
			if (itf->bridge && !neigh->naddrs)
				continue;
			/* The bridge knows who it is, but not where. */
			mac = itf->bridge ? mac_get(s, neigh->mac) :
					    see(s, sw, upper, neigh->mac);
			if (!mac)
				return false;
			for (n = 0; n < neigh->naddrs; n++)
				if (!say(s, sw, mac, &neigh->addrs[n]))
					return false;
		}
	}
	return true;
}

/* --- Forgetting ---------------------------------------------------------- */

static void forget_saying(struct seen *s, struct saying *n)
{
	*n->by_addr = n->of_addr;
	if (n->of_addr)
		n->of_addr->by_addr = n->by_addr;
	addr_put(s, n->addr);
	n->mac->users--;
	mac_put(s, n->mac);
	free(n);
}

static void forget_sighting(struct seen *s, struct sighting *n)
{
	*n->by_mac = n->of_mac;
	if (n->of_mac)
		n->of_mac->by_mac = n->by_mac;
	mac_put(s, n->mac);
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
		forget_saying(s, saying);
	}
	while ((sighting = s->sightings[sw])) {
		s->sightings[sw] = sighting->of_sw;
		forget_sighting(s, sighting);
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
	return *mac_slot(s, text);
}

/* How many switches say that this MAC address has it? Each switch's are adjacent. */
static uint32_t sayers(const struct addr *a, const struct mac *mac)
{
	uint32_t last = SEEN_OWN, n = 0;
	const struct saying *s;

	for (s = a->said; s; s = s->of_addr) {
		if (s->mac != mac || s->sw == last)
			continue;
		last = s->sw;
		n++;
	}
	return n;
}

/* Is one saying worth more than the other, about another MAC address? */
static bool outweighs(const struct addr *a, const struct saying *x,
		      const struct saying *y)
{
	uint32_t nx = sayers(a, x->mac), ny = sayers(a, y->mac);

	if (nx != ny)
		return nx > ny;
	if (!strcmp(y->mac->text, a->was))
		return false;
	return !strcmp(x->mac->text, a->was) || x->sw < y->sw;
}

/**
 * seen_by_addr() - find out who has an IP address
 * @s: all of it
 * @addr: address
 * @rival: result: another switch, which says something else; or SEEN_OWN
 *
 * Return: the MAC address that most switches tell, of those the one that was
 * found before, or that the first of the switches tells; or NULL.
 */
struct mac *seen_by_addr(const struct seen *s, const struct inc_rdv_addr *addr,
			 uint32_t *rival)
{
	struct addr *a = *addr_slot(s, addr);
	const struct saying *n, *best;

	*rival = SEEN_OWN;
	best = a ? a->said : NULL;
	if (!best)
		return NULL;
	for (n = best->of_addr; n; n = n->of_addr)
		if (n->mac == best->mac ? n->sw < best->sw :
					  outweighs(a, n, best))
			best = n;
	for (n = a->said; n; n = n->of_addr)
		if (n->mac != best->mac && n->sw != best->sw)
			*rival = n->sw;
	memcpy(a->was, best->mac->text, MAC_LEN);
	return best->mac;
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
	s->macs = calloc(BUCKETS, sizeof(*s->macs));
	s->addrs = calloc(BUCKETS, sizeof(*s->addrs));
	s->sightings = calloc(nswitches, sizeof(*s->sightings));
	s->sayings = calloc(nswitches, sizeof(*s->sayings));
	return s->macs && s->addrs && s->sightings && s->sayings;
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
	free(s->macs);
	free(s->addrs);
	free(s->sightings);
	free(s->sayings);
}
