/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Certificates and keys that OpenSSL reads from files, for clients and servers.
 */
#ifndef INC_AUTH_FILES_H
#define INC_AUTH_FILES_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * inc_auth_no_password() - refuse to ask for a key's password
 * @buf: unused
 * @size: unused
 * @writing: unused
 * @data: unused
 *
 * A pem_password_cb: OpenSSL's own would ask at the terminal, where nobody is
 * there to type a password.
 *
 * Return: -1.
 */
static inline int inc_auth_no_password(char *buf, int size, int writing,
				       void *data)
{
	return -1;
}

void inc_auth_modes(SSL_CTX *ctx);
int inc_auth_load(SSL_CTX *ctx, const char *ca, const char *cert,
		  const char *key, char *err, size_t err_len);
bool inc_auth_is_of(SSL_CTX *ctx);

#endif /* INC_AUTH_FILES_H */
