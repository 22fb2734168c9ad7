// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group's trees on the switches. Each step is done on all switches at once;
 * the next one begins when all are done:
 *
 *	make	the trees, with the members that are hosts
 *	add	the members that are switches, whose queue pairs to their
 *		parents exist by now
 *	link	these switches to their parents
 *
 * A tree on a single switch needs only the first step.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "group/group.h"
#include "place/place.h"

/**
 * struct subtree_op - a step of a subtree
 * @op: operation
 * @subtree: subtree
 * @tree: function that does it, see tree.h
 */
struct subtree_op {
	struct sw_op	op;
	struct subtree	*subtree;
	int		(*tree)(struct tree *t, struct sw_session *n,
				char *err);
};

static void end_op(struct group *g)
{
	if (!--g->making.ops)
		group_raise(g, GROUP_EV_OP_DONE);
}

static int run_subtree(struct sw_op *op, struct sw_session *n)
{
	struct subtree_op *p = container_of(op, struct subtree_op, op);

	return p->tree(&p->subtree->tree, n, op->err);
}

static int link_subtree(struct tree *t, struct sw_session *n, char *err)
{
	return tree_link(t, n, err);
}

static void subtree_done(struct sw_op *op)
{
	struct subtree_op *p = container_of(op, struct subtree_op, op);
	struct group *g = p->subtree->group;

	if (op->ret && !g->making.err)
		snprintf(g->making.why, sizeof(g->making.why), "switch %s: %.300s",
			 sw_name(op->sw), op->err);
	if (op->ret == -ENETUNREACH)
		route_missing(p->subtree, p->tree == link_subtree);
	if (op->ret && !g->making.err)
		g->making.err = op->ret == -ENETUNREACH ? EPROTO : -op->ret;
	if (!op->ret && p->tree == tree_make && !g->making.err &&
	    !limit_slots(p->subtree, g->making.why, sizeof(g->making.why))) {
		g->making.err = ENOBUFS;
		g->where.full_switch = op->sw;
		g->room.limited = true;
	}
	/* -ENOBUFS: EDQUOT, ENOBUFS or ENOMEM of the kernel. */
	if (op->ret == -ENOBUFS)
		g->where.full_switch = op->sw;
	/* If the answer was lost, the tree may exist. */
	if (p->tree == tree_make)
		p->subtree->exists = !op->ret || op->ret == -EHOSTUNREACH;
	p->subtree->made_at = g->manager->loop.now;
	free(p);
	end_op(g);
}

static void submit_subtree(struct subtree *subtree,
			   int (*tree)(struct tree *t, struct sw_session *n,
				       char *err))
{
	struct subtree_op *p = calloc(1, sizeof(*p));

	if (!p) {
		subtree->group->making.err = ENOMEM;
		return;
	}
	p->subtree = subtree;
	p->tree = tree;
	p->op.run = run_subtree;
	p->op.done = subtree_done;
	subtree->group->making.ops++;
	sw_submit(subtree->sw, &p->op);
}

/**
 * struct del_op - deletion of a tree or a member
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

static int run_del(struct sw_op *op, struct sw_session *n)
{
	struct del_op *d = container_of(op, struct del_op, op);

	return d->member < 0 ? tree_del(d->id, n, op->err) :
	       tree_member_del(d->id, (uint32_t)d->member, n, op->err);
}

static void del_done(struct sw_op *op)
{
	struct del_op *d = container_of(op, struct del_op, op);
	struct group *g = d->group;

	/* A tree on a switch out of reach is found when the switch is back. */
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
		g->making.ops++;
	sw_submit(sw, &d->op);
}

/* Delete a rank's member, if the tree exists. */
void trees_del_member(const struct rank *r)
{
	if (r->subtree && r->subtree->exists)
		submit_del(r->subtree->sw, r->group, r->subtree->tree.id,
			   (int)r->member);
}

/*
 * Have the switches delete a group's trees.
 * @g: group; GROUP_EV_OP_DONE follows, unless no tree exists
 */
void trees_delete(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		if (g->subtrees[i].exists) {
			g->subtrees[i].exists = false;
			submit_del(g->subtrees[i].sw, g,
				   g->subtrees[i].tree.id, -1);
		}
}

/*
 * Forget the trees of a group, and delete the trees that exist.
 * @g: group, with no operation on a switch
 */
void trees_drop(struct group *g)
{
	struct subtree *subtree;
	uint32_t i;

	g->undetermined.tree_at = 0;
	for (i = 0; i < g->request.ranks; i++)
		g->ranks[i].subtree = NULL;
	for (i = 0; i < g->nsubtrees; i++) {
		subtree = &g->subtrees[i];
		if (subtree->exists)
			submit_del(subtree->sw, NULL, subtree->tree.id, -1);
		subtree->sw->subtrees--;
		index_remove(&subtree->by_tree);
		free(subtree->tree.members);
	}
	free(g->subtrees);
	g->subtrees = NULL;
	g->nsubtrees = 0;
	group_forget_links(g);
	topo_discharge(&g->manager->fabric, g->where.charge);
	g->where.charge = NULL;
}

/* Delete a tree that belongs to no group. */
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
		id = m->fabric.ids.next;
		m->fabric.ids.next = id == m->fabric.ids.last ? m->fabric.ids.first : id + 1;
		/* Trees of groups that were taken over may have any ID. */
	} while (group_has_tree(m, id));
	return id;
}

/* Set a group's wishes for its tree. */
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
	t->priority = g->tenant->limits->priority_class;
	if (g->request.uc)
		inc_job_uc(s->pmtu, &s->msg_size, &s->slots);
}

static bool init_subtree(struct group *g, struct subtree *subtree, uint32_t sw,
			 uint32_t members)
{
	subtree->group = g;
	subtree->lost_member = -1;
	subtree->sw = &g->manager->fabric.switches[sw];
	subtree->sw->subtrees++;
	subtree->tree.id = choose_id(g->manager);
	subtree_enter(subtree);
	subtree->tree.members = calloc(members, sizeof(*subtree->tree.members));
	group_wishes(g, &subtree->tree);
	return subtree->tree.members;
}

static void add_host(struct subtree *subtree, struct rank *r)
{
	struct tree_member *m = &subtree->tree.members[subtree->tree.n];

	m->known = true;
	m->rank = r->join.rank;
	m->waits = r->join.cm;
	m->uc = r->join.uc;
	m->ifindex = sw_if_vlan(subtree->sw->info, &r->join.addr);
	m->peer.addr = r->join.addr;
	m->peer.qpn = r->join.qpn;
	m->peer.psn = r->join.psn;
	r->subtree = subtree;
	r->member = subtree->tree.n++;
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
	struct subtree *subtree = &g->subtrees[node];
	uint32_t r, member;

	for (r = subtree->first; r < subtree->first + subtree->count;) {
		member = place_member(p, node, r);
		if (member == PLACE_NONE) {
			add_host(subtree, &g->ranks[r++]);
			continue;
		}
		add_child(subtree, &g->subtrees[member]);
		r += g->subtrees[member].count;
	}
}

static bool make_subtrees(struct group *g, const struct place *p)
{
	uint32_t i;

	g->subtrees = calloc(p->n, sizeof(*g->subtrees));
	if (!g->subtrees)
		return false;
	for (i = 0; i < p->n; i++) {
		g->nsubtrees++;
		g->subtrees[i].first = p->nodes[i].first;
		g->subtrees[i].count = p->nodes[i].count;
		if (!init_subtree(g, &g->subtrees[i], p->nodes[i].sw,
				  p->nodes[i].members))
			return false;
	}
	for (i = 0; i < p->n; i++)
		add_members(g, p, i);
	return true;
}

/* Are there IDs for this many more trees? */
static bool has_ids(const struct manager *m, uint32_t trees)
{
	return (uint64_t)m->by_tree.n + trees <=
	       (uint64_t)m->fabric.ids.last - m->fabric.ids.first + 1;
}

/*
 * Prepare a group's trees. Returns false on failure; then GROUP_EV_REFUSED was
 * raised.
 * @p: places of the trees, the root's first, children's after their parents'
 */
bool trees_build(struct group *g, const struct place *p)
{
	const struct ids *ids = &g->manager->fabric.ids;

	if (!has_ids(g->manager, p->n)) {
		group_refuse(g, ENOBUFS, "all IDs of trees from %u to %u are in use (--tree-ids)",
			     ids->first, ids->last);
		return false;
	}
	g->making.step = STEP_MAKE;
	if (make_subtrees(g, p))
		return true;
	group_refuse(g, ENOMEM, "no memory");
	return false;
}

/* --- Steps --------------------------------------------------------------- */

/* Make a child, whose queue pair upwards exists, known as its parent's member. */
static bool connect_up(struct group *g, struct subtree *subtree)
{
	const struct subtree *up = subtree->parent;
	struct tree_member *m = &up->tree.members[subtree->place];
	char taken[256];

	if (!topo_addr(&g->manager->fabric, subtree->sw, up->sw,
		       &subtree->tree.up.addr)) {
		topo_log_taken(&g->manager->fabric, subtree->sw, taken, sizeof(taken));
		group_refuse(g, EHOSTUNREACH, "switch %s has no address by which %s reaches it%s",
			     sw_name(subtree->sw), sw_name(up->sw), taken);
		return false;
	}
	m->known = true;
	m->peer = subtree->tree.up;
	return true;
}

static bool has_children(const struct subtree *subtree)
{
	uint32_t i;

	for (i = 0; i < subtree->tree.n; i++)
		if (subtree->tree.members[i].below)
			return true;
	return false;
}

static void begin_add(struct group *g)
{
	uint32_t i;

	for (i = 1; i < g->nsubtrees; i++)
		if (!connect_up(g, &g->subtrees[i]))
			return;
	for (i = 0; i < g->nsubtrees; i++)
		if (has_children(&g->subtrees[i]))
			submit_subtree(&g->subtrees[i], tree_add);
}

static void begin_link(struct group *g)
{
	struct subtree *subtree;
	uint32_t i;

	for (i = 1; i < g->nsubtrees; i++) {
		subtree = &g->subtrees[i];
		subtree->tree.parent_id = subtree->parent->tree.id;
		subtree->tree.parent =
			subtree->parent->tree.members[subtree->place].own;
		submit_subtree(subtree, link_subtree);
	}
}

static void begin_make(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++)
		submit_subtree(&g->subtrees[i], tree_make);
}

/*
 * Begin the next step of a group's tree. GROUP_EV_OP_DONE follows when all
 * switches have done it, with @g->making.err on failure, or GROUP_EV_REFUSED at
 * once. Returns false if all steps are done.
 * @g: group, with no operation on a switch
 */
bool trees_step(struct group *g)
{
	switch (g->making.step) {
	case STEP_MAKE:
		g->where.unrouted = false;
		g->making.step = g->nsubtrees > 1 ? STEP_ADD : STEP_DONE;
		begin_make(g);
		break;
	case STEP_ADD:
		g->making.step = STEP_LINK;
		begin_add(g);
		break;
	case STEP_LINK:
		g->making.step = STEP_DONE;
		begin_link(g);
		break;
	default:
		return false;
	}
	/* Without memory, no operation may have begun that would raise it. */
	if (!g->making.ops)
		group_raise(g, GROUP_EV_OP_DONE);
	return true;
}
