/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Credentials of a client, from the environment: for an aggregation manager
 * (libinc-am and inc-amctl), or a rendezvous daemon (libinc).
 */
#ifndef INC_AUTH_CLIENT_H
#define INC_AUTH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct auth_client - credentials of a client
 * @prefix: prefix of their environment variables
 * @ca: file with the certificate of the server's authority; NULL: no TLS
 * @cert: file with the client's certificate, or NULL
 * @key: file with its private key, or NULL
 * @token: token, or NULL
 * @job_key: the caller sends a job's key, too
 */
struct auth_client {
	const char *prefix;
	char	*ca;
	char	*cert;
	char	*key;
	char	*token;
	bool	job_key;
};

int inc_auth_read(struct auth_client *a, const char *prefix, char *err,
		  size_t err_len);
void inc_auth_free(struct auth_client *a);
char *inc_auth_file(const char *path, char *err, size_t err_len);

#endif /* INC_AUTH_CLIENT_H */
