/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses as people write them, and whether they are on this host, or on the
 * same one.
 */
#ifndef INC_AUTH_ADDRESS_H
#define INC_AUTH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

struct in6_addr;
struct sockaddr;

int inc_auth_address(const char *server, char *host, size_t len, int *port);
const char *inc_auth_path(const char *server);
bool inc_auth_host(const char *server, char *host, size_t len);
bool inc_auth_is_loopback(const char *server);
bool inc_auth_peer_is_loopback(int fd);
void inc_auth_host_key(const void *addr, size_t len, struct in6_addr *key);
void inc_auth_peer_key(const struct sockaddr *peer, struct in6_addr *key);

#endif /* INC_AUTH_ADDRESS_H */
