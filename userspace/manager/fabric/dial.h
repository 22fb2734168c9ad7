/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connections to agents, over UNIX sockets, SSH and TLS, and the agents' own.
 */
#ifndef INC_MANAGER_DIAL_H
#define INC_MANAGER_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/session.h"

struct carrier;
struct inc_tls;

/**
 * struct netconf_target - where a switch's agent listens
 * @path: UNIX socket; empty: SSH or TLS
 * @tls: TLS, not SSH
 * @calls: the agent calls; @host is what its certificate names
 * @user: SSH: user
 * @host: SSH, TLS: host
 * @port: SSH, TLS: port
 * @key: SSH: file with the private key; empty: none
 * @cert: TLS: file with the manager's certificate
 * @cert_key: TLS: and its private key
 * @ca: TLS: file with the authority of the agents' certificates
 * @known_hosts: SSH: file with the hosts' keys; empty: any key is accepted
 */
struct netconf_target {
	char		path[108];
	bool		tls;
	bool		calls;
	char		user[64];
	char		host[256];
	uint16_t	port;
	char		key[256];
	char		known_hosts[256];
	const char	*cert;
	const char	*cert_key;
	const char	*ca;
};

int dial(const struct netconf_target *t, struct carrier *c, int64_t until,
	 char *err);
const char *dial_why(const struct netconf_target *t);
void dial_keep(const char *id, int fd, struct inc_tls *tls);

#endif /* INC_MANAGER_DIAL_H */
