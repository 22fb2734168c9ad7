/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Computes the aggregation tree of a group. No I/O, no clock.
 *
 * Ranks that follow each other at one switch make up a part. A part of several
 * ranks gets a tree at their switch, which sends one stream up; a rank alone is
 * a member of the root itself. So every order of ranks gives a tree, whose
 * members cover consecutive ranks, as the module needs it.
 */
#ifndef INC_MANAGER_PLACE_H
#define INC_MANAGER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLACE_FAR	UINT32_MAX	/* no way from here to there */

/**
 * struct place_switch - a switch
 * @usable: it has the capability and the room for another tree
 * @load: the one with less is preferred, among switches that are equal else
 */
struct place_switch {
	bool		usable;
	uint64_t	load;
};

/**
 * struct place_fabric - the switches and their distances
 * @n: number of switches
 * @switches: switches
 * @hops: for each pair of switches the number of links between, PLACE_FAR if
 *	there is no way; @n times @n, symmetric, 0 in the diagonal
 */
struct place_fabric {
	uint32_t			n;
	const struct place_switch	*switches;
	const uint32_t			*hops;
};

/**
 * struct place_part - consecutive ranks
 * @first: first rank
 * @count: number of ranks
 * @at: switch that serves them
 * @tree: they have a tree there, the parent of which is the root; false: they
 *	are members of the root
 */
struct place_part {
	uint32_t	first;
	uint32_t	count;
	uint32_t	at;
	bool		tree;
};

/**
 * struct place - the tree of a group
 * @root: switch of the root
 * @cost: links that the parts' streams cross to the root
 * @nparts: number of parts
 * @parts: parts, in the order of the ranks; room for one per rank
 */
struct place {
	uint32_t		root;
	uint64_t		cost;
	uint32_t		nparts;
	struct place_part	*parts;
};

uint32_t place_serve(const struct place_fabric *f, uint32_t at);
bool place_compute(const struct place_fabric *f, uint32_t nranks,
		   const uint32_t *at, struct place *p);

#endif /* INC_MANAGER_PLACE_H */
