/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Internals of this folder.
 *
 * A stream is the traffic of consecutive ranks: one queue pair for each rank,
 * or one for all of them once they are below a node. Streams move from switch
 * to switch towards the root, on shortest paths. Streams of consecutive ranks
 * that meet at a switch with room merge.
 */
#ifndef INC_MANAGER_PLACE_WORK_H
#define INC_MANAGER_PLACE_WORK_H

#include <stddef.h>

#include "place/place.h"

/**
 * struct stream - see above
 * @first: first rank
 * @count: number of ranks
 * @node: their node; PLACE_NONE: hosts
 * @depth: levels of nodes
 * @sw: switch where it is; PLACE_NONE: merged into another one
 * @prev: stream of the ranks before these
 * @next: stream of the ranks after these
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
 * struct run - consecutive streams at a switch
 * @stream: the first one
 * @members: queue pairs in all
 */
struct run {
	uint32_t	stream;
	uint32_t	members;
};

/* Size of the bucket queue: distances in it differ by at most PLACE_COST_MAX. */
#define WAY_BUCKETS	(PLACE_COST_MAX + 1)

/**
 * struct way - shortest paths to one switch
 * @dist: for each switch its distance; PLACE_FAR: no path
 * @order: switches with a path, the nearest first
 * @n: number of @order
 * @next: list of the bucket queue
 * @prev: list of the bucket queue
 * @heads: first of each bucket, whose distances are equal modulo WAY_BUCKETS;
 *	PLACE_NONE between two calls of way_find()
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
 * @way: paths to the root that is being tried
 * @distance: for each switch its distance from the first rank's
 * @room: for each switch the room left
 * @streams: streams
 * @nstreams: number of @streams
 * @start: streams before the first step, see merge_start()
 * @nstart: number of @start
 * @head: for each switch one of the streams there
 * @wanted: for each switch the number of switches that can send streams there
 * @used: for each switch its nodes in this trial
 * @runs: runs of the current switch
 * @nodes: nodes; @parent is set in the end
 * @nnodes: nodes that are settled; a trial's follow
 * @ntried: number of both
 * @first: first rank of this trial
 * @count: number of its ranks
 * @flat: all ranks must be members of the root
 * @cost: cost of this trial
 * @load: load of this trial
 * @depth: depth of this trial
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
