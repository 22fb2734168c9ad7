// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The fabric, as the agents see it. An interface leads to another switch if its
 * neighbours announce one, or have the MAC address of one; a host is at the
 * switch that sees it on an interface that leads to none.
 */
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "place.h"

static bool has_mac(const struct sw *sw, const char *mac)
{
	unsigned int i;

	for (i = 0; sw->info && mac[0] && i < sw->info->nifs; i++)
		if (!strcmp(sw->info->ifs[i].mac, mac))
			return true;
	return false;
}

static bool is_switch(const struct sw *sw, const struct sw_neigh *neigh)
{
	return neigh->switch_id[0] ? sw->info &&
				     !strcmp(sw->info->id, neigh->switch_id) :
				     has_mac(sw, neigh->mac);
}

/* Is this switch somewhere behind that interface? */
static bool behind(const struct sw *sw, const struct sw_if *itf)
{
	unsigned int i;

	for (i = 0; i < itf->nneighs; i++)
		if (is_switch(sw, &itf->neighs[i]))
			return true;
	return false;
}

/* The interface of @from behind which @to is. */
static const struct sw_if *towards(const struct sw *from, const struct sw *to)
{
	unsigned int i;

	for (i = 0; from->info && i < from->info->nifs; i++)
		if (behind(to, &from->info->ifs[i]))
			return &from->info->ifs[i];
	return NULL;
}

static bool leads_to_switch(const struct manager *m, const struct sw *sw,
			    const struct sw_if *itf)
{
	unsigned int i;

	for (i = 0; i < itf->nneighs; i++)
		if (itf->neighs[i].switch_id[0])
			return true;
	for (i = 0; i < m->o.nswitches; i++)
		if (&m->switches[i] != sw && behind(&m->switches[i], itf))
			return true;
	return false;
}

static bool has_addr(const struct sw_neigh *neigh,
		     const struct inc_rdv_addr *addr)
{
	unsigned int i;

	for (i = 0; i < neigh->naddrs; i++)
		if (addr_same(&neigh->addrs[i], addr))
			return true;
	return false;
}

/*
 * The MAC address of a host, as any switch knows it: a bridge need not know the
 * IP addresses of hosts that do not talk with itself.
 */
static const char *mac_of(const struct manager *m,
			  const struct inc_rdv_addr *addr)
{
	const struct sw_info *info;
	unsigned int i, k, n;

	for (i = 0; i < m->o.nswitches; i++) {
		info = m->switches[i].info;
		for (k = 0; info && k < info->nifs; k++)
			for (n = 0; n < info->ifs[k].nneighs; n++)
				if (has_addr(&info->ifs[k].neighs[n], addr))
					return info->ifs[k].neighs[n].mac;
	}
	return NULL;
}

/* The interface of a switch behind which a MAC address is. */
static const struct sw_if *sees(const struct sw *sw, const char *mac)
{
	const struct sw_if *itf;
	unsigned int i, k;

	for (i = 0; sw->info && i < sw->info->nifs; i++) {
		itf = &sw->info->ifs[i];
		for (k = 0; k < itf->nneighs; k++)
			if (!strcmp(itf->neighs[k].mac, mac))
				return itf;
	}
	return NULL;
}

/*
 * Both switches see a host: is it nearer to @b? The way from @a to the host
 * leads to @b, too; or that from @b to the host does not lead to @a.
 */
static bool nearer(const struct sw *a, const struct sw_if *a_sees,
		   const struct sw *b, const struct sw_if *b_sees)
{
	const struct sw_if *back = towards(b, a);

	return towards(a, b) == a_sees || (back && back != b_sees);
}

/* Is no other switch nearer to a host than this one, which sees it? */
static bool nearest(const struct manager *m, const struct sw *sw,
		    const struct sw_if *itf, const char *mac)
{
	const struct sw_if *other;
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++) {
		if (&m->switches[i] == sw)
			continue;
		other = sees(&m->switches[i], mac);
		if (other && nearer(sw, itf, &m->switches[i], other))
			return false;
	}
	return true;
}

/**
 * topo_find() - find the switch that a host is at
 * @m: manager
 * @addr: the host's address
 * @itf: result: interface of the switch that leads to it; NULL: unknown
 *
 * Return: the switch, or NULL if none sees the host. A single switch has all
 * hosts, even those that it has not seen yet.
 */
struct sw *topo_find(const struct manager *m, const struct inc_rdv_addr *addr,
		     const struct sw_if **itf)
{
	const char *mac = mac_of(m, addr);
	unsigned int i;
	struct sw *sw;

	for (i = 0; mac && i < m->o.nswitches; i++) {
		sw = &m->switches[i];
		*itf = sees(sw, mac);
		if (*itf && !leads_to_switch(m, sw, *itf) &&
		    nearest(m, sw, *itf, mac))
			return sw;
	}
	*itf = NULL;
	return m->o.nswitches == 1 ? &m->switches[0] : NULL;
}

/* Bits that two addresses begin with alike; -1: they are of different kinds. */
static int common_bits(const struct inc_rdv_addr *a,
		       const struct inc_rdv_addr *b)
{
	unsigned int i = 0, bits = a->len * 8;

	if (a->len != b->len)
		return -1;
	while (i < bits && !((a->bytes[i / 8] ^ b->bytes[i / 8]) &
			     (0x80 >> i % 8)))
		i++;
	return (int)i;
}

static bool link_local(const struct inc_rdv_addr *addr)
{
	return addr->len == 16 && addr->bytes[0] == 0xfe &&
	       (addr->bytes[1] & 0xc0) == 0x80;
}

static int likeness(const struct inc_rdv_addr *addr, const struct sw *to)
{
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, bits;

	for (i = 0; i < to->info->nifs; i++) {
		itf = &to->info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			bits = common_bits(addr, &itf->addrs[k]);
			/* IPv4 first, as /32 of it is more than /64. */
			if (bits >= 0 && addr->len == 4)
				bits += 128;
			if (bits > best)
				best = bits;
		}
	}
	return best;
}

/**
 * topo_addr() - choose the address by which another switch reaches a switch
 * @sw: switch
 * @to: the other one
 * @addr: result: the address that is most like one of the other's
 *
 * Return: false if there is none.
 */
bool topo_addr(const struct sw *sw, const struct sw *to,
	       struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, like;

	for (i = 0; i < sw->info->nifs; i++) {
		itf = &sw->info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			if (link_local(&itf->addrs[k]))
				continue;
			like = likeness(&itf->addrs[k], to);
			if (like > best) {
				best = like;
				*addr = itf->addrs[k];
			}
		}
	}
	return best >= 0;
}

/*
 * Two switches are linked if each is behind an interface of the other, and no
 * third one is behind both: that would be between them.
 */
static bool linked(const struct manager *m, const struct sw *a,
		   const struct sw *b)
{
	const struct sw_if *to_b = towards(a, b), *to_a = towards(b, a);
	const struct sw *c;
	unsigned int i;

	if (!to_a || !to_b)
		return false;
	for (i = 0; i < m->o.nswitches; i++) {
		c = &m->switches[i];
		if (c != a && c != b && behind(c, to_a) && behind(c, to_b))
			return false;
	}
	return true;
}

/**
 * topo_behind() - find the switch at the other end of a link
 * @m: manager
 * @sw: switch
 * @itf: its interface
 * @other: result: interface of the other one
 *
 * Return: the other switch, or NULL if the interface leads to none.
 */
struct sw *topo_behind(const struct manager *m, const struct sw *sw,
		       const struct sw_if *itf, const struct sw_if **other)
{
	unsigned int i;
	struct sw *b;

	for (i = 0; i < m->o.nswitches; i++) {
		b = &m->switches[i];
		if (b == sw || !behind(b, itf) || !linked(m, sw, b))
			continue;
		*other = towards(b, sw);
		return b;
	}
	return NULL;
}

/* Distances from one switch, by breadth-first search. */
static void search(const bool *links, uint32_t n, uint32_t from, uint32_t *hops,
		   uint32_t *queue)
{
	uint32_t head = 0, tail = 0, s, t;

	for (s = 0; s < n; s++)
		hops[s] = PLACE_FAR;
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		s = queue[head++];
		for (t = 0; t < n; t++) {
			if (!links[s * n + t] || hops[t] != PLACE_FAR)
				continue;
			hops[t] = hops[s] + 1;
			queue[tail++] = t;
		}
	}
}

/**
 * topo_hops() - compute the distances between switches
 * @m: manager
 *
 * Switches that can be reached only in a way that no agent sees, through
 * routers, are farther away than any whose way is known.
 *
 * Return: array for struct place_fabric, to be freed; NULL: no memory.
 */
uint32_t *topo_hops(const struct manager *m)
{
	uint32_t n = m->o.nswitches, a, b;
	uint32_t *hops = calloc((size_t)n * n + n, sizeof(*hops));
	bool *links = calloc((size_t)n * n, sizeof(*links));

	if (!hops || !links) {
		free(hops);
		free(links);
		return NULL;
	}
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++)
			links[a * n + b] = a != b && linked(m, &m->switches[a],
							    &m->switches[b]);
	for (a = 0; a < n; a++) {
		search(links, n, a, hops + (size_t)a * n,
		       hops + (size_t)n * n);
		for (b = 0; b < n; b++)
			if (hops[a * n + b] == PLACE_FAR)
				hops[a * n + b] = n;
	}
	free(links);
	return hops;
}
