// SPDX-License-Identifier: GPL-2.0
/*
 * Trees as the manager places them (userspace/manager/place), against one
 * switch: on random fabrics, for ranks at any switches, and once more after
 * switches have lost their room, as a rebuild finds them. All ranks get the same
 * bits.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "core/tests/levels.h"
#include "core/tests/parts.h"
#include "place/place.h"

#define MAX_SWITCHES	10
#define MAX_LINKS	(2 * (2 * MAX_SWITCHES))

/* A fabric, and the ranks in it. */
struct net {
	struct place_fabric	f;
	struct place_switch	sw[MAX_SWITCHES];
	u32			first[MAX_SWITCHES + 1];
	struct place_link	links[MAX_LINKS];
	u32			ends[MAX_LINKS][2];
	u32			nends;
	u32			nranks;
	u32			at[LEVEL_RANKS];
};

static void add_link(struct net *n, u32 a, u32 b)
{
	n->ends[n->nends][0] = a;
	n->ends[n->nends++][1] = b;
}

/* A tree of switches, and perhaps some links more. */
static void wire(struct inc_rng *rng, struct net *n)
{
	u32 i, k, nlinks = 0;

	for (i = 1; i < n->f.n; i++)
		add_link(n, i, inc_rnd_below(rng, i));
	for (k = inc_rnd_below(rng, n->f.n); k > 1; k--)
		add_link(n, k, k - 2);
	for (i = 0; i < n->f.n; i++) {
		n->first[i] = nlinks;
		for (k = 0; k < n->nends; k++) {
			if (n->ends[k][0] != i && n->ends[k][1] != i)
				continue;
			n->links[nlinks++] = (struct place_link){
				.to = n->ends[k][0] + n->ends[k][1] - i,
				.cost = 1,
			};
		}
	}
	n->first[i] = nlinks;
}

/* Ranks that follow each other at their switches, or anywhere. */
static void seat(struct inc_rng *rng, struct net *n)
{
	u32 each = 1 + inc_rnd_below(rng, 7), r;
	bool anywhere = inc_rnd_chance(rng, 300);

	n->nranks = 2 + inc_rnd_below(rng, 30);
	for (r = 0; r < n->nranks; r++)
		n->at[r] = anywhere ? inc_rnd_below(rng, n->f.n) :
				      r / each % n->f.n;
}

static void make_net(struct inc_rng *rng, struct net *n)
{
	u32 i;

	memset(n, 0, sizeof(*n));
	n->f = (struct place_fabric){
		.n = 1 + inc_rnd_below(rng, MAX_SWITCHES),
		.switches = n->sw, .first = n->first, .links = n->links,
		.max_hosts = LEVEL_RANKS, .max_members = LEVEL_RANKS,
	};
	for (i = 0; i < n->f.n; i++)
		n->sw[i].room = 1 + inc_rnd_below(rng, 4);
	wire(rng, n);
	seat(rng, n);
}

/* Returns false if there is no room for the ranks. */
static bool place(struct kunit *test, const struct net *n, struct level_plan *p)
{
	struct place tree;
	u32 i;

	if (!place_compute(&n->f, n->nranks, n->at, &tree))
		return false;
	KUNIT_ASSERT_LE(test, tree.n, LEVEL_NODES);
	p->ranks = n->nranks;
	p->n = tree.n;
	for (i = 0; i < tree.n; i++)
		p->nodes[i] = (struct level_node) {
			.parent	= i ? tree.nodes[i].parent : 0,
			.first	= tree.nodes[i].first,
			.count	= tree.nodes[i].count,
		};
	place_free(&tree);
	return true;
}

static void like_one_switch(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(1000);
	struct slot_test *t = test->priv;
	unsigned int levels = 0, rebuilt = 0;
	struct level_plan *plans = vmalloc(2 * sizeof(*plans));
	struct net *net = vmalloc(sizeof(*net));
	u32 trees;

	KUNIT_ASSERT_TRUE(test, plans && net);
	for (unsigned int i = 0; i < n; i++) {
		make_net(&t->rng, net);
		trees = place(test, net, plans);
		if (!trees)
			continue;
		levels += plans->n > 1;
		net->sw[inc_rnd_below(&t->rng, net->f.n)].room = 0;
		trees += place(test, net, plans + 1);
		rebuilt += trees > 1;
		level_compare(test, &t->rng, plans, trees);
	}
	KUNIT_EXPECT_GT(test, levels, n / 2);
	kunit_info(test, "%u fabrics, %u trees of several switches, %u rebuilt\n",
		   n, levels, rebuilt);
	vfree(net);
	vfree(plans);
}

static struct kunit_case place_cases[] = {
	KUNIT_CASE(like_one_switch),
	{}
};

static struct kunit_suite place_suite = {
	.name = "rdma_inc_place",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = place_cases,
};

kunit_test_suite(place_suite);

MODULE_LICENSE("GPL");
