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
#include "base/call.h"
#include "ctl/creds.h"

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
	if (a.token && !a.ca && !inc_auth_is_loopback(manager)) {
		snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
		goto out;
	}
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

/**
 * ctl_explain() - say what may help, after a call that has failed
 * @status: its status
 * @err: its text, to which it is appended
 * @err_len: size of @err in bytes
 */
void ctl_explain(grpc_status_code status, char *err, size_t err_len)
{
	size_t len = strlen(err);

	if (status != GRPC_STATUS_UNAVAILABLE)
		return;
	if (strstr(err, "VERIFY_FAILED") || strstr(err, "handshake"))
		snprintf(err + len, err_len - len, "; is the certificate of INC_AM_CA the manager's authority's, and its name that of the manager's certificate?");
	else if (!inc_auth_was_cut(err))
		return;
	else if (secure_getenv("INC_AM_CERT") || secure_getenv("INC_AM_CERTS"))
		snprintf(err + len, err_len - len, "; does the manager accept this certificate? Is it still valid?");
	else if (!secure_getenv("INC_AM_CA") && !secure_getenv("INC_AM_CERTS"))
		snprintf(err + len, err_len - len, "; %s", AUTH_HINT);
}
