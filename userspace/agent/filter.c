// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Only subtree filters. The time that an XPath filter takes is not limited by
 * its length, and libyang has no way to stop it: a user with read access only
 * could keep the agent busy for good.
 *
 * A subtree filter is XML, parsed as data where the YANG modules know it and as
 * opaque nodes elsewhere; nodes that it does not select are removed from the
 * data.
 */
#include "filter.h"

#include <ctype.h>

/* Each element is compared with many nodes, while all others wait. */
#define ELEMENTS_MAX	4096

static const char *ns_of(const struct lyd_node *node)
{
	if (node->schema)
		return node->schema->module->ns;
	return ((const struct lyd_node_opaq *)node)->name.module_ns;
}

static const char *value_of(const struct lyd_node *node)
{
	const char *v = NULL;

	if (!node->schema || node->schema->nodetype & LYD_NODE_TERM)
		v = lyd_get_value(node);
	while (v && isspace((unsigned char)*v))
		v++;
	return v && *v ? v : NULL;
}

/* Without a namespace, a filter's element matches any (section 6.2.1). */
static bool names_node(const struct lyd_node *filter,
		       const struct lyd_node *data)
{
	static const char base[] = "urn:ietf:params:xml:ns:netconf:base:1.0";
	const char *ns = ns_of(filter);

	return !strcmp(LYD_NAME(filter), LYD_NAME(data)) &&
	       (!ns || !*ns || !strcmp(ns, base) || !strcmp(ns, ns_of(data)));
}

static size_t trimmed_len(const char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return n;
}

/* Does a leaf have the value of the filter's leaf? */
static bool is_equal(const struct lyd_node *filter, const struct lyd_node *data)
{
	const char *want = value_of(filter), *is = lyd_get_value(data);
	size_t n = trimmed_len(want);

	return is && strlen(is) == n && !strncmp(is, want, n);
}

/* Do all content match nodes below @filter match children of @data? */
static bool match_content(const struct lyd_node *filter,
			  const struct lyd_node *data, bool *only)
{
	const struct lyd_node *f, *d;

	*only = true;
	LY_LIST_FOR(lyd_child(filter), f) {
		bool found = false;

		if (!value_of(f)) {
			*only = false;
			continue;
		}
		LY_LIST_FOR(lyd_child(data), d) {
			if (names_node(f, d) && is_equal(f, d))
				found = true;
		}
		if (!found)
			return false;
	}
	return true;
}

static void prune_siblings(struct lyd_node **first,
			   const struct ly_set *filters);

/* Keep the nodes that filters select. Returns true if none is left. */
static bool prune_node(struct lyd_node *data, const struct ly_set *filters)
{
	struct ly_set within = { .count = 0 };
	bool keep = data->schema && lysc_is_key(data->schema), part = false;
	struct lyd_node *children;
	uint32_t i;

	for (i = 0; i < filters->count; i++) {
		const struct lyd_node *f;

		LY_LIST_FOR(lyd_child(filters->dnodes[i]), f) {
			bool only;

			if (!names_node(f, data))
				continue;
			if (!lyd_child(f)) {
				keep |= !value_of(f) || is_equal(f, data);
			} else if (match_content(f, data, &only)) {
				keep |= only;
				part = true;
				ly_set_add(&within, f, 1, NULL);
			}
		}
	}
	if (!keep && part) {
		children = lyd_child_no_keys(data);
		prune_siblings(&children, &within);
	}
	ly_set_erase(&within, NULL);
	return !keep && !part;
}

/* @filters: nodes whose children are the filters of these siblings */
static void prune_siblings(struct lyd_node **first,
			   const struct ly_set *filters)
{
	struct lyd_node *data, *next;

	LY_LIST_FOR_SAFE(*first, next, data) {
		if (!prune_node(data, filters))
			continue;
		if (*first == data)
			*first = next;
		lyd_free_tree(data);
	}
}

static unsigned int count_elements(const struct lyd_node *filter)
{
	const struct lyd_node_any *any = (const struct lyd_node_any *)filter;
	const struct lyd_node *top, *node;
	unsigned int n = 0;

	if (any->value_type != LYD_ANYDATA_DATATREE)
		return 0;
	LY_LIST_FOR(any->value.tree, top) {
		LYD_TREE_DFS_BEGIN(top, node) {
			n++;
			LYD_TREE_DFS_END(top, node);
		}
	}
	return n;
}

/*
 * Refuse a filter that would take too long.
 * @filter: an operation's node "filter", or NULL
 */
int filter_check(const struct lyd_node *filter, struct fault *f)
{
	const struct lyd_meta *type;

	type = filter ? lyd_find_meta(filter->meta, NULL,
				      "ietf-netconf:type") : NULL;
	if (type && strcmp(lyd_get_meta_value(type), "subtree"))
		return fault_set(f, NC_ERR_OP_NOT_SUPPORTED, NULL,
				 "filters are subtree filters: there is no :xpath here");
	if (filter && count_elements(filter) > ELEMENTS_MAX)
		return fault_set(f, NC_ERR_RES_DENIED, NULL,
				 "a filter has at most %d elements",
				 ELEMENTS_MAX);
	return 0;
}

/* An element that has only content match nodes selects the whole node. */
static bool selects_all(const struct lyd_node *filter)
{
	const struct lyd_node *f;

	LY_LIST_FOR(lyd_child(filter), f)
		if (!value_of(f))
			return false;
	return true;
}

static bool wants_below(const struct lyd_node *first, const char *path)
{
	const size_t len = strcspn(path, "/");
	const struct lyd_node *f;

	LY_LIST_FOR(first, f) {
		if (strncmp(LYD_NAME(f), path, len) || LYD_NAME(f)[len])
			continue;
		if (!path[len] || selects_all(f) ||
		    wants_below(lyd_child(f), path + len + 1))
			return true;
	}
	return false;
}

/*
 * May a filter select nodes at a path? Returns false if filter_apply() would
 * remove all of them.
 * @filter: the operation's node "filter", which filter_check() accepts; or
 *	NULL
 */
bool filter_wants(const struct lyd_node *filter, const char *path)
{
	const struct lyd_node_any *any = (const struct lyd_node_any *)filter;

	return !filter || (any->value_type == LYD_ANYDATA_DATATREE &&
			   wants_below(any->value.tree, path));
}

/* Returns the only child of a name, or NULL. */
static const struct lyd_node *find_only(const struct lyd_node *first,
					const char *name)
{
	const struct lyd_node *f, *found = NULL;

	LY_LIST_FOR(first, f) {
		if (strcmp(LYD_NAME(f), name))
			continue;
		if (found)
			return NULL;
		found = f;
	}
	return found;
}

/*
 * Find the only tree that a filter selects. Returns its ID; 0: filter_apply()
 * may keep several, or none.
 * @filter: the operation's node "filter", which filter_check() accepts; or
 *	NULL
 */
uint32_t filter_tree(const struct lyd_node *filter)
{
	const struct lyd_node_any *any = (const struct lyd_node_any *)filter;
	const struct lyd_node *sw, *tree, *id;

	if (!filter || any->value_type != LYD_ANYDATA_DATATREE)
		return 0;
	sw = find_only(any->value.tree, "switch");
	tree = sw && !selects_all(sw) ? find_only(lyd_child(sw), "tree") : NULL;
	id = tree ? find_only(lyd_child(tree), "id") : NULL;
	return id && value_of(id) && isdigit((unsigned char)*value_of(id)) ?
	       (uint32_t)strtoul(value_of(id), NULL, 10) : 0;
}

/*
 * Reduce data to the nodes that a filter selects.
 * @filter: the operation's node "filter", which filter_check() accepts; or
 *	NULL
 * @data: first top-level node; may become NULL
 */
int filter_apply(const struct ly_ctx *ctx, const struct lyd_node *filter,
		 struct lyd_node **data, struct fault *f)
{
	const struct lyd_node_any *any = (const struct lyd_node_any *)filter;
	struct ly_set set = { .count = 0 };
	struct lyd_node *top, *copy = NULL;

	if (!filter)
		return 0;
	/* Put the filter's XML below one node. */
	if (lyd_new_opaq(NULL, ctx, "filter", NULL, NULL, "", &top))
		return fault_yang(f, ctx);
	if (any->value_type == LYD_ANYDATA_DATATREE && any->value.tree)
		lyd_dup_siblings(any->value.tree, NULL, LYD_DUP_RECURSIVE,
				 &copy);
	if (copy)
		lyd_insert_child(top, copy);
	ly_set_add(&set, top, 1, NULL);
	prune_siblings(data, &set);
	ly_set_erase(&set, NULL);
	lyd_free_tree(top);
	return 0;
}
