/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Names of hosts, resolved within the caller's time: getaddrinfo() waits half a
 * minute and more for name servers that do not answer.
 */
#ifndef INC_AUTH_RESOLVE_H
#define INC_AUTH_RESOLVE_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#define INC_RESOLVE_MS	10000	/* time of the resolver for one server, twice */

struct inc_question;

struct inc_question *inc_question_new(const char *host, const char *service,
				      int family, int flags, int wake);
int inc_question_wait(struct inc_question *q, int64_t timeout_ms,
		      struct addrinfo **list);
void inc_question_leave(struct inc_question *q);
int inc_resolve_number(const char *host, const char *service, int flags,
		       struct addrinfo **list);
int inc_resolve(const char *host, const char *service, int flags,
		int64_t timeout_ms, struct addrinfo **list);
bool inc_resolve_is_none(int ret);
const char *inc_resolve_why(int ret);

#endif /* INC_AUTH_RESOLVE_H */
