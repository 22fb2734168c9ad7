// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See hint.h.
 */
#include <stdbool.h>
#include <string.h>

#include "rpc/hint.h"

/* INC_SERVER is the prefix for inc-tool serve, INC_AM for inc-amd. */
static bool is_serve(const struct auth_client *a)
{
	return a->prefix && !strcmp(a->prefix, "INC_SERVER");
}

/*
 * Get TLS parameters for a coordinator. Returns files and words; without @ca no
 * TLS.
 * @a: the client's credentials, which must outlive the result
 */
struct inc_tls_how am_tls(const struct auth_client *a)
{
	static const struct inc_tls_words manager = {
		.peer	= "the manager",
		.cert	= "INC_AM_CERT",
		.plain	= "is this the port of inc-amd? If it is without TLS, unset INC_AM_CA and INC_AM_CERTS",
	}, serve = {
		.peer	= "the rendezvous daemon",
		.cert	= "INC_SERVER_CERT",
		.plain	= "does it speak TLS? If it does not, unset INC_SERVER_CA and INC_SERVER_CERTS",
	};

	return (struct inc_tls_how) {
		.ca = a->ca, .cert = a->cert, .key = a->key,
		.alpn = "h2", .words = is_serve(a) ? &serve : &manager,
	};
}

static const char *serve_hint(const struct auth_client *a)
{
	if (a->cert)
		return "; does inc-tool serve speak TLS, and accept this certificate (INC_SERVER_CERT)? Is it still valid?";
	if (a->token)
		return "; does inc-tool serve take tokens (--tokens)?";
	if (a->ca)
		return "; no certificate and no token were shown: is there a cert.pem in the directory of INC_SERVER_CERTS?";
	return "; if inc-tool serve speaks TLS, set INC_SERVER_CA or INC_SERVER_CERTS, see libinc(7)";
}

/*
 * Suggest why a coordinator may have ended a connection at once. Returns text
 * to follow the words of @fault; empty: no idea.
 */
const char *am_hint(const struct auth_client *a, enum fault fault)
{
	if (fault != FAULT_CUT && fault != FAULT_BARE)
		return "";
	if (is_serve(a))
		return serve_hint(a);
	if (a->cert)
		return "; is this the port of inc-amd, with TLS, and does it accept this certificate (INC_AM_CERT)? Is it still valid?";
	if (a->token)
		return "; does the manager take tokens (--tokens of inc-amd)?";
	if (a->ca)
		return "; no certificate and no token were shown: is there a cert.pem in the directory of INC_AM_CERTS?";
	return "; is this the port of inc-amd? If it wants TLS or a token, set INC_AM_CERTS or INC_AM_TOKEN, see inc-amctl(8)";
}
