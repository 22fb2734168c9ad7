// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The YANG modules are part of the program: its code was written for these, not
 * for others of the same name. OWN_YANG and NETCONF_YANG are the folders of the
 * agent's modules and of libnetconf2's.
 */
#include <stddef.h>
#include <string.h>

#include "netconf/modules.h"

#define EMBED(name, file)					\
	__asm__(".section .rodata\n"				\
		"yang_" #name ":\n"				\
		".incbin \"" file "\"\n"			\
		".byte 0\n.previous\n");			\
	extern const char yang_##name[]				\
		__attribute__((visibility("hidden")))

EMBED(switch, OWN_YANG "/rdma-inc-switch.yang");
EMBED(attributes, OWN_YANG "/rdma-inc-attributes.yang");
EMBED(notifications, OWN_YANG "/notifications.yang");
EMBED(nc_notifications, OWN_YANG "/nc-notifications.yang");
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
	{ "nc-notifications", yang_nc_notifications },
	{ "ietf-netconf", yang_netconf },
	{ "ietf-netconf-acm", yang_acm },
	{ "ietf-netconf-monitoring", yang_monitoring },
};

/*
 * Find a module's text, as libyang's ly_module_imp_clb. Context: any thread.
 * Returns LY_SUCCESS, or LY_ENOTFOUND: libyang then looks in a folder, if there
 * is one.
 * @free_text: result: NULL, as nothing is to be freed
 */
LY_ERR inc_yang_find(const char *name, const char *revision, const char *sub,
		     const char *sub_revision, void *ctx, LYS_INFORMAT *format,
		     const char **text, ly_module_imp_data_free_clb *free_text)
{
	size_t i;

	for (i = 0; !sub && i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strcmp(modules[i].name, name)) {
			*format = LYS_IN_YANG;
			*text = modules[i].text;
			*free_text = NULL;
			return LY_SUCCESS;
		}
	return LY_ENOTFOUND;
}
