// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See verify.h.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#include "auth/verify.h"

/*
 * Say why a peer's certificate is not accepted. Returns @text, to follow the
 * word "certificate".
 * @ca: file with the authority's certificate, or the option that names it;
 *	NULL: unknown
 * @name: name by which the server was addressed; NULL: the peer is a client
 * @len: size of @text in bytes
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
		snprintf(text, len, "is not of %s%s", ca ?
			 "the authority in " : "an authority that is known here",
			 ca ? ca : "");
		break;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		snprintf(text, len, "does not name %s: ask by a name that it has, or have that one added",
			 name);
		break;
	case X509_V_ERR_INVALID_PURPOSE:
		snprintf(text, len, "is not one of a %s",
			 name ? "server" : "client");
		break;
	case X509_V_ERR_CERT_REVOKED:
		snprintf(text, len, "has been revoked");
		break;
	case X509_V_ERR_UNABLE_TO_GET_CRL:
		snprintf(text, len, "cannot be checked: there is no list of revoked certificates of its authority");
		break;
	case X509_V_ERR_CRL_HAS_EXPIRED:
		snprintf(text, len, "cannot be checked: its authority's list of revoked certificates has expired, and must be renewed");
		break;
	case X509_V_ERR_EE_KEY_TOO_SMALL:
	case X509_V_ERR_CA_KEY_TOO_SMALL:
	case X509_V_ERR_CA_MD_TOO_WEAK:
		snprintf(text, len, "or its authority's has a key or a signature that is too weak: have it made anew");
		break;
	default:
		snprintf(text, len, "is not accepted: %s",
			 X509_verify_cert_error_string(result));
	}
	return text;
}

/*
 * Say why a peer refuses this side. Returns the text, or NULL if the peer does
 * not say why.
 * @reason: OpenSSL's reason for the alert that was received
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
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
		return "it does not have the name that was asked for, or is damaged";
	default:
		return NULL;
	}
}

/*
 * Say why TLS has failed for other reasons than a certificate. Returns @text,
 * to follow the name of the peer.
 * @code: OpenSSL's error; 0: none
 * @len: size of @text in bytes
 */
const char *inc_auth_broken(unsigned long code, char *text, size_t len)
{
	const char *reason = ERR_reason_error_string(code);

	switch (code ? ERR_GET_REASON(code) :
		       SSL_R_UNEXPECTED_EOF_WHILE_READING) {
	case SSL_R_UNEXPECTED_EOF_WHILE_READING:
		snprintf(text, len, "has closed the connection");
		break;
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_HTTPS_PROXY_REQUEST:
		snprintf(text, len, "does not speak it");
		break;
	case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
		snprintf(text, len, "speaks something else over it: is this the right port?");
		break;
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_VERSION_TOO_LOW:
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
		snprintf(text, len, "speaks no version of it that is allowed here");
		break;
	case SSL_R_NO_SHARED_CIPHER:
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
		snprintf(text, len, "and this end have no cipher in common");
		break;
	case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
	case SSL_R_SSLV3_ALERT_BAD_RECORD_MAC:
		snprintf(text, len, "is not understood: bytes were changed on their way");
		break;
	default:
		snprintf(text, len, "is not understood (OpenSSL: %s)",
			 reason ? reason : "it does not say why");
	}
	return text;
}
