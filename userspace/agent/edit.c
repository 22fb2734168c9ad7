// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Merges an edit into a configuration, following the attributes "operation" of
 * its nodes. Only data is changed here; apply.c asks the kernel.
 */
#include "edit.h"

#define NETCONF_NS	"urn:ietf:params:xml:ns:netconf:base:1.0"

static const char *const names[] = {
	[EDIT_MERGE] = "merge",
	[EDIT_REPLACE] = "replace",
	[EDIT_CREATE] = "create",
	[EDIT_DELETE] = "delete",
	[EDIT_REMOVE] = "remove",
	[EDIT_NONE] = "none",
};

/* Look an operation up by its name. Returns 0, or -1 if it is unknown. */
int edit_op(const char *name, enum edit_op *op)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i])) {
			*op = (enum edit_op)i;
			return 0;
		}
	}
	return -1;
}

/* Returns the operation of an element that YANG does not accept, or NULL. */
static const char *opaque_op(const struct lyd_node *edit)
{
	const struct lyd_attr *a;

	LY_LIST_FOR(((const struct lyd_node_opaq *)edit)->attr, a)
		if (!strcmp(a->name.name, "operation") && a->name.module_ns &&
		    !strcmp(a->name.module_ns, NETCONF_NS))
			return a->value;
	return NULL;
}

/* Returns the operation of @edit, whose parent has @op. */
static enum edit_op own_op(const struct lyd_node *edit, enum edit_op op)
{
	const struct lyd_meta *meta;

	meta = lyd_find_meta(edit->meta, NULL, "ietf-netconf:operation");
	if (meta)
		edit_op(lyd_get_meta_value(meta), &op);
	else if (!edit->schema && opaque_op(edit))
		edit_op(opaque_op(edit), &op);
	return op;
}

/* Returns the leaf that an element without a value names, or NULL. */
static const struct lysc_node *leaf_of(const struct lyd_node *edit,
				       const struct lysc_node *parent)
{
	const struct lyd_node_opaq *o = (const struct lyd_node_opaq *)edit;

	if (!parent || !o->name.module_ns ||
	    strcmp(o->name.module_ns, parent->module->ns))
		return NULL;
	return lys_find_child(parent, parent->module, o->name.name, 0,
			      LYS_LEAF, 0);
}

static bool is_blank(const char *text)
{
	return !text || !text[strspn(text, " \t\r\n")];
}

/*
 * Check elements of an edit that YANG does not accept. A leaf that is deleted
 * or removed needs no value (RFC 6241, section 7.2). Returns true if there are
 * no other such elements.
 * @edit: the edit's first node, parsed with opaque nodes
 */
bool edit_has_sense(const struct lyd_node *edit, enum edit_op op)
{
	const struct lyd_node *node;
	enum edit_op own;

	LY_LIST_FOR(edit, node) {
		own = own_op(node, op);
		if (node->schema) {
			if (!edit_has_sense(lyd_child(node), own))
				return false;
			continue;
		}
		if ((own != EDIT_DELETE && own != EDIT_REMOVE) ||
		    lyd_child(node) || !is_blank(lyd_get_value(node)) ||
		    !node->parent || !leaf_of(node, node->parent->schema))
			return false;
	}
	return true;
}

/* Is there another node of the same name and keys? */
static bool is_twice(const struct lyd_node *siblings,
		     const struct lyd_node *node)
{
	struct lyd_node *first = NULL;

	if (!node->schema)
		return false;
	/* The parser puts nodes of the same kind next to each other. */
	if (node->schema->nodetype & (LYS_LEAF | LYS_CONTAINER))
		return node->next && node->next->schema == node->schema;
	return node->schema->nodetype == LYS_LIST &&
	       !lyd_find_sibling_first(siblings, node, &first) && first != node;
}

/*
 * Check that an edit names no node twice: with two values for a leaf, nobody
 * could tell which is meant. Returns true if so.
 */
bool edit_is_unique(const struct lyd_node *edit, struct fault *f)
{
	const struct lyd_node *node;

	LY_LIST_FOR(edit, node) {
		if (is_twice(edit, node)) {
			fault_set(f, NC_ERR_BAD_ELEM, node,
				  "it is there twice");
			snprintf(f->elem, sizeof(f->elem), "%s",
				 LYD_NAME(node));
			return false;
		}
		if (!edit_is_unique(lyd_child(node), f))
			return false;
	}
	return true;
}

static bool np_container(const struct lyd_node *node)
{
	return node->schema && node->schema->nodetype == LYS_CONTAINER &&
	       !(node->schema->flags & LYS_PRESENCE);
}

static struct lyd_node *find_match(const struct lyd_node *edit,
				   const struct lyd_node *parent,
				   const struct lyd_node *siblings)
{
	struct lyd_node *match = NULL;

	if (!edit->schema)
		lyd_find_sibling_val(siblings, leaf_of(edit, parent->schema),
				     NULL, 0, &match);
	else if (edit->schema->nodetype & (LYS_LIST | LYS_LEAFLIST))
		lyd_find_sibling_first(siblings, edit, &match);
	else
		lyd_find_sibling_val(siblings, edit->schema, NULL, 0, &match);
	return match;
}

static void drop_node(struct lyd_node **top, struct lyd_node *node)
{
	if (*top == node)
		*top = node->next;
	lyd_free_tree(node);
}

/* Add a copy of @edit, with its keys but without other children. */
static struct lyd_node *add_copy(const struct lyd_node *edit,
				 struct lyd_node *parent, struct lyd_node **top)
{
	struct lyd_node *node;

	if (lyd_dup_single(edit, NULL, LYD_DUP_NO_META, &node))
		return NULL;
	if (parent ? lyd_insert_child(parent, node) :
		     lyd_insert_sibling(*top, node, top)) {
		lyd_free_tree(node);
		return NULL;
	}
	return node;
}

static int edit_node(const struct lyd_node *edit, struct lyd_node *parent,
		     struct lyd_node **top, enum edit_op op, struct fault *f)
{
	struct lyd_node *node = find_match(edit, parent,
					   parent ? lyd_child(parent) : *top);
	const struct lyd_node *sub;

	op = own_op(edit, op);
	if (!node && (op == EDIT_DELETE ||
		      (op == EDIT_NONE && !np_container(edit))))
		return fault_set(f, NC_ERR_DATA_MISSING, edit,
				 "it does not exist");
	if (node && op == EDIT_CREATE && !np_container(edit))
		return fault_set(f, NC_ERR_DATA_EXISTS, edit,
				 "it exists already");
	if (node && (op == EDIT_DELETE || op == EDIT_REMOVE ||
		     op == EDIT_REPLACE)) {
		drop_node(top, node);
		node = NULL;
	}
	if (op == EDIT_DELETE || op == EDIT_REMOVE)
		return 0;

	if (!node)
		node = add_copy(edit, parent, top);
	else if (op != EDIT_NONE && edit->schema->nodetype == LYS_LEAF)
		lyd_change_term(node, lyd_get_value(edit));
	if (!node)
		return fault_set(f, NC_ERR_RES_DENIED, edit,
				 "out of memory");
	LY_LIST_FOR(lyd_child_no_keys(edit), sub) {
		if (edit_node(sub, node, top, op, f))
			return -1;
	}
	return 0;
}

/*
 * Find the only tree that an edit concerns. Returns its ID; 0: the edit
 * concerns other nodes, too.
 */
uint32_t edit_tree(const struct lyd_node *edit, enum edit_op op)
{
	const struct lyd_node *tree = edit ? lyd_child(edit) : NULL;

	if (!tree || edit->next || tree->next || !tree->schema ||
	    strcmp(LYD_NAME(tree), "tree"))
		return 0;
	op = own_op(edit, op);
	return op == EDIT_MERGE || op == EDIT_NONE ?
	       (uint32_t)strtoul(lyd_get_value(lyd_child(tree)), NULL, 10) : 0;
}

/*
 * Merge an edit into a configuration. After a failure the configuration has
 * been changed in part.
 * @config: the configuration's first top-level node, or NULL
 */
int edit_apply(const struct lyd_node *edit, enum edit_op op,
	       struct lyd_node **config, struct fault *f)
{
	const struct lyd_node *node;

	LY_LIST_FOR(edit, node) {
		if (edit_node(node, NULL, config, op, f))
			return -1;
	}
	return 0;
}
