// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The address by which a switch is reached from another one, or from a rank,
 * and the MTU of the path.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "fabric/row.h"

/* Count the leading bits that two addresses share; -1: of different families. */
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

/*
 * Check whether an address is a host's. A switch that has it, too, lies or is
 * wrong; packets may go to the host. Returns true if a switch sees the host,
 * and no other one contradicts.
 */
bool topo_is_host(const struct fabric *fab, const struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;

	return topo_find(fab, addr, &itf) && itf;
}

/*
 * Describe a switch's address that appears to be a host's.
 * @len: size of @text in bytes
 */
void topo_log_taken(const struct fabric *fab, const struct sw *sw, char *text,
		    size_t len)
{
	const struct sw_if *itf, *at;
	const struct sw *other;
	char addr[INET6_ADDRSTRLEN];
	unsigned int i, k;

	text[0] = '\0';
	for (i = 0; i < sw->info->nifs && !text[0]; i++) {
		itf = &sw->info->ifs[i];
		for (k = 0; k < itf->naddrs && !text[0]; k++) {
			other = topo_find(fab, &itf->addrs[k], &at);
			if (other && at)
				snprintf(text, len, ": others reach %s, which %s has at %s, at %s:%s; a bridge needs a MAC address of its own",
					 inc_rdv_addr_str(&itf->addrs[k], addr,
							  sizeof(addr)),
					 sw_name(sw), itf->name, sw_name(other),
					 at->name);
		}
	}
}

static int rate_likeness(const struct inc_rdv_addr *addr, const struct sw *to)
{
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, bits;

	for (i = 0; i < to->info->nifs; i++) {
		itf = &to->info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			bits = common_bits(addr, &itf->addrs[k]);
			/* Prefer IPv4: its /32 is more specific than a /64. */
			if (bits >= 0 && addr->len == 4)
				bits += 128;
			if (bits > best)
				best = bits;
		}
	}
	return best;
}

#define UNTAGGED	1024	/* more than any likeness */

/*
 * Choose the address by which another switch reaches a switch. Returns false
 * if there is none.
 * @addr: result: the address that is most similar to one of @to's, and is no
 *	host's
 */
bool topo_addr(const struct fabric *fab, const struct sw *sw,
	       const struct sw *to, struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, like;

	for (i = 0; i < sw->info->nifs; i++) {
		itf = &sw->info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			if (inc_rdv_addr_is_link_local(&itf->addrs[k]) ||
			    topo_is_host(fab, &itf->addrs[k]))
				continue;
			like = rate_likeness(&itf->addrs[k], to);
			/* A tenant may have that VLAN for itself. */
			if (like >= 0 && !itf->tagged)
				like += UNTAGGED;
			if (like > best) {
				best = like;
				*addr = itf->addrs[k];
			}
		}
	}
	return best >= 0;
}

static bool is_any(const struct inc_rdv_addr *addr)
{
	unsigned int i;

	for (i = 0; i < addr->len; i++)
		if (addr->bytes[i])
			return false;
	return true;
}

/*
 * Choose the address to which a rank connects by RDMA CM. Returns false if
 * there is none of the same family.
 * @addr: result: the agent's address, or the one most similar to the rank's
 */
bool topo_cm_addr(const struct sw *sw, const struct inc_rdv_addr *to,
		  struct inc_rdv_addr *addr)
{
	const struct sw_snapshot *info = sw->info;
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, like;

	if (!is_any(&info->cm_addr)) {
		*addr = info->cm_addr;
		return addr->len == to->len;
	}
	/* A server that listens at :: accepts IPv4, too. */
	if (info->cm_addr.len < to->len)
		return false;
	for (i = 0; i < info->nifs; i++) {
		itf = &info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			like = inc_rdv_addr_is_link_local(&itf->addrs[k]) ? -1 :
			       common_bits(&itf->addrs[k], to);
			if (like > best) {
				best = like;
				*addr = itf->addrs[k];
			}
		}
	}
	return best >= 0;
}

/* Find the first link between two switches, or its place in the order. */
static uint32_t first_link(const struct topo *t, uint32_t a, uint32_t b)
{
	uint32_t low = 0, high = t->nlinks, mid;
	const struct topo_link *l;

	while (low < high) {
		mid = (low + high) / 2;
		l = &t->links[mid];
		if (l->a < a || (l->a == a && l->b < b))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void keep_narrower(struct topo_port *port, const struct sw *sw,
			  const struct sw_if *itf)
{
	if (itf->mtu && (!port->itf || itf->mtu < port->itf->mtu))
		*port = (struct topo_port){ sw, itf };
}

static bool is_node(const struct topo_charge *c, const struct sw *sw)
{
	uint32_t i;

	for (i = 0; c && i < c->nnodes; i++)
		if (c->nodes[i] == sw->index)
			return true;
	return false;
}

/*
 * Keep the narrower one of two interfaces. Packets that a node itself sends
 * also pass the port's bridge, forwarded packets do not.
 * @port: result; an interface that packets pass, or none
 * @c: load of a tree, with its nodes, of topo_charge(), or NULL
 */
void topo_narrow(struct topo_port *port, const struct topo_charge *c,
		 const struct sw *sw, const struct sw_if *itf)
{
	keep_narrower(port, sw, itf);
	if (itf->master && is_node(c, sw))
		keep_narrower(port, sw, &sw->info->ifs[itf->master - 1]);
}

/*
 * Find the interface with the lowest MTU. A bridge silently drops a packet that
 * is longer than the MTU of the port by which it would leave. Of parallel links
 * any may be used.
 * @c: links that packets pass, of topo_charge(), or NULL
 * @port: result; an interface that they pass, too, or none
 */
void topo_narrowest(const struct fabric *fab, const struct topo_charge *c,
		    struct topo_port *port)
{
	const struct topo *t = fab->topo;
	const struct sw *x, *y;
	uint32_t i, k, a, b;

	/* topo_fabric() updates the links. */
	if (!topo_fabric(fab))
		return;
	for (i = 0; c && i < c->n; i++) {
		a = c->pairs[i][0] < c->pairs[i][1] ? c->pairs[i][0] :
						      c->pairs[i][1];
		b = c->pairs[i][0] + c->pairs[i][1] - a;
		for (k = first_link(t, a, b); k < t->nlinks &&
		     t->links[k].a == a && t->links[k].b == b; k++) {
			x = &fab->switches[a];
			y = &fab->switches[b];
			topo_narrow(port, c, x,
				    &x->info->ifs[t->links[k].a_if]);
			if (t->links[k].b_if != FDB_OWN)
				topo_narrow(port, c, y,
					    &y->info->ifs[t->links[k].b_if]);
		}
	}
}
