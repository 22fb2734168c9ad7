// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Errors of the kernel, of libyang and of the agent itself in NETCONF's terms.
 *
 * libnetconf2 3.7.1 answers most errors of libyang with operation-failed, so a
 * client cannot tell an unknown operation from one that failed. The program's
 * nc_server_reply_err() takes precedence over libnetconf2's, even in
 * libnetconf2. rules.py fails without it.
 */
#include "common.h"

#include <dlfcn.h>
#include <stdarg.h>

#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>
#include <libyang/libyang.h>

#include "error.h"
#include "nl.h"

/* --- Errors of the kernel, and of libyang --------------------------------- */

static void set_path(struct fault *f, const struct lyd_node *node, const char *leaf)
{
	char *path = node ? lyd_path(node, LYD_PATH_STD, NULL, 0) : NULL;

	f->path[0] = '\0';
	if (path)
		snprintf(f->path, sizeof(f->path), "%s%s%s", path,
			 leaf ? "/" : "", leaf ? leaf : "");
	free(path);
}

/*
 * Describe an error. Returns -1.
 * @node: node that it concerns, or NULL
 */
int fault_set(struct fault *f, NC_ERR tag, const struct lyd_node *node,
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

static NC_ERR tag_of(const struct inc_nl *nl, int err)
{
	if (nl->missing)
		return NC_ERR_MISSING_ELEM;
	switch (-err) {
	case EEXIST:
		return NC_ERR_DATA_EXISTS;
	case ENOENT:
		return nl->from_kernel ? NC_ERR_DATA_MISSING : NC_ERR_OP_FAILED;
	case EPERM:
	case EACCES:
		return NC_ERR_ACCESS_DENIED;
	case EBUSY:
		return NC_ERR_IN_USE;
	case ENOMEM:
	case ENOSPC:
	case ENOBUFS:
	case EDQUOT:
		return NC_ERR_RES_DENIED;
	case EINVAL:
	case ERANGE:
	case EOPNOTSUPP:
		return NC_ERR_INVALID_VALUE;
	default:
		return NC_ERR_OP_FAILED;
	}
}

/*
 * Describe an error of the kernel. Returns -1.
 * @node: node that the request was made from, or NULL
 */
int fault_kernel(struct fault *f, const struct inc_nl *nl, int err,
		 const struct lyd_node *node)
{
	NC_ERR tag = tag_of(nl, err);
	const char *leaf = nl->attr;

	fault_set(f, tag, node, "%s", nl->error[0] ? nl->error :
		  strerror(-err));
	if (err == -ENETUNREACH)
		snprintf(f->app_tag, sizeof(f->app_tag), "no-route");
	/* The keys' names differ: a tree's is "id", a member's "tree-id". */
	if (node && leaf &&
	    lys_find_child(node->schema, node->schema->module, leaf, 0,
			   LYS_LEAF | LYS_LIST, 0)) {
		if (tag != NC_ERR_MISSING_ELEM)
			set_path(f, node, leaf);
		snprintf(f->elem, sizeof(f->elem), "%s", leaf);
	}
	return -1;
}

/* Copy the first quoted name in a text of libyang. */
static void copy_quoted(const char *msg, char *name, size_t len)
{
	const char *from = strchr(msg, '"'), *to;

	to = from ? strchr(from + 1, '"') : NULL;
	snprintf(name, len, "%.*s", to ? (int)(to - from - 1) : 0,
		 to ? from + 1 : "");
}

/* Copy the name of the last node in a path, without its prefix and keys. */
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
		f->tag = NC_ERR_UNKNOWN_ATTR;
	else if (at)
		f->tag = NC_ERR_BAD_ATTR;
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

/*
 * Describe an error by the text of libyang. Returns -1.
 * @path: path of the data that it concerns, or empty
 * @app_tag: rule that is broken (RFC 7950, section 15), or NULL
 */
int fault_text(struct fault *f, const char *msg, const char *path,
	       const char *app_tag)
{
	fault_set(f, NC_ERR_INVALID_VALUE, NULL, "%s", msg);
	snprintf(f->path, sizeof(f->path), "%s", path);
	if (is_attribute(f))
		return -1;
	if (begins_with(msg, "No module with namespace")) {
		f->tag = NC_ERR_UNKNOWN_NS;
		copy_quoted(msg, f->other, sizeof(f->other));
		last_name(f->path, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "Node ") && strstr(msg, " not found ")) {
		f->tag = NC_ERR_UNKNOWN_ELEM;
		copy_quoted(msg, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "When condition")) {
		f->tag = NC_ERR_UNKNOWN_ELEM;
		last_name(f->path, f->elem, sizeof(f->elem));
	} else if (begins_with(msg, "Mandatory ")) {
		f->tag = NC_ERR_MISSING_ELEM;
		copy_quoted(msg, f->elem, sizeof(f->elem));
	} else if (app_tag) {
		f->tag = NC_ERR_OP_FAILED;
	}
	snprintf(f->app_tag, sizeof(f->app_tag), "%s", app_tag ? app_tag : "");
	return -1;
}

/* Describe the last error of libyang in this thread. Returns -1. */
int fault_yang(struct fault *f, const struct ly_ctx *ctx)
{
	const struct ly_err_item *e = ly_err_last(ctx);

	if (!e)
		return fault_set(f, NC_ERR_OP_FAILED, NULL, "out of memory");
	fault_text(f, e->msg, e->data_path ? e->data_path : "", e->apptag);
	if (e->vecode == LYVE_SYNTAX_XML && f->tag == NC_ERR_INVALID_VALUE)
		f->tag = NC_ERR_OP_FAILED;
	return -1;
}

/* --- Errors for clients --------------------------------------------------- */

/* libyang's last error while this thread waits for a request. */
static _Thread_local struct {
	bool	on;
	char	msg[256];
	char	path[512];
} seen;

/*
 * Make an error for a client.
 * @protocol: error of the operation and its parameters, not of data
 */
struct lyd_node *error_make(const struct ly_ctx *ctx, const struct fault *f,
			    bool protocol)
{
	NC_ERR_TYPE type = protocol ? NC_ERR_TYPE_PROT : NC_ERR_TYPE_APP;
	NC_ERR tag = f->tag == NC_ERR_UNKNOWN ? NC_ERR_OP_FAILED : f->tag;
	struct lyd_node *e;

	if (tag == NC_ERR_BAD_ATTR || tag == NC_ERR_UNKNOWN_ATTR)
		e = nc_err(ctx, tag, type, f->other, f->elem);
	else if (tag == NC_ERR_UNKNOWN_NS)
		e = nc_err(ctx, tag, type, f->elem, f->other);
	else if (tag == NC_ERR_BAD_ELEM || tag == NC_ERR_MISSING_ELEM ||
		 tag == NC_ERR_UNKNOWN_ELEM)
		e = nc_err(ctx, tag, type, f->elem);
	else if (tag == NC_ERR_DATA_EXISTS || tag == NC_ERR_DATA_MISSING)
		e = nc_err(ctx, tag);
	else
		e = nc_err(ctx, tag, type);
	if (f->msg[0])
		nc_err_set_msg(e, f->msg, "en");
	if (f->path[0])
		nc_err_set_path(e, f->path);
	if (f->app_tag[0])
		nc_err_set_app_tag(e, f->app_tag);
	return e;
}

static void note_error(LY_LOG_LEVEL level, const char *msg,
		       const char *data_path, const char *schema_path,
		       uint64_t line)
{
	if (!seen.on || level != LY_LLERR)
		return;
	snprintf(seen.msg, sizeof(seen.msg), "%s", msg);
	snprintf(seen.path, sizeof(seen.path), "%s",
		 data_path ? data_path : "");
}

/* Have libyang's errors noted. */
void error_init(void)
{
	ly_set_log_clb(note_error);
	ly_log_options(LY_LOLOG | LY_LOSTORE);
}

/* Set whether this thread waits for a request, or answers one. */
void error_watch(bool on)
{
	seen.on = on;
	seen.msg[0] = '\0';
}

/* Is the operation itself unknown? */
static bool is_operation(void)
{
	return strstr(seen.msg, " not found in the \"") ||
	       (!strncmp(seen.msg, "No module with namespace", 24) &&
		!strchr(seen.path, ':'));
}

/* As libnetconf2's, with the error that a client expects. Returns the reply. */
struct nc_server_reply *nc_server_reply_err(struct lyd_node *err)
{
	struct nc_server_reply *(*original)(struct lyd_node *err) = NULL;
	const struct ly_ctx *ctx = err ? LYD_CTX(err) : NULL;
	struct fault f;

	*(void **)&original = dlsym(RTLD_NEXT, "nc_server_reply_err");
	if (seen.on && seen.msg[0] && err &&
	    nc_err_get_tag(err) == NC_ERR_OP_FAILED) {
		fault_text(&f, seen.msg, seen.path, NULL);
		if (is_operation())
			f.tag = NC_ERR_OP_NOT_SUPPORTED;
		lyd_free_tree(err);
		err = error_make(ctx, &f, true);
	}
	return original(err);
}
