/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How a client proves who it is, from the environment: to an
 * aggregation manager, for libinc-am and inc-amctl, or to a rendezvous daemon,
 * for libinc.
 */
#ifndef INC_AUTH_CLIENT_H
#define INC_AUTH_CLIENT_H

#include <stddef.h>

/**
 * struct auth_client - what a client has
 * @prefix: how the names of the variables begin that say it
 * @ca: file: certificate of the server's authority; NULL: no TLS
 * @cert: file: its own certificate, or NULL
 * @key: file: and its private key
 * @token: or NULL
 */
struct auth_client {
	const char *prefix;
	char	*ca;
	char	*cert;
	char	*key;
	char	*token;
};

int inc_auth_read(struct auth_client *a, const char *prefix, char *err,
		  size_t err_len);
void inc_auth_free(struct auth_client *a);
char *inc_auth_file(const char *path, char *err, size_t err_len);

#endif /* INC_AUTH_CLIENT_H */
