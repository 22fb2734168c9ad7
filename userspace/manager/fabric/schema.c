// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The YANG modules, as part of the program, for all sessions together: an agent
 * is not asked for them, and cannot have others understood. AGENT_YANG and
 * NETCONF_YANG are the folders of the agent's, and of libnetconf2's.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "fabric/schema.h"

#define EMBED(name, file)					\
	__asm__(".section .rodata\n"				\
		"yang_" #name ":\n"				\
		".incbin \"" file "\"\n"			\
		".byte 0\n.previous\n");			\
	extern const char yang_##name[]				\
		__attribute__((visibility("hidden")))

EMBED(switch, AGENT_YANG "/rdma-inc-switch.yang");
EMBED(attributes, AGENT_YANG "/rdma-inc-attributes.yang");
EMBED(notifications, AGENT_YANG "/notifications.yang");
EMBED(netconf, NETCONF_YANG "/ietf-netconf@2013-09-29.yang");
EMBED(acm, NETCONF_YANG "/ietf-netconf-acm@2018-02-14.yang");
EMBED(monitoring, NETCONF_YANG "/ietf-netconf-monitoring@2010-10-04.yang");

static const struct {
	const char	*name;
	const char	*text;
} modules[] = {
	{ "rdma-inc-switch", yang_switch },
	{ "rdma-inc-attributes", yang_attributes },
	{ "notifications", yang_notifications },
	{ "ietf-netconf", yang_netconf },
	{ "ietf-netconf-acm", yang_acm },
	{ "ietf-netconf-monitoring", yang_monitoring },
};

static struct ly_ctx *shared;

static LY_ERR find(const char *name, const char *revision, const char *sub,
		   const char *sub_revision, void *ctx, LYS_INFORMAT *format,
		   const char **text, ly_module_imp_data_free_clb *free_text)
{
	size_t i;

	(void)revision;
	(void)sub_revision;
	(void)ctx;
	for (i = 0; !sub && i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strcmp(modules[i].name, name)) {
			*format = LYS_IN_YANG;
			*text = modules[i].text;
			*free_text = NULL;
			return LY_SUCCESS;
		}
	return LY_ENOTFOUND;
}

static void make(void)
{
	static const char *const features[] = {
		"writable-running", "rollback-on-error", "validate", NULL
	};
	struct ly_ctx *ctx;

	/* It lives for long: messages must not pile up. */
	ly_log_options(LY_LOSTORE_LAST);
	if (ly_ctx_new(NULL, LY_CTX_DISABLE_SEARCHDIRS |
		       LY_CTX_DISABLE_SEARCHDIR_CWD, &ctx))
		return;
	ly_ctx_set_module_imp_clb(ctx, find, NULL);
	if (ly_ctx_load_module(ctx, "ietf-netconf", NULL,
			       (const char **)features) &&
	    ly_ctx_load_module(ctx, "notifications", NULL, NULL) &&
	    ly_ctx_load_module(ctx, "rdma-inc-switch", NULL, NULL))
		shared = ctx;
	else
		ly_ctx_destroy(ctx);
}

/**
 * schema_get() - get the context of all sessions
 *
 * It does not change any more, and is never freed.
 *
 * Context: Any thread.
 * Return: context, or NULL: the modules cannot be read.
 */
struct ly_ctx *schema_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make);
	return shared;
}
