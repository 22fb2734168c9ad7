// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See peer.h.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "rpc/peer.h"

/*
 * Parse the address of a gRPC client. Returns false if it has no IP address.
 * @addr: result; an IPv4-mapped IPv6 address becomes IPv4
 */
bool addr_of_peer(const char *peer, struct inc_rdv_addr *addr)
{
	const char *from = strchr(peer, ':'), *to = strrchr(peer, ':');
	char text[INET6_ADDRSTRLEN + 8];

	if (!from || from == to)
		return false;
	from++;
	if (!strncmp(from, "%5B", 3))
		from += 3, to -= 3;
	else if (*from == '[')
		from++, to--;
	if (to <= from)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(to - from), from);
	/* A zone does not tell where the host is. */
	text[strcspn(text, "%")] = '\0';
	return !inc_rdv_addr_parse(text, addr);
}
