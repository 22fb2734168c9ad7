// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What OpenSSL calls an error, which libnetconf2 takes for granted.
 *
 * libnetconf2 3.7.1 asks for the length of the text that it gets, and there is none
 * for an error of the system or an alert that OpenSSL does not know: a client with
 * a TLS session could end the program. The program's function comes before
 * OpenSSL's for libnetconf2, too. crowd.py fails without this.
 */
#include <dlfcn.h>
#include <stddef.h>

#include <openssl/err.h>

/* OpenSSL's, but it always has a text. Returns the text, never NULL. */
const char *ERR_reason_error_string(unsigned long e)
{
	const char *(*original)(unsigned long e) = NULL;
	const char *text;

	*(void **)&original = dlsym(RTLD_NEXT, "ERR_reason_error_string");
	text = original ? original(e) : NULL;
	return text ? text : "unknown error";
}
