// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses that the manager accepts. The switch sends results to the address
 * that a rank names, so it must be the rank's own: that of its connection,
 * which TCP has verified, or one that the operator permits in addition.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"

/**
 * network_parse() - understand a network
 * @net: result
 * @text: "ADDRESS" or "ADDRESS/PREFIX"
 *
 * Return: false if it is none.
 */
bool network_parse(struct network *net, const char *text)
{
	const char *slash = strchr(text, '/');
	char addr[INET6_ADDRSTRLEN], *end;
	unsigned long bits;

	snprintf(addr, sizeof(addr), "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	if (inc_rdv_addr_parse(addr, &net->addr))
		return false;
	net->bits = net->addr.len * 8;
	if (!slash)
		return true;
	bits = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || slash[1] == '-' || bits > net->bits)
		return false;
	net->bits = (unsigned int)bits;
	return true;
}

/**
 * addr_same() - compare two addresses
 * @a: address
 * @b: address
 *
 * Return: true if they are the same.
 */
bool addr_same(const struct inc_rdv_addr *a, const struct inc_rdv_addr *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static bool within(const struct inc_rdv_addr *addr, const struct network *net)
{
	unsigned int bytes = net->bits / 8;
	uint8_t mask = (uint8_t)(0xff00 >> net->bits % 8);

	return addr->len == net->addr.len &&
	       !memcmp(addr->bytes, net->addr.bytes, bytes) &&
	       !((addr->bytes[bytes % 16] ^ net->addr.bytes[bytes % 16]) &
		 mask);
}

/**
 * addr_of_peer() - understand the address of a gRPC client
 * @peer: "ipv4:ADDRESS:PORT" or "ipv6:%5BADDRESS%5D:PORT"
 * @addr: result; IPv4 that is mapped to IPv6 becomes IPv4
 *
 * Return: false if it is none.
 */
bool addr_of_peer(const char *peer, struct inc_rdv_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
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
	if (inc_rdv_addr_parse(text, addr))
		return false;
	if (addr->len == 16 && !memcmp(addr->bytes, mapped, sizeof(mapped))) {
		memmove(addr->bytes, addr->bytes + 12, 4);
		addr->len = 4;
	}
	return true;
}

/* No host has such an address. */
static bool never(const struct inc_rdv_addr *addr)
{
	static const uint8_t zero[16], loop6[16] = { [15] = 1 };

	if (!memcmp(addr->bytes, zero, addr->len))
		return true;
	if (addr->len == 4)
		return addr->bytes[0] == 127 || addr->bytes[0] >= 224;
	return addr->bytes[0] == 0xff || !memcmp(addr->bytes, loop6, 16);
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
bool addr_believed(const struct options *o, const char *peer,
		   const struct inc_rdv_addr *addr, char *err, size_t len)
{
	char is[INET6_ADDRSTRLEN], says[INET6_ADDRSTRLEN];
	const struct network *net;
	struct inc_rdv_addr own = { 0 };
	bool known = addr_of_peer(peer, &own);

	inc_rdv_addr_str(addr, says, sizeof(says));
	if (never(addr)) {
		snprintf(err, len, "address %s: no host of a fabric has it",
			 says);
		return false;
	}
	if (known && addr_same(addr, &own))
		return true;
	for (net = o->allow; net; net = net->next)
		if (within(addr, net))
			return true;
	snprintf(err, len, "address %s is not that of the connection, %s: use its device and GID (INC_DEV, INC_GID_INDEX), or start inc-amd with --allow %s",
		 says, known ? inc_rdv_addr_str(&own, is, sizeof(is)) : peer,
		 says);
	return false;
}
