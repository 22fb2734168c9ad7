// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The difference between the kernel's objects and the wanted configuration, as
 * a list of requests. Requests that can be undone come first, deletions last: a
 * deleted tree cannot be brought back with its connections. The requests that
 * usually fail, to create or connect, then have not deleted anything yet.
 */
#include "apply.h"

#include <linux/rdma_inc.h>

#include "datastore.h"
#include "nl.h"
#include "conf/array.h"

#define TREE_IS_FIXED	"it is %s and cannot be changed: delete the tree and create another"

enum step_kind {
	STEP_SWITCH_SET,
	STEP_TREE_SET,
	STEP_TREE_NEW,
	STEP_MEMBER_NEW,
	STEP_PARENT_SET,
	STEP_MEMBER_DEL,
	STEP_TREE_DEL,
};

/**
 * struct step - a request to the kernel
 * @kind: type of the request
 * @node: wanted node; for deletions, present node
 * @old: present node, or NULL
 * @done: the kernel has carried it out
 */
struct step {
	enum step_kind		kind;
	const struct lyd_node	*node;
	const struct lyd_node	*old;
	bool			done;
};

/**
 * struct plan - all requests, in order
 * @nl: connection
 * @single: members are made one by one before this request
 * @steps: requests
 * @n: number of requests
 * @f: why planning failed
 * @running: present container "switch", or NULL
 * @wanted: wanted container "switch", or NULL
 */
struct plan {
	struct inc_nl		*nl;
	size_t			single;
	struct step		*steps;
	size_t			n;
	struct fault		*f;
	const struct lyd_node	*running;
	const struct lyd_node	*wanted;
};

static uint32_t key_of(const struct lyd_node *list)
{
	return (uint32_t)strtoul(lyd_get_value(lyd_child(list)), NULL, 10);
}

static int push_step(struct plan *p, enum step_kind kind,
		     const struct lyd_node *node, const struct lyd_node *old)
{
	if (!ARRAY_ROOM(p->steps, p->n))
		return fault_set(p->f, NC_ERR_RES_DENIED, node,
				 "out of memory");
	p->steps[p->n++] = (struct step){
		.kind = kind, .node = node, .old = old,
	};
	return 0;
}

static bool is_named(const struct lyd_node *node, const char *name)
{
	return !strcmp(LYD_NAME(node), name);
}

/* Returns the child of @parent that corresponds to @node of another parent. */
static const struct lyd_node *find_same(const struct lyd_node *parent,
					const struct lyd_node *node)
{
	struct lyd_node *match = NULL;

	if (!parent)
		return NULL;
	if (node->schema->nodetype == LYS_LIST)
		lyd_find_sibling_first(lyd_child(parent), node, &match);
	else
		lyd_find_sibling_val(lyd_child(parent), node->schema, NULL, 0,
				     &match);
	return match;
}

static const struct lyd_node *find_container(const struct lyd_node *parent,
					     const char *name)
{
	const struct lyd_node *node;

	LY_LIST_FOR(lyd_child(parent), node) {
		if (is_named(node, name))
			return node;
	}
	return NULL;
}

/* A leaf, or an entry of a list that is not an object. */
static bool is_setting(const struct lyd_node *node)
{
	return node->schema->nodetype == LYS_LEAF || is_named(node, "below");
}

static const char *setting_text(const struct lyd_node *node)
{
	return lyd_get_value(node->schema->nodetype == LYS_LEAF ? node :
			     lyd_child(node)->next);
}

/* Returns a leaf that differs between two nodes, or NULL. */
static const struct lyd_node *find_differing(const struct lyd_node *node,
					     const struct lyd_node *old)
{
	const struct lyd_node *leaf, *was;

	LY_LIST_FOR(lyd_child(node), leaf) {
		if (!is_setting(leaf))
			continue;
		was = find_same(old, leaf);
		if (was ? strcmp(setting_text(leaf), setting_text(was)) :
			  !(leaf->flags & LYD_DEFAULT))
			return leaf;
	}
	return NULL;
}

static bool is_settable(const struct lyd_node *leaf)
{
	/* The attributes of netlink's tree-set. */
	return is_named(leaf, "window") || is_named(leaf, "hold") ||
	       is_named(leaf, "min-rto") || is_named(leaf, "dead-time") ||
	       is_named(leaf, "priority") || is_named(leaf, "cnp-interval");
}

/* Has the kernel chosen a leaf that no request has set? */
static bool is_chosen(const struct lyd_node *leaf)
{
	static const char *const names[] = {
		"collectives", "dtypes", "ops", "qpn", "psn", "pkey",
		"local-addr",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(leaf, names[i]))
			return true;
	return false;
}

/* Returns a leaf of @old that @node lacks but needs, or NULL. */
static const struct lyd_node *find_lost(const struct lyd_node *node,
					const struct lyd_node *old)
{
	const struct lyd_node *leaf;

	LY_LIST_FOR(lyd_child(old), leaf)
		if (is_setting(leaf) && !is_chosen(leaf) &&
		    !find_same(node, leaf))
			return leaf;
	return NULL;
}

/* Plan changes to trees that exist and stay. */
static int plan_set(struct plan *p)
{
	const struct lyd_node *node, *old, *leaf, *was;
	bool set;

	LY_LIST_FOR(lyd_child(p->wanted), node) {
		old = find_same(p->running, node);
		if (is_named(node, "limits") && find_differing(node, old) &&
		    push_step(p, STEP_SWITCH_SET, node, old))
			return -1;
		if (!is_named(node, "tree") || !old)
			continue;
		leaf = find_lost(node, old);
		if (leaf)
			return fault_set(p->f, NC_ERR_INVALID_VALUE, leaf,
					 TREE_IS_FIXED, setting_text(leaf));
		set = false;
		LY_LIST_FOR(lyd_child(node), leaf) {
			if (!is_setting(leaf))
				continue;
			was = find_same(old, leaf);
			if (was && !strcmp(setting_text(leaf),
					   setting_text(was)))
				continue;
			if (!is_settable(leaf))
				return fault_set(p->f, NC_ERR_INVALID_VALUE,
						 leaf,
						 TREE_IS_FIXED,
						 was ? setting_text(was) :
						       "not set");
			set = true;
		}
		if (set && push_step(p, STEP_TREE_SET, node, old))
			return -1;
	}
	return 0;
}

static int plan_member(struct plan *p, const struct lyd_node *member,
		       const struct lyd_node *old)
{
	const struct lyd_node *leaf;

	if (!old)
		return push_step(p, STEP_MEMBER_NEW, member, NULL);
	leaf = find_differing(member, old);
	if (!leaf)
		leaf = find_lost(member, old);
	if (leaf)
		return fault_set(p->f, NC_ERR_INVALID_VALUE, leaf,
				 "a member cannot be changed: delete it and create another");
	return 0;
}

/* Plan trees and members that do not exist yet. */
static int plan_new(struct plan *p)
{
	const struct lyd_node *node, *member, *old;

	LY_LIST_FOR(lyd_child(p->wanted), node) {
		if (!is_named(node, "tree"))
			continue;
		old = find_same(p->running, node);
		if (!old && push_step(p, STEP_TREE_NEW, node, NULL))
			return -1;
		LY_LIST_FOR(lyd_child(node), member) {
			if (is_named(member, "member") &&
			    plan_member(p, member, find_same(old, member)))
				return -1;
		}
	}
	return 0;
}

/* Plan connections to parents: only deleting their trees undoes them. */
static int plan_parents(struct plan *p)
{
	const struct lyd_node *node, *parent, *old, *leaf;

	LY_LIST_FOR(lyd_child(p->wanted), node) {
		parent = is_named(node, "tree") ?
			 find_container(node, "parent") : NULL;
		if (!parent)
			continue;
		old = find_same(find_same(p->running, node), parent);
		leaf = find_lost(parent, old);
		if (leaf)
			return fault_set(p->f, NC_ERR_INVALID_VALUE, leaf,
					 TREE_IS_FIXED, lyd_get_value(leaf));
		if (find_differing(parent, old) &&
		    push_step(p, STEP_PARENT_SET, parent, old))
			return -1;
	}
	return 0;
}

static int plan_del(struct plan *p)
{
	const struct lyd_node *node, *member, *new;

	LY_LIST_FOR(lyd_child(p->running), node) {
		if (!is_named(node, "tree"))
			continue;
		new = find_same(p->wanted, node);
		if (!new && push_step(p, STEP_TREE_DEL, node, NULL))
			return -1;
		if (!new)
			continue;
		LY_LIST_FOR(lyd_child(node), member) {
			if (is_named(member, "member") &&
			    !find_same(new, member) &&
			    push_step(p, STEP_MEMBER_DEL, member, NULL))
				return -1;
		}
	}
	return 0;
}

static uint32_t tree_id(const struct lyd_node *node)
{
	return key_of(is_named(node, "tree") ? node : lyd_parent(node));
}

static int tree_new(struct plan *p, const struct step *s)
{
	struct inc_nl_tree tree = { .has = 0 };

	ds_object(s->node, NULL, &nl_tree, &tree);
	INC_NL_SET(&tree, TREE_ID, id, tree_id(s->node));
	/* The kernel wants the hosts' entries, too, which are 0. */
	if (INC_NL_HAS(&tree, TREE_BELOW))
		tree.nbelow = tree.ranks;
	return inc_nl_tree_new(p->nl, &tree, NULL);
}

/* Change a tree's settings from @from to @to. */
static int tree_set(struct plan *p, const struct lyd_node *to,
		    const struct lyd_node *from)
{
	struct inc_nl_tree tree = { .has = 0 };

	ds_object(to, from, &nl_tree, &tree);
	INC_NL_SET(&tree, TREE_ID, id, tree_id(to));
	return inc_nl_tree_set(p->nl, &tree);
}

static int switch_set(struct plan *p, const struct lyd_node *to,
		      const struct lyd_node *from)
{
	struct inc_nl_switch sw = { .has = 0 };

	return ds_object(to, from, &nl_switch, &sw) ?
	       inc_nl_switch_set(p->nl, &sw) : 0;
}

static void fill_member(const struct step *s, struct inc_nl_member *m)
{
	ds_object(s->node, NULL, &nl_member, m);
	INC_NL_SET(m, MEMBER_TREE_ID, tree_id, tree_id(s->node));
	INC_NL_SET(m, MEMBER_RANK, rank, (uint16_t)key_of(s->node));
}

static int member_new(struct plan *p, const struct step *s)
{
	struct inc_nl_member m = { .has = 0 };

	fill_member(s, &m);
	return inc_nl_member_new(p->nl, &m, NULL);
}

/* Count requests from @first on for members of the same tree. */
static unsigned int count_members(const struct plan *p, size_t first)
{
	const struct lyd_node *tree = lyd_parent(p->steps[first].node);
	size_t i = first;

	while (i < p->n && i < first + INC_NL_MAX_NEW &&
	       p->steps[i].kind == STEP_MEMBER_NEW &&
	       lyd_parent(p->steps[i].node) == tree)
		i++;
	return (unsigned int)(i - first);
}

/*
 * Make the members from @first on by one request. Returns the number of steps
 * done. If the kernel refuses, it has made no member: they are then made one by
 * one, for an error that names the member, and others can go on.
 */
static unsigned int run_members(struct plan *p, size_t first)
{
	unsigned int n = first < p->single ? 0 : count_members(p, first), i;
	struct inc_nl_member *req = n > 1 ? calloc(n, sizeof(*req)) : NULL;
	struct step *s = &p->steps[first];
	int rc;

	if (!req)
		return 0;
	for (i = 0; i < n; i++)
		fill_member(&s[i], &req[i]);
	rc = inc_nl_members_new(p->nl, tree_id(s->node), req, n, NULL);
	free(req);
	if (rc) {
		p->single = first + n;
		return 0;
	}
	for (i = 0; i < n; i++)
		s[i].done = true;
	return n;
}

static int parent_set(struct plan *p, const struct step *s)
{
	struct inc_nl_member m = { .has = 0 };

	/* Leave out attributes that it has already: only changes count. */
	ds_object(s->node, s->old, &nl_member, &m);
	INC_NL_SET(&m, MEMBER_TREE_ID, tree_id, tree_id(s->node));
	return inc_nl_parent_set(p->nl, &m, NULL);
}

static int member_del(struct plan *p, const struct step *s)
{
	return inc_nl_member_del(p->nl, tree_id(s->node),
				 (uint16_t)key_of(s->node));
}

/* An object that is already gone needs no deletion. */
static int ignore_gone(const struct plan *p, int rc)
{
	return rc == -ENOENT && p->nl->from_kernel ? 0 : rc;
}

static int run_step(struct plan *p, struct step *s)
{
	int rc = 0;

	switch (s->kind) {
	case STEP_SWITCH_SET:
		rc = switch_set(p, s->node, s->old);
		break;
	case STEP_TREE_SET:
		rc = tree_set(p, s->node, s->old);
		break;
	case STEP_TREE_NEW:
		rc = tree_new(p, s);
		break;
	case STEP_MEMBER_NEW:
		rc = member_new(p, s);
		break;
	case STEP_PARENT_SET:
		rc = parent_set(p, s);
		break;
	case STEP_MEMBER_DEL:
		rc = ignore_gone(p, member_del(p, s));
		break;
	case STEP_TREE_DEL:
		rc = ignore_gone(p, inc_nl_tree_del(p->nl, tree_id(s->node)));
		break;
	}
	s->done = !rc;
	return rc;
}

/* Was the tree of a step made by the same edit? Its undo covers the step. */
static bool of_new_tree(const struct plan *p, const struct step *s)
{
	return !find_same(p->running, lyd_parent(s->node));
}

static int undo_step(struct plan *p, const struct step *s)
{
	switch (s->kind) {
	case STEP_SWITCH_SET:
		return s->old ? switch_set(p, s->old, s->node) : 0;
	case STEP_TREE_SET:
		return tree_set(p, s->old, s->node);
	case STEP_TREE_NEW:
		return ignore_gone(p,
				   inc_nl_tree_del(p->nl, tree_id(s->node)));
	case STEP_MEMBER_NEW:
		return of_new_tree(p, s) ? 0 : ignore_gone(p, member_del(p, s));
	case STEP_PARENT_SET:
		return of_new_tree(p, s) ? 0 : -EBUSY;
	default:
		return -ENOENT;
	}
}

static int undo_steps(struct plan *p, size_t n)
{
	int failed = 0;

	while (n--) {
		if (p->steps[n].done && undo_step(p, &p->steps[n]))
			failed++;
	}
	return failed;
}

static int run_steps(struct plan *p, enum apply_error on_error,
		     void (*failed)(const struct fault *f, void *arg),
		     void *arg)
{
	unsigned int many;
	struct fault f;
	int rc, ret = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		many = run_members(p, i);
		if (many) {
			i += many - 1;
			continue;
		}
		rc = run_step(p, &p->steps[i]);
		if (!rc)
			continue;
		fault_kernel(&f, p->nl, rc, p->steps[i].node);
		failed(&f, arg);
		ret = -1;
		if (on_error == APPLY_CONTINUE)
			continue;
		rc = undo_steps(p, i);
		if (rc) {
			fault_set(&f, NC_ERR_ROLLBACK_FAILED, NULL,
				  "%d requests could not be undone", rc);
			failed(&f, arg);
		}
		break;
	}
	return ret;
}

static unsigned long value_of(const struct lyd_node *tree, const char *name)
{
	const struct lyd_node *leaf = find_container(tree, name);

	return leaf ? strtoul(lyd_get_value(leaf), NULL, 10) : 0;
}

static void put_default(struct lyd_node *tree, const struct lyd_node *old,
			const char *name, unsigned long value)
{
	if (!find_container(tree, name) && find_container(old, name))
		put_number(tree, name, value);
}

/* The kernel's default for a number of ranks. */
static unsigned long default_window(unsigned long ranks)
{
	const unsigned long least = RDMA_INC_DEFAULT_WINDOW_MIN;
	const unsigned long most = RDMA_INC_DEFAULT_WINDOW;
	unsigned long window = ranks ? RDMA_INC_DEFAULT_WINDOW_SUM / ranks :
				       most;

	return window < least ? least : window > most ? most : window;
}

static unsigned long default_hold(unsigned long pmtu)
{
	unsigned long times = pmtu / RDMA_INC_DEFAULT_PMTU;

	return RDMA_INC_DEFAULT_HOLD * (times ? times : 1);
}

/*
 * Add values that a request leaves open, and YANG cannot provide.
 * @running: the kernel's container "switch", or NULL
 * @wanted: wanted container, or NULL; existing trees get the values that the
 *	kernel would have given to new ones
 */
void apply_defaults(const struct lyd_node *running, struct lyd_node *wanted)
{
	unsigned long ranks, pmtu;
	const struct lyd_node *old;
	struct lyd_node *tree;

	LY_LIST_FOR(lyd_child(wanted), tree) {
		old = is_named(tree, "tree") ? find_same(running, tree) : NULL;
		if (!old)
			continue;
		ranks = value_of(old, "ranks");
		pmtu = value_of(old, "pmtu");
		put_default(tree, old, "window", default_window(ranks));
		put_default(tree, old, "hold", default_hold(pmtu));
	}
}

/*
 * Request all differences from the kernel. Values that @wanted lacks and the
 * kernel has chosen stay as they are. Context: after ds_read(), in the same
 * operation.
 * @running: the kernel's container "switch", or NULL
 * @wanted: wanted container, or NULL
 * @on_error: treatment of earlier requests when one fails
 */
int apply_config(struct inc_nl *nl, const struct lyd_node *running,
		 const struct lyd_node *wanted,
		 enum apply_error on_error,
		 void (*failed)(const struct fault *f, void *arg), void *arg)
{
	struct fault f = { .tag = NC_ERR_UNKNOWN };
	struct plan p = {
		.nl = nl, .f = &f, .running = running, .wanted = wanted,
	};
	int rc;

	if (plan_set(&p) || plan_new(&p) || plan_parents(&p) || plan_del(&p)) {
		failed(&f, arg);
		free(p.steps);
		return -1;
	}
	if (!p.n) {
		free(p.steps);
		return 0;
	}
	rc = p.nl->sock ? 0 : inc_nl_open(p.nl);
	if (rc) {
		fault_kernel(&f, p.nl, rc, NULL);
		failed(&f, arg);
		rc = -1;
	} else {
		rc = run_steps(&p, on_error, failed, arg);
	}
	free(p.steps);
	return rc;
}
