// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * By which address a switch is reached from another, or from a rank.
 */
#include "fabric/topo.h"

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

/**
 * topo_is_host() - check whether a host has an address
 * @m: manager
 * @addr: address
 *
 * A switch that has it, too, lies, or is wrong; packets may go to the host.
 *
 * Return: a switch sees the host, and others do not contradict.
 */
bool topo_is_host(const struct manager *m, const struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;

	return topo_find(m, addr, &itf) && itf;
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
 * @m: manager
 * @sw: switch
 * @to: the other one
 * @addr: result: the address that is most like one of the other's, and that no
 *	host has
 *
 * Return: false if there is none.
 */
bool topo_addr(const struct manager *m, const struct sw *sw,
	       const struct sw *to, struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, like;

	for (i = 0; i < sw->info->nifs; i++) {
		itf = &sw->info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			if (link_local(&itf->addrs[k]) ||
			    topo_is_host(m, &itf->addrs[k]))
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

static bool is_any(const struct inc_rdv_addr *addr)
{
	unsigned int i;

	for (i = 0; i < addr->len; i++)
		if (addr->bytes[i])
			return false;
	return true;
}

/**
 * topo_cm_addr() - choose the address by which a rank connects by RDMA CM
 * @sw: switch whose agent accepts that
 * @to: the rank's address
 * @addr: result: the agent's address, or the one that is most like the rank's
 *
 * Return: false if there is none of the same kind.
 */
bool topo_cm_addr(const struct sw *sw, const struct inc_rdv_addr *to,
		  struct inc_rdv_addr *addr)
{
	const struct sw_info *info = sw->info;
	const struct sw_if *itf;
	unsigned int i, k;
	int best = -1, like;

	if (!is_any(&info->cm_addr)) {
		*addr = info->cm_addr;
		return addr->len == to->len;
	}
	/* Who listens at :: does so for IPv4, too. */
	if (info->cm_addr.len < to->len)
		return false;
	for (i = 0; i < info->nifs; i++) {
		itf = &info->ifs[i];
		for (k = 0; k < itf->naddrs; k++) {
			like = link_local(&itf->addrs[k]) ? -1 :
			       common_bits(&itf->addrs[k], to);
			if (like > best) {
				best = like;
				*addr = itf->addrs[k];
			}
		}
	}
	return best >= 0;
}
