// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The fabric as the input of place_compute(), and the load of its links.
 *
 * Links have OSPF's costs: the speed of the fastest link divided by their own.
 * Parts of the fabric without a known link in between are connected through
 * routers, or not at all: a place that is no switch stands for those, farther
 * away than any known one.
 */
#include <stdlib.h>

#include "conf/array.h"
#include "fabric/row.h"
#include "rdma_inc.h"

#define COST_MAX	100	/* of a link of known speed */
#define COST_UNKNOWN	125	/* of half an unknown path */
/* Limit of a tree with switches among its members: see netlink.rst. */
#define MEMBERS_MAX	256

/* Free the graph. */
void graph_free(struct topo *t)
{
	free(t->switches);
	free(t->first);
	free(t->places);
	t->switches = NULL;
	t->first = NULL;
	t->places = NULL;
}

/* --- The graph ----------------------------------------------------------- */

/**
 * struct edge - all links between two switches
 * @a: one switch
 * @b: the other one
 * @cost: cost in each direction
 */
struct edge {
	uint32_t	a;
	uint32_t	b;
	uint32_t	cost;
};

static uint32_t cost_of(uint64_t speed, uint64_t fastest)
{
	uint64_t cost = speed ? (fastest + speed - 1) / speed : 1;

	return cost > COST_MAX ? COST_MAX : cost ? (uint32_t)cost : 1;
}

/* Links between the same two switches are adjacent, and add up. */
static uint32_t join_links(const struct topo *t, struct edge *edges)
{
	uint64_t fastest = 0, speed = 0;
	const struct topo_link *l;
	uint32_t i, n = 0;

	for (i = 0; i < t->nlinks; i++)
		if (t->links[i].speed > fastest)
			fastest = t->links[i].speed;
	for (i = 0; i < t->nlinks; i++) {
		l = &t->links[i];
		if (n && edges[n - 1].a == l->a && edges[n - 1].b == l->b) {
			speed += l->speed;
			edges[n - 1].cost = cost_of(speed, fastest);
			continue;
		}
		speed = l->speed;
		edges[n++] = (struct edge){ l->a, l->b,
					    cost_of(speed, fastest) };
	}
	return n;
}

static uint32_t find_root(uint32_t *parts, uint32_t sw)
{
	while (parts[sw] != sw) {
		parts[sw] = parts[parts[sw]];
		sw = parts[sw];
	}
	return sw;
}

/* If there are several parts, connect the first switch of each with a hub. */
static uint32_t join_parts(const struct topo *t, struct edge *edges, uint32_t n)
{
	uint32_t *parts = calloc(t->n, sizeof(*parts)), i, a, b, before = n;

	if (!parts)
		return n;
	for (i = 0; i < t->n; i++)
		parts[i] = i;
	for (i = 0; i < n; i++) {
		a = find_root(parts, edges[i].a);
		b = find_root(parts, edges[i].b);
		parts[a > b ? a : b] = a > b ? b : a;
	}
	for (i = 0; i < t->n; i++)
		if (find_root(parts, i) == i)
			edges[n++] = (struct edge){ i, t->n, COST_UNKNOWN };
	free(parts);
	return n == before + 1 ? before : n;
}

static int by_target(const void *a, const void *b)
{
	const struct place_link *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static bool set_edges(struct topo *t, const struct edge *edges, uint32_t n)
{
	uint32_t i, nodes = t->n + 1, *next = calloc(nodes, sizeof(*next));

	t->switches = calloc(nodes, sizeof(*t->switches));
	t->first = calloc(nodes + 1, sizeof(*t->first));
	t->places = calloc(2 * (size_t)n + 1, sizeof(*t->places));
	if (!next || !t->switches || !t->first || !t->places) {
		free(next);
		return false;
	}
	for (i = 0; i < n; i++) {
		t->first[edges[i].a + 1]++;
		t->first[edges[i].b + 1]++;
	}
	for (i = 0; i < nodes; i++) {
		t->first[i + 1] += t->first[i];
		next[i] = t->first[i];
	}
	for (i = 0; i < n; i++) {
		t->places[next[edges[i].a]++] = (struct place_link){
			.to = edges[i].b, .cost = edges[i].cost };
		t->places[next[edges[i].b]++] = (struct place_link){
			.to = edges[i].a, .cost = edges[i].cost };
	}
	free(next);
	for (i = 0; i < nodes; i++)
		qsort(t->places + t->first[i], t->first[i + 1] - t->first[i],
		      sizeof(*t->places), by_target);
	t->fabric = (struct place_fabric){
		.n = nodes, .switches = t->switches, .first = t->first,
		.links = t->places, .max_hosts = RDMA_INC_MAX_RANKS,
		.max_members = MEMBERS_MAX,
	};
	return true;
}

/* --- Load ---------------------------------------------------------------- */

static struct place_link *link_of(const struct topo *t, uint32_t from,
				  uint32_t to)
{
	const struct place_link key = { .to = to };

	return bsearch(&key, t->places + t->first[from],
		       t->first[from + 1] - t->first[from], sizeof(key),
		       by_target);
}

/* A single queue pair loads a slow link as much as several load a fast one. */
static void charge_link(const struct topo *t, uint32_t from, uint32_t to,
			int sign)
{
	struct place_link *l = link_of(t, from, to);

	if (l)
		l->load += (uint64_t)((int64_t)sign * l->cost);
}

static void charge_all(const struct topo *t, const struct topo_charge *c,
		       int sign)
{
	uint32_t i;

	for (i = 0; t->first && i < c->n; i++) {
		charge_link(t, c->pairs[i][0], c->pairs[i][1], sign);
		charge_link(t, c->pairs[i][1], c->pairs[i][0], sign);
	}
}

/**
 * struct walk - state of a walk over a tree's links
 * @t: topology
 * @c: result
 * @ok: false if memory ran out
 */
struct walk {
	const struct topo	*t;
	struct topo_charge	*c;
	bool			ok;
};

static uint32_t from_of(const struct topo *t, const struct place_link *link)
{
	uint32_t low = 0, high = t->fabric.n, mid;
	uint32_t at = (uint32_t)(link - t->places);

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (t->first[mid] <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static void cross_link(void *ctx, const struct place_link *link)
{
	struct walk *w = ctx;
	uint32_t n = w->c->n;

	if (!ARRAY_ROOM(w->c->pairs, n)) {
		w->ok = false;
		return;
	}
	w->c->pairs[n][0] = from_of(w->t, link);
	w->c->pairs[n][1] = link->to;
	w->c->n++;
}

static void charge_free(struct topo_charge *c)
{
	free(c->pairs);
	free(c->nodes);
	free(c);
}

/*
 * Count a tree's load on the links. Returns the load, for topo_discharge();
 * NULL: no memory, and the load does not count.
 */
struct topo_charge *topo_charge(const struct fabric *fab, const struct place *p,
				const uint32_t *at)
{
	struct walk w = { .t = fab->topo, .ok = true };

	w.c = calloc(1, sizeof(*w.c));
	if (!w.c)
		return NULL;
	w.c->nodes = calloc(p->n, sizeof(*w.c->nodes));
	if (!w.c->nodes ||
	    !place_walk(&fab->topo->fabric, p, at, cross_link, &w) || !w.ok) {
		charge_free(w.c);
		return NULL;
	}
	for (; w.c->nnodes < p->n; w.c->nnodes++)
		w.c->nodes[w.c->nnodes] = p->nodes[w.c->nnodes].sw;
	charge_all(fab->topo, w.c, 1);
	w.c->next = fab->topo->charges;
	if (w.c->next)
		w.c->next->link = &w.c->next;
	w.c->link = &fab->topo->charges;
	fab->topo->charges = w.c;
	return w.c;
}

/*
 * Stop counting a tree's load.
 * @c: load of a tree that is gone, or NULL
 */
void topo_discharge(const struct fabric *fab, struct topo_charge *c)
{
	if (!c)
		return;
	charge_all(fab->topo, c, -1);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	charge_free(c);
}

/* --- All ----------------------------------------------------------------- */

static bool build_graph(struct topo *t)
{
	struct edge *edges = calloc((size_t)t->nlinks + t->n, sizeof(*edges));
	const struct topo_charge *c;
	uint32_t n;
	bool ok;

	if (!edges)
		return false;
	graph_free(t);
	n = join_parts(t, edges, join_links(t, edges));
	ok = set_edges(t, edges, n);
	free(edges);
	if (!ok)
		graph_free(t);
	for (c = t->charges; ok && c; c = c->next)
		charge_all(t, c, 1);
	return ok;
}

/* Count the trees of a switch that has answered, with those of other programs. */
uint32_t topo_trees(const struct fabric *fab, const struct sw *sw)
{
	uint32_t i, id, n = sw->subtrees;

	for (i = 0; i < sw->info->ntrees; i++) {
		id = sw->info->trees[i].id;
		n += id < fab->ids.first || id > fab->ids.last;
	}
	return n;
}

/* @gone of this manager's trees do not count. */
static uint32_t free_room(const struct fabric *fab, const struct sw *sw,
			  uint32_t gone)
{
	uint32_t n;

	if (!sw->up || !sw->info->collectives)
		return 0;
	if (!sw->info->max_trees)
		return UINT32_MAX;
	n = topo_trees(fab, sw) - gone;
	return n < sw->info->max_trees ? sw->info->max_trees - n : 0;
}

static uint32_t room_of(const struct fabric *fab, const struct sw *sw,
			uint32_t gone)
{
	return sw_closed(sw) ? 0 : free_room(fab, sw, gone);
}

/*
 * Describe the fabric for place_compute(). Returns the description, valid until
 * the next call; NULL: no memory. It has the manager's switches, and one more
 * without room.
 */
struct place_fabric *topo_fabric(const struct fabric *fab)
{
	struct topo *t = fab->topo;
	const struct sw *sw;
	uint32_t i;

	if ((graph_links(t) || !t->first) && !build_graph(t))
		return NULL;
	for (i = 0; i < t->n; i++) {
		sw = &fab->switches[i];
		t->switches[i].room = room_of(fab, sw, 0);
		t->switches[i].members = sw->info ? sw->info->max_ranks : 0;
		t->switches[i].load = sw->subtrees;
	}
	t->fabric.apart = NULL;
	t->fabric.naparts = 0;
	return &t->fabric;
}

/* Leave a switch out of the fabric until topo_fabric() is called again. */
void topo_avoid(const struct fabric *fab, const struct sw *sw)
{
	fab->topo->switches[sw->index].room = 0;
}

/* Limit a switch's room to some trees until topo_fabric() is called again. */
void topo_limit(const struct fabric *fab, const struct sw *sw, uint32_t trees)
{
	struct place_switch *p = &fab->topo->switches[sw->index];

	if (p->room > trees)
		p->room = trees;
}

/* Count one tree more at a switch until topo_fabric() is called again. */
void topo_take(const struct fabric *fab, const struct sw *sw)
{
	struct place_switch *p = &fab->topo->switches[sw->index];

	if (p->room && p->room != UINT32_MAX)
		p->room--;
}

/*
 * Treat some of a switch's trees as gone until topo_fabric() is called again.
 * @trees: number of trees that groups have there
 */
void topo_gone(const struct fabric *fab, const struct sw *sw, uint32_t trees)
{
	struct place_switch *p = &fab->topo->switches[sw->index];

	p->room = room_of(fab, sw, trees);
	p->load = sw->subtrees - trees;
}

/*
 * Describe the fabric as if a tree were gone. Returns as topo_fabric(). Unless
 * it returns NULL, topo_with() must follow.
 * @c: the tree's load, or NULL
 */
struct place_fabric *topo_without(const struct fabric *fab,
				  const struct topo_charge *c)
{
	struct place_fabric *f = topo_fabric(fab);
	const struct sw *known;
	struct place_switch *sw;
	uint32_t i;

	for (i = 0; f && c && i < c->nnodes; i++) {
		known = &fab->switches[c->nodes[i]];
		sw = &fab->topo->switches[c->nodes[i]];
		if (known->up && !sw_closed(known) && sw->room < UINT32_MAX)
			sw->room++;
		sw->load--;
	}
	if (f && c)
		charge_all(fab->topo, c, -1);
	return f;
}

/* Count a tree's load on the links again. */
void topo_with(const struct fabric *fab, const struct topo_charge *c)
{
	if (c)
		charge_all(fab->topo, c, 1);
}

/*
 * Check whether known links connect all switches. Returns false if there are
 * parts without a known link in between.
 */
bool topo_is_whole(const struct fabric *fab)
{
	const struct topo *t = fab->topo;

	return t->first[t->n] == t->first[t->n + 1];
}

/*
 * Check whether a tree crosses unknown links. Returns true if so.
 * @c: load of the tree, or NULL
 * @ends: result: a switch in each of two parts that the tree connects
 */
bool topo_unseen(const struct fabric *fab, const struct topo_charge *c,
		 const struct sw *ends[2])
{
	uint32_t i, sw, n = 0;

	for (i = 0; c && i < c->n && n < 2; i++) {
		if (c->pairs[i][0] != fab->topo->n && c->pairs[i][1] != fab->topo->n)
			continue;
		sw = c->pairs[i][c->pairs[i][0] == fab->topo->n];
		if (!n || ends[0] != &fab->switches[sw])
			ends[n++] = &fab->switches[sw];
	}
	return n == 2;
}

/* List the links. Returns the links, valid until the next call. */
const struct topo_link *topo_links(const struct fabric *fab, uint32_t *n)
{
	struct topo *t = fab->topo;
	const struct place_link *l;
	uint32_t i;

	*n = 0;
	if (!topo_fabric(fab))
		return NULL;
	for (i = 0; i < t->nlinks; i++) {
		l = link_of(t, t->links[i].a, t->links[i].b);
		t->links[i].load = l ? (uint32_t)(l->load / l->cost) : 0;
	}
	*n = t->nlinks;
	return t->links;
}
