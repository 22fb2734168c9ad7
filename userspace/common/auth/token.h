/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tokens: secrets that stand for a name, a tenant and a role, for clients
 * without a certificate. The server's file has only their digests.
 */
#ifndef INC_AUTH_TOKEN_H
#define INC_AUTH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "auth/identity.h"

struct tokens;

int tokens_parse(struct tokens **tokens, const char *text, size_t len,
		 char *err, size_t err_len);
int tokens_read(struct tokens **tokens, const char *path, char *err,
		size_t err_len);
bool tokens_find(const struct tokens *tokens, const char *secret, size_t len,
		 struct identity *id);
bool tokens_have(const struct tokens *tokens, const struct identity *id);
void tokens_free(struct tokens *tokens);

#endif /* INC_AUTH_TOKEN_H */
