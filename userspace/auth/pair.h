/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Certificates and their private keys, as texts (PEM).
 */
#ifndef INC_AUTH_PAIR_H
#define INC_AUTH_PAIR_H

#include <openssl/x509.h>
#include <stdbool.h>

X509 *inc_auth_cert(const char *pem);
bool inc_auth_is_pair(const char *cert_pem, const char *key_pem);

#endif /* INC_AUTH_PAIR_H */
