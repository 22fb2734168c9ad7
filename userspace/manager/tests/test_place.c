// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * place/ against the optimum of small random fabrics. That is found by dynamic
 * programming over all intervals of ranks at all switches, with distances by
 * Floyd and Warshall's algorithm: all trees of any number of levels, with links
 * counted as place.h says. It leaves limits of room and members out; trees with
 * these are only checked (selftests/fabric/exact.py compares those).
 *
 *   test_place [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place/place.h"

#define SWITCHES	7
#define RANKS		9
#define APARTS		6
#define FABRICS		4000
#define PLENTY		1000
#define FAR		1000000U

static unsigned int failures;

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("not ok: line %d: %s\n", __LINE__, #cond); \
			failures++;					\
		}							\
	} while (0)

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)random() % n;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/**
 * struct fabric - a random one, and a random group
 * @f: fabric
 * @sw: switches
 * @first: see struct place_fabric
 * @links: see struct place_fabric
 * @cost: of the link between two switches, 0: there is none
 * @hops: distances
 * @nranks: number of ranks
 * @at: their switches
 * @apart: pairs without a route
 */
struct fabric {
	struct place_fabric	f;
	struct place_switch	sw[SWITCHES];
	uint32_t		first[SWITCHES + 1];
	struct place_link	links[SWITCHES * SWITCHES];
	uint32_t		cost[SWITCHES][SWITCHES];
	uint32_t		hops[SWITCHES][SWITCHES];
	uint32_t		nranks;
	uint32_t		at[RANKS];
	struct place_apart	apart[APARTS];
};

static void set_links(struct fabric *x)
{
	uint32_t n = x->f.n, a, b, k, load[SWITCHES][SWITCHES], nlinks = 0;

	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++)
			load[a][b] = b < a ? load[b][a] : rnd(3);
	for (a = 0; a < n; a++) {
		x->first[a] = nlinks;
		for (b = 0; b < n; b++) {
			x->hops[a][b] = a == b ? 0 : x->cost[a][b] ?
					x->cost[a][b] : FAR;
			if (x->cost[a][b])
				x->links[nlinks++] = (struct place_link){
					.to = b, .cost = x->cost[a][b],
					.load = load[a][b],
				};
		}
	}
	x->first[n] = nlinks;
	for (k = 0; k < n; k++)
		for (a = 0; a < n; a++)
			for (b = 0; b < n; b++)
				x->hops[a][b] = least(x->hops[a][b],
						      x->hops[a][k] +
						      x->hops[k][b]);
}

/* @tree: without cycles, and all switches have room. */
static void make(struct fabric *x, bool tree)
{
	uint32_t n = 1 + rnd(SWITCHES), density = rnd(4), heavy = rnd(3), a, b;

	memset(x, 0, sizeof(*x));
	x->f = (struct place_fabric){
		.n = n, .switches = x->sw, .first = x->first,
		.links = x->links, .max_hosts = 1024, .max_members = 256,
	};
	for (a = 0; a < n; a++) {
		x->sw[a].room = tree || rnd(4) ? PLENTY : 0;
		x->sw[a].load = rnd(3);
		for (b = 0; b < a; b++) {
			if (tree || rnd(4) > density)
				continue;
			x->cost[a][b] = 1 + (heavy ? 0 : rnd(3));
			x->cost[b][a] = x->cost[a][b];
		}
	}
	/* A tree: each but the first has one link to an earlier one. */
	for (a = 1; tree && a < n; a++) {
		b = rnd(a);
		x->cost[a][b] = 1 + (heavy ? 0 : rnd(3));
		x->cost[b][a] = x->cost[a][b];
	}
	set_links(x);
	x->nranks = 1 + rnd(RANKS);
	for (a = 0; a < x->nranks; a++)
		x->at[a] = a && rnd(2) ? x->at[a - 1] : rnd(n);
}

/* --- The optimum --------------------------------------------------------- */

/**
 * struct best - least costs
 * @tree: of a node at a switch for ranks from one to another
 * @member: of making these ranks one member of a node at a switch
 */
struct best {
	uint32_t	tree[SWITCHES][RANKS][RANKS];
	uint32_t	member[SWITCHES][RANKS][RANKS];
};

/* Of a node at @s for ranks i to j; what is shorter is known. */
static uint32_t tree_cost(const struct fabric *x, const struct best *b,
			  uint32_t s, uint32_t i, uint32_t j)
{
	uint32_t sum[RANKS + 1], k, a;

	if (!x->sw[s].room)
		return FAR;
	sum[i] = 0;
	for (k = i; k <= j; k++) {
		sum[k + 1] = FAR;
		for (a = i; a <= k; a++)
			if (a > i || k < j || i == j)
				sum[k + 1] = least(sum[k + 1], sum[a] +
						   b->member[s][a][k]);
	}
	return least(sum[j + 1], FAR);
}

static uint32_t member_cost(const struct fabric *x, const struct best *b,
			    uint32_t s, uint32_t i, uint32_t j)
{
	uint32_t best = i == j ? x->hops[x->at[i]][s] : FAR, t;

	for (t = 0; t < x->f.n && i < j; t++)
		if (t != s)
			best = least(best, b->tree[t][i][j] + x->hops[t][s]);
	return best;
}

static uint32_t optimum(const struct fabric *x)
{
	uint32_t len, i, s, best = FAR;
	struct best b;

	for (len = 1; len <= x->nranks; len++)
		for (i = 0; i + len <= x->nranks; i++) {
			for (s = 0; s < x->f.n && len > 1; s++)
				b.tree[s][i][i + len - 1] =
					tree_cost(x, &b, s, i, i + len - 1);
			for (s = 0; s < x->f.n; s++)
				b.member[s][i][i + len - 1] =
					member_cost(x, &b, s, i, i + len - 1);
		}
	for (s = 0; s < x->f.n; s++)
		best = least(best, tree_cost(x, &b, s, 0, x->nranks - 1));
	return best;
}

/* --- Routes ------------------------------------------------------------- */

static bool is_apart(const struct fabric *x, uint32_t at, uint32_t below,
		     bool hosts)
{
	const struct place_apart *a;
	uint32_t i;

	for (i = 0; i < x->f.naparts; i++) {
		a = &x->apart[i];
		if (a->hosts == hosts &&
		    ((a->sw == at && a->below == below) ||
		     (!hosts && a->sw == below && a->below == at)))
			return true;
	}
	return false;
}

/* --- Checks -------------------------------------------------------------- */

/* Returns the cost of the node's members. */
static uint32_t check_node(const struct fabric *x, const struct place *p,
			   uint32_t node)
{
	const struct place_node *k = &p->nodes[node], *c;
	uint32_t r, n = 0, cost = 0, member;
	bool nodes = false;

	for (r = k->first; r < k->first + k->count; n++) {
		member = place_member(p, node, r);
		if (member == PLACE_NONE) {
			CHECK(!is_apart(x, k->sw, x->at[r], true));
			cost += x->hops[x->at[r++]][k->sw];
			continue;
		}
		c = &p->nodes[member];
		CHECK(member > node && c->first == r && c->parent == node);
		CHECK(c->sw != k->sw && !is_apart(x, k->sw, c->sw, false));
		cost += x->hops[c->sw][k->sw];
		r += c->count;
		nodes = true;
	}
	CHECK(r == k->first + k->count && n == k->members);
	CHECK(n > 1 || x->nranks == 1);
	CHECK(n <= (nodes ? x->f.max_members : x->f.max_hosts));
	CHECK(!x->sw[k->sw].members || n <= x->sw[k->sw].members);
	return cost;
}

static void check_tree(const struct fabric *x, const struct place *p)
{
	uint32_t used[SWITCHES] = { 0 }, cost = 0, i;

	CHECK(p->nodes[0].parent == PLACE_NONE && !p->nodes[0].first &&
	      p->nodes[0].count == x->nranks);
	for (i = 0; i < p->n && !failures; i++) {
		cost += check_node(x, p, i);
		CHECK(++used[p->nodes[i].sw] <= x->sw[p->nodes[i].sw].room);
		CHECK(!i || p->nodes[i].parent < i);
	}
	CHECK(cost == p->cost);
}

/**
 * struct gap - how far costs are from the optimum
 * @n: fabrics in which a group was placed
 * @best: of these those with the optimum
 * @sum: of all costs
 * @least: sum of all optima
 * @worst: highest cost for an optimum of 100
 */
struct gap {
	unsigned int	n;
	unsigned int	best;
	uint64_t	sum;
	uint64_t	least;
	uint64_t	worst;
};

static void compare(bool tree, struct gap *gap)
{
	struct fabric x;
	struct place p;
	uint32_t best;
	bool found;

	make(&x, tree);
	best = optimum(&x);
	found = place_compute(&x.f, x.nranks, x.at, &p);
	CHECK(found == (best < FAR));
	if (!found)
		return;
	check_tree(&x, &p);
	CHECK(p.cost >= best);
	CHECK(!tree || p.cost == best);
	gap->n++;
	gap->best += p.cost == best;
	gap->sum += p.cost;
	gap->least += best;
	if (best && p.cost * 100 / best > gap->worst)
		gap->worst = p.cost * 100 / best;
	place_free(&p);
}

/* Little room: what is found is legal. */
static bool narrow(void)
{
	struct fabric x;
	struct place p;
	uint32_t i;

	make(&x, rnd(2));
	x.f.max_hosts = 2 + rnd(6);
	x.f.max_members = 2 + rnd(x.f.max_hosts - 1);
	for (i = 0; i < x.f.n; i++) {
		x.sw[i].room = rnd(3);
		x.sw[i].members = rnd(3) ? 0 : 2 + rnd(4);
	}
	if (!place_compute(&x.f, x.nranks, x.at, &p))
		return false;
	check_tree(&x, &p);
	place_free(&p);
	return true;
}

/* Pairs without a route: none of them is in the tree. */
static bool unrouted(void)
{
	struct fabric x;
	struct place p;
	uint32_t i;

	make(&x, rnd(2));
	/* Room without end, too. */
	for (i = 0; i < x.f.n; i++)
		x.sw[i].room = rnd(3) ? UINT32_MAX : rnd(3);
	x.f.apart = x.apart;
	x.f.naparts = 1 + rnd(APARTS);
	for (i = 0; i < x.f.naparts; i++)
		x.apart[i] = (struct place_apart){
			rnd(x.f.n), rnd(x.f.n), rnd(2) };
	if (!place_compute(&x.f, x.nranks, x.at, &p))
		return false;
	check_tree(&x, &p);
	place_free(&p);
	return true;
}

/* Two leaves below a spine, 0: a leaf is the root, unless they have no routes. */
static void two_leaves(void)
{
	struct place_apart apart[] = {
		{ .sw = 2, .below = 1 }, { .sw = 0, .below = 1 },
	};
	struct place_why why[3];
	struct fabric x = { .f = {
		.n = 3, .switches = x.sw, .first = x.first, .links = x.links,
		.max_hosts = 1024, .max_members = 256, .apart = apart,
	}, .nranks = 4, .at = { 1, 1, 2, 2 } };
	struct place p;
	uint32_t i;

	for (i = 0; i < 3; i++)
		x.sw[i].room = UINT32_MAX;
	for (i = 1; i < 3; i++)
		x.cost[0][i] = x.cost[i][0] = 1;
	set_links(&x);
	CHECK(place_compute(&x.f, 4, x.at, &p) && p.nodes[0].sw && p.n == 2);
	place_free(&p);
	x.f.naparts = 1;
	CHECK(place_compute(&x.f, 4, x.at, &p) && !p.nodes[0].sw && p.n == 3);
	place_free(&p);
	CHECK(place_why(&x.f, 4, x.at, why) && !why[0].apart && why[1].apart &&
	      why[2].apart);
	/* The spine is below the other leaf then, and all others at the root. */
	x.f.naparts = 2;
	CHECK(place_compute(&x.f, 4, x.at, &p));
	for (i = 0; i < p.n; i++)
		CHECK(p.nodes[i].sw != 1);
	place_free(&p);
}

static void say(const char *name)
{
	static unsigned int n;

	printf("%s %u - %s\n", failures ? "not ok" : "ok", ++n, name);
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)atoi(argv[1]) :
				       (unsigned int)time(NULL);
	struct gap tree = { 0 }, any = { 0 };
	unsigned int i, placed = 0;

	printf("# seed %u\n1..5\n", seed);
	srandom(seed);
	for (i = 0; i < FABRICS && !failures; i++)
		compare(true, &tree);
	/* A test in which hardly anything is placed would show nothing. */
	CHECK(tree.n == FABRICS || failures);
	say("fabrics without cycles: the optimum");
	for (i = 0; i < FABRICS && !failures; i++)
		compare(false, &any);
	CHECK(any.n > FABRICS / 4 || failures);
	printf("# other fabrics: %u groups, %.1f %% optimal, cost %.1f %% above the optimum, at worst %u %%\n",
	       any.n, 100.0 * any.best / any.n,
	       100.0 * (double)any.sum / (double)any.least - 100,
	       (unsigned int)any.worst - 100);
	say("any fabric: a tree if there is one");
	for (i = 0; i < FABRICS && !failures; i++)
		placed += narrow();
	CHECK(placed > FABRICS / 4 || failures);
	printf("# little room: %u of %u groups placed\n", placed, i);
	say("little room: all limits kept");
	for (i = 0, placed = 0; i < FABRICS && !failures; i++)
		placed += unrouted();
	CHECK(placed > FABRICS / 4 || failures);
	printf("# no routes: %u of %u groups placed\n", placed, i);
	say("pairs without a route are in no tree");
	two_leaves();
	say("two leaves without routes to each other: the spine");
	return failures != 0;
}
