/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * OpenSSL's objections to a certificate or a peer, in words.
 */
#ifndef INC_AUTH_VERIFY_H
#define INC_AUTH_VERIFY_H

#include <stddef.h>

const char *inc_auth_verify(long result, const char *ca, const char *name,
			    char *text, size_t len);
const char *inc_auth_alert(int reason);
const char *inc_auth_broken(unsigned long code, char *text, size_t len);

#endif /* INC_AUTH_VERIFY_H */
