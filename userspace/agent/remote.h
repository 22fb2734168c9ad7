/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Endpoints that other hosts reach, by SSH and TLS, and what their users may do.
 */
#ifndef INC_AGENT_REMOTE_H
#define INC_AGENT_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ly_ctx;
struct nc_session;

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

int remote_config(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls, unsigned int login_s);
void remote_reload(void);
void remote_free(void);
void remote_expires(char *buf, size_t len);
bool remote_admits(const struct nc_session *s);
bool remote_revoked(const struct nc_session *s);
bool remote_may_change(const struct nc_session *s);

#endif /* INC_AGENT_REMOTE_H */
