// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See creds.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/address.h"
#include "auth/client.h"
#include "auth/reason.h"
#include "base/call.h"
#include "ctl/creds.h"

/* TLS, but nothing that says who the user is. */
static bool nothing_shown;
/* A token, and no certificate. */
static bool token_shown;

/**
 * ctl_creds() - make what proves who the user is
 * @manager: its address
 * @headers: result: headers of each call, room for one
 * @n: their number
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: credentials, or NULL.
 */
grpc_channel_credentials *ctl_creds(const char *manager,
				    grpc_metadata *headers, size_t *n,
				    char *err, size_t err_len)
{
	grpc_channel_credentials *creds = NULL;
	struct auth_client a;
	char *text;

	*n = 0;
	if (inc_auth_read(&a, "INC_AM", err, err_len))
		goto out;
	if (a.token && !a.ca && strncmp(manager, "unix:", 5) &&
	    !inc_auth_is_loopback(manager)) {
		snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
		goto out;
	}
	nothing_shown = a.ca && !a.cert && !a.token;
	token_shown = a.token && !a.cert;
	creds = a.ca ? call_creds(a.ca, a.cert, a.key, err, err_len) :
		grpc_insecure_credentials_create();
	if (creds && a.token && asprintf(&text, "Bearer %s", a.token) > 0) {
		*headers = (grpc_metadata) {
			.key = grpc_slice_from_static_string("authorization"),
			.value = grpc_slice_from_copied_string(text),
		};
		*n = 1;
		free(text);
	}
out:
	inc_auth_free(&a);
	return creds;
}

/* Only errors of the way there: what a manager says is said to the user. */
static bool is_of_the_way(grpc_status_code status, const char *err)
{
	return status == GRPC_STATUS_UNAVAILABLE ||
	       status == GRPC_STATUS_DEADLINE_EXCEEDED ||
	       inc_auth_is_stranger(err);
}

/* What may help; empty: nothing is known. */
static const char *hint(const char *err)
{
	if (inc_auth_unverified(err))
		return "; is the certificate of INC_AM_CA the manager's authority's, its name that of the manager's certificate, and is that valid now?";
	if (!inc_auth_was_cut(err))
		return "";
	if (nothing_shown)
		return "; no certificate and no token were shown: is there a cert.pem in the directory of INC_AM_CERTS?";
	if (token_shown)
		return "; does the manager take tokens (--tokens of inc-amd)?";
	if (secure_getenv("INC_AM_CERT") || secure_getenv("INC_AM_CERTS"))
		return "; does the manager accept this certificate? Is it still valid?";
	if (secure_getenv("INC_AM_CA"))
		return "";
	return "; " AUTH_HINT;
}

/**
 * ctl_explain() - say what a call's failure means, and what may help
 * @status: its status
 * @err: its text, which is replaced if it is a library's
 * @err_len: size of @err in bytes
 */
void ctl_explain(grpc_status_code status, char *err, size_t err_len)
{
	const char *more = status == GRPC_STATUS_UNAVAILABLE ? hint(err) : "";
	size_t len;

	if (is_of_the_way(status, err))
		inc_auth_words(err, err_len, "inc-amd");
	len = strlen(err);
	snprintf(err + len, err_len - len, "%s", more);
}
