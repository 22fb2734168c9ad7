// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group's tree, from the moment when all ranks are present. Each step is done
 * on all switches at once, the next when all are done:
 *
 *	make	the trees, with the members that are hosts
 *	add	the members of the root that are switches: these have their
 *		queue pair to the parent now
 *	link	these switches to the root
 *
 * One switch needs the first step only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "place.h"
#include "rdma_inc_proto.h"

/* Of trees with a UC rank: as many bytes in flight as over RC. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

/**
 * struct part_op - a step of a part
 * @op: operation
 * @part: part
 * @tree: what is done, see tree.h
 */
struct part_op {
	struct sw_op	op;
	struct part	*part;
	int		(*tree)(struct tree *t, struct netconf *n, char *err);
};

static void step_add(struct group *g);
static void step_link(struct group *g);
static void step_joined(struct group *g);

/* --- Operations ---------------------------------------------------------- */

static int run(struct sw_op *op, struct netconf *n)
{
	struct part_op *p = container_of(op, struct part_op, op);

	return p->tree(&p->part->tree, n, op->err);
}

static void done(struct sw_op *op)
{
	struct part_op *p = container_of(op, struct part_op, op);
	struct group *g = p->part->group;

	if (op->ret && !g->failed) {
		g->failed = -op->ret;
		snprintf(g->why, sizeof(g->why), "switch %s: %.300s",
			 sw_name(op->sw), op->err);
	}
	/* If the answer was lost, there may be a tree. */
	if (p->tree == tree_make)
		p->part->made = !op->ret || op->ret == -EHOSTUNREACH;
	free(p);
	group_op_done(g);
}

static bool submit(struct part *part,
		   int (*tree)(struct tree *t, struct netconf *n, char *err))
{
	struct part_op *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->part = part;
	p->tree = tree;
	p->op.run = run;
	p->op.done = done;
	part->group->busy++;
	sw_submit(part->sw, &p->op);
	return true;
}

static int link_tree(struct tree *t, struct netconf *n, char *err)
{
	return tree_link(t, n, err);
}

/* --- Placing ------------------------------------------------------------- */

/* Is there a place for each rank? Sets at, for each of them its switch. */
static bool locate(const struct group *g, uint32_t *at, uint32_t *lost)
{
	const struct sw_if *itf;
	const struct sw *sw;
	uint32_t i;

	for (i = 0; i < g->like.ranks; i++) {
		sw = topo_find(g->manager, &g->ranks[i].join.addr, &itf);
		if (!sw) {
			*lost = i;
			return false;
		}
		at[i] = sw->index;
	}
	return true;
}

static bool compute(const struct group *g, const uint32_t *at, struct place *p)
{
	const struct manager *m = g->manager;
	struct place_switch *list = calloc(m->o.nswitches, sizeof(*list));
	struct place_fabric f = { .n = m->o.nswitches, .switches = list };
	const struct sw *sw;
	bool found = false;
	uint32_t i;

	f.hops = topo_hops(m);
	if (list && f.hops) {
		for (i = 0; i < f.n; i++) {
			sw = &m->switches[i];
			list[i].usable = sw->up && sw->info->collectives &&
				(!sw->info->max_trees ||
				 sw->parts < sw->info->max_trees);
			list[i].load = sw->parts;
		}
		found = place_compute(&f, g->like.ranks, at, p);
	}
	free(list);
	free((void *)f.hops);
	return found;
}

static uint32_t new_tree_id(struct manager *m)
{
	uint32_t id = m->next_tree;

	m->next_tree = id == m->o.last_tree ? m->o.first_tree : id + 1;
	return id;
}

static void set_wishes(const struct group *g, struct tree *t)
{
	const struct inc_rdv_tree *wish = &g->like.tree;
	struct inc_rdv_joined *s = &t->settings;

	s->slots = wish->slots;
	s->msg_size = wish->msg_size;
	s->pmtu = wish->pmtu ? wish->pmtu : g->like.mtu;
	s->first_msg_id = wish->first_msg_id;
	t->has_first_msg_id = wish->has_first_msg_id;
	s->dead_time = g->manager->o.dead_time;
	if (!g->like.uc)
		return;
	/* A message over UC is one packet. */
	if (!s->msg_size)
		s->msg_size = s->pmtu ? s->pmtu : UC_MSG_SIZE;
	if (!s->slots)
		s->slots = UC_SLOTS;
}

static bool part_init(struct group *g, struct part *part, uint32_t sw,
		      uint32_t members)
{
	part->group = g;
	part->sw = &g->manager->switches[sw];
	part->sw->parts++;
	part->tree.id = new_tree_id(g->manager);
	part->tree.members = calloc(members, sizeof(*part->tree.members));
	set_wishes(g, &part->tree);
	return part->tree.members;
}

static void add_host(struct part *part, struct rank *r)
{
	struct tree_member *m = &part->tree.members[part->tree.n];

	m->known = true;
	m->uc = r->join.uc;
	m->peer.addr = r->join.addr;
	m->peer.qpn = r->join.qpn;
	m->peer.psn = r->join.psn;
	r->part = part;
	r->member = part->tree.n++;
}

static void add_hosts(struct part *part, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		add_host(part, &part->group->ranks[i]);
}

static void add_child(struct part *root, struct part *child,
		      const struct place_part *pp)
{
	child->parent = root;
	child->place = root->tree.n++;
	child->first = pp->first;
	child->count = pp->count;
	child->tree.job_ranks = root->group->like.ranks;
	child->tree.first_rank = pp->first;
	root->tree.members[child->place].below = pp->count;
	add_hosts(child, pp->first, pp->count);
}

/* Make the parts; trees of leaves follow the root's. */
static bool build(struct group *g, const struct place *p)
{
	struct part *root;
	uint32_t i;

	g->parts = calloc(p->nparts + 1, sizeof(*g->parts));
	if (!g->parts)
		return false;
	root = &g->parts[0];
	g->nparts = 1;
	if (!part_init(g, root, p->root, g->like.ranks))
		return false;
	root->count = g->like.ranks;
	for (i = 0; i < p->nparts; i++) {
		if (!p->parts[i].tree) {
			add_hosts(root, p->parts[i].first, p->parts[i].count);
			continue;
		}
		if (!part_init(g, &g->parts[g->nparts++], p->parts[i].at,
			       p->parts[i].count))
			return false;
		add_child(root, &g->parts[g->nparts - 1], &p->parts[i]);
	}
	return true;
}

static void make(struct group *g)
{
	uint32_t i;

	g->state = GROUP_MAKING;
	g->step = g->nparts > 1 ? step_add : step_joined;
	for (i = 0; i < g->nparts; i++)
		if (!submit(&g->parts[i], tree_make))
			g->failed = ENOMEM;
}

static const char *reason(const struct manager *m)
{
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		if (!m->switches[i].up)
			return m->switches[i].why;
	return "none has the capability and room for another tree";
}

static void look_again(struct group *g)
{
	struct manager *m = g->manager;
	unsigned int i;

	g->state = GROUP_PLACING;
	for (i = 0; i < m->o.nswitches; i++)
		sw_refresh(&m->switches[i]);
}

/**
 * group_place() - compute the tree of a group, and begin to make it
 * @g: group, all ranks of which are present
 */
void group_place(struct group *g)
{
	struct place_part parts[g->like.ranks];
	struct place p = { .parts = parts };
	uint32_t at[g->like.ranks], lost = 0;
	char text[64];
	bool located = locate(g, at, &lost);

	if (located && compute(g, at, &p)) {
		if (build(g, &p))
			make(g);
		else
			group_refuse(g, ENOMEM, "no memory");
		return;
	}
	/* What is known may be two seconds old. */
	if (g->state == GROUP_GATHERING) {
		look_again(g);
		return;
	}
	if (located)
		group_refuse(g, EHOSTUNREACH, "no switch can serve it: %s",
			     reason(g->manager));
	else
		group_refuse(g, EHOSTUNREACH, "no switch sees rank %u at %s: is its leaf among the manager's switches, and has the host sent something since it came up (ping the leaf)?",
			     lost, inc_rdv_addr_str(&g->ranks[lost].join.addr,
						    text, sizeof(text)));
}

/* --- Further steps ------------------------------------------------------- */

static void step_add(struct group *g)
{
	struct part *root = &g->parts[0], *part;
	struct tree_member *m;
	uint32_t i;

	for (i = 1; i < g->nparts; i++) {
		part = &g->parts[i];
		if (!topo_addr(part->sw, root->sw, &part->tree.up.addr)) {
			group_refuse(g, EHOSTUNREACH, "switches %s and %s have no addresses of the same kind",
				     sw_name(part->sw), sw_name(root->sw));
			return;
		}
		m = &root->tree.members[part->place];
		m->known = true;
		m->peer = part->tree.up;
	}
	g->step = step_link;
	if (!submit(root, tree_add))
		g->failed = ENOMEM;
}

static void step_link(struct group *g)
{
	struct part *root = &g->parts[0], *part;
	uint32_t i;

	g->step = step_joined;
	for (i = 1; i < g->nparts; i++) {
		part = &g->parts[i];
		part->tree.parent_id = root->tree.id;
		part->tree.parent = root->tree.members[part->place].own;
		if (!submit(part, link_tree))
			g->failed = ENOMEM;
	}
}

static void tell_joined(struct rank *r)
{
	const struct options *o = &r->group->manager->o;
	const struct tree *t = &r->part->tree;
	const struct tree_end *own = &t->members[r->member].own;
	struct am_message msg = { .heartbeat_ms = o->heartbeat_ms };
	struct inc_rdv_joined *joined = &msg.rdv.joined;

	msg.rdv.type = INC_RDV_JOINED;
	*joined = t->settings;
	joined->addr = own->addr;
	joined->qpn = own->qpn;
	joined->psn = own->psn;
	joined->rkey = own->rkey;
	snprintf(msg.switch_id, sizeof(msg.switch_id), "%s",
		 sw_name(r->part->sw));
	r->heard_at = r->group->manager->loop.now;
	if (r->join.uc)
		r->alive_at = r->heard_at + joined->dead_time / INC_RDV_BEATS;
	group_tell(r, &msg);
}

static void step_joined(struct group *g)
{
	uint32_t i;

	g->state = GROUP_JOINED;
	log_debug("group \"%s\": %u tree%s made in %lld ms", g->like.job,
		  g->nparts, g->nparts == 1 ? "" : "s",
		  (long long)(now_ms() - g->began_at));
	for (i = 0; i < g->like.ranks; i++)
		if (g->ranks[i].state == RANK_PRESENT)
			tell_joined(&g->ranks[i]);
}
