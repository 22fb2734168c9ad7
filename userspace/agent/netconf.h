/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NETCONF sessions over UNIX sockets, SSH and TLS. Only this file sets up
 * libnetconf2, whose versions differ most there.
 */
#ifndef INC_AGENT_NETCONF_H
#define INC_AGENT_NETCONF_H

#include <stdbool.h>

#include "agent.h"
#include "remote.h"
#include "serve.h"

int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions);
int netconf_listen_unix(const char *path, unsigned int mode);
void netconf_unlisten(void);
int netconf_listen_remote(const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls);
bool netconf_serves(const struct lys_module *mod);
bool netconf_revoked(const struct nc_session *s);
void netconf_reload(void);
int netconf_start(void);
void netconf_stop(struct agent *a);

#endif /* INC_AGENT_NETCONF_H */
