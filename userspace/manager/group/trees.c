// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group's trees on the switches. Each step is done on all switches at once, the
 * next when all are done:
 *
 *	make	the trees, with the members that are hosts
 *	add	the members that are switches: these have their queue pair to
 *		the parent now
 *	link	these switches to their parents
 *
 * One switch needs the first step only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "place/place.h"

/**
 * struct part_op - a step of a part
 * @op: operation
 * @part: part
 * @tree: what is done, see tree.h
 */
struct part_op {
	struct sw_op	op;
	struct subtree	*part;
	int		(*tree)(struct tree *t, struct netconf *n, char *err);
};

static void end_op(struct group *g)
{
	if (!--g->busy)
		group_raise(g, GROUP_EV_OP_DONE);
}

static int run_part(struct sw_op *op, struct netconf *n)
{
	struct part_op *p = container_of(op, struct part_op, op);

	return p->tree(&p->part->tree, n, op->err);
}

static void part_done(struct sw_op *op)
{
	struct part_op *p = container_of(op, struct part_op, op);
	struct group *g = p->part->group;

	if (op->ret && !g->failed) {
		g->failed = -op->ret;
		snprintf(g->why, sizeof(g->why), "switch %s: %.300s",
			 sw_name(op->sw), op->err);
	}
	if (!op->ret && p->tree == tree_make && !g->failed &&
	    !limit_slots(p->part, g->why, sizeof(g->why))) {
		g->failed = ENOBUFS;
		g->full = op->sw;
		g->limited = true;
	}
	/* No room: EDQUOT, ENOBUFS and ENOMEM of the kernel. */
	if (op->ret == -ENOBUFS)
		g->full = op->sw;
	/* If the answer was lost, there may be a tree. */
	if (p->tree == tree_make)
		p->part->made = !op->ret || op->ret == -EHOSTUNREACH;
	p->part->made_at = g->manager->loop.now;
	free(p);
	end_op(g);
}

static void submit_part(struct subtree *part,
			int (*tree)(struct tree *t, struct netconf *n, char *err))
{
	struct part_op *p = calloc(1, sizeof(*p));

	if (!p) {
		part->group->failed = ENOMEM;
		return;
	}
	p->part = part;
	p->tree = tree;
	p->op.run = run_part;
	p->op.done = part_done;
	part->group->busy++;
	sw_submit(part->sw, &p->op);
}

static int link_part(struct tree *t, struct netconf *n, char *err)
{
	return tree_link(t, n, err);
}

/**
 * struct del_op - a tree or a member is deleted
 * @op: operation
 * @group: group; NULL: none, the tree is left over from an earlier manager
 * @id: tree
 * @member: member; -1: the tree
 */
struct del_op {
	struct sw_op	op;
	struct group	*group;
	uint32_t	id;
	int		member;
};

static int run_del(struct sw_op *op, struct netconf *n)
{
	struct del_op *d = container_of(op, struct del_op, op);

	return d->member < 0 ? tree_del(d->id, n, op->err) :
	       tree_member_del(d->id, (uint32_t)d->member, n, op->err);
}

static void del_done(struct sw_op *op)
{
	struct del_op *d = container_of(op, struct del_op, op);
	struct group *g = d->group;

	/* If it is not reached, the tree is found when it is again. */
	if (op->ret && op->ret != -ENOENT)
		log_info("switch %s: %s of tree %u cannot be deleted: %s",
			sw_name(op->sw), d->member < 0 ? "all" : "a member",
			d->id, op->err);
	free(d);
	if (g)
		end_op(g);
}

static void submit_del(struct sw *sw, struct group *g, uint32_t id, int member)
{
	struct del_op *d = calloc(1, sizeof(*d));

	if (!d) {
		log_info("no memory to delete tree %u", id);
		return;
	}
	d->group = g;
	d->id = id;
	d->member = member;
	d->op.run = run_del;
	d->op.done = del_done;
	if (g)
		g->busy++;
	sw_submit(sw, &d->op);
}

/**
 * trees_del_member() - delete a rank's member, if there is its tree
 * @r: rank
 */
void trees_del_member(const struct rank *r)
{
	if (r->part && r->part->made)
		submit_del(r->part->sw, r->group, r->part->tree.id,
			   (int)r->member);
}

/**
 * trees_delete() - have the switches delete a group's trees
 * @g: group; GROUP_EV_OP_DONE follows, unless there is none
 */
void trees_delete(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nparts; i++)
		if (g->parts[i].made) {
			g->parts[i].made = false;
			submit_del(g->parts[i].sw, g, g->parts[i].tree.id, -1);
		}
}

/**
 * trees_drop() - forget the trees of a group, and delete those there are
 * @g: group, with no operation on a switch
 */
void trees_drop(struct group *g)
{
	struct subtree *part;
	uint32_t i;

	g->undetermined.tree_at = 0;
	for (i = 0; i < g->request.ranks; i++) {
		g->ranks[i].part = NULL;
		g->ranks[i].alive_at = 0;
	}
	for (i = 0; i < g->nparts; i++) {
		part = &g->parts[i];
		if (part->made)
			submit_del(part->sw, NULL, part->tree.id, -1);
		part->sw->parts--;
		index_remove(&part->by_tree);
		free(part->tree.members);
	}
	free(g->parts);
	g->parts = NULL;
	g->nparts = 0;
	group_forget_links(g);
	topo_discharge(g->manager, g->charge);
	g->charge = NULL;
}

/**
 * group_clear_tree() - delete a tree that is no group's
 * @sw: switch
 * @id: tree
 */
void group_clear_tree(struct sw *sw, uint32_t id)
{
	log_info("switch %s: tree %u is no group's: deleted", sw_name(sw), id);
	submit_del(sw, NULL, id, -1);
}

/* --- Parts --------------------------------------------------------------- */

static uint32_t choose_id(struct manager *m)
{
	uint32_t id;

	do {
		id = m->ids.next;
		m->ids.next = id == m->ids.last ? m->ids.first : id + 1;
		/* Trees of groups that were taken over have IDs from anywhere. */
	} while (group_has_tree(m, id));
	return id;
}

/**
 * group_wishes() - set what a group wishes of a tree
 * @g: group
 * @t: tree
 */
void group_wishes(const struct group *g, struct tree *t)
{
	const struct inc_rdv_tree *wish = &g->request.tree;
	struct inc_rdv_joined *s = &t->settings;

	s->slots = wish->slots;
	s->msg_size = wish->msg_size;
	s->pmtu = wish->pmtu ? wish->pmtu : g->request.mtu;
	s->first_msg_id = wish->first_msg_id;
	t->has_first_msg_id = wish->has_first_msg_id;
	s->dead_time = g->manager->o.dead_time;
	if (g->request.uc)
		inc_job_uc(s->pmtu, &s->msg_size, &s->slots);
}

static bool init_part(struct group *g, struct subtree *part, uint32_t sw,
		      uint32_t members)
{
	part->group = g;
	part->lost = -1;
	part->sw = &g->manager->switches[sw];
	part->sw->parts++;
	part->tree.id = choose_id(g->manager);
	part_enter(part);
	part->tree.members = calloc(members, sizeof(*part->tree.members));
	group_wishes(g, &part->tree);
	return part->tree.members;
}

static void add_host(struct subtree *part, struct rank *r)
{
	struct tree_member *m = &part->tree.members[part->tree.n];

	m->known = true;
	m->rank = r->join.rank;
	m->waits = r->join.cm;
	m->uc = r->join.uc;
	m->peer.addr = r->join.addr;
	m->peer.qpn = r->join.qpn;
	m->peer.psn = r->join.psn;
	r->part = part;
	r->member = part->tree.n++;
}

static void add_child(struct subtree *parent, struct subtree *child)
{
	child->parent = parent;
	child->place = parent->tree.n++;
	child->tree.job_ranks = parent->group->request.ranks;
	child->tree.first_rank = child->first;
	parent->tree.members[child->place].below = child->count;
}

static void add_members(struct group *g, const struct place *p, uint32_t node)
{
	struct subtree *part = &g->parts[node];
	uint32_t r, member;

	for (r = part->first; r < part->first + part->count;) {
		member = place_member(p, node, r);
		if (member == PLACE_NONE) {
			add_host(part, &g->ranks[r++]);
			continue;
		}
		add_child(part, &g->parts[member]);
		r += g->parts[member].count;
	}
}

static bool make_parts(struct group *g, const struct place *p)
{
	uint32_t i;

	g->parts = calloc(p->n, sizeof(*g->parts));
	if (!g->parts)
		return false;
	for (i = 0; i < p->n; i++) {
		g->nparts++;
		g->parts[i].first = p->nodes[i].first;
		g->parts[i].count = p->nodes[i].count;
		if (!init_part(g, &g->parts[i], p->nodes[i].at,
			       p->nodes[i].members))
			return false;
	}
	for (i = 0; i < p->n; i++)
		add_members(g, p, i);
	return true;
}

/* Is there an ID for each of so many trees more? */
static bool has_ids(const struct manager *m, uint32_t trees)
{
	return (uint64_t)m->by_tree.n + trees <=
	       (uint64_t)m->ids.last - m->ids.first + 1;
}

/**
 * trees_build() - prepare a group's trees
 * @g: group, without any
 * @p: where they are to be; the root's comes first, children's after their
 *	parents'
 *
 * Return: false if they cannot be; then GROUP_EV_REFUSED was raised.
 */
bool trees_build(struct group *g, const struct place *p)
{
	const struct ids *ids = &g->manager->ids;

	if (!has_ids(g->manager, p->n)) {
		group_refuse(g, ENOBUFS, "all IDs of trees from %u to %u are in use (--tree-ids)",
			     ids->first, ids->last);
		return false;
	}
	g->step = STEP_MAKE;
	if (make_parts(g, p))
		return true;
	group_refuse(g, ENOMEM, "no memory");
	return false;
}

/* --- Steps --------------------------------------------------------------- */

/* A child has its queue pair to its parent, which gets it as a member. */
static bool connect_up(struct group *g, struct subtree *part)
{
	const struct subtree *up = part->parent;
	struct tree_member *m = &up->tree.members[part->place];
	char taken[256];

	if (!topo_addr(g->manager, part->sw, up->sw, &part->tree.up.addr)) {
		topo_log_taken(g->manager, part->sw, taken, sizeof(taken));
		group_refuse(g, EHOSTUNREACH, "switch %s has no address by which %s reaches it%s",
			     sw_name(part->sw), sw_name(up->sw), taken);
		return false;
	}
	m->known = true;
	m->peer = part->tree.up;
	return true;
}

static bool has_children(const struct subtree *part)
{
	uint32_t i;

	for (i = 0; i < part->tree.n; i++)
		if (part->tree.members[i].below)
			return true;
	return false;
}
static void begin_add(struct group *g)
{
	uint32_t i;

	for (i = 1; i < g->nparts; i++)
		if (!connect_up(g, &g->parts[i]))
			return;
	for (i = 0; i < g->nparts; i++)
		if (has_children(&g->parts[i]))
			submit_part(&g->parts[i], tree_add);
}

static void begin_link(struct group *g)
{
	struct subtree *part;
	uint32_t i;

	for (i = 1; i < g->nparts; i++) {
		part = &g->parts[i];
		part->tree.parent_id = part->parent->tree.id;
		part->tree.parent = part->parent->tree.members[part->place].own;
		submit_part(part, link_part);
	}
}

static void begin_make(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nparts; i++)
		submit_part(&g->parts[i], tree_make);
}

/**
 * trees_step() - have the switches do the next step of a group's tree
 * @g: group, with no operation on a switch
 *
 * GROUP_EV_OP_DONE follows when all have done it, with @g->failed if they have not,
 * or GROUP_EV_REFUSED at once.
 *
 * Return: false if all steps are done.
 */
bool trees_step(struct group *g)
{
	switch (g->step) {
	case STEP_MAKE:
		g->step = g->nparts > 1 ? STEP_ADD : STEP_DONE;
		begin_make(g);
		break;
	case STEP_ADD:
		g->step = STEP_LINK;
		begin_add(g);
		break;
	case STEP_LINK:
		g->step = STEP_DONE;
		begin_link(g);
		break;
	default:
		return false;
	}
	/* Without memory there may be no operation that ends. */
	if (!g->busy)
		group_raise(g, GROUP_EV_OP_DONE);
	return true;
}
