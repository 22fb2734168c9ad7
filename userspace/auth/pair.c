// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See pair.h. gRPC takes any texts, and then says that it has no address.
 */
#include <openssl/err.h>
#include <openssl/pem.h>

#include "auth/files.h"
#include "auth/pair.h"

/**
 * inc_auth_cert() - parse a certificate
 * @pem: text
 *
 * Return: certificate, for X509_free(), or NULL.
 */
X509 *inc_auth_cert(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	ERR_clear_error();
	BIO_free(bio);
	return cert;
}

/**
 * inc_auth_is_pair() - ask whether a private key is a certificate's
 * @cert_pem: text of the certificate
 * @key_pem: text of the key; without a password
 *
 * Return: true if so; false also if one of them is none.
 */
bool inc_auth_is_pair(const char *cert_pem, const char *key_pem)
{
	X509 *cert = inc_auth_cert(cert_pem);
	BIO *bio = BIO_new_mem_buf(key_pem, -1);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL,
						      inc_auth_no_password,
						      NULL) : NULL;
	bool good = cert && key && X509_check_private_key(cert, key) == 1;

	ERR_clear_error();
	EVP_PKEY_free(key);
	BIO_free(bio);
	X509_free(cert);
	return good;
}
