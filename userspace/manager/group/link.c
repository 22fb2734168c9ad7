// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The interfaces that a group's tree needs: those of its ranks' hosts, and both
 * ends of the way between two of its switches. A link between others, on the
 * way, is noticed by the switches whose packets are lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "rdma_inc_proto.h"

#define AGAIN_MS	500

static void add(struct group *g, const struct sw *sw, const struct sw_if *itf,
		int rank)
{
	struct group_link *link;

	link = itf ? realloc(g->links, (g->nlinks + 1) * sizeof(*link)) : NULL;
	if (!link) {
		g->unlinked = true;
		return;
	}
	g->links = link;
	link += g->nlinks++;
	link->sw = sw;
	link->rank = rank;
	link->index = itf->index;
	snprintf(link->name, sizeof(link->name), "%s", itf->name);
}

static void add_way(struct group *g, const struct sw *a, const struct sw *b)
{
	if (a == b)
		return;
	add(g, a, topo_way(g->manager, a, b), -1);
	add(g, b, topo_way(g->manager, b, a), -1);
}

static void add_at(struct group *g, const struct sw *sw)
{
	struct group_at *at;
	unsigned int i;

	for (i = 0; i < g->nat; i++)
		if (g->at[i].sw == sw)
			return;
	at = &g->at[g->nat++];
	at->sw = sw;
	at->g = g;
	LIST_INSERT_HEAD(&g->manager->switches[sw->index].groups, at, by_sw);
}

/* Most switches of a large fabric have nothing to do with most groups. */
static void note_switches(struct group *g)
{
	uint32_t i;

	g->at = calloc(g->nparts + g->nlinks + 1, sizeof(*g->at));
	if (!g->at)
		return;
	for (i = 0; i < g->nparts; i++)
		add_at(g, g->parts[i].sw);
	for (i = 0; i < g->nlinks; i++)
		add_at(g, g->links[i].sw);
}

/**
 * group_forget_links() - undo group_note_links()
 * @g: group
 */
void group_forget_links(struct group *g)
{
	struct group_at *at;

	for (at = g->at; at < g->at + g->nat; at++)
		LIST_REMOVE(at, by_sw);
	free(g->at);
	g->at = NULL;
	g->nat = 0;
	g->nlinks = 0;
	g->manager->unlinked -= g->unlinked;
	g->unlinked = false;
}

/**
 * group_note_links() - record which interfaces a group's tree needs
 * @g: group whose parts are known
 */
void group_note_links(struct group *g)
{
	const struct sw_if *itf;
	const struct part *part;
	struct sw *sw;
	uint32_t i;

	group_forget_links(g);
	for (i = 0; i < g->like.ranks; i++) {
		sw = topo_find(g->manager, &g->ranks[i].join.addr, &itf);
		add(g, sw, itf, (int)i);
		if (!sw)
			continue;
		if (!i || g->ranks[i].part != g->ranks[i - 1].part)
			add_way(g, sw, g->ranks[i].part->sw);
	}
	for (i = 0; i < g->nparts; i++) {
		part = &g->parts[i];
		if (part->parent)
			add_way(g, part->sw, part->parent->sw);
	}
	g->manager->unlinked += g->unlinked;
	note_switches(g);
}

/**
 * group_find_links() - record interfaces that were not known before
 * @m: manager
 *
 * A switch may not have told of its hosts when the tree was made, or when the
 * group was taken over from another manager.
 */
void group_find_links(struct manager *m)
{
	uint64_t generation = topo_generation(m);
	struct group *g;

	if (!m->unlinked || m->linked_in == generation ||
	    m->loop.now - m->linked_at < AGAIN_MS)
		return;
	m->linked_in = generation;
	m->linked_at = m->loop.now;
	for (g = m->groups; g; g = g->next)
		if (g->unlinked)
			group_note_links(g);
}

static bool is_down(const struct group_link *link)
{
	const struct sw_info *info = link->sw->info;
	unsigned int i;

	for (i = 0; i < info->nifs; i++)
		if (link->index ? info->ifs[i].index == link->index :
				  !strcmp(info->ifs[i].name, link->name))
			return !info->ifs[i].up;
	return true;
}

/**
 * group_check_links() - look whether a switch still has the links for a group
 * @g: group; may be freed
 * @sw: switch that has just answered
 */
void group_check_links(struct group *g, const struct sw *sw)
{
	const struct group_link *link;
	unsigned int i;

	for (i = 0; i < g->nlinks; i++) {
		link = &g->links[i];
		if (link->sw != sw || !is_down(link))
			continue;
		if (link->rank >= 0)
			group_fail(g, CAUSE_LINK, link->rank,
				   INC_STATUS_PEER_DEAD, "interface %s of switch %s, to rank %d, is down",
				   link->name, sw_name(sw), link->rank);
		else
			group_fail(g, CAUSE_LINK, -1, INC_STATUS_PEER_DEAD,
				   "interface %s of switch %s is down",
				   link->name, sw_name(sw));
		return;
	}
}
