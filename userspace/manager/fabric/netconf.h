/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The NETCONF client, so far as the manager needs one. Only netconf.c knows the
 * library. A session may be used by one thread at a time.
 */
#ifndef INC_MANAGER_NETCONF_H
#define INC_MANAGER_NETCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libyang/libyang.h>

#include "fabric/dial.h"

int netconf_target_parse(struct netconf_target *t, const char *text);
int netconf_target_cmp(const struct netconf_target *a,
		       const struct netconf_target *b);
struct sw_session *netconf_open(const struct netconf_target *t, char *err);
void netconf_close(struct sw_session *n);
int netconf_fd(const struct sw_session *n);
int netconf_edit(struct sw_session *n, const char *config, char *err);
const char *netconf_error_path(const struct sw_session *n);
int netconf_act(struct sw_session *n, const char *action, char *err);
int netconf_get(struct sw_session *n, const char *filter,
		struct lyd_node **data, char *err);
void netconf_free(struct lyd_node *data);
int netconf_subscribe(struct sw_session *n, char *err);
int netconf_notif(struct sw_session *n, int timeout_ms,
		  struct lyd_node **notif);


#endif /* INC_MANAGER_NETCONF_H */
