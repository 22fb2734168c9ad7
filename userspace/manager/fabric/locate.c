// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The switch that a host is at, and other switches that claim to have it, in
 * time proportional to the number of switches that see the host.
 */
#include <string.h>

#include "fabric/row.h"

/*
 * Is a host that both switches see nearer to @b? Then the path from @a to the
 * host leads to @b, too; or the path from @b to the host does not lead to @a.
 */
static bool is_nearer(const struct topo *t, const struct fdb_entry *a,
		      const struct fdb_entry *b)
{
	const struct adjacency *to = row_towards(&t->rows[a->sw], b->sw);
	const struct adjacency *back = row_towards(&t->rows[b->sw], a->sw);

	return (to && to->itf == a->itf) || (back && back->itf != b->itf);
}

static bool is_nearest(const struct topo *t, const struct fdb_entry *at)
{
	const struct fdb_entry *other;

	for (other = at->mac->entries; other; other = other->of_mac)
		if (other->sw != at->sw && !fdb_is_own(other) &&
		    is_nearer(t, at, other))
			return false;
	return true;
}

/* Is the host behind an interface that leads to no other switch? */
static bool at_edge(const struct topo *t, const struct fdb_entry *s)
{
	return !fdb_is_own(s) && !t->rows[s->sw].leads[s->itf];
}

/* How many other switches see the host in the direction of this one? */
static uint32_t count_supporters(const struct topo *t,
				 const struct fdb_entry *at)
{
	const struct fdb_entry *s;
	const struct adjacency *to;
	uint32_t n = 0;

	for (s = at->mac->entries; s; s = s->of_mac) {
		if (s->sw == at->sw || fdb_is_own(s))
			continue;
		to = row_towards(&t->rows[s->sw], at->sw);
		n += to && to->itf == s->itf;
	}
	return n;
}

/**
 * struct claim - claim of a switch with a MAC address at its edge
 * @entry: its entry; NULL: there is no claim
 * @supporters: number of switches that agree
 * @rank: 2: the switch is nearer than all others; 1: found here last; 0: neither
 */
struct claim {
	const struct fdb_entry	*entry;
	uint32_t		supporters;
	unsigned int		rank;
};

/* Compare like strcmp(), by the worth of claims. */
static int compare_claims(const struct claim *x, const struct claim *y)
{
	if (x->supporters != y->supporters)
		return x->supporters < y->supporters ? -1 : 1;
	return (int)x->rank - (int)y->rank;
}

static bool has_edge(const struct topo *t, const struct fdb_mac *mac)
{
	const struct fdb_entry *s;

	for (s = mac->entries; s; s = s->of_mac)
		if (at_edge(t, s))
			return true;
	return false;
}

/*
 * Find the switch with a MAC address at its edge. If several claim it, one lies, or
 * has an old entry. Without a winner by supporters or rank, its place is unknown.
 */
static const struct fdb_entry *find_edge(struct topo *t, struct fdb_mac *mac)
{
	struct claim best = { .entry = NULL }, c;
	bool sure = false;
	int more;

	mac->rival = PLACE_NONE;
	for (c.entry = mac->entries; c.entry; c.entry = c.entry->of_mac) {
		if (!at_edge(t, c.entry))
			continue;
		c.supporters = count_supporters(t, c.entry);
		c.rank = 2U * is_nearest(t, c.entry) +
			 (c.entry->sw == mac->sw && c.entry->itf == mac->itf);
		more = best.entry ? compare_claims(&c, &best) : 1;
		if (best.entry && best.entry->sw != c.entry->sw)
			mac->rival = more > 0 ||
				     (!more && c.entry->sw < best.entry->sw) ?
				     best.entry->sw : c.entry->sw;
		sure = more > 0 ||
		       (sure && (more < 0 ||
				 (c.rank && c.entry->sw == best.entry->sw)));
		if (more > 0 || (!more && c.entry->sw < best.entry->sw))
			best = c;
	}
	return sure ? best.entry : NULL;
}

/**
 * enum evidence - evidence for the place of a MAC address
 * @EVIDENCE_NONE: no switch has it at its edge
 * @EVIDENCE_EDGE: a switch has, or several have
 * @EVIDENCE_OTHERS: other switches see it there, too
 */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_EDGE,
	EVIDENCE_OTHERS,
};

static void locate_mac(struct topo *t, struct fdb_mac *mac)
{
	const struct fdb_entry *found;

	graph_rows(t);
	if (mac->found_in == t->generation)
		return;
	mac->found_in = t->generation;
	found = find_edge(t, mac);
	mac->sw = found ? found->sw : PLACE_NONE;
	mac->itf = found ? found->itf : 0;
	mac->evidence = found && count_supporters(t, found) ? EVIDENCE_OTHERS :
			has_edge(t, mac) ? EVIDENCE_EDGE : EVIDENCE_NONE;
}

/*
 * Compare two neighbour entries with different MAC addresses like strcmp(), by
 * their worth.
 */
static int compare_neighs(struct topo *t, const struct fdb_addr *a,
			  const struct fdb_neigh *x, const struct fdb_neigh *y)
{
	uint32_t nx = fdb_count_neighs(a, x->mac);
	uint32_t ny = fdb_count_neighs(a, y->mac);

	if (nx != ny)
		return nx < ny ? -1 : 1;
	if (!strcmp(x->mac->text, a->last_mac))
		return 1;
	if (!strcmp(y->mac->text, a->last_mac))
		return -1;
	locate_mac(t, x->mac);
	locate_mac(t, y->mac);
	return (int)x->mac->evidence - (int)y->mac->evidence;
}

/* Does it make no difference which of both entries is right? */
static bool is_same_place(const struct fdb_neigh *x, const struct fdb_neigh *y)
{
	return x->sw == y->sw ||
	       (x->mac->sw != PLACE_NONE && x->mac->sw == y->mac->sw);
}

/**
 * struct owner - owner of an IP address
 * @mac: its MAC address; NULL: none, or unknown
 * @source: a switch that reports it, or PLACE_NONE
 * @rival: a switch that reports another one, or PLACE_NONE
 */
struct owner {
	struct fdb_mac	*mac;
	uint32_t	source;
	uint32_t	rival;
};

/*
 * Find the MAC address that most switches report for an IP address; among equals,
 * the one that was found last, or that other switches see in the right place;
 * else it is unknown. The first report has no advantage: a forger can be first.
 */
static struct owner find_owner(struct topo *t, const struct inc_rdv_addr *addr)
{
	struct owner o = { .source = PLACE_NONE, .rival = PLACE_NONE };
	struct fdb_addr *a = fdb_find_addr(&t->fdb, addr);
	const struct fdb_neigh *best = a ? a->neighs : NULL, *n;
	bool sure = true;
	int more;

	if (!best)
		return o;
	for (n = best->of_addr; n; n = n->of_addr) {
		if (n->mac == best->mac)
			continue;
		more = compare_neighs(t, a, n, best);
		sure = more ? sure || more > 0 : sure && is_same_place(n, best);
		if (more > 0)
			best = n;
	}
	o.source = best->sw;
	for (n = a->neighs; n; n = n->of_addr)
		if (n->mac != best->mac && n->sw != best->sw)
			o.rival = n->sw;
	if (!sure)
		return o;
	o.mac = best->mac;
	memcpy(a->last_mac, best->mac->text, MAC_LEN);
	locate_mac(t, o.mac);
	return o;
}

/* Returns NULL if there are several switches. */
static struct sw *only_switch(const struct fabric *fab)
{
	struct sw *only = NULL, *sw;

	for_each_switch(fab, sw) {
		if (only)
			return NULL;
		only = sw;
	}
	return only;
}

/*
 * Find the switch that a host is at. Returns the switch, or NULL if none sees
 * the host. A single switch has all hosts, even hosts that it has not seen yet.
 * @itf: result: interface of the switch that leads to the host; NULL: unknown
 */
struct sw *topo_find(const struct fabric *fab, const struct inc_rdv_addr *addr,
		     const struct sw_if **itf)
{
	const struct fdb_mac *mac = find_owner(fab->topo, addr).mac;

	*itf = NULL;
	if (!mac || mac->sw == PLACE_NONE)
		return only_switch(fab);
	*itf = &fab->switches[mac->sw].info->ifs[mac->itf];
	return &fab->switches[mac->sw];
}

/* Find a switch other than the rival with a MAC address at its edge. */
static uint32_t other_edge(const struct topo *t, const struct fdb_mac *mac)
{
	const struct fdb_entry *s;

	for (s = mac->entries; s; s = s->of_mac)
		if (s->sw != mac->rival && at_edge(t, s))
			return s->sw;
	return PLACE_NONE;
}

/*
 * Find a switch that claims to have another switch's host. Returns the switch,
 * or NULL.
 * @other: result: the other switch; if it is unknown which one is right, another
 *	claimant; undefined if there is no rival
 */
const struct sw *topo_rival(const struct fabric *fab,
			    const struct inc_rdv_addr *addr,
			    const struct sw **other)
{
	const struct owner o = find_owner(fab->topo, addr);
	uint32_t rival = o.rival, with = o.source;

	if (o.mac && rival == PLACE_NONE)
		rival = o.mac->rival;
	if (rival == PLACE_NONE)
		return NULL;
	if (o.mac)
		with = o.mac->sw != PLACE_NONE ? o.mac->sw :
		       o.rival != PLACE_NONE ? o.source :
		       other_edge(fab->topo, o.mac);
	*other = &fab->switches[with];
	return &fab->switches[rival];
}

/*
 * Find a switch near a host. For hosts behind a foreign bridge that connects
 * several switches, so that all of them see the host behind an interface to the
 * others. Returns the nearest one that sees the host; NULL: none does, or
 * several have it at their edges, and it is unknown which is right.
 */
struct sw *topo_near(const struct fabric *fab, const struct inc_rdv_addr *addr)
{
	const struct fdb_mac *mac = find_owner(fab->topo, addr).mac;
	const struct fdb_entry *s, *first = NULL, *near = NULL;

	if (mac && mac->sw == PLACE_NONE && mac->rival != PLACE_NONE)
		return NULL;
	for (s = mac ? mac->entries : NULL; s; s = s->of_mac) {
		if (fdb_is_own(s))
			continue;
		if (!first || s->sw < first->sw)
			first = s;
		if ((!near || s->sw < near->sw) && is_nearest(fab->topo, s))
			near = s;
	}
	if (near)
		first = near;
	return first ? &fab->switches[first->sw] : NULL;
}

/*
 * Find the path from one switch to another. Returns the interface of @from that
 * leads to @to, or NULL.
 */
const struct sw_if *topo_way(const struct fabric *fab, const struct sw *from,
			     const struct sw *to)
{
	const struct adjacency *adj;

	graph_rows(fab->topo);
	adj = row_towards(&fab->topo->rows[from->index], to->index);
	return adj ? &from->info->ifs[adj->itf] : NULL;
}

/*
 * Go through all hosts.
 * @host: called for each address of a host whose switch is known, except link-local
 *	ones, fe80::/10; with @sw NULL if several switches claim the host, and it
 *	is unknown which is right
 */
void topo_hosts(const struct fabric *fab,
		void (*host)(void *ctx, const struct inc_rdv_addr *addr,
			     const struct sw *sw, const struct sw_if *itf),
		void *ctx)
{
	const struct fdb_neigh *s;
	const struct sw_if *itf;
	const struct sw *sw, *other;
	uint32_t i;

	for (i = 0; i < fab->n; i++)
		for (s = fab->topo->fdb.neighs[i]; s; s = s->of_sw) {
			/*
			 * An address is handled once, at the last entry of its
			 * list. Link-local addresses identify nobody.
			 */
			if (s->of_addr ||
			    inc_rdv_addr_is_link_local(&s->addr->addr))
				continue;
			sw = topo_find(fab, &s->addr->addr, &itf);
			if (sw && itf)
				host(ctx, &s->addr->addr, sw, itf);
			else if (topo_rival(fab, &s->addr->addr, &other))
				host(ctx, &s->addr->addr, NULL, NULL);
		}
}
