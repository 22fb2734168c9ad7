// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses that the rendezvous daemon accepts. The switch sends results and
 * probes to the address that a rank names, so it must be the rank's own: the
 * source address of its connection, which TCP has verified, or one that the
 * administrator permits in addition. Unspecified, multicast and broadcast
 * addresses, and the bridge host's own, are never accepted.
 */
#include "nl/common.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "server.h"

/* Headers and trailer of the longest packet over IPv6 (IPv4: 20 less). */
#define OVERHEAD	84

/* Is @addr the broadcast address of @ifa's network? */
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
	/* Networks of one or two addresses have no broadcast address. */
	if (ntohl(~m) < 3 || (a & m) != (o & m))
		return false;
	return (a | m) == UINT32_MAX || a == (o & m);
}

/* Refuse the bridge host's own addresses, and its networks' broadcast ones. */
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
		if (inc_rdv_addr_same(addr, &own))
			what = "the bridge host's own";
		else if (is_broadcast(addr, ifa))
			what = "a broadcast address";
	}
	freeifaddrs(list);
	return what;
}

/*
 * Check the address of a rank, or of a switch below. Returns true if accepted.
 * @c: its connection, which gets an error if it is not accepted
 */
bool addr_believed(struct client *c, const struct inc_rdv_addr *addr)
{
	char text[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	const char *what = inc_rdv_addr_no_host(addr);

	inc_rdv_addr_str(addr, text, sizeof(text));
	if (!what)
		what = never_here(addr);
	if (what) {
		client_error(c, EADDRNOTAVAIL, "\"addr\": %s is %s: it must be the address of the queue pair's GID, on a host of its own",
			     text, what);
		return false;
	}
	if (inc_rdv_addr_same(addr, &c->addr) ||
	    inc_rdv_network_has(c->server->allow, addr))
		return true;
	inc_rdv_addr_str(&c->addr, peer, sizeof(peer));
	client_error(c, EACCES, "\"addr\": %s is not the address that this connection comes from, %s: choose the GID of that one (INC_DEV, INC_GID_INDEX), connect from the other, or permit it at the daemon: --allow %s",
		     text, peer, text);
	return false;
}

/* Find this host's interface that has an address; empty: none. */
static void find_interface(const struct inc_rdv_addr *addr,
			   char name[IFNAMSIZ])
{
	struct ifaddrs *list, *ifa;
	struct inc_rdv_addr own;

	*name = '\0';
	if (getifaddrs(&list))
		return;
	for (ifa = list; ifa && !*name; ifa = ifa->ifa_next)
		if (ifa->ifa_addr &&
		    !inc_rdv_addr_from_sockaddr(ifa->ifa_addr, &own) &&
		    inc_rdv_addr_same(addr, &own))
			snprintf(name, IFNAMSIZ, "%s", ifa->ifa_name);
	freeifaddrs(list);
}

/*
 * Find the largest path MTU that our interface to a rank allows: the host may
 * have jumbo frames, and the bridge not. Returns a path MTU; 0: unknown, or the
 * interface's MTU is too small for any.
 */
uint32_t addr_pmtu(const struct client *c)
{
	struct inc_rdv_addr addr;
	struct ifreq ifr = { 0 };
	int pmtu = 4096;

	if (client_own_addr(c, &addr))
		return 0;
	find_interface(&addr, ifr.ifr_name);
	if (!*ifr.ifr_name || ioctl(rpc_stream_fd(c->stream), SIOCGIFMTU, &ifr))
		return 0;
	while (pmtu >= 256 && pmtu + OVERHEAD - (addr.len == 4 ? 20 : 0) >
			      ifr.ifr_mtu)
		pmtu /= 2;
	return pmtu >= 256 ? (uint32_t)pmtu : 0;
}
