// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Errors of the kernel, of libyang and of the agent itself in NETCONF's terms.
 */
#include "common.h"

#include <stdarg.h>

#include <libyang/libyang.h>

#include "fault.h"
#include "nl.h"

/**
 * fault_path() - say which node an error concerns
 * @f: the error
 * @node: node, or NULL
 * @leaf: name of one of its children, or NULL
 */
void fault_path(struct fault *f, const struct lyd_node *node, const char *leaf)
{
	char *path = node ? lyd_path(node, LYD_PATH_STD, NULL, 0) : NULL;

	f->path[0] = '\0';
	if (path)
		snprintf(f->path, sizeof(f->path), "%s%s%s", path,
			 leaf ? "/" : "", leaf ? leaf : "");
	free(path);
}

/**
 * fault_set() - describe an error
 * @f: the error
 * @tag: its kind
 * @node: the node that it concerns, or NULL
 * @fmt: what is wrong
 *
 * Return: -1.
 */
int fault_set(struct fault *f, enum fault_tag tag, const struct lyd_node *node,
	      const char *fmt, ...)
{
	va_list ap;

	f->tag = tag;
	f->elem[0] = '\0';
	fault_path(f, node, NULL);
	va_start(ap, fmt);
	vsnprintf(f->msg, sizeof(f->msg), fmt, ap);
	va_end(ap);
	return -1;
}

static enum fault_tag tag_of(const struct inc_nl *nl, int err)
{
	if (nl->missing)
		return FAULT_MISSING_ELEMENT;
	switch (-err) {
	case EEXIST:
		return FAULT_DATA_EXISTS;
	case ENOENT:
		return nl->from_kernel ? FAULT_DATA_MISSING : FAULT_FAILED;
	case EPERM:
	case EACCES:
		return FAULT_ACCESS_DENIED;
	case EBUSY:
		return FAULT_IN_USE;
	case ENOMEM:
	case ENOSPC:
	case ENOBUFS:
	case EDQUOT:
		return FAULT_RESOURCE_DENIED;
	case EINVAL:
	case ERANGE:
	case EOPNOTSUPP:
		return FAULT_INVALID_VALUE;
	default:
		return FAULT_FAILED;
	}
}

/**
 * fault_kernel() - describe an error of the kernel
 * @f: the error
 * @nl: connection whose request failed
 * @err: -errno
 * @node: the node that the request was made from, or NULL
 *
 * Return: -1.
 */
int fault_kernel(struct fault *f, const struct inc_nl *nl, int err,
		 const struct lyd_node *node)
{
	enum fault_tag tag = tag_of(nl, err);
	const char *leaf = nl->attr;

	fault_set(f, tag, node, "%s", nl->error[0] ? nl->error :
		  strerror(-err));
	/* The keys' names differ: a tree's is "id", a member's "tree-id". */
	if (node && leaf &&
	    lys_find_child(node->schema, node->schema->module, leaf, 0,
			   LYS_LEAF, 0)) {
		if (tag != FAULT_MISSING_ELEMENT)
			fault_path(f, node, leaf);
		snprintf(f->elem, sizeof(f->elem), "%s", leaf);
	}
	return -1;
}

/* libyang's texts begin with the name of what it does not know. */
static void quoted(const char *msg, char *name, size_t len)
{
	const char *from = strchr(msg, '"'), *to;

	to = from ? strchr(from + 1, '"') : NULL;
	snprintf(name, len, "%.*s", to ? (int)(to - from - 1) : 0,
		 to ? from + 1 : "");
}

/**
 * fault_yang() - describe the last error of libyang in this thread
 * @f: the error
 * @ctx: context
 *
 * Return: -1.
 */
int fault_yang(struct fault *f, const struct ly_ctx *ctx)
{
	const struct ly_err_item *e = ly_err_last(ctx);

	if (!e)
		return fault_set(f, FAULT_FAILED, NULL, "out of memory");
	fault_set(f, FAULT_INVALID_VALUE, NULL, "%s", e->msg);
	if (e->vecode == LYVE_REFERENCE) {
		f->tag = FAULT_UNKNOWN_ELEMENT;
		quoted(e->msg, f->elem, sizeof(f->elem));
	} else if (e->vecode == LYVE_SYNTAX_XML) {
		f->tag = FAULT_FAILED;
	}
	if (e->data_path)
		snprintf(f->path, sizeof(f->path), "%s", e->data_path);
	return -1;
}
