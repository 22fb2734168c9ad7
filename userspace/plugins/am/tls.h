/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * TLS between libinc-am's gRPC and the manager. gRPC's own cannot use a
 * connection that exists, which libinc's is.
 */
#ifndef INC_AM_TLS_H
#define INC_AM_TLS_H

#include <stddef.h>

#include "auth/client.h"

struct am_tls;

int am_tls_start(struct am_tls **tls, int tcp, const char *manager,
		 const struct auth_client *auth, int *fd, char *err,
		 size_t err_len);
void am_tls_why(struct am_tls *tls, char *err, size_t err_len);
void am_tls_stop(struct am_tls *tls);
void am_tls_forked(struct am_tls *tls);

#endif /* INC_AM_TLS_H */
