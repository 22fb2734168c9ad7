// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Errors of the kernel, of libyang and of the agent itself in NETCONF's terms.
 */
#include "common.h"

#include <stdarg.h>

#include <libyang/libyang.h>

#include "fault.h"
#include "nl.h"

static void set_path(struct fault *f, const struct lyd_node *node, const char *leaf)
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
	f->other[0] = '\0';
	f->app_tag[0] = '\0';
	set_path(f, node, NULL);
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
			   LYS_LEAF | LYS_LIST, 0)) {
		if (tag != FAULT_MISSING_ELEMENT)
			set_path(f, node, leaf);
		snprintf(f->elem, sizeof(f->elem), "%s", leaf);
	}
	return -1;
}

/* The first name that a text of libyang has. */
static void copy_quoted(const char *msg, char *name, size_t len)
{
	const char *from = strchr(msg, '"'), *to;

	to = from ? strchr(from + 1, '"') : NULL;
	snprintf(name, len, "%.*s", to ? (int)(to - from - 1) : 0,
		 to ? from + 1 : "");
}

/* The node that a path ends with, without its prefix and keys. */
static void last_name(const char *path, char *name, size_t len)
{
	size_t n = strlen(path), end;

	/* A key may be an address, with colons. */
	while (n && path[n - 1] == ']')
		while (n && path[--n] != '[')
			;
	end = n;
	while (n && path[n - 1] != '/' && path[n - 1] != ':' &&
	       path[n - 1] != '@')
		n--;
	snprintf(name, len, "%.*s", (int)(end - n), path + n);
}

/* An attribute is the last part of its path: "/module:node/@module:name". */
static bool is_attribute(struct fault *f)
{
	char *at = strrchr(f->path, '@');

	if (at && (at == f->path || at[-1] != '/'))
		at = NULL;
	if (strstr(f->msg, "XML metadata") || strstr(f->msg, "or attribute") ||
	    strstr(f->msg, "at attribute"))
		f->tag = FAULT_UNKNOWN_ATTRIBUTE;
	else if (at)
		f->tag = FAULT_BAD_ATTRIBUTE;
	else
		return false;
	if (at) {
		last_name(f->path, f->other, sizeof(f->other));
		at[-1] = '\0';
	} else {
		copy_quoted(f->msg, f->other, sizeof(f->other));
	}
	last_name(f->path, f->elem, sizeof(f->elem));
	return true;
}

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/**
 * fault_text() - describe an error by what libyang says of it
 * @f: the error
 * @msg: its text
 * @path: of the data that it concerns, or empty
 * @app_tag: the rule that is broken (RFC 7950, section 15), or NULL
 *
 * Return: -1.
 */
int fault_text(struct fault *f, const char *msg, const char *path,
	       const char *app_tag)
{
	fault_set(f, FAULT_INVALID_VALUE, NULL, "%s", msg);
	snprintf(f->path, sizeof(f->path), "%s", path);
	if (is_attribute(f))
		return -1;
	if (begins_with(msg, "No module with namespace")) {
		f->tag = FAULT_UNKNOWN_NAMESPACE;
		copy_quoted(msg, f->other, sizeof(f->other));
		last_name(f->path, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "Node ") && strstr(msg, " not found ")) {
		f->tag = FAULT_UNKNOWN_ELEMENT;
		copy_quoted(msg, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "When condition")) {
		f->tag = FAULT_UNKNOWN_ELEMENT;
		last_name(f->path, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "Mandatory ")) {
		f->tag = FAULT_MISSING_ELEMENT;
		copy_quoted(msg, f->elem, sizeof(f->elem));
	} else if (app_tag) {
		f->tag = FAULT_FAILED;
	}
	snprintf(f->app_tag, sizeof(f->app_tag), "%s", app_tag ? app_tag : "");
	return -1;
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
	fault_text(f, e->msg, e->data_path ? e->data_path : "", e->apptag);
	if (e->vecode == LYVE_SYNTAX_XML && f->tag == FAULT_INVALID_VALUE)
		f->tag = FAULT_FAILED;
	return -1;
}
