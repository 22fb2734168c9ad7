/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A message through a tree of switches, each of them one slot: its ranks' and
 * switches' packets in a random order.
 */
#ifndef _INC_TESTS_LEVELS_H
#define _INC_TESTS_LEVELS_H

#include <linux/types.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "common.h"

#define LEVEL_RANKS	64
#define LEVEL_NODES	128
#define LEVEL_PMTU	256
#define LEVEL_CHUNKS	5
/* Bytes of the longest message's elements. */
#define LEVEL_ROOM	(LEVEL_CHUNKS * LEVEL_PMTU - INC_HDR_LEN)

/**
 * struct level_node - a switch in the tree
 * @parent: index of the switch above it; the root is the first one
 * @first: first rank below it
 * @count: number of ranks below it
 */
struct level_node {
	u16	parent;
	u16	first;
	u16	count;
};

/**
 * struct level_plan - a tree of switches
 * @ranks: number of ranks
 * @n: number of switches
 * @nodes: switches, each after its parent, siblings by their ranks
 */
struct level_plan {
	u16			ranks;
	u16			n;
	struct level_node	nodes[LEVEL_NODES];
};

/**
 * struct level_data - data of a rank
 * @bytes: elements
 */
struct level_data {
	u8	bytes[LEVEL_ROOM];
};

/**
 * struct level_result - result of a rank
 * @len: bytes
 * @bytes: result
 */
struct level_result {
	u32	len;
	u8	bytes[LEVEL_ROOM];
};

void level_plan_random(struct inc_rng *rng, u16 ranks, struct level_plan *p);
void level_random_message(struct inc_rng *rng, u16 ranks, struct inc_hdr *hdr,
			  struct level_data *data);
bool level_run(struct kunit *test, struct inc_rng *rng,
	       const struct level_plan *p, const struct inc_hdr *hdr,
	       struct level_data *data, struct level_result *results);
void level_compare(struct kunit *test, struct inc_rng *rng,
		   const struct level_plan *plans, unsigned int n);

#endif /* _INC_TESTS_LEVELS_H */
