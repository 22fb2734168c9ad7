// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Errors of the kernel, of libyang and of the agent itself in NETCONF's terms.
 */
#include "common.h"

#include <ctype.h>
#include <stdarg.h>

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
int fault_set(struct fault *f, enum nc_err tag, const struct lyd_node *node,
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

static enum nc_err tag_of(const struct inc_nl *nl, int err)
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
	enum nc_err tag = tag_of(nl, err);
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

/* Print what may have any characters, as an element's content or an attribute. */
void error_escape(FILE *out, const char *text, bool attribute)
{
	const char *special = attribute ? "&<>\"" : "&<>";
	size_t n;

	while (*text) {
		n = strcspn(text, special);
		fwrite(text, 1, n, out);
		text += n;
		if (!*text)
			break;
		fputs(*text == '&' ? "&amp;" : *text == '<' ? "&lt;" :
		      *text == '>' ? "&gt;" : "&quot;", out);
		text++;
	}
}

/**
 * struct prefixes - the YANG modules that a path names
 * @ctx: YANG modules
 * @now: the one whose nodes are being named, or NULL
 * @used: all of them
 * @n: how many
 */
struct prefixes {
	const struct ly_ctx		*ctx;
	const struct lys_module		*now;
	const struct lys_module		*used[8];
	size_t				n;
};

static void note_module(struct prefixes *p, const char *name, size_t len)
{
	char buf[64];
	size_t i;

	snprintf(buf, sizeof(buf), "%.*s", (int)len, name);
	p->now = ly_ctx_get_module_implemented(p->ctx, buf);
	for (i = 0; i < p->n && p->used[i] != p->now; i++)
		;
	if (i < ARRAY_SIZE(p->used) && i == p->n && p->now)
		p->used[p->n++] = p->now;
}

/* A name in a path, which libyang gives a module only where that changes. */
static size_t put_name(FILE *out, struct prefixes *p, const char *name)
{
	static const char ends[] = "/[]=:@'\"";
	size_t len = strcspn(name, ends), all = 0;

	if (name[len] == ':') {
		note_module(p, name, len);
		all = len + 1;
		len = strcspn(name + all, ends);
	}
	if (p->now)
		fprintf(out, "%s:", p->now->prefix);
	fprintf(out, "%.*s", (int)len, name + all);
	return all + len;
}

static void put_steps(FILE *out, struct prefixes *p, const char *path)
{
	bool begins = false;
	char quote = '\0';

	while (*path) {
		if (begins && (isalpha((unsigned char)*path) || *path == '_')) {
			path += put_name(out, p, path);
			begins = false;
			continue;
		}
		if (*path == quote)
			quote = '\0';
		else if (!quote && (*path == '\'' || *path == '"'))
			quote = *path;
		begins = !quote && (*path == '/' || *path == '[');
		error_escape(out, (const char[]){ *path++, '\0' }, false);
	}
}

/* XML has prefixes where libyang has names of modules. */
static void put_path(FILE *out, const struct ly_ctx *ctx, const char *path)
{
	struct prefixes p = { .ctx = ctx };
	char *text = NULL;
	size_t i, len;
	FILE *steps;

	steps = open_memstream(&text, &len);
	if (!steps)
		return;
	put_steps(steps, &p, path);
	if (!fclose(steps)) {
		fputs("<error-path", out);
		for (i = 0; i < p.n; i++)
			fprintf(out, " xmlns:%s=\"%s\"", p.used[i]->prefix,
				p.used[i]->ns);
		fprintf(out, ">%s</error-path>", text);
	}
	free(text);
}

static void put_element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<%s>", name);
	error_escape(out, text, false);
	fprintf(out, "</%s>", name);
}

static void put_info(FILE *out, const struct fault *f)
{
	bool attr = f->tag == NC_ERR_BAD_ATTR || f->tag == NC_ERR_MISSING_ATTR ||
		    f->tag == NC_ERR_UNKNOWN_ATTR;
	bool elem = attr || f->tag == NC_ERR_UNKNOWN_NS ||
		    f->tag == NC_ERR_BAD_ELEM || f->tag == NC_ERR_MISSING_ELEM ||
		    f->tag == NC_ERR_UNKNOWN_ELEM;

	if (!elem && f->tag != NC_ERR_LOCK_DENIED)
		return;
	fputs("<error-info>", out);
	if (attr)
		put_element(out, "bad-attribute", f->other);
	if (elem)
		put_element(out, "bad-element", f->elem);
	if (f->tag == NC_ERR_UNKNOWN_NS)
		put_element(out, "bad-namespace", f->other);
	if (f->tag == NC_ERR_LOCK_DENIED)
		fprintf(out, "<session-id>%u</session-id>", f->session);
	fputs("</error-info>", out);
}

/*
 * Print an error as part of a reply.
 * @ctx: YANG modules that its path may name
 */
void error_print(FILE *out, const struct ly_ctx *ctx, const struct fault *f,
		 enum nc_layer layer)
{
	static const char *const tags[] = {
		[NC_ERR_UNKNOWN] = "operation-failed",
		[NC_ERR_ACCESS_DENIED] = "access-denied",
		[NC_ERR_BAD_ATTR] = "bad-attribute",
		[NC_ERR_BAD_ELEM] = "bad-element",
		[NC_ERR_DATA_EXISTS] = "data-exists",
		[NC_ERR_DATA_MISSING] = "data-missing",
		[NC_ERR_IN_USE] = "in-use",
		[NC_ERR_INVALID_VALUE] = "invalid-value",
		[NC_ERR_LOCK_DENIED] = "lock-denied",
		[NC_ERR_MALFORMED_MSG] = "malformed-message",
		[NC_ERR_MISSING_ATTR] = "missing-attribute",
		[NC_ERR_MISSING_ELEM] = "missing-element",
		[NC_ERR_OP_FAILED] = "operation-failed",
		[NC_ERR_OP_NOT_SUPPORTED] = "operation-not-supported",
		[NC_ERR_RES_DENIED] = "resource-denied",
		[NC_ERR_ROLLBACK_FAILED] = "rollback-failed",
		[NC_ERR_UNKNOWN_ATTR] = "unknown-attribute",
		[NC_ERR_UNKNOWN_ELEM] = "unknown-element",
		[NC_ERR_UNKNOWN_NS] = "unknown-namespace",
	};
	static const char *const layers[] = {
		[NC_LAYER_RPC] = "rpc",
		[NC_LAYER_PROTOCOL] = "protocol",
		[NC_LAYER_APPLICATION] = "application",
	};

	if (f->tag == NC_ERR_DATA_EXISTS || f->tag == NC_ERR_DATA_MISSING)
		layer = NC_LAYER_APPLICATION;
	fprintf(out, "<rpc-error><error-type>%s</error-type><error-tag>%s"
		"</error-tag><error-severity>error</error-severity>",
		layers[layer], tags[f->tag]);
	if (f->app_tag[0])
		put_element(out, "error-app-tag", f->app_tag);
	if (f->path[0])
		put_path(out, ctx, f->path);
	if (f->msg[0]) {
		fputs("<error-message xml:lang=\"en\">", out);
		error_escape(out, f->msg, false);
		fputs("</error-message>", out);
	}
	put_info(out, f);
	fputs("</rpc-error>", out);
}
