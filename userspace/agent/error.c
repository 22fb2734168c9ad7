// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See error.h.
 *
 * libnetconf2 3.7.1 answers most of what libyang refuses with operation-failed, so
 * that a client cannot tell an operation that is not there from one that failed. The
 * program's nc_server_reply_err() comes before libnetconf2's for libnetconf2, too.
 * rules.py fails without this.
 */
#include "agent.h"

#include <dlfcn.h>

#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>

#include "error.h"

/* libyang's last error while this thread waits for a request. */
static _Thread_local struct {
	bool	on;
	char	msg[256];
	char	path[512];
} seen;

/**
 * error_make() - make an error
 * @ctx: YANG modules
 * @f: what is wrong
 * @protocol: with the operation and its parameters, rather than with data
 *
 * Return: the error.
 */
struct lyd_node *error_make(const struct ly_ctx *ctx, const struct fault *f,
			    bool protocol)
{
	static const NC_ERR tags[] = {
		[FAULT_NONE] = NC_ERR_OP_FAILED,
		[FAULT_ACCESS_DENIED] = NC_ERR_ACCESS_DENIED,
		[FAULT_BAD_ATTRIBUTE] = NC_ERR_BAD_ATTR,
		[FAULT_BAD_ELEMENT] = NC_ERR_BAD_ELEM,
		[FAULT_DATA_EXISTS] = NC_ERR_DATA_EXISTS,
		[FAULT_DATA_MISSING] = NC_ERR_DATA_MISSING,
		[FAULT_IN_USE] = NC_ERR_IN_USE,
		[FAULT_INVALID_VALUE] = NC_ERR_INVALID_VALUE,
		[FAULT_MISSING_ELEMENT] = NC_ERR_MISSING_ELEM,
		[FAULT_NOT_SUPPORTED] = NC_ERR_OP_NOT_SUPPORTED,
		[FAULT_FAILED] = NC_ERR_OP_FAILED,
		[FAULT_RESOURCE_DENIED] = NC_ERR_RES_DENIED,
		[FAULT_ROLLBACK_FAILED] = NC_ERR_ROLLBACK_FAILED,
		[FAULT_UNKNOWN_ATTRIBUTE] = NC_ERR_UNKNOWN_ATTR,
		[FAULT_UNKNOWN_ELEMENT] = NC_ERR_UNKNOWN_ELEM,
		[FAULT_UNKNOWN_NAMESPACE] = NC_ERR_UNKNOWN_NS,
	};
	NC_ERR_TYPE type = protocol ? NC_ERR_TYPE_PROT : NC_ERR_TYPE_APP;
	NC_ERR tag = tags[f->tag];
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

/**
 * error_init() - take down what libyang refuses
 */
void error_init(void)
{
	ly_set_log_clb(note_error);
	ly_log_options(LY_LOLOG | LY_LOSTORE);
}

/**
 * error_watch() - say whether this thread waits for a request, or answers one
 * @on: it waits
 */
void error_watch(bool on)
{
	seen.on = on;
	seen.msg[0] = '\0';
}

/* Is it the operation that is not there? */
static bool is_operation(void)
{
	return strstr(seen.msg, " not found in the \"") ||
	       (!strncmp(seen.msg, "No module with namespace", 24) &&
		!strchr(seen.path, ':'));
}

/**
 * nc_server_reply_err() - libnetconf2's, with the error that a client expects
 * @err: error
 *
 * Return: reply.
 */
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
			f.tag = FAULT_NOT_SUPPORTED;
		lyd_free_tree(err);
		err = error_make(ctx, &f, true);
	}
	return original(err);
}
