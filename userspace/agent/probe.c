// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Asks for silent hosts: the bridge learns the port of each from its answer.
 * The kernel sends the requests (ARP, neighbour solicitation) when the agent
 * marks a neighbour as in use: it repeats them, and then knows the MAC address;
 * the agent needs no raw sockets.
 */
#include "probe.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/neighbour.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "common.h"
#include "nl/rtnl.h"

/* Most interfaces, networks and neighbours that are looked at. */
#define IFS_MAX		256
#define NETS_MAX	512
#define KNOWN_MAX	(PROBE_MAX * 4)

/**
 * struct net - a network of an interface
 * @index: interface
 * @bits: length of the prefix
 * @addr: the interface's address
 */
struct net {
	int			index;
	unsigned int		bits;
	struct probe_addr	addr;
};

/**
 * struct known - a neighbour in the kernel's tables
 * @index: interface
 * @state: NUD_*
 * @addr: address
 */
struct known {
	int			index;
	uint16_t		state;
	struct probe_addr	addr;
};

/**
 * struct view - interfaces, networks and neighbours
 * @addrs: addresses to ask for
 * @naddrs: their number
 * @ifs: interfaces that can ask; negative: bridges, which ask for addresses of
 *	any network
 * @nifs: their number
 * @nets: networks
 * @nnets: their number
 * @known: neighbours among @addrs
 * @nknown: their number
 */
struct view {
	const struct probe_addr	*addrs;
	unsigned int		naddrs;
	int			ifs[IFS_MAX];
	unsigned int		nifs;
	struct net		nets[NETS_MAX];
	unsigned int		nnets;
	struct known		known[KNOWN_MAX];
	unsigned int		nknown;
};

static unsigned int len_of(const struct probe_addr *a)
{
	return a->family == AF_INET ? 4 : 16;
}

static bool same_addr(const struct probe_addr *a, const struct probe_addr *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, len_of(a));
}

/* --- The kernel's tables ------------------------------------------------- */

static void on_link(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifinfomsg *ifi = head;
	struct view *v = arg;
	bool bridge;

	if (!ifi) {
		v->nifs = 0;
		return;
	}
	if (!(ifi->ifi_flags & IFF_UP) ||
	    (ifi->ifi_flags & (IFF_LOOPBACK | IFF_NOARP)) ||
	    v->nifs == IFS_MAX)
		return;
	/* A bridge may belong to a VRF. */
	bridge = inc_rt_is_kind(tb, "bridge");
	if (bridge || !tb[IFLA_MASTER])
		v->ifs[v->nifs++] = bridge ? -ifi->ifi_index : ifi->ifi_index;
}

static void on_addr(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifaddrmsg *ifa = head;
	struct view *v = arg;
	struct net *net = &v->nets[v->nnets];

	if (!ifa) {
		v->nnets = 0;
		return;
	}
	if (v->nnets == NETS_MAX ||
	    !inc_rt_addr(tb[IFA_ADDRESS], ifa->ifa_family, net->addr.bytes))
		return;
	net->addr.family = ifa->ifa_family;
	net->index = (int)ifa->ifa_index;
	net->bits = ifa->ifa_prefixlen;
	v->nnets++;
}

static void on_neigh(const void *head, struct nlattr **tb, void *arg)
{
	const struct ndmsg *ndm = head;
	struct view *v = arg;
	struct known *k = &v->known[v->nknown];
	unsigned int i;

	if (!ndm) {
		v->nknown = 0;
		return;
	}
	if (v->nknown == KNOWN_MAX ||
	    !inc_rt_addr(tb[NDA_DST], ndm->ndm_family, k->addr.bytes))
		return;
	k->addr.family = ndm->ndm_family;
	for (i = 0; i < v->naddrs && !same_addr(&k->addr, &v->addrs[i]); i++)
		;
	if (i == v->naddrs)
		return;
	k->index = ndm->ndm_ifindex;
	k->state = ndm->ndm_state;
	v->nknown++;
}

/* --- Asking -------------------------------------------------------------- */

static bool net_covers(const struct net *net, const struct probe_addr *a)
{
	unsigned int bytes = net->bits / 8, rest = net->bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return net->addr.family == a->family && net->bits <= len_of(a) * 8 &&
	       !memcmp(net->addr.bytes, a->bytes, bytes) &&
	       (!rest || !((net->addr.bytes[bytes] ^ a->bytes[bytes]) & mask));
}

static bool has_net(const struct view *v, int index,
		    const struct probe_addr *a)
{
	unsigned int i;

	for (i = 0; i < v->nnets; i++)
		if (v->nets[i].index == index && net_covers(&v->nets[i], a))
			return true;
	return false;
}

static uint16_t state_of(const struct view *v, int index,
			 const struct probe_addr *a)
{
	unsigned int i;

	for (i = 0; i < v->nknown; i++)
		if (v->known[i].index == index &&
		    same_addr(&v->known[i].addr, a))
			return v->known[i].state;
	return NUD_NONE;
}

static void ask_neighbour(struct nl_sock *sk, int index,
			  const struct probe_addr *a, uint16_t state)
{
	const uint16_t valid = NUD_REACHABLE | NUD_STALE | NUD_DELAY;
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)a->family, .ndm_ifindex = index,
	};
	struct nl_msg *msg;

	/* The kernel asks already, or an administrator has set the entry. */
	if (state & (NUD_PERMANENT | NUD_NOARP | NUD_PROBE | NUD_INCOMPLETE))
		return;
	/* NTF_USE would ask for a valid entry only after seconds. */
	if (state & valid)
		ndm.ndm_state = NUD_PROBE;
	else
		ndm.ndm_flags = NTF_USE;
	msg = inc_rt_request(RTM_NEWNEIGH, NLM_F_CREATE, &ndm);
	if (!msg)
		return;
	if (!nla_put(msg, NDA_DST, (int)len_of(a), a->bytes))
		nl_send_sync(sk, msg);	/* frees it */
	else
		nlmsg_free(msg);
}

static void ask_all(struct nl_sock *sk, const struct view *v)
{
	unsigned int i, k;

	for (i = 0; i < v->nifs; i++) {
		int index = v->ifs[i] < 0 ? -v->ifs[i] : v->ifs[i];

		for (k = 0; k < v->naddrs; k++)
			if (v->ifs[i] < 0 || has_net(v, index, &v->addrs[k]))
				ask_neighbour(sk, index, &v->addrs[k],
					      state_of(v, index, &v->addrs[k]));
	}
}

/*
 * Ask for hosts by all bridges, and by other interfaces in the same network.
 * Does not wait for answers. Returns 0, or -1 if the kernel does not list the
 * interfaces.
 * @n: number of addresses, PROBE_MAX at most
 */
int probe_ask(const struct probe_addr *addrs, unsigned int n)
{
	struct view *v = calloc(1, sizeof(*v));
	struct nl_sock *sk = inc_rt_open();
	int rc = -1;

	if (!v || !sk)
		goto out;
	v->addrs = addrs;
	v->naddrs = n;
	if (inc_rt_dump(sk, RTM_GETLINK, AF_UNSPEC, on_link, v) ||
	    inc_rt_dump(sk, RTM_GETADDR, AF_UNSPEC, on_addr, v) ||
	    inc_rt_dump(sk, RTM_GETNEIGH, AF_UNSPEC, on_neigh, v))
		goto out;
	ask_all(sk, v);
	rc = 0;
out:
	nl_socket_free(sk);
	free(v);
	return rc;
}

/* Parse an address. Returns 0, or -1 if no host can have it. */
int probe_parse(const char *text, struct probe_addr *a)
{
	memset(a, 0, sizeof(*a));
	a->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a->family, text, a->bytes) != 1)
		return -1;
	if (a->family == AF_INET)
		/* 0/8, 127/8, multicast and above */
		return !a->bytes[0] || a->bytes[0] == 127 ||
		       a->bytes[0] >= 224 ? -1 : 0;
	if (IN6_IS_ADDR_UNSPECIFIED((struct in6_addr *)a->bytes) ||
	    IN6_IS_ADDR_LOOPBACK((struct in6_addr *)a->bytes) ||
	    IN6_IS_ADDR_MULTICAST((struct in6_addr *)a->bytes) ||
	    IN6_IS_ADDR_V4MAPPED((struct in6_addr *)a->bytes))
		return -1;
	return 0;
}
