/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Computes the aggregation tree of a group, of any number of levels. No I/O, no
 * clock; the same input gives the same tree.
 *
 * A node of the tree is a tree on one switch. Its members are hosts and other
 * nodes, and cover consecutive ranks in order, as the module needs them. A
 * switch may have several nodes of a group, for ranks that are not consecutive.
 *
 * Of all trees that are tried, the least one in this order is taken:
 *
 *	cost	of the links between the ranks' switches and the root, counted for
 *		each queue pair across them. A link costs 1, or more if it is slower
 *		than others
 *	depth	levels
 *	nodes	number of nodes
 *	load	present load of these links and switches
 *	index	index of the root
 *
 * The cost is the least possible if the fabric has no cycle, all switches have
 * room and no node meets its limit of members; else it is an upper bound
 * (tests/test_place.c measures by how much).
 */
#ifndef INC_MANAGER_PLACE_H
#define INC_MANAGER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLACE_NONE	UINT32_MAX
#define PLACE_FAR	UINT32_MAX	/* there is no path */
#define PLACE_COST_MAX	255		/* of one link */

/**
 * struct place_switch - a switch
 * @room: trees that it has room for; 0: it is not used
 * @members: members that a tree may have there; 0: only the fabric's limit
 * @load: load; less is better among switches that are otherwise equal
 */
struct place_switch {
	uint32_t	room;
	uint32_t	members;
	uint64_t	load;
};

/**
 * struct place_link - a link, in one direction
 * @to: switch that it leads to
 * @cost: 1 to PLACE_COST_MAX, the same in both directions
 * @load: load; less is better among links that are otherwise equal
 */
struct place_link {
	uint32_t	to;
	uint32_t	cost;
	uint64_t	load;
};

/**
 * struct place_apart - a member that a node must not have
 * @sw: switch of the node
 * @below: switch of the member
 * @hosts: applies to hosts at @below; else to a node, and then in both
 *	directions
 */
struct place_apart {
	uint32_t	sw;
	uint32_t	below;
	bool		hosts;
};

/**
 * struct place_fabric - the switches and their links
 * @n: number of switches
 * @switches: switches
 * @first: for each switch its first link in @links; @n + 1 entries
 * @links: links, each in both directions
 * @max_hosts: members that a node may have
 * @max_members: members that a node may have if there are nodes among them
 * @apart: pairs without a route; usually none
 * @naparts: number of @apart
 */
struct place_fabric {
	uint32_t			n;
	const struct place_switch	*switches;
	const uint32_t			*first;
	const struct place_link		*links;
	uint32_t			max_hosts;
	uint32_t			max_members;
	const struct place_apart	*apart;
	uint32_t			naparts;
};

/**
 * struct place_node - a node of a tree
 * @sw: switch
 * @parent: the parent's place in the array; PLACE_NONE: the root
 * @first: first rank
 * @count: number of ranks
 * @members: number of members
 */
struct place_node {
	uint32_t	sw;
	uint32_t	parent;
	uint32_t	first;
	uint32_t	count;
	uint32_t	members;
};

/**
 * struct place - the tree of a group
 * @cost: see above
 * @depth: levels of nodes
 * @n: number of nodes
 * @nodes: nodes: the root, then each node followed by those below it, in the
 *	order of ranks
 * @node_of: for each rank the node that has it as a member
 */
struct place {
	uint64_t		cost;
	uint32_t		depth;
	uint32_t		n;
	struct place_node	*nodes;
	uint32_t		*node_of;
};

/**
 * struct place_why - a candidate for the root
 * @usable: has room
 * @load: see above
 * @depth: see above
 * @nodes: see above
 * @cost: see above; UINT64_MAX: a rank has no path to it
 * @apart: a member would have no route
 */
struct place_why {
	bool		usable;
	uint64_t	load;
	uint32_t	depth;
	uint32_t	nodes;
	uint64_t	cost;
	bool		apart;
};

bool place_compute(const struct place_fabric *f, uint32_t nranks,
		   const uint32_t *at, struct place *p);
bool place_why(const struct place_fabric *f, uint32_t nranks,
	       const uint32_t *at, struct place_why *list);
uint32_t place_member(const struct place *p, uint32_t node, uint32_t rank);
bool place_walk(const struct place_fabric *f, const struct place *p,
		const uint32_t *at,
		void (*cross)(void *ctx, const struct place_link *link),
		void *ctx);
void place_free(struct place *p);

#endif /* INC_MANAGER_PLACE_H */
