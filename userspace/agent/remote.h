/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Endpoints that other hosts reach, by SSH and TLS, and what their users may do.
 */
#ifndef INC_AGENT_REMOTE_H
#define INC_AGENT_REMOTE_H

#include "netconf.h"

int remote_config(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls, unsigned int login_s);
void remote_reload(void);
void remote_free(void);
void remote_expires(char *buf, size_t len);
bool remote_admits(const struct nc_session *s);
bool remote_revoked(const struct nc_session *s);
bool remote_may_change(const struct nc_session *s);

#endif /* INC_AGENT_REMOTE_H */
