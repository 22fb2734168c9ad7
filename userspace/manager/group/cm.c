// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Ranks that connect by RDMA CM. Their members are made without a peer, and
 * wait. "joined" tells a rank where the agent of its switch accepts
 * connections, and which member it is; the rank proves that to the agent with
 * the R_Key, and sends "rts" once it is connected. The manager deletes such
 * members like any others: when the rank has left, or is lost.
 */
#include <stdio.h>

#include "group/group.h"
#include "place/place.h"

/*
 * Check whether ranks can connect to a switch by RDMA CM. Returns true if so.
 */
bool cm_offered(const struct sw *sw)
{
	return sw->info && sw->info->cm_port;
}

/* Can a rank connect to its switch? If not, @g->where.refusal says why. */
static bool can_reach(struct group *g, const struct rank *r,
		      const struct sw *sw)
{
	struct inc_rdv_addr addr;

	if (!r->join.cm)
		return true;
	if (!cm_offered(sw))
		snprintf(g->where.refusal, sizeof(g->where.refusal),
			 "switch %s does not accept RDMA CM, by which rank %u connects: start its inc-agentd with --cm ADDR, or the ranks without INC_AM_CONNECT",
			 sw_name(sw), (unsigned int)(r - g->ranks));
	else if (!topo_cm_addr(sw, &r->join.addr, &addr))
		snprintf(g->where.refusal, sizeof(g->where.refusal),
			 "switch %s accepts RDMA CM at no IPv%d address, which rank %u would need: see --cm of its inc-agentd",
			 sw_name(sw), r->join.addr.len == 4 ? 4 : 6,
			 (unsigned int)(r - g->ranks));
	else
		return true;
	return false;
}

/*
 * Check whether all ranks of a tree could connect to their switches. Returns
 * false if not; then @g->where.refusal says why.
 */
bool cm_placed(struct group *g, const struct place *p)
{
	const struct sw *sw;
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++) {
		sw = &g->manager->fabric.switches[p->nodes[p->node_of[i]].sw];
		if (!can_reach(g, &g->ranks[i], sw))
			return false;
	}
	return true;
}

/*
 * Check whether a rank can connect to its switch now: the agent may have been
 * restarted with other options since the tree was placed. Returns false if not;
 * then @refusal of its group says why.
 */
bool cm_reached(struct rank *r)
{
	return can_reach(r->group, r, r->subtree->sw);
}

/*
 * Check cm_reached() for all ranks, when the tree has been made. Returns false
 * if not; then @g->where.refusal says why.
 */
bool cm_made(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++)
		if (!cm_reached(&g->ranks[i]))
			return false;
	return true;
}

/*
 * Tell a rank where to connect.
 * @r: rank, for which cm_made() or cm_reached() is true
 */
void cm_tell(const struct rank *r, struct am_message *msg)
{
	if (!r->join.cm)
		return;
	topo_cm_addr(r->subtree->sw, &r->join.addr, &msg->rdv.joined.addr);
	msg->rdv.joined.psn = 0;
	msg->cm_port = r->subtree->sw->info->cm_port;
	msg->cm_member = (uint16_t)r->member;
}

/*
 * Count the ranks of a group that connect by RDMA CM. Returns their
 * number.
 */
unsigned int cm_count(const struct group *g)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++)
		n += g->ranks[i].join.cm;
	return n;
}
