/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NETCONF sessions over UNIX sockets, SSH and TLS. The only file that sets up
 * libnetconf2; its versions differ most there.
 */
#ifndef INC_AGENT_NETCONF_H
#define INC_AGENT_NETCONF_H

#include <stdbool.h>

#include "agent.h"

struct nc_session;
struct nc_server_reply;

/**
 * struct netconf_ops - what the layer above does
 * @rpc: answer a request
 * @closed: a session is about to end
 * @ended: all sessions have, and the YANG modules are about to go
 *
 * Calls do not overlap.
 */
struct netconf_ops {
	struct nc_server_reply	*(*rpc)(struct lyd_node *rpc,
					struct nc_session *session);
	void			(*closed)(struct nc_session *session);
	void			(*ended)(void);
};

/**
 * struct netconf_user - who may log in over SSH
 * @name: user name
 * @key: file with the public key
 * @reader: may look only
 */
struct netconf_user {
	const char	*name;
	const char	*key;
	bool		reader;
};

/**
 * struct netconf_ssh - an SSH endpoint
 * @addr: address
 * @port: port
 * @hostkey: file with the private key (PEM)
 * @users: who may log in
 * @nusers: how many
 */
struct netconf_ssh {
	const char			*addr;
	uint16_t			port;
	const char			*hostkey;
	const struct netconf_user	*users;
	unsigned int			nusers;
};

/**
 * struct netconf_tls - a TLS endpoint
 * @addr: address
 * @port: port
 * @cert: file with the switch's certificate (PEM)
 * @key: file with its private key (PEM)
 * @ca: file with the certificate of the clients' authority (PEM)
 * @crl: file with its list of revoked certificates (PEM), or NULL
 */
struct netconf_tls {
	const char	*addr;
	uint16_t	port;
	const char	*cert;
	const char	*key;
	const char	*ca;
	const char	*crl;
};

int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions);
int netconf_listen_unix(const char *path, unsigned int mode);
void netconf_unlisten(void);
int netconf_listen_remote(const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls);
bool netconf_serves(const struct lys_module *mod);
bool netconf_revoked(const struct nc_session *s);
bool netconf_may_change(const struct nc_session *s);
void netconf_reload(void);
int netconf_start(void);
void netconf_stop(struct agent *a);
int netconf_kill(uint32_t id, uint32_t by);
void netconf_wake(const struct nc_session *s);
void netconf_lock(void);
void netconf_unlock(void);

#endif /* INC_AGENT_NETCONF_H */
