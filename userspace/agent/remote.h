/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Endpoints for other hosts, by SSH and TLS, and the rights of their users.
 */
#ifndef INC_AGENT_REMOTE_H
#define INC_AGENT_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ly_ctx;
struct nc_session;

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

int remote_config(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls, unsigned int login_s);
void remote_reload(void);
void remote_free(void);
void remote_expires(char *buf, size_t len);
bool remote_admits(const struct nc_session *s);
bool remote_revoked(const struct nc_session *s);
bool remote_may_change(const struct nc_session *s);

#endif /* INC_AGENT_REMOTE_H */
