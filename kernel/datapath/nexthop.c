// SPDX-License-Identifier: GPL-2.0
/*
 * The next hop on the way to a member.
 */
#include <net/dst.h>
#include <net/neighbour.h>

#include "datapath/nexthop.h"
#include "object/qp.h"

/**
 * inc_nexthop_addr() - get the Ethernet address of the next hop
 * @qp: QP of the member
 * @dst: its route
 * @addr: filled in
 *
 * The lookup is a use of the neighbour, as IP's output is: the kernel checks a
 * stale entry.
 *
 * Context: BH off or process.
 * Return: false if it is not known.
 */
bool inc_nexthop_addr(const struct inc_qp *qp, struct dst_entry *dst, u8 *addr)
{
	const struct in6_addr *peer = &qp->cfg.peer;
	struct neighbour *n;
	bool known;

	n = dst_neigh_lookup(dst, qp->cfg.family == AF_INET ?
				  (const void *)&peer->s6_addr32[3] : peer);
	if (IS_ERR_OR_NULL(n))
		return false;
	known = READ_ONCE(n->nud_state) & NUD_VALID;
	if (known) {
		neigh_event_send(n, NULL);
		neigh_ha_snapshot(addr, n, dst->dev);
	}
	neigh_release(n);
	return known;
}
