/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a client of an aggregation manager tells TLS, and people if that fails.
 */
#ifndef INC_AUTH_HINT_H
#define INC_AUTH_HINT_H

#include "auth/client.h"
#include "tls/tls.h"

struct inc_tls_how auth_tls(const struct auth_client *a);
const char *auth_hint(const struct auth_client *a);

#endif /* INC_AUTH_HINT_H */
