/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Why a connection has failed, in words: libraries have their own, and numbers.
 */
#ifndef INC_AUTH_REASON_H
#define INC_AUTH_REASON_H

#include <stdbool.h>
#include <stddef.h>

#define AUTH_HINT	"if it wants TLS or a token, set INC_AM_CERTS or INC_AM_TOKEN, see inc-amctl(8)"

bool inc_auth_was_cut(const char *why);
bool inc_auth_is_stranger(const char *why);
bool inc_auth_unverified(const char *why);
void inc_auth_words(char *why, size_t len, const char *server);

#endif /* INC_AUTH_REASON_H */
