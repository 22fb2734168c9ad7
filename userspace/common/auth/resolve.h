/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Names of hosts, for as long as the caller has time: getaddrinfo() waits for name
 * servers that do not answer, for half a minute and more.
 */
#ifndef INC_AUTH_RESOLVE_H
#define INC_AUTH_RESOLVE_H

#include <netdb.h>
#include <stdint.h>

#define INC_RESOLVE_MS	10000	/* as long as the resolver asks one server, twice */

int inc_resolve(const char *host, const char *service, int flags,
		int64_t timeout_ms, struct addrinfo **list);
const char *inc_resolve_why(int ret);

#endif /* INC_AUTH_RESOLVE_H */
