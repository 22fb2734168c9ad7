// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The YANG modules, shared by all sessions: agents are not asked for modules,
 * and cannot introduce others.
 */
#include <pthread.h>
#include <stddef.h>

#include "fabric/schema.h"
#include "netconf/modules.h"

static struct ly_ctx *shared;

static void make_context(void)
{
	static const char *const features[] = {
		"writable-running", "rollback-on-error", "validate", NULL
	};
	struct ly_ctx *ctx;

	/* The context is never freed: error messages must not pile up. */
	ly_log_options(LY_LOSTORE_LAST);
	if (ly_ctx_new(NULL, LY_CTX_DISABLE_SEARCHDIRS |
		       LY_CTX_DISABLE_SEARCHDIR_CWD, &ctx))
		return;
	ly_ctx_set_module_imp_clb(ctx, inc_yang_find, NULL);
	if (ly_ctx_load_module(ctx, "ietf-netconf", NULL,
			       (const char **)features) &&
	    ly_ctx_load_module(ctx, "notifications", NULL, NULL) &&
	    ly_ctx_load_module(ctx, "rdma-inc-switch", NULL, NULL))
		shared = ctx;
	else
		ly_ctx_destroy(ctx);
}

/*
 * Get the context of all sessions, which never changes and is never freed.
 * Context: any thread. Returns the context, or NULL: the modules cannot be
 * read.
 */
struct ly_ctx *schema_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_context);
	return shared;
}
