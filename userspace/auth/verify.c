// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See verify.h.
 */
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#include "auth/verify.h"

/**
 * inc_auth_verify() - say why a peer's certificate is not accepted
 * @result: OpenSSL's result of verifying it
 * @ca: file with the authority's certificate
 * @name: by which the peer was asked for
 * @text: result
 * @len: size of @text in bytes
 *
 * Return: @text, which follows the word "certificate".
 */
const char *inc_auth_verify(long result, const char *ca, const char *name,
			    char *text, size_t len)
{
	switch (result) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		snprintf(text, len, "has expired, or its authority's has: it must be renewed; or this host's clock is wrong");
		break;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		snprintf(text, len, "is not valid yet: is this host's clock right?");
		break;
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		snprintf(text, len, "is not of the authority in %s", ca);
		break;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		snprintf(text, len, "does not name %s: ask by a name that it has, or have that one added",
			 name);
		break;
	case X509_V_ERR_INVALID_PURPOSE:
		snprintf(text, len, "is not one of a server");
		break;
	default:
		snprintf(text, len, "is not accepted: %s",
			 X509_verify_cert_error_string(result));
	}
	return text;
}

/**
 * inc_auth_alert() - say why a peer refuses this side
 * @reason: OpenSSL's reason, of an alert that was received
 *
 * Return: text, or NULL if it does not say why.
 */
const char *inc_auth_alert(int reason)
{
	switch (reason) {
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		return "there is none";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
		return "it has expired, or one of the clocks is wrong";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
		return "it has been revoked";
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
		return "it is not for this use, as an agent's or a server's";
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		return "it is of another authority";
	default:
		return NULL;
	}
}
