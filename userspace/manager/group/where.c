// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Places of a group's tree: on top of place/, which knows only switches and
 * links, it takes the ranks' hosts, limits, and MTUs into account.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "place/place.h"
#include "rdma_inc.h"
#include "rdma_inc_proto.h"

/* Headers and ICRC of the longest packet, over IPv6, and over IPv4. */
#define ROCE_LEN	84
#define ROCE_LEN_IPV4	64

/*
 * The switches ask for hosts that none has seen, for as long as the kernel does
 * (three times, a second apart).
 */
#define PROBE_MS	3500
#define REPEAT_MS	1000	/* asked for again, 64 of them at a time */
#define LOOK_MS		100	/* between looks at the answers */

/* Advice for groups that fail for lack of routes. */
#define ROUTES	": a switch needs routes to its members and its parent"

/*
 * Find the switches of all ranks. Returns false if a rank's switch is unknown.
 * @at: result: for each of the ranks its switch
 * @lost: result: on failure, the first rank without a switch
 */
bool where_locate(const struct group *g, bool near, uint32_t *at,
		  uint32_t *lost)
{
	const struct sw_if *itf;
	const struct sw *sw;
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++) {
		sw = topo_find(&g->manager->fabric, &g->ranks[i].join.addr, &itf);
		if (!sw && near)
			sw = topo_near(&g->manager->fabric, &g->ranks[i].join.addr);
		if (!sw) {
			*lost = i;
			return false;
		}
		at[i] = sw->index;
	}
	return true;
}

/* Has a switch an interface in the VLAN of a group's hosts, if they have one? */
static bool has_vlan(const struct sw *sw, const struct group *g)
{
	const struct inc_rdv_addr *host = &g->request.addr;

	return !host->vlan || sw_if_vlan(sw->info, host);
}

/*
 * Leave out places that are refused, kept for others, over a limit, unrouted or in
 * another VLAN.
 * @place: name of the only switch for it; empty: any
 */
static void leave_out(const struct group *g, struct place_fabric *f,
		      const char *place)
{
	const struct sw *sw;
	uint32_t i;

	keep_others(g);
	limit_room(g, true);
	for (i = 0; i < g->where.navoid; i++)
		topo_avoid(&g->manager->fabric, g->where.avoid[i]);
	for_each_switch(&g->manager->fabric, sw)
		if ((place[0] && strcmp(sw_name(sw), place)) || !has_vlan(sw, g))
			topo_avoid(&g->manager->fabric, sw);
	route_leave_out(g, f);
}

/* Compute a place; @cm: without all switches that lack RDMA CM. */
static bool compute_with(const struct group *g, const uint32_t *at, bool cm,
			 struct place *p)
{
	struct place_fabric *f = topo_fabric(&g->manager->fabric);
	struct manager *m = g->manager;
	uint32_t i;

	if (!f)
		return false;
	leave_out(g, f, group_is_hidden(g) ? g->move.here.place : "");
	for (i = 0; cm && i < m->fabric.n; i++)
		if (!cm_offered(&m->fabric.switches[i]))
			topo_avoid(&m->fabric, &m->fabric.switches[i]);
	return place_compute(f, g->request.ranks, at, p);
}

/*
 * Compute the tree of a group. Returns false if there is no place.
 * @g: group; if only RDMA CM leaves it without a place, @g->where.no_cm is set, and
 *	@g->where.refusal says why
 * @at: for each of its ranks the switch
 * @p: result, to be freed
 */
bool where_compute(struct group *g, const uint32_t *at, struct place *p)
{
	g->where.no_cm = false;
	if (!compute_with(g, at, false, p))
		return false;
	if (cm_placed(g, p))
		return true;
	place_free(p);
	if (compute_with(g, at, true, p)) {
		if (cm_placed(g, p))
			return true;
		place_free(p);
	}
	g->where.no_cm = true;
	return false;
}

/* Judge all switches as the group's root, in a fabric without its tree. */
static bool judge_roots(const struct group *g, struct place_fabric *f,
			struct place_why *list, uint32_t *root)
{
	uint32_t at[g->request.ranks], lost;
	struct place p = { .n = 0 };
	bool found;

	if (!where_locate(g, true, at, &lost))
		return false;
	keep_others(g);
	limit_room(g, true);
	route_leave_out(g, f);
	found = place_compute(f, g->request.ranks, at, &p) || g->nsubtrees;
	if (found)
		*root = g->nsubtrees ? g->subtrees[0].sw->index : p.nodes[0].sw;
	place_free(&p);
	return found && place_why(f, g->request.ranks, at, list);
}

/*
 * Judge all candidates for the root of a group's tree. Returns false if there
 * is no tree for the group.
 * @g: group, all ranks of which were present
 * @list: result: for each switch how good it is now
 * @root: result: the root that the group has, or would get now
 */
bool group_why(const struct group *g, struct place_why *list, uint32_t *root)
{
	struct place_fabric *f = topo_without(&g->manager->fabric, g->where.charge);
	bool found;

	if (!f)
		return false;
	found = judge_roots(g, f, list, root);
	topo_with(&g->manager->fabric, g->where.charge);
	return found;
}

/*
 * Check whether a group could have another tree beside its own. Returns true if so.
 * @g->where.refusal may have changed.
 * @g: group, all ranks of which were present
 * @place: the only switch for it; NULL: any
 */
bool group_fits(struct group *g, const struct sw *place)
{
	struct place_fabric *f = topo_fabric(&g->manager->fabric);
	uint32_t at[g->request.ranks], lost;
	struct place p = { .n = 0 };
	bool fits;

	if (!f)
		return false;
	fits = where_locate(g, true, at, &lost);
	if (fits) {
		leave_out(g, f, place ? sw_name(place) : "");
		fits = place_compute(f, g->request.ranks, at, &p) &&
		       cm_placed(g, &p);
		place_free(&p);
	}
	return fits;
}

/*
 * Find why no switch can serve a group. EHOSTUNREACH only if a switch is down:
 * ranks retry on it, as if the manager had been lost.
 */
static const char *find_reason(const struct group *g, int *err)
{
	const struct manager *m = g->manager;
	const struct sw *sw;

	*err = ENOBUFS;
	if (g->where.navoid || g->where.naparts) {
		*err = g->where.refusal_err;
		return g->where.refusal;
	}
	for_each_switch(&m->fabric, sw)
		if (!sw->up) {
			*err = EHOSTUNREACH;
			return sw->why;
		}
	if (g->request.addr.vlan)
		return "none has the capability, room for another tree, and an interface in the tenant's VLAN (tenants.conf)";
	if (keep_any(g))
		return "none has the capability and room for another tree: some is kept for groups that are being rebuilt";
	if (m->drains)
		return "none has the capability and room for another tree, and is not drained";
	return "none has the capability and room for another tree";
}

/* Have all switches ask for hosts that none of them has seen. */
static void probe_hosts(struct group *g)
{
	const struct inc_rdv_addr *lost[g->request.ranks];
	struct manager *m = g->manager;
	const struct sw_if *itf;
	unsigned int n = 0, i;

	for (i = 0; i < g->request.ranks; i++)
		if (!topo_find(&m->fabric, &g->ranks[i].join.addr, &itf))
			lost[n++] = &g->ranks[i].join.addr;
	for (i = 0; i < m->fabric.n; i++)
		sw_probe(&m->fabric.switches[i], lost, n);
}

/*
 * Wait until hosts are seen. Returns false if it has taken too long; else the
 * group must be placed again at @g->where.place_at.
 * @g: group with a rank whose host no switch has seen
 */
bool where_await_hosts(struct group *g)
{
	int64_t now = g->manager->loop.now;

	if (!g->where.probe_until) {
		g->where.probe_until = now + PROBE_MS;
		g->where.probe_at = now;
	}
	if (g->where.probe_until <= now)
		return false;
	if (g->where.probe_at <= now) {
		g->where.probe_at = now + REPEAT_MS;
		probe_hosts(g);
	}
	if (g->where.place_at <= now)
		g->where.place_at = now + LOOK_MS;
	return true;
}

/* Switches that do not answer may be why a host is not seen. */
static void say_down(const struct manager *m, char *text, size_t len)
{
	unsigned int n = 0, down = 0;
	const struct sw *sw;

	for_each_switch(&m->fabric, sw) {
		n++;
		down += !sw->up;
	}
	text[0] = '\0';
	if (down)
		snprintf(text, len, " %u of %u switches do not answer: \"inc-amctl switch\" says why",
			 down, n);
}

/*
 * Refuse a group without a place.
 * @lost: if not @located: the first rank whose switch is unknown
 */
void where_none(struct group *g, bool located, uint32_t lost)
{
	char text[INC_RDV_TEXT_MAX - 256], addr[INET6_ADDRSTRLEN];
	const char *why;
	int err;

	if (located && g->where.no_cm) {
		group_refuse(g, EOPNOTSUPP, "no switch can serve it: %.400s",
			     g->where.refusal);
	} else if (located && limit_says(g, text, sizeof(text))) {
		tenant_refused(g->tenant, &g->manager->events, g->name,
			       text);
		group_refuse(g, ENOBUFS, "%s", text);
	} else if (located) {
		why = find_reason(g, &err);
		group_refuse(g, err, "no switch can serve it: %.300s%s", why,
			     err == EPROTO ? ROUTES : "");
	} else {
		say_down(g->manager, text, sizeof(text));
		group_refuse(g, EHOSTUNREACH, "no switch sees rank %u at %s, and it does not answer any of them: is its leaf among the manager's switches, and is the host up?%s",
			     lost, inc_rdv_addr_str(&g->ranks[lost].join.addr,
						    addr, sizeof(addr)), text);
	}
}

static struct topo_port find_narrowest(const struct group *g)
{
	struct topo_port port = { NULL };
	const struct sw_if *itf;
	const struct sw *sw;
	uint32_t i;

	topo_narrowest(&g->manager->fabric, g->where.charge, &port);
	for (i = 0; i < g->request.ranks; i++) {
		sw = topo_find(&g->manager->fabric, &g->ranks[i].join.addr, &itf);
		if (sw && itf)
			topo_narrow(&port, g->where.charge, sw, itf);
	}
	return port;
}

/*
 * Look for a port that does not pass the longest packets. Its MTU may have been
 * lowered since the trees were made, or the path has changed. Returns true if
 * one was found.
 * @len: size of @text in bytes
 */
bool group_is_narrow(const struct group *g, char *text, size_t len)
{
	const struct topo_port port = find_narrowest(g);
	uint32_t pmtu = g->subtrees[0].tree.settings.pmtu;

	if (!port.itf || pmtu + ROCE_LEN_IPV4 <= port.itf->mtu)
		return false;
	snprintf(text, len, "%s:%s, on the way, has an MTU of %u, too small for the path MTU %u",
		 sw_name(port.sw), port.itf->name, port.itf->mtu, pmtu);
	return true;
}

/*
 * Choose a path MTU for a group's trees. The longest packets must fit all ports
 * on the path, also of switches that only forward them. Without a wish, the MTU
 * is lowered to fit. Returns false if the wish does not fit; then
 * GROUP_EV_REFUSED was raised.
 */
bool where_pmtu_fits(struct group *g)
{
	const struct topo_port port = find_narrowest(g);
	uint32_t wish = g->request.tree.pmtu, pmtu = TREE_PMTU_MAX;

	if (!port.itf)
		return true;
	while (pmtu >= TREE_PMTU_MIN && pmtu + ROCE_LEN > port.itf->mtu)
		pmtu /= 2;
	if (pmtu < TREE_PMTU_MIN || wish > pmtu) {
		wish = wish ? wish : TREE_PMTU_MIN;
		group_refuse(g, EMSGSIZE, "a path MTU of %u needs an MTU of %u, and %s:%s, on the way, has %u: raise that, or choose a smaller pmtu",
			     wish, wish + ROCE_LEN, sw_name(port.sw),
			     port.itf->name, port.itf->mtu);
		return false;
	}
	if ((g->request.mtu ? g->request.mtu : RDMA_INC_DEFAULT_PMTU) > pmtu)
		g->request.mtu = pmtu;
	return true;
}
