// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See attribute.h.
 *
 * libyang 3.12.2 drops attributes of no namespace, or of one that it does not know,
 * where a request has data of any kind: <tree operation="delete"> made a tree. So a
 * request with a configuration is parsed once more, by a context without modules,
 * which keeps all attributes. rules.py fails without this.
 */
#include "agent.h"

#include <pthread.h>

#include "attribute.h"

/**
 * struct level - an element of an edit
 * @parent: element around it; NULL: "config"
 * @node: the element
 * @schema: its schema node
 */
struct level {
	const struct level	*parent;
	const struct lyd_node	*node;
	const struct lysc_node	*schema;
};

static struct ly_ctx *plain;

static void make_plain(void)
{
	(void)ly_ctx_new(NULL, LY_CTX_NO_YANGLIBRARY, &plain);
}

/* Returns the elements of a request with all attributes, or NULL. */
static struct lyd_node *parse_plain(const char *text)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct lyd_node *node = NULL;

	pthread_once(&once, make_plain);
	if (plain)
		lyd_parse_data_mem(plain, text, LYD_XML,
				   LYD_PARSE_ONLY | LYD_PARSE_OPAQ, 0, &node);
	return node;
}

static const struct lyd_node *find_child(const struct lyd_node *parent,
					 const char *name)
{
	const struct lyd_node *node;

	LY_LIST_FOR(lyd_child(parent), node)
		if (!strcmp(LYD_NAME(node), name))
			return node;
	return NULL;
}

/* libyang itself refuses unknown attributes of modules that it knows. */
static const struct lyd_attr *unknown_of(const struct ly_ctx *ctx,
					 const struct lyd_node *node)
{
	const struct lyd_attr *a;

	LY_LIST_FOR(((const struct lyd_node_opaq *)node)->attr, a)
		if (!a->name.module_ns ||
		    !ly_ctx_get_module_implemented_ns(ctx, a->name.module_ns))
			return a;
	return NULL;
}

/* Returns NULL for unknown elements: the parser of the edit reports them. */
static const struct lysc_node *schema_of(const struct ly_ctx *ctx,
					 const struct lyd_node *node,
					 const struct level *up)
{
	const struct ly_opaq_name *name =
		&((const struct lyd_node_opaq *)node)->name;
	const struct lys_module *mod;

	mod = name->module_ns ?
	      ly_ctx_get_module_implemented_ns(ctx, name->module_ns) : NULL;
	return mod ? lys_find_child(up ? up->schema : NULL, mod, name->name, 0,
				    0, 0) : NULL;
}

/* Returns the length, which is @len or more if the path does not fit. */
static size_t put_path(const struct level *l, char *buf, size_t len)
{
	size_t n = l->parent ? put_path(l->parent, buf, len) : 0;
	const struct lysc_node *key = lysc_node_child(l->schema);
	const struct lyd_node *node;

	if (n < len)
		n += (size_t)snprintf(buf + n, len - n, "/%s%s%s",
				      l->parent ? "" : l->schema->module->name,
				      l->parent ? "" : ":", l->schema->name);
	for (; key && lysc_is_key(key) && n < len; key = key->next) {
		node = find_child(l->node, key->name);
		if (node && !strchr(lyd_get_value(node), '\''))
			n += (size_t)snprintf(buf + n, len - n, "[%s='%s']",
					      key->name, lyd_get_value(node));
	}
	return n;
}

/* Look for unknown attributes in an element. Returns true if there is one. */
static bool look_into(const struct ly_ctx *ctx, const struct lyd_node *parent,
		      const struct level *up, struct fault *f)
{
	const struct lyd_attr *a;
	struct level l = { .parent = up };

	LY_LIST_FOR(lyd_child(parent), l.node) {
		l.schema = schema_of(ctx, l.node, up);
		if (!l.schema)
			continue;
		a = unknown_of(ctx, l.node);
		if (!a) {
			if (look_into(ctx, l.node, &l, f))
				return true;
			continue;
		}
		fault_set(f, NC_ERR_UNKNOWN_ATTR, NULL,
			  "%s has no attribute \"%s\" of %s%s",
			  LYD_NAME(l.node), a->name.name, a->name.module_ns ?
			  "namespace " : "no namespace",
			  a->name.module_ns ? a->name.module_ns : "");
		put_path(&l, f->path, sizeof(f->path));
		snprintf(f->elem, sizeof(f->elem), "%s",
			 LYD_NAME(l.node));
		snprintf(f->other, sizeof(f->other), "%s", a->name.name);
		return true;
	}
	return false;
}

/*
 * Look for an attribute that nobody knows in the configuration of a request that
 * libyang has parsed. Returns 0 or -1.
 * @op: the operation
 * @text: the request
 */
int attribute_check(const struct ly_ctx *ctx, const struct lyd_node *op,
		    const char *text, struct fault *f)
{
	struct lyd_node *rpc;
	const struct lyd_node *node, *config;
	bool found;

	if (strcmp(LYD_NAME(op), "edit-config") &&
	    strcmp(LYD_NAME(op), "validate"))
		return 0;
	rpc = parse_plain(text);
	if (!rpc)
		return fault_set(f, NC_ERR_RES_DENIED, NULL,
				 "there is no memory to look at its attributes");
	node = lyd_child(rpc);
	config = find_child(node, "config");
	if (!config)
		config = find_child(find_child(node, "source"), "config");
	found = look_into(ctx, config, NULL, f);
	lyd_free_siblings(rpc);
	return found ? -1 : 0;
}
