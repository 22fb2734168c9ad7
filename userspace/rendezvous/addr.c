// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses that the rendezvous daemon accepts. The switch sends results and
 * probes to the address that a rank names, so it must be the rank's own: the
 * source address of its connection, which TCP has verified, or one that the
 * administrator permits in addition. Unspecified, multicast and broadcast
 * addresses and those of the bridge host are never accepted.
 */
#include "nl/common.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "server.h"

/**
 * addr_allow() - permit a network: --allow ADDRESS[/PREFIX]
 * @s: daemon
 * @text: the argument
 *
 * Return: false if it is invalid; an error was printed.
 */
bool addr_allow(struct server *s, const char *text)
{
	const char *slash = strchr(text, '/');
	struct inc_rdv_addr addr = { 0 };
	char num[INET6_ADDRSTRLEN];
	struct allow *allow;
	unsigned long bits;
	char *end = NULL;
	bool valid;

	snprintf(num, sizeof(num), "%.*s",
		 (int)(slash ? (size_t)(slash - text) : strlen(text)), text);
	if (!inc_rdv_addr_parse(num, &addr)) {
		bits = slash ? strtoul(slash + 1, &end, 10) : addr.len * 8;
		valid = !slash ||
			(end != slash + 1 && !*end && slash[1] != '-');
		if (valid && bits <= addr.len * 8) {
			allow = calloc(1, sizeof(*allow));
			if (!allow)
				return false;
			allow->addr = addr;
			allow->bits = (unsigned int)bits;
			allow->next = s->allow;
			s->allow = allow;
			return true;
		}
	}
	fprintf(stderr, "inc-tool: serve: \"%s\" must be an address, or ADDRESS/PREFIX\n",
		text);
	return false;
}

/**
 * addr_forget() - free the list of permitted networks
 * @s: daemon
 */
void addr_forget(struct server *s)
{
	struct allow *allow;

	while ((allow = s->allow)) {
		s->allow = allow->next;
		free(allow);
	}
}

static bool same(const struct inc_rdv_addr *a, const struct inc_rdv_addr *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static bool within(const struct inc_rdv_addr *addr, const struct allow *net)
{
	unsigned int bytes = net->bits / 8;
	uint8_t mask = (uint8_t)(0xff00 >> net->bits % 8);

	if (addr->len != net->addr.len ||
	    memcmp(addr->bytes, net->addr.bytes, bytes))
		return false;
	return !mask || !((addr->bytes[bytes] ^ net->addr.bytes[bytes]) & mask);
}

/* Addresses that cannot be those of a host. */
static const char *never(const struct inc_rdv_addr *addr)
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

/* Is it the broadcast address of one of the bridge host's networks? */
static bool is_broadcast(const struct inc_rdv_addr *addr,
			 const struct ifaddrs *ifa)
{
	struct inc_rdv_addr own, mask;
	uint32_t a, o, m;

	if (addr->len != 4 || !ifa->ifa_netmask ||
	    inc_rdv_addr_from_sockaddr(ifa->ifa_addr, &own) ||
	    inc_rdv_addr_from_sockaddr(ifa->ifa_netmask, &mask) || own.len != 4)
		return false;
	memcpy(&a, addr->bytes, 4);
	memcpy(&o, own.bytes, 4);
	memcpy(&m, mask.bytes, 4);
	/* Networks of one or two addresses have none. */
	if (ntohl(~m) < 3 || (a & m) != (o & m))
		return false;
	return (a | m) == UINT32_MAX || a == (o & m);
}

/* Addresses that belong to the bridge host or its networks. */
static const char *never_here(const struct inc_rdv_addr *addr)
{
	struct ifaddrs *list, *ifa;
	struct inc_rdv_addr own;
	const char *what = NULL;

	if (getifaddrs(&list))
		return "not to be told from the bridge host's own";
	for (ifa = list; ifa && !what; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr ||
		    inc_rdv_addr_from_sockaddr(ifa->ifa_addr, &own))
			continue;
		if (same(addr, &own))
			what = "the bridge host's own";
		else if (is_broadcast(addr, ifa))
			what = "a broadcast address";
	}
	freeifaddrs(list);
	return what;
}

/**
 * addr_believed() - check the address of a rank, or of a switch below
 * @c: its connection, which gets an error if it is not accepted
 * @addr: the address that it names
 *
 * Return: true if so.
 */
bool addr_believed(struct client *c, const struct inc_rdv_addr *addr)
{
	char text[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	const char *what = never(addr);
	const struct allow *net;

	inc_rdv_addr_str(addr, text, sizeof(text));
	if (!what)
		what = never_here(addr);
	if (what) {
		client_error(c, EADDRNOTAVAIL, "\"addr\": %s is %s: it must be the address of the queue pair's GID, on a host of its own",
			     text, what);
		return false;
	}
	if (same(addr, &c->addr))
		return true;
	for (net = c->server->allow; net; net = net->next)
		if (within(addr, net))
			return true;
	inc_rdv_addr_str(&c->addr, peer, sizeof(peer));
	client_error(c, EACCES, "\"addr\": %s is not the address that this connection comes from, %s: choose the GID of that one (INC_DEV, INC_GID_INDEX), connect from the other, or permit it at the daemon: --allow %s",
		     text, peer, text);
	return false;
}
