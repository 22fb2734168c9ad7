/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses as people write them, and whether they are of this host.
 */
#ifndef INC_AUTH_ADDRESS_H
#define INC_AUTH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

int inc_auth_address(const char *server, char *host, size_t len, int *port);
bool inc_auth_host(const char *server, char *host, size_t len);
bool inc_auth_is_loopback(const char *server);
bool inc_auth_peer_is_loopback(int fd);

#endif /* INC_AUTH_ADDRESS_H */
