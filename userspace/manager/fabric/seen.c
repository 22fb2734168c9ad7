// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See seen.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/seen.h"
#include "rendezvous/network.h"

#define BUCKETS	65536U	/* some fabrics have as many hosts */

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
	if (*slot)
		memcpy((*slot)->text, text, MAC_LEN);
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

static struct mac *see(struct seen *s, uint32_t sw, uint32_t itf,
		       const char *text)
{
	struct sighting *n = calloc(1, sizeof(*n));
	struct mac *mac = n ? mac_get(s, text) : NULL;

	if (!mac) {
		free(n);
		return NULL;
	}
	n->mac = mac;
	n->sw = sw;
	n->itf = itf;
	n->of_mac = mac->seen;
	mac->seen = n;
	n->of_sw = s->sightings[sw];
	s->sightings[sw] = n;
	return mac;
}

static bool say(struct seen *s, uint32_t sw, struct mac *mac,
		const struct inc_rdv_addr *text)
{
	struct saying *n = calloc(1, sizeof(*n));
	struct addr *addr = n ? addr_get(s, text) : NULL;

	if (!addr) {
		free(n);
		return false;
	}
	n->addr = addr;
	n->mac = mac;
	n->sw = sw;
	mac->users++;
	n->of_addr = addr->said;
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
	struct saying **link = &n->addr->said;

	while (*link != n)
		link = &(*link)->of_addr;
	*link = n->of_addr;
	addr_put(s, n->addr);
	n->mac->users--;
	mac_put(s, n->mac);
	free(n);
}

static void forget_sighting(struct seen *s, struct sighting *n)
{
	struct sighting **link = &n->mac->seen;

	while (*link != n)
		link = &(*link)->of_mac;
	*link = n->of_mac;
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

/**
 * seen_by_addr() - find out who has an IP address
 * @s: all of it
 * @addr: address
 *
 * Return: the MAC address that the first of the switches tells that knows one,
 * or NULL.
 */
struct mac *seen_by_addr(const struct seen *s, const struct inc_rdv_addr *addr)
{
	struct addr *a = *addr_slot(s, addr);
	const struct saying *n, *best = NULL;

	for (n = a ? a->said : NULL; n; n = n->of_addr)
		if (!best || n->sw < best->sw)
			best = n;
	return best ? best->mac : NULL;
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
