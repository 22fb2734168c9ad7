// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses that the manager accepts. The switch sends results to the address
 * that a rank names, so it must be the rank's own: its connection's, which TCP
 * has verified, or one that the operator permits in addition.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "manager.h"

/**
 * addr_of_peer() - understand the address of a gRPC client
 * @peer: "ipv4:ADDRESS:PORT" or "ipv6:%5BADDRESS%5D:PORT"
 * @addr: result; IPv4 that is mapped to IPv6 becomes IPv4
 *
 * Return: false if it is none.
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
	/* A zone says nothing about where the host is. */
	text[strcspn(text, "%")] = '\0';
	return !inc_rdv_addr_parse(text, addr);
}

/**
 * addr_believed() - check the address that a rank names
 * @o: options
 * @peer: its connection's, as gRPC has it
 * @addr: address of its queue pair
 * @err: error message
 * @len: size of @err in bytes
 *
 * Return: false if it is not accepted.
 */
bool addr_believed(const struct amd_options *o, const char *peer,
		   const struct inc_rdv_addr *addr, char *err, size_t len)
{
	char is[INET6_ADDRSTRLEN], says[INET6_ADDRSTRLEN];
	const char *what = inc_rdv_addr_no_host(addr);
	struct inc_rdv_addr own = { 0 };
	bool known = addr_of_peer(peer, &own);

	inc_rdv_addr_str(addr, says, sizeof(says));
	if (what) {
		snprintf(err, len, "address %s is %s: it must be that of the queue pair's GID",
			 says, what);
		return false;
	}
	if ((known && inc_rdv_addr_same(addr, &own)) ||
	    inc_rdv_network_has(o->allow, addr))
		return true;
	snprintf(err, len, "address %s is not that of the connection, %s: use its device and GID (INC_DEV, INC_GID_INDEX), or start inc-amd with --allow %s",
		 says, known ? inc_rdv_addr_str(&own, is, sizeof(is)) : peer,
		 says);
	return false;
}
