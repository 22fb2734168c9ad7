/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A snapshot of the whole switch, for commands that need several objects at
 * once.
 */
#ifndef INC_TOOL_COLLECT_H
#define INC_TOOL_COLLECT_H

#include "common.h"
#include "nl.h"

/**
 * struct wait - a rank, or a child's parent, that others wait for
 * @tree_id: tree
 * @rank: rank, or RANK_PARENT
 * @slots: number of slots that wait for it
 * @age: age of the oldest of them, milliseconds
 * @msg_id: the oldest message among them
 */
struct wait {
	uint32_t	tree_id;
	uint16_t	rank;
	unsigned int	slots;
	uint32_t	age;
	uint32_t	msg_id;
};

/**
 * struct snapshot - the switch
 * @sw: the switch itself
 * @trees: its trees, by ID
 * @ntrees: number of trees
 * @members: their members, by tree and rank
 * @nmembers: number of members
 * @parents: QPs of child trees to their parents, by tree
 * @nparents: number of these QPs
 * @waits: ranks that others wait for, by tree and rank
 * @nwaits: number of these ranks
 * @time: time of the snapshot, monotonic, seconds
 */
struct snapshot {
	struct inc_nl_switch	sw;
	struct inc_nl_tree	*trees;
	size_t			ntrees;
	struct inc_nl_member	*members;
	size_t			nmembers;
	struct inc_nl_member	*parents;
	size_t			nparents;
	struct wait		*waits;
	size_t			nwaits;
	double			time;
};

/* The parent, in place of a rank; sorts after all ranks. */
#define RANK_PARENT	UINT16_MAX

/* Optional parts of a snapshot. */
#define SNAPSHOT_WAITS	0x1

int snapshot_take(struct inc_nl *nl, uint32_t tree_id, unsigned int flags,
		  struct snapshot *snap);
void snapshot_free(struct snapshot *snap);
const struct inc_nl_member *snapshot_member(const struct snapshot *snap,
					    uint32_t tree_id, uint16_t rank);
const struct inc_nl_member *snapshot_parent(const struct snapshot *snap,
					    uint32_t tree_id);
const struct wait *snapshot_wait(const struct snapshot *snap, uint32_t tree_id,
				 uint16_t rank);

#endif /* INC_TOOL_COLLECT_H */
