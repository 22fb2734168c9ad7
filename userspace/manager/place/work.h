/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the files of this folder share.
 *
 * A stream is what some consecutive ranks send: one queue pair for each, or one
 * for all of them once they are below a node. Streams move from switch to
 * switch towards the root, on shortest ways. Streams that follow each other in
 * the order of ranks and meet at a switch with room become one.
 */
#ifndef INC_MANAGER_PLACE_WORK_H
#define INC_MANAGER_PLACE_WORK_H

#include <stddef.h>

#include "place/place.h"

/**
 * struct stream - see above
 * @first: first rank
 * @count: number of ranks
 * @node: their node; PLACE_NONE: they are hosts
 * @depth: levels of nodes
 * @sw: switch where it is; PLACE_NONE: it is part of another one
 * @prev: the stream of the ranks before these
 * @next: the stream of the ranks after these
 * @peer: another stream at the same switch
 */
struct stream {
	uint32_t	first;
	uint32_t	count;
	uint32_t	node;
	uint32_t	depth;
	uint32_t	sw;
	uint32_t	prev;
	uint32_t	next;
	uint32_t	peer;
};

/**
 * struct run - streams at a switch that follow each other
 * @stream: the first one
 * @members: queue pairs in all
 */
struct run {
	uint32_t	stream;
	uint32_t	members;
};

/* Of the bucket queue: one for each distance that its switches may have. */
#define WAY_BUCKETS	(PLACE_COST_MAX + 1)

/**
 * struct way - shortest ways to one switch
 * @dist: for each switch its distance; PLACE_FAR: there is no way
 * @order: switches that have one, the nearest first
 * @n: their number
 * @next: of the bucket queue
 * @prev: of the bucket queue
 * @heads: first of each bucket, which has distances that are equal modulo
 *	WAY_BUCKETS; between two calls of way_find() PLACE_NONE
 */
struct way {
	uint32_t	*dist;
	uint32_t	*order;
	uint32_t	n;
	uint32_t	*next;
	uint32_t	*prev;
	uint32_t	heads[WAY_BUCKETS];
};

/**
 * struct place_work - a computation
 * @f: fabric
 * @rank_switches: for each rank its switch
 * @way: ways to the root that is being tried
 * @distance: for each switch its distance from the first rank's
 * @room: room that each switch has left
 * @streams: streams
 * @nstreams: their number
 * @start: streams as they are before the first step, see merge_start()
 * @nstart: their number
 * @head: for each switch one of the streams there
 * @wanted: for each switch from how many switches streams could move there
 * @used: for each switch the nodes that it got in this trial
 * @runs: of the switch at hand
 * @nodes: nodes; of a parent, @parent is not known before its own node is
 * @nnodes: nodes that are settled; a trial's follow
 * @ntried: number of both
 * @first: first rank of this trial
 * @count: number of its ranks
 * @flat: all ranks are to be members of the root
 * @cost: of this trial
 * @load: of this trial
 * @depth: of this trial
 * @limit: give up a trial whose cost is higher
 */
struct place_work {
	const struct place_fabric *f;
	const uint32_t		*rank_switches;
	struct way		way;
	uint32_t		*distance;
	uint32_t		*room;
	struct stream		*streams;
	uint32_t		nstreams;
	struct stream		*start;
	uint32_t		nstart;
	uint32_t		*head;
	uint32_t		*wanted;
	uint32_t		*used;
	struct run		*runs;
	struct place_node	*nodes;
	uint32_t		nnodes;
	uint32_t		ntried;
	uint32_t		first;
	uint32_t		count;
	bool			flat;
	uint64_t		cost;
	uint64_t		load;
	uint32_t		depth;
	uint64_t		limit;
};

/* way.c */
bool way_init(struct way *w, uint32_t n);
void way_free(struct way *w);
void way_find(struct way *w, const struct place_fabric *f, uint32_t to,
	      uint64_t limit);

/* merge.c */
bool merge_apart(const struct place_fabric *f, uint32_t sw, uint32_t below,
		 bool hosts);
uint32_t merge_limit(const struct place_fabric *f, uint32_t sw, bool nodes);
void merge_start(struct place_work *w, uint32_t first, uint32_t count);
bool merge_to(struct place_work *w, uint32_t root);
uint32_t merge_members(struct place_work *w, bool *nodes);
bool merge_fits(const struct place_work *w, uint32_t root);
uint32_t merge_node(struct place_work *w, uint32_t sw, uint32_t first,
		    uint32_t count, uint32_t members);

/* pack.c */
bool pack(struct place_work *w, uint32_t nranks);

#endif /* INC_MANAGER_PLACE_WORK_H */
