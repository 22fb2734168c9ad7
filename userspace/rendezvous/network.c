// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Networks, and addresses that no host can have. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

static int parse_network(struct inc_rdv_network *net, const char *text)
{
	const char *slash = strchr(text, '/');
	char addr[INET6_ADDRSTRLEN], *end;
	unsigned long bits;

	snprintf(addr, sizeof(addr), "%.*s",
		 (int)(slash ? (size_t)(slash - text) : strlen(text)), text);
	if (inc_rdv_addr_parse(addr, &net->addr))
		return -EINVAL;
	net->bits = net->addr.len * 8;
	if (!slash)
		return 0;
	bits = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end || slash[1] == '-' || bits > net->bits)
		return -EINVAL;
	net->bits = (unsigned int)bits;
	return 0;
}

/* Add a network or address to a list. Returns 0, -EINVAL or -ENOMEM. */
int inc_rdv_network_add(struct inc_rdv_network **list, const char *text)
{
	struct inc_rdv_network *net = calloc(1, sizeof(*net));
	int ret;

	if (!net)
		return -ENOMEM;
	ret = parse_network(net, text);
	if (ret) {
		free(net);
		return ret;
	}
	net->next = *list;
	*list = net;
	return 0;
}

static bool is_within(const struct inc_rdv_addr *addr,
		      const struct inc_rdv_network *net)
{
	unsigned int bytes = net->bits / 8;
	uint8_t mask = (uint8_t)(0xff00 >> net->bits % 8);

	if (addr->len != net->addr.len ||
	    memcmp(addr->bytes, net->addr.bytes, bytes))
		return false;
	return !mask || !((addr->bytes[bytes] ^ net->addr.bytes[bytes]) & mask);
}

/* Check whether one of a list's networks has an address. Returns true if so. */
bool inc_rdv_network_has(const struct inc_rdv_network *list,
			 const struct inc_rdv_addr *addr)
{
	for (; list; list = list->next)
		if (is_within(addr, list))
			return true;
	return false;
}

/* Free a list. */
void inc_rdv_network_free(struct inc_rdv_network **list)
{
	struct inc_rdv_network *net;

	while ((net = *list)) {
		*list = net->next;
		free(net);
	}
}

/* Compare two addresses. Returns true if they are the same. */
bool inc_rdv_addr_same(const struct inc_rdv_addr *a,
		       const struct inc_rdv_addr *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/*
 * Check whether a host can have an address. Returns NULL if so, else the kind
 * of address, for an error message.
 */
const char *inc_rdv_addr_no_host(const struct inc_rdv_addr *addr)
{
	static const uint8_t zero[15];
	const uint8_t *b = addr->bytes;

	if (addr->len == 4) {
		if (!b[0])
			return "no host's";
		if (b[0] == 127)
			return "a loopback address";
		if (b[0] >= 224 && b[0] < 240)
			return "a multicast address";
		return b[0] >= 240 ? "a broadcast or reserved address" : NULL;
	}
	if (b[0] == 0xff)
		return "a multicast address";
	if (memcmp(b, zero, sizeof(zero)))
		return NULL;
	return b[15] == 1 ? "a loopback address" : b[15] ? NULL : "no host's";
}
