// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A snapshot of the whole switch. It may or may not contain objects that are
 * created or deleted while it is taken.
 */
#include "common.h"


#include "collect.h"
#include "conf/array.h"
#include "conf/clock.h"
#include "tool.h"

static void must(bool made)
{
	if (made)
		return;
	fputs("inc-tool: out of memory\n", stderr);
	exit(TOOL_FAILED);
}

static int add_tree(const struct inc_nl_tree *tree, void *arg)
{
	struct snapshot *snap = arg;

	must(ARRAY_ROOM(snap->trees, snap->ntrees));
	snap->trees[snap->ntrees++] = *tree;
	return 0;
}

static int add_member(const struct inc_nl_member *m, void *arg)
{
	struct snapshot *snap = arg;

	must(ARRAY_ROOM(snap->members, snap->nmembers));
	snap->members[snap->nmembers++] = *m;
	return 0;
}

static int by_rank(uint32_t tree_a, uint16_t rank_a, uint32_t tree_b,
		   uint16_t rank_b)
{
	if (tree_a != tree_b)
		return tree_a < tree_b ? -1 : 1;
	return (int)rank_a - (int)rank_b;
}

static int wait_cmp(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return by_rank(x->tree_id, x->rank, y->tree_id, y->rank);
}

static int member_cmp(const void *a, const void *b)
{
	const struct inc_nl_member *x = a, *y = b;

	return by_rank(x->tree_id, x->rank, y->tree_id, y->rank);
}

static void add_wait(struct snapshot *snap, const struct inc_nl_slot *slot,
		     uint16_t rank, uint32_t age)
{
	must(ARRAY_ROOM(snap->waits, snap->nwaits));
	snap->waits[snap->nwaits++] = (struct wait){
		.tree_id = slot->tree_id, .rank = rank, .slots = 1, .age = age,
		.msg_id = slot->msg_id,
	};
}

static int add_waits(const struct inc_nl_slot *slot, void *arg)
{
	struct snapshot *snap = arg;
	unsigned int i;

	for (i = 0; i < slot->nmissing; i++)
		add_wait(snap, slot, slot->missing[i], slot->age);
	if (INC_NL_HAS(slot, SLOT_PARENT_AGE))
		add_wait(snap, slot, RANK_PARENT, slot->parent_age);
	return 0;
}

/* Add the QPs to parents. A tree deleted in the meantime has none. */
static int add_parents(struct inc_nl *nl, struct snapshot *snap)
{
	struct inc_nl_member parent;
	size_t i;
	int rc;

	for (i = 0; i < snap->ntrees; i++) {
		if (snap->trees[i].role != RDMA_INC_ROLE_CHILD)
			continue;
		rc = inc_nl_parent_get(nl, snap->trees[i].id, &parent);
		if (rc == -ENOENT)
			continue;
		if (rc)
			return rc;
		must(ARRAY_ROOM(snap->parents, snap->nparents));
		snap->parents[snap->nparents++] = parent;
	}
	return 0;
}

/* Message IDs wrap. */
static bool is_older(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/*
 * Keep only the ranks that the oldest message of a tree lacks. A rank that only
 * younger messages lack is itself waiting for the others, and has merely sent
 * less ahead.
 */
static void drop_followers(struct snapshot *snap)
{
	size_t i, from, to, n = 0;

	for (from = 0; from < snap->nwaits; from = to) {
		uint32_t oldest = snap->waits[from].msg_id;

		for (to = from; to < snap->nwaits; to++) {
			if (snap->waits[to].tree_id !=
			    snap->waits[from].tree_id)
				break;
			if (is_older(snap->waits[to].msg_id, oldest))
				oldest = snap->waits[to].msg_id;
		}
		for (i = from; i < to; i++) {
			if (snap->waits[i].rank == RANK_PARENT ||
			    snap->waits[i].msg_id == oldest)
				snap->waits[n++] = snap->waits[i];
		}
	}
	snap->nwaits = n;
}

/* Merge the entries of each rank into one. */
static void merge_waits(struct snapshot *snap)
{
	size_t i, n = 0;

	if (!snap->nwaits)
		return;
	qsort(snap->waits, snap->nwaits, sizeof(*snap->waits), wait_cmp);
	for (i = 1; i < snap->nwaits; i++) {
		struct wait *to = &snap->waits[n], *from = &snap->waits[i];

		if (wait_cmp(to, from)) {
			snap->waits[++n] = *from;
			continue;
		}
		to->slots++;
		if (from->age > to->age)
			to->age = from->age;
		if (is_older(from->msg_id, to->msg_id))
			to->msg_id = from->msg_id;
	}
	snap->nwaits = n + 1;
	drop_followers(snap);
}

/*
 * Read the state of the switch. Returns 0 or -errno; -ENOENT: tree @tree_id
 * does not exist.
 * @tree_id: this tree only, or 0 for all
 * @snap: result; to be freed by snapshot_free(), after an error too
 */
int snapshot_take(struct inc_nl *nl, uint32_t tree_id, unsigned int flags,
		  struct snapshot *snap)
{
	struct inc_nl_tree tree;
	int rc;

	memset(snap, 0, sizeof(*snap));
	snap->time = now_us() / 1e6;
	rc = inc_nl_switch_get(nl, &snap->sw);
	if (!rc && tree_id) {
		rc = inc_nl_tree_get(nl, tree_id, &tree);
		if (!rc)
			add_tree(&tree, snap);
	} else if (!rc) {
		rc = inc_nl_tree_dump(nl, add_tree, snap);
	}
	if (!rc)
		rc = inc_nl_member_dump(nl, tree_id, add_member, snap);
	if (!rc)
		rc = add_parents(nl, snap);
	if (!rc && flags & SNAPSHOT_WAITS)
		rc = inc_nl_slot_dump(nl, tree_id, add_waits, snap);
	merge_waits(snap);
	return rc;
}

/* Free the memory of a snapshot. */
void snapshot_free(struct snapshot *snap)
{
	free(snap->trees);
	free(snap->members);
	free(snap->parents);
	free(snap->waits);
	memset(snap, 0, sizeof(*snap));
}

/* Find a member. Returns the member, or NULL if the rank has none. */
const struct inc_nl_member *snapshot_member(const struct snapshot *snap,
					    uint32_t tree_id, uint16_t rank)
{
	const struct inc_nl_member key = { .tree_id = tree_id, .rank = rank };

	if (!snap->nmembers)
		return NULL;
	return bsearch(&key, snap->members, snap->nmembers, sizeof(key),
		       member_cmp);
}

/*
 * Find a child's QP to its parent. Returns the QP, or NULL if this switch is
 * not a child in that tree.
 */
const struct inc_nl_member *snapshot_parent(const struct snapshot *snap,
					    uint32_t tree_id)
{
	size_t i;

	for (i = 0; i < snap->nparents; i++) {
		if (snap->parents[i].tree_id == tree_id)
			return &snap->parents[i];
	}
	return NULL;
}

/*
 * Find out whether others wait for a rank. Returns the entry of the rank, or
 * NULL if nothing waits for it.
 */
const struct wait *snapshot_wait(const struct snapshot *snap, uint32_t tree_id,
				 uint16_t rank)
{
	const struct wait key = { .tree_id = tree_id, .rank = rank };

	if (!snap->nwaits)
		return NULL;
	return bsearch(&key, snap->waits, snap->nwaits, sizeof(key), wait_cmp);
}
