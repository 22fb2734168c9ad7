/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Ends connections that do not become sessions in time, for which libnetconf2
 * would wait a minute, and the oldest ones where too many log in at once.
 */
#ifndef INC_AGENT_LOGINS_H
#define INC_AGENT_LOGINS_H

#include <stdint.h>

struct nc_session;

/* Logins by SSH and TLS at a time. */
#define LOGINS_MAX	32

void logins_init(uint16_t ssh, uint16_t tls, unsigned int limit_ms);
void logins_check(uint64_t now);
int logins_done(const struct nc_session *s);

#endif /* INC_AGENT_LOGINS_H */
