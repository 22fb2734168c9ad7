/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * TLS parameters of a coordinator's client, and hints for people if TLS fails.
 */
#ifndef INC_MANAGER_HINT_H
#define INC_MANAGER_HINT_H

#include "auth/client.h"
#include "http2/fault.h"
#include "tls/tls.h"

struct inc_tls_how am_tls(const struct auth_client *a);
const char *am_hint(const struct auth_client *a, enum fault fault);

#endif /* INC_MANAGER_HINT_H */
