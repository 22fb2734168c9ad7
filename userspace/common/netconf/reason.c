// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * OpenSSL's text for an error, which libnetconf2 takes for granted.
 *
 * libnetconf2 3.7.1 takes the length of the text, but there is no text for a
 * system error, or for an alert that OpenSSL does not know: a client with a TLS
 * session could end the program. The program's function takes precedence over
 * OpenSSL's, even in libnetconf2. crowd.py fails without it.
 */
#include <dlfcn.h>
#include <stddef.h>

#include <openssl/err.h>

/* As OpenSSL's, but always with a text. Returns the text, never NULL. */
const char *ERR_reason_error_string(unsigned long e)
{
	const char *(*original)(unsigned long e) = NULL;
	const char *text;

	*(void **)&original = dlsym(RTLD_NEXT, "ERR_reason_error_string");
	text = original ? original(e) : NULL;
	return text ? text : "unknown error";
}
