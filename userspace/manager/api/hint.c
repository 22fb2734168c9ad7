// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See hint.h.
 */
#include "api/hint.h"

/**
 * am_tls() - get what TLS with a manager needs
 * @a: what the client has; has to stay
 *
 * Return: files and words; without @ca no TLS.
 */
struct inc_tls_how am_tls(const struct auth_client *a)
{
	static const struct inc_tls_words words = {
		.peer	= "the manager",
		.cert	= "INC_AM_CERT",
		.plain	= "is this the port of inc-amd? If it is without TLS, unset INC_AM_CA and INC_AM_CERTS",
	};

	return (struct inc_tls_how) {
		.ca = a->ca, .cert = a->cert, .key = a->key,
		.alpn = "h2", .words = &words,
	};
}

/**
 * am_hint() - say what may help with a manager that ends a connection at once
 * @a: what the client has
 * @fault: what has happened
 *
 * Return: text, which follows that of @fault; empty: nothing is known.
 */
const char *am_hint(const struct auth_client *a, enum fault fault)
{
	if (fault != FAULT_CUT && fault != FAULT_BARE)
		return "";
	if (a->cert)
		return "; is this the port of inc-amd, with TLS, and does it accept this certificate (INC_AM_CERT)? Is it still valid?";
	if (a->token)
		return "; does the manager take tokens (--tokens of inc-amd)?";
	if (a->ca)
		return "; no certificate and no token were shown: is there a cert.pem in the directory of INC_AM_CERTS?";
	return "; is this the port of inc-amd? If it wants TLS or a token, set INC_AM_CERTS or INC_AM_TOKEN, see inc-amctl(8)";
}
