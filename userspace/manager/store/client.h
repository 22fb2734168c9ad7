/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Requests to etcd, and their answers, for etcd.c, which does not know about
 * connections.
 */
#ifndef INC_MANAGER_CLIENT_H
#define INC_MANAGER_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct client;

struct store_security;

struct client *client_open(const char *address,
			   const struct store_security *how, char *err);
void client_close(struct client *s);
int client_call(struct client *s, const char *path, int timeout_ms,
		const uint8_t *in, size_t in_len, uint8_t **out,
		size_t *out_len, char *err);

#endif /* INC_MANAGER_CLIENT_H */
