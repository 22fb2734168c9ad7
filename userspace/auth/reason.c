// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reason.h. gRPC passes on what the system, OpenSSL and c-ares say, with words
 * and numbers of its own around it.
 */
#include <stdio.h>
#include <string.h>

#include "auth/reason.h"

/* What gRPC says of a server that speaks something else, whatever its status. */
static const char *const strangers[] = {
	"http1.x server", "Failed parsing HTTP/2", "SETTINGS frame",
	"http2 header with status", "Stream removed", "nknown service",
};

/* The first that fits; %s is the server's program. */
static const struct {
	const char	*text;
	const char	*means;
	bool		cut;	/* it has ended the connection */
} meanings[] = {
	{ "Connection refused", "the connection is refused: is %s running there, and with this --listen?", false },
	{ "UNKNOWN: unix:", "there is no such socket: is %s running there, and with this --listen?", false },
	{ "VERIFY_FAILED", "its certificate cannot be verified", false },
	{ "WRONG_VERSION_NUMBER", "it speaks no TLS", false },
	{ "DNS resolution failed", "there is no host of this name", false },
	{ "C-ares", "there is no host of this name", false },
	{ "No route to host", "no route to this host: is it up?", false },
	{ "Network is unreachable", "the network of this host cannot be reached", false },
	{ "Connection timed out", "the host does not answer: is it up, and the port not filtered?", false },
	{ "Deadline Exceeded", "it does not answer in time", false },
	{ "keepalive watchdog", "it does not answer any more", false },
	{ "Socket closed", "it has ended the connection", true },
	{ "Connection reset", "it has ended the connection", true },
	{ "Broken pipe", "it has ended the connection", true },
	{ "Endpoint ", "it has ended the connection", true },
	{ "andshake", "it has ended the connection while TLS began", true },
};

/**
 * inc_auth_was_cut() - did the server end the connection, without saying why?
 * @why: gRPC's text of a call's status
 *
 * So does one that wants TLS, or another certificate. One that cannot be
 * reached, or says why it refuses, is another matter.
 *
 * Return: true if so.
 */
bool inc_auth_was_cut(const char *why)
{
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].cut && strstr(why, meanings[i].text))
			return true;
	return false;
}

/**
 * inc_auth_is_stranger() - is it another server than the one that was looked for?
 * @why: gRPC's text of a call's status
 *
 * Return: true if so.
 */
bool inc_auth_is_stranger(const char *why)
{
	size_t i;

	for (i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		if (strstr(why, strangers[i]))
			return true;
	return false;
}

/**
 * inc_auth_unverified() - was the server's certificate what failed?
 * @why: gRPC's text of a call's status
 *
 * Return: true if so.
 */
bool inc_auth_unverified(const char *why)
{
	return strstr(why, "VERIFY_FAILED") || strstr(why, "handshake");
}

/**
 * inc_auth_words() - replace a library's text by what it means
 * @why: gRPC's text of a call's status; left alone if it is not known
 * @len: size of @why in bytes
 * @server: the program that should be there
 *
 * Only for errors of the way there: a server's own text must not be replaced.
 */
void inc_auth_words(char *why, size_t len, const char *server)
{
	const char *means, *at;
	size_t i;

	if (inc_auth_is_stranger(why)) {
		snprintf(why, len, "what listens there speaks something else: is this the port of %s?",
			 server);
		return;
	}
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (strstr(why, meanings[i].text))
			break;
	if (i == sizeof(meanings) / sizeof(meanings[0])) {
		if (!why[0])
			snprintf(why, len, "it gives no reason");
		return;
	}
	means = meanings[i].means;
	at = strstr(means, "%s");
	if (at)
		snprintf(why, len, "%.*s%s%s", (int)(at - means), means, server,
			 at + 2);
	else
		snprintf(why, len, "%s", means);
}
