// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The trees that groups have on switches, and the ranks that they wait for.
 */
#include <stddef.h>
#include <stdio.h>

#include "group/group.h"

static uint64_t hash(uint32_t id)
{
	return index_hash(0, &id, sizeof(id));
}

/**
 * part_enter() - let a part be found by its tree
 * @part: part, with the tree's ID
 */
void part_enter(struct part *part)
{
	index_add(&part->group->manager->by_tree, &part->by_tree,
		  hash(part->tree.id));
}

/**
 * group_find_part() - find the group that a tree is of
 * @m: manager
 * @sw: switch
 * @id: tree
 *
 * Return: the part, or NULL if the tree is no group's.
 */
struct part *group_find_part(const struct manager *m, const struct sw *sw,
			     uint32_t id)
{
	struct index_node *node = index_first(&m->by_tree, hash(id));
	struct part *part;

	for (; node; node = index_next(node)) {
		part = container_of(node, struct part, by_tree);
		if (part->sw == sw && part->tree.id == id)
			return part;
	}
	return NULL;
}

/**
 * group_has_tree() - ask whether a tree ID is in use
 * @m: manager
 * @id: tree ID
 *
 * Return: true if a group has such a tree, on any switch.
 */
bool group_has_tree(const struct manager *m, uint32_t id)
{
	struct index_node *node = index_first(&m->by_tree, hash(id));

	while (node && container_of(node, struct part, by_tree)->tree.id != id)
		node = index_next(node);
	return node;
}

/**
 * part_rank() - find the rank that is a member of a tree
 * @part: the tree
 * @member: its place there
 *
 * Return: rank, or NULL: it is a switch, or there is no such member.
 */
struct rank *part_rank(const struct part *part, uint32_t member)
{
	struct group *g = part->group;
	struct rank *r;

	if (member >= part->tree.n ||
	    part->tree.members[member].rank >= g->like.ranks)
		return NULL;
	r = &g->ranks[part->tree.members[member].rank];
	return r->part == part && r->member == member ? r : NULL;
}

/**
 * rank_part() - get the tree that a rank was told of, or is to be told of
 * @r: rank
 *
 * Return: its part; NULL: there is none, or the switches still make it.
 */
struct part *rank_part(const struct rank *r)
{
	const struct group *g = r->group;

	return g->state == GROUP_JOINED || g->state == GROUP_READY ? r->part :
								     NULL;
}

/**
 * rank_next_alive() - get the time when a rank is told that its switch is alive
 * @r: rank
 *
 * Return: milliseconds; 0: never, since its queue pair would tell, or it has no
 * tree, or one that does not take a silent member for dead.
 */
int64_t rank_next_alive(const struct rank *r)
{
	const struct part *part = r->join.uc ? rank_part(r) : NULL;
	uint32_t ms = part ? part->tree.settings.dead_time : 0;

	if (!ms)
		return 0;
	ms /= INC_RDV_BEATS;
	return r->group->manager->loop.now + (ms ? ms : 1);
}

/**
 * group_levels() - count the levels of switches in a group's tree
 * @g: group
 *
 * Return: their number; 0 if it has no tree.
 */
unsigned int group_levels(const struct group *g)
{
	const struct part *p;
	unsigned int most = 0, n;
	uint32_t i;

	for (i = 0; i < g->nparts; i++) {
		n = 0;
		for (p = &g->parts[i]; p; p = p->parent)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

/**
 * group_missing() - name the ranks that have not come, or are not ready
 * @g: group
 * @but: rank that is not named; or NULL
 * @text: result, as "ranks 1,3,4 ..."; empty: it waits for none
 * @len: its size in bytes, more than 16
 */
void group_missing(const struct group *g, const struct rank *but, char *text,
		   size_t len)
{
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	if (g->ending || g->state == GROUP_READY)
		return;
	for (i = 0; i < g->like.ranks && used < len - 16; i++)
		if (&g->ranks[i] != but &&
		    (g->ranks[i].state == RANK_ABSENT ||
		     (g->state == GROUP_JOINED && !g->ranks[i].rts)))
			used += (size_t)snprintf(text + used, len - used,
						 "%s%u", used ? "," : "ranks ",
						 i);
	if (i < g->like.ranks)
		snprintf(text + used, len - used, " ...");
}
