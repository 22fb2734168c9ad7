// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Faults between a client and a server, in words for people.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "auth/resolve.h"
#include "http2/fault.h"

/* %s is the server's program. */
static const char *const words[] = {
	[FAULT_NO_SOCKET] = "there is no such socket: is %s running there, and does it listen at this path?",
	[FAULT_REFUSED]	= "the connection is refused: is %s running there, and does it listen at this address?",
	[FAULT_NO_ROUTE] = "no route to this host: is it up?",
	[FAULT_NO_NETWORK] = "no route to its network from here: see ip route; an IPv6 address needs IPv6",
	[FAULT_SILENT]	= "the host does not answer: is it up, and the port not filtered?",
	[FAULT_LATE]	= "it does not answer in time",
	[FAULT_DEAD]	= "it does not answer any more",
	[FAULT_CUT]	= "it has ended the connection",
	[FAULT_LOST]	= "it has ended the connection",
	[FAULT_STRANGER] = "what listens there speaks something else: is this the port of %s?",
	[FAULT_UNTRIED]	= "there was no time left to try it",
	[FAULT_NO_ADDRESS] = "that is no HOST, HOST:PORT or [ADDRESS]:PORT, with a port of at most 65535; a link-local address needs its interface, fe80::1%eth0",
	[FAULT_PATH]	= "only TCP shows %s the address of this host: give HOST or HOST:PORT",
};

/* Translate an errno value of connecting into a fault. */
enum fault inc_fault_of(int err)
{
	static const struct {
		int		err;
		enum fault	fault;
	} faults[] = {
		{ ENXIO, FAULT_NO_HOST },
		{ ENONET, FAULT_NO_NAMES },
		{ ENOENT, FAULT_NO_SOCKET },
		{ ECONNREFUSED, FAULT_REFUSED },
		{ EHOSTUNREACH, FAULT_NO_ROUTE },
		{ ENETUNREACH, FAULT_NO_NETWORK },
		{ ETIMEDOUT, FAULT_SILENT },
		{ ECANCELED, FAULT_UNTRIED },
		{ EINVAL, FAULT_NO_ADDRESS },
		{ EPROTOTYPE, FAULT_PATH },
	};
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i].err == err)
			return faults[i].fault;
	return FAULT_SYSTEM;
}

/*
 * Describe a fault to people.
 * @fault: any but FAULT_NONE, FAULT_TLS and FAULT_BARE
 * @len: size of @text in bytes
 */
void inc_fault_words(enum fault fault, int err, const char *server, char *text,
		 size_t len)
{
	const char *w, *at;

	if (fault == FAULT_NO_HOST || fault == FAULT_NO_NAMES)
		w = inc_resolve_why(fault == FAULT_NO_HOST ? EAI_NONAME :
							     EAI_AGAIN);
	else
		w = fault == FAULT_SYSTEM ? strerror(err) : words[fault];
	at = fault == FAULT_SYSTEM ? NULL : strstr(w, "%s");
	if (at)
		snprintf(text, len, "%.*s%s%s", (int)(at - w), w, server,
			 at + 2);
	else
		snprintf(text, len, "%s", w);
}
