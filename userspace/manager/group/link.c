// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The interfaces that a group's tree needs: the ports of its ranks' hosts, and
 * both ends of the path between two of its switches. The switches notice by
 * lost packets when a link in the middle of a path goes down; but its MTU is
 * checked here. All are looked up again whenever the fabric has changed: a host
 * may have moved, or a spanning tree may have opened another path.
 *
 * When a link goes down, one end is known to be down first, and the path changes
 * at once. The old interfaces still count for some more answers of their switch.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conf/array.h"
#include "group/group.h"
#include "rdma_inc_proto.h"

#define AGAIN_MS	500
/* Answers of a busy agent describe its interfaces as they were a while ago. */
#define OLD_ANSWERS	10

/**
 * struct links - interfaces that a tree needs
 * @list: interfaces, in the order of the ranks
 * @n: number of them
 * @missing: some interfaces are unknown
 */
struct links {
	struct group_link	*list;
	unsigned int		n;
	bool			missing;
};

static void add_link(struct links *l, const struct sw *sw,
		     const struct sw_if *itf, int rank)
{
	struct group_link *link;

	if (!itf || !ARRAY_ROOM(l->list, l->n)) {
		l->missing = true;
		return;
	}
	link = &l->list[l->n++];
	link->sw = sw;
	link->rank = rank;
	link->old = 0;
	link->index = itf->index;
	snprintf(link->name, sizeof(link->name), "%s", itf->name);
}

static void add_way(struct links *l, const struct manager *m,
		    const struct sw *a, const struct sw *b)
{
	if (a == b)
		return;
	add_link(l, a, topo_way(&m->fabric, a, b), -1);
	add_link(l, b, topo_way(&m->fabric, b, a), -1);
}

static struct links find_links(const struct group *g)
{
	struct links l = { NULL };
	const struct sw_if *itf;
	const struct subtree *subtree;
	const struct sw *sw;
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++) {
		sw = topo_find(&g->manager->fabric, &g->ranks[i].join.addr, &itf);
		add_link(&l, sw, itf, (int)i);
		if (sw &&
		    (!i || g->ranks[i].subtree != g->ranks[i - 1].subtree))
			add_way(&l, g->manager, sw, g->ranks[i].subtree->sw);
	}
	for (i = 0; i < g->nsubtrees; i++) {
		subtree = &g->subtrees[i];
		if (subtree->parent)
			add_way(&l, g->manager, subtree->sw,
				subtree->parent->sw);
	}
	return l;
}

static void add_at(struct group *g, const struct sw *sw)
{
	struct group_at *at;
	unsigned int i;

	for (i = 0; i < g->links.nswitches; i++)
		if (g->links.switches[i].sw == sw)
			return;
	at = &g->links.switches[g->links.nswitches++];
	at->sw = sw;
	at->g = g;
	LIST_INSERT_HEAD(&g->manager->fabric.switches[sw->index].groups, at, by_sw);
}

/* Note a group's switches: the news of all others, usually most, can skip it. */
static void note_switches(struct group *g)
{
	uint32_t i;

	g->links.switches = calloc(g->nsubtrees + g->links.n + 1,
			     sizeof(*g->links.switches));
	if (!g->links.switches)
		return;
	for (i = 0; i < g->nsubtrees; i++)
		add_at(g, g->subtrees[i].sw);
	for (i = 0; i < g->links.n; i++)
		add_at(g, g->links.links[i].sw);
}

static bool has_link(const struct links *l, const struct group_link *link)
{
	unsigned int i;

	for (i = 0; i < l->n; i++)
		if (l->list[i].sw == link->sw && l->list[i].index == link->index)
			return true;
	return false;
}

/* Keep links between switches; a host that moves leaves its port behind. */
static void keep_old(struct links *l, const struct group *g)
{
	const struct group_link *link = g->links.links;

	for (; link < g->links.links + g->links.n; link++) {
		if (link->rank >= 0 || has_link(l, link))
			continue;
		if (!ARRAY_ROOM(l->list, l->n))
			return;
		l->list[l->n] = *link;
		if (!link->old)
			l->list[l->n].old = OLD_ANSWERS;
		l->n++;
	}
}

static void drop_old(struct group *g, const struct sw *sw)
{
	unsigned int i, n = 0;

	for (i = 0; i < g->links.n; i++)
		if (g->links.links[i].sw != sw || !g->links.links[i].old ||
		    --g->links.links[i].old)
			g->links.links[n++] = g->links.links[i];
	g->links.n = n;
}

static void set_links(struct group *g, struct links l)
{
	keep_old(&l, g);
	group_forget_links(g);
	g->links.links = l.list;
	g->links.n = l.n;
	g->links.missing = l.missing;
	g->manager->nlinks_missing += g->links.missing;
	note_switches(g);
}

/* Record which interfaces a group's tree needs. */
void group_note_links(struct group *g)
{
	group_forget_links(g);
	set_links(g, find_links(g));
	home_note(g);
}

/*
 * Record interfaces that were not known before. A switch may not have reported
 * its hosts when the tree was made, or when the group was taken over from
 * another manager.
 */
void group_find_links(struct manager *m)
{
	uint64_t generation = topo_generation(&m->fabric);
	struct group *g;

	if (!m->nlinks_missing || m->linked_in == generation ||
	    m->loop.now - m->linked_at < AGAIN_MS)
		return;
	m->linked_in = generation;
	m->linked_at = m->loop.now;
	for (g = m->groups; g; g = g->next)
		if (g->links.missing)
			set_links(g, find_links(g));
}

/*
 * A port whose MTU has become too small still passes short packets, such as
 * acknowledgements and heartbeats: neither a switch nor a rank would give up.
 */
static void check_mtu(struct group *g)
{
	char text[192];

	if (g->nsubtrees && group_is_narrow(g, text, sizeof(text)))
		group_fail(g, CAUSE_LINK, -1, INC_STATUS_PEER_DEAD, "%s", text);
}

/*
 * Record the interfaces that the groups' trees need now. A host that a bridge
 * has forgotten for a while does not remove its interface.
 * @m: manager, after hosts have moved, or links have come, gone, or changed
 */
void group_note_again(struct manager *m)
{
	struct group *g;
	struct links l;

	for (g = m->groups; g; g = g->next) {
		if (!group_is_joined(g->state))
			continue;
		l = find_links(g);
		if (!l.missing || g->links.missing)
			set_links(g, l);
		else
			free(l.list);
		home_look(g);
		check_mtu(g);
	}
}

static bool is_down(const struct group_link *link)
{
	const struct sw_if *itf = sw_if_again(link->sw->info, link->index,
					      link->name);

	return !itf || !itf->up;
}

/*
 * Find a link of a group that is down. Returns false if all are up.
 * @rank: look at links to this rank's host; -1: at links between switches
 * @len: size of @text in bytes
 */
bool group_down_link(const struct group *g, int rank, char *text, size_t len)
{
	const struct group_link *link;
	unsigned int i;

	for (i = 0; i < g->links.n; i++) {
		link = &g->links.links[i];
		if (link->rank != rank || !link->sw->info || !is_down(link))
			continue;
		if (rank >= 0)
			snprintf(text, len, "%s:%s, to rank %d, is down",
				 sw_name(link->sw), link->name, rank);
		else
			snprintf(text, len, "%s:%s is down", sw_name(link->sw),
				 link->name);
		return true;
	}
	return false;
}

/*
 * Check a group's links at a switch. A link may come up again, so switches and
 * ranks wait for it. But between two switches there may be another path, if the
 * group may have another tree.
 */
void group_check_links(struct group *g, const struct sw *sw)
{
	char text[192];

	if (g->request.rebuild && group_down_link(g, -1, text, sizeof(text)))
		group_fail(g, CAUSE_LINK, -1, INC_STATUS_PEER_DEAD, "%s", text);
	else
		drop_old(g, sw);
}
