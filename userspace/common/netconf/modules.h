/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * YANG modules that are part of the agent and of the manager.
 */
#ifndef INC_NETCONF_MODULES_H
#define INC_NETCONF_MODULES_H

#include <libyang/libyang.h>

LY_ERR inc_yang_find(const char *name, const char *revision, const char *sub,
		     const char *sub_revision, void *ctx, LYS_INFORMAT *format,
		     const char **text, ly_module_imp_data_free_clb *free_text);

#endif /* INC_NETCONF_MODULES_H */
