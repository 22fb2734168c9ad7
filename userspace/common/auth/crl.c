// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See crl.h. OpenSSL's handshake knows no such list that can be replaced while
 * it is used, so certificates are compared with it afterwards.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/crl.h"
#include "conf/open.h"
#include "auth/stamp.h"

/**
 * struct crl - a certificate revocation list
 * @path: its file
 * @ca: file with the authority that has signed the list
 * @list: OpenSSL's list
 * @file: state of the file when it was read
 */
struct crl {
	char		*path;
	char		*ca;
	X509_CRL	*list;
	struct auth_stamp file;
};

/* Has one of the authority's certificates signed a list? */
static bool is_signed(X509_CRL *list, FILE *ca)
{
	bool found = false;
	X509 *cert;

	while (!found && (cert = PEM_read_X509(ca, NULL, NULL, NULL))) {
		found = !X509_NAME_cmp(X509_get_subject_name(cert),
				       X509_CRL_get_issuer(list)) &&
			X509_CRL_verify(list, X509_get0_pubkey(cert)) == 1;
		X509_free(cert);
	}
	ERR_clear_error();
	return found;
}

/* Is a list older than another one of the same authority? */
static bool is_older(const X509_CRL *list, const X509_CRL *other)
{
	return other && !X509_NAME_cmp(X509_CRL_get_issuer(list),
				       X509_CRL_get_issuer(other)) &&
	       ASN1_TIME_compare(X509_CRL_get0_lastUpdate(list),
				 X509_CRL_get0_lastUpdate(other)) == -1;
}

static const char *judge_list(const struct crl *crl, X509_CRL *list)
{
	const ASN1_TIME *next;
	const char *why;
	bool good;
	FILE *ca;

	if (!list)
		return "is no list of revoked certificates (PEM)";
	ca = inc_open(crl->ca, &why);
	good = ca && is_signed(list, ca);
	if (ca)
		fclose(ca);
	if (!good)
		return "was not signed by the authority of --tls-ca";
	next = X509_CRL_get0_nextUpdate(list);
	if (next && X509_cmp_current_time(next) < 0)
		return "has expired: get a new one (\"inc-am-ca crl\")";
	if (is_older(list, crl->list))
		return "is older than the list that is in use: certificates revoked since would be accepted again";
	return NULL;
}

static X509_CRL *read_list(const struct crl *crl, char *err, size_t err_len)
{
	const char *what;
	FILE *f = inc_open(crl->path, &what);
	X509_CRL *list;

	if (!f) {
		snprintf(err, err_len, "--tls-crl %s: %s", crl->path, what);
		return NULL;
	}
	list = PEM_read_X509_CRL(f, NULL, NULL, NULL);
	ERR_clear_error();
	fclose(f);
	what = judge_list(crl, list);
	if (!what)
		return list;
	snprintf(err, err_len, "--tls-crl %s: %s", crl->path, what);
	X509_CRL_free(list);
	return NULL;
}

/*
 * Read a revocation list. Returns the list, for crl_free(), or NULL.
 * @err_len: size of @err in bytes
 */
struct crl *crl_open(const char *path, const char *ca, char *err,
		     size_t err_len)
{
	struct crl *crl = calloc(1, sizeof(*crl));

	if (crl) {
		crl->path = strdup(path);
		crl->ca = strdup(ca);
	}
	if (!crl || !crl->path || !crl->ca) {
		snprintf(err, err_len, "no memory");
		crl_free(crl);
		return NULL;
	}
	inc_auth_changed(path, &crl->file);
	crl->list = read_list(crl, err, err_len);
	if (crl->list)
		return crl;
	crl_free(crl);
	return NULL;
}

/*
 * Read the list again if its file has changed. Other threads may call
 * crl_revokes() meanwhile. Returns 1: changed; 0: unchanged; -EINVAL, once per
 * change: the new list cannot be used, and the old one still counts.
 * @err_len: size of @err in bytes
 */
int crl_reread(struct crl *crl, X509_CRL **list, char *err, size_t err_len)
{
	if (!inc_auth_changed(crl->path, &crl->file))
		return 0;
	*list = read_list(crl, err, err_len);
	return *list ? 1 : -EINVAL;
}

/* Replace the list in use by one that was read. */
void crl_use(struct crl *crl, X509_CRL *list)
{
	X509_CRL_free(crl->list);
	crl->list = list;
}

/*
 * Read the list again if its file has changed, and use it. Returns as
 * crl_reread().
 * @err_len: size of @err in bytes
 */
int crl_refresh(struct crl *crl, char *err, size_t err_len)
{
	X509_CRL *list;
	int ret = crl_reread(crl, &list, err, err_len);

	if (ret > 0)
		crl_use(crl, list);
	return ret;
}

/* Ask whether a certificate was revoked. Returns true if so. */
bool crl_revokes(const struct crl *crl, const X509 *cert)
{
	X509_REVOKED *entry;

	return !X509_NAME_cmp(X509_get_issuer_name(cert),
			      X509_CRL_get_issuer(crl->list)) &&
	       X509_CRL_get0_by_serial(crl->list, &entry,
				       X509_get0_serialNumber(cert)) == 1;
}

/* Free a list. */
void crl_free(struct crl *crl)
{
	if (!crl)
		return;
	X509_CRL_free(crl->list);
	free(crl->path);
	free(crl->ca);
	free(crl);
}
