/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Identity of a caller, from its certificate or token.
 */
#ifndef INC_AUTH_IDENTITY_H
#define INC_AUTH_IDENTITY_H

#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_LEN	64

/**
 * enum role - rights of a caller
 * @ROLE_NONE: nothing
 * @ROLE_CLIENT: join and see groups of its tenant, reserve room for these
 * @ROLE_OPERATOR: all calls of a manager, for any tenant
 * @ROLE_ADMIN: the same at a manager
 *
 * Each role includes the ones before it. Only agents tell the last two apart:
 * an operator's certificate lets its owner look at a switch, an administrator's
 * lets it change the switch, too (agent/rpc.c has the operations).
 */
enum role {
	ROLE_NONE,
	ROLE_CLIENT,
	ROLE_OPERATOR,
	ROLE_ADMIN,
};

/**
 * struct identity - a caller
 * @name: name; "anonymous" if the server needs no proof of identity
 * @tenant: tenant; empty: none
 * @role: role
 * @expires: when its certificate expires, seconds since 1970; 0: no certificate
 * @token: beginning of its token's digest; 0: no token
 *
 * Names have printable ASCII characters, and no spaces.
 */
struct identity {
	char		name[IDENTITY_LEN];
	char		tenant[IDENTITY_LEN];
	enum role	role;
	int64_t		expires;
	uint64_t	token;
};

const char *role_name(enum role role);
int identity_of_agent(char *name, const X509 *cert);
int identity_set(struct identity *id, const char *name, const char *tenant,
		 const char *role, char *err, size_t err_len);
int identity_of_cert(struct identity *id, const X509 *cert, char *err,
		     size_t err_len);

#endif /* INC_AUTH_IDENTITY_H */
