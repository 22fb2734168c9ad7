/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The keys and certificates of SSH and TLS, and what their users may do.
 */
#ifndef INC_AGENT_REMOTE_H
#define INC_AGENT_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct inc_tls;
struct session;
struct ssh_key_struct;
struct ssh_session_struct;

/**
 * struct netconf_user - a user of SSH
 * @name: user name
 * @key: file with the public key
 * @reader: the user may only read
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
 * @users: users who may log in
 * @nusers: number of @users
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
 * @crl: file with that authority's revocation list (PEM), or NULL
 */
struct netconf_tls {
	const char	*addr;
	uint16_t	port;
	const char	*cert;
	const char	*key;
	const char	*ca;
	const char	*crl;
};

int remote_config(struct agent *a, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls);
void remote_reload(struct agent *a);
void remote_free(struct agent *a);
void remote_expires(const struct agent *a, char *buf, size_t len);
struct inc_tls *remote_tls(struct agent *a, int fd);
struct ssh_session_struct *remote_ssh(struct agent *a, int fd);
bool remote_knows(struct agent *a, const char *user,
		  struct ssh_key_struct *key, bool *may_change);
bool remote_admits(struct session *s);
bool remote_revoked(const struct session *s);

#endif /* INC_AGENT_REMOTE_H */
