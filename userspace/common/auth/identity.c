// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See identity.h.
 */
#include <errno.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "auth/expiry.h"
#include "auth/identity.h"

static const char *const roles[] = {
	[ROLE_NONE]	= "none",
	[ROLE_CLIENT]	= "client",
	[ROLE_OPERATOR]	= "operator",
	[ROLE_ADMIN]	= "admin",
};

/* Get a role's name. */
const char *role_name(enum role role)
{
	return roles[role];
}

static enum role parse_role(const char *text)
{
	int role;

	for (role = ROLE_CLIENT; role <= ROLE_ADMIN; role++)
		if (!strcmp(text, roles[role]))
			return (enum role)role;
	return ROLE_NONE;
}

static bool name_is_valid(const char *name)
{
	size_t n;

	for (n = 0; name[n]; n++)
		if (name[n] <= ' ' || name[n] > '~')
			return false;
	return n < IDENTITY_LEN;
}

/*
 * Make an identity from its parts. Returns 0 or -EINVAL.
 * @tenant: tenant, may be empty
 * @err_len: size of @err in bytes
 */
int identity_set(struct identity *id, const char *name, const char *tenant,
		 const char *role, char *err, size_t err_len)
{
	*id = (struct identity) { .role = parse_role(role) };
	if (!*name || !name_is_valid(name)) {
		snprintf(err, err_len, "the name must have 1 to %d printable ASCII characters, without spaces",
			 IDENTITY_LEN - 1);
		return -EINVAL;
	}
	if (!name_is_valid(tenant)) {
		snprintf(err, err_len, "the tenant may have %d printable ASCII characters at most, without spaces",
			 IDENTITY_LEN - 1);
		return -EINVAL;
	}
	if (id->role == ROLE_NONE) {
		snprintf(err, err_len, "role \"%.32s\": must be client, operator or admin",
			 role);
		return -EINVAL;
	}
	memcpy(id->name, name, strlen(name) + 1);
	memcpy(id->tenant, tenant, strlen(tenant) + 1);
	return 0;
}

/* Get an attribute of a subject. Returns false if repeated or too long. */
static bool get_attribute(const X509_NAME *subject, int nid, char *text,
			  size_t len)
{
	int at = X509_NAME_get_index_by_NID(subject, nid, -1);
	const ASN1_STRING *value;
	unsigned char *utf8;
	int n;

	*text = '\0';
	if (at < 0)
		return true;
	if (X509_NAME_get_index_by_NID(subject, nid, at) >= 0)
		return false;
	value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
	n = ASN1_STRING_to_UTF8(&utf8, value);
	if (n < 0)
		return false;
	/* A zero byte would hide the rest. */
	if ((size_t)n >= len || memchr(utf8, 0, (size_t)n)) {
		OPENSSL_free(utf8);
		return false;
	}
	memcpy(text, utf8, (size_t)n);
	text[n] = '\0';
	OPENSSL_free(utf8);
	return true;
}

/*
 * Make an identity from a verified certificate. Returns 0 or -EINVAL.
 * @id: result: CN is the name, O the tenant, OU the role
 * @err_len: size of @err in bytes
 */
int identity_of_cert(struct identity *id, const X509 *cert, char *err,
		     size_t err_len)
{
	char name[IDENTITY_LEN], tenant[IDENTITY_LEN], role[IDENTITY_LEN];
	const X509_NAME *subject = X509_get_subject_name(cert);
	char text[128];
	bool valid;
	int ret;

	valid = get_attribute(subject, NID_commonName, name, sizeof(name)) &&
		get_attribute(subject, NID_organizationName, tenant,
			      sizeof(tenant)) &&
		get_attribute(subject, NID_organizationalUnitName, role,
			      sizeof(role));
	if (!valid) {
		snprintf(err, err_len, "the client's certificate: CN, O and OU must appear once, with at most %d bytes",
			 IDENTITY_LEN - 1);
		return -EINVAL;
	}
	ret = identity_set(id, name, tenant, role, text, sizeof(text));
	id->expires = inc_auth_expiry(cert);
	if (ret)
		snprintf(err, err_len, "the client's certificate (CN: name, O: tenant, OU: role): %s",
			 text);
	return ret;
}

/*
 * Get the name of a switch's agent from its verified certificate. Returns 0 or
 * -EINVAL: the OU is not "agent", or the CN is no name.
 * @name: result: the CN, of IDENTITY_LEN bytes
 */
int identity_of_agent(char *name, const X509 *cert)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	char role[IDENTITY_LEN];

	return get_attribute(subject, NID_commonName, name, IDENTITY_LEN) &&
	       get_attribute(subject, NID_organizationalUnitName, role,
			     sizeof(role)) &&
	       *name && name_is_valid(name) && !strcmp(role, "agent") ?
	       0 : -EINVAL;
}
