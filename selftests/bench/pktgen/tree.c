// SPDX-License-Identifier: GPL-2.0
/*
 * Trees and their members, as the generator knows them.
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "pktgen.h"

#define FIRST_QPN	16
#define RANKS_MAX	4096

static DEFINE_XARRAY(trees);
static DEFINE_XARRAY(members);
static u32 tree_count;
static u32 next_qpn = FIRST_QPN;

/**
 * pg_tree_member() - get a member of a tree
 * @tree: ID of the tree
 * @rank: rank
 *
 * Context: process, or BH during a run.
 * Return: the member, or NULL.
 */
struct pg_member *pg_tree_member(u32 tree, u32 rank)
{
	struct pg_tree *t = xa_load(&trees, tree);

	return t && rank < t->ranks ? &t->members[rank] : NULL;
}

/**
 * pg_member_by_qpn() - get the member that has a QPN
 * @qpn: QPN of its host
 *
 * Context: as pg_tree_member().
 * Return: the member, or NULL.
 */
struct pg_member *pg_member_by_qpn(u32 qpn)
{
	return xa_load(&members, qpn);
}

static void free_tree(struct pg_tree *t)
{
	kvfree(t->members);
	kfree(t->parent);
	kfree(t->sum);
	kfree(t);
}

/**
 * pg_trees_remove() - forget all trees
 *
 * Context: process.
 */
void pg_trees_remove(void)
{
	struct pg_tree *t;
	unsigned long i;

	xa_for_each(&trees, i, t)
		free_tree(t);
	xa_destroy(&trees);
	xa_destroy(&members);
	tree_count = 0;
	next_qpn = FIRST_QPN;
}

static int add_members(struct pg_tree *t)
{
	u32 rank;
	int err;

	t->members = kvcalloc(t->ranks, sizeof(*t->members), GFP_KERNEL);
	if (!t->members)
		return -ENOMEM;
	for (rank = 0; rank < t->ranks; rank++) {
		struct pg_member *m = &t->members[rank];

		m->tree = t;
		m->rank = rank;
		m->qpn = next_qpn++;
		err = xa_err(xa_store(&members, m->qpn, m, GFP_KERNEL));
		if (err)
			return err;
	}
	return 0;
}

/**
 * pg_tree_add() - add a tree
 * @ranks: number of members
 * @slots: number of slots
 * @msg_size: bytes of a slot
 * @pmtu: path MTU
 * @uc: its members have UC QPs
 *
 * Context: process.
 * Return: the tree, or an ERR_PTR(); then all trees should be removed.
 */
struct pg_tree *pg_tree_add(u32 ranks, u32 slots, u32 msg_size, u32 pmtu,
			    bool uc)
{
	struct pg_tree *t;
	int err;

	if (!ranks || ranks > RANKS_MAX || !slots || pmtu < 256 ||
	    pmtu > PG_PMTU_MAX)
		return ERR_PTR(-EINVAL);
	t = kzalloc_obj(*t);
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->id = ++tree_count;
	t->ranks = ranks;
	t->slots = slots;
	t->msg_size = msg_size;
	t->pmtu = pmtu;
	t->uc = uc;
	err = xa_err(xa_store(&trees, t->id, t, GFP_KERNEL));
	if (err) {
		free_tree(t);
		return ERR_PTR(err);
	}
	err = add_members(t);
	return err ? ERR_PTR(err) : t;
}

/**
 * pg_tree_add_parent() - add the parent of a child's tree
 * @tree: ID of the newest tree, which has none
 *
 * Context: process.
 * Return: the parent, as a member, or an ERR_PTR().
 */
struct pg_member *pg_tree_add_parent(u32 tree)
{
	struct pg_member *first = pg_tree_member(tree, 0), *m;
	int err;

	if (!first || tree != tree_count || first->tree->parent)
		return ERR_PTR(-ENOENT);
	m = kzalloc_obj(*m);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->tree = first->tree;
	m->tree->parent = m;
	m->qpn = next_qpn++;
	err = xa_err(xa_store(&members, m->qpn, m, GFP_KERNEL));
	return err ? ERR_PTR(err) : m;
}
