// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Asks for hosts that have not sent anything, so that the bridge learns the port
 * of each from its answer. The kernel sends the requests (ARP, neighbour
 * solicitation) when it is told to use a neighbour: it repeats them, and knows
 * the MAC address then; the agent needs no raw sockets.
 */
#include "probe.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "common.h"

/* Interfaces, networks and neighbours that are looked at. */
#define IFS_MAX		64
#define NETS_MAX	256
#define KNOWN_MAX	(PROBE_MAX * 4)

/**
 * struct net - a network that an interface is in
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
 * struct known - a neighbour that the kernel knows already
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
 * struct view - what is there
 * @addrs: whom to ask for
 * @naddrs: their number
 * @ifs: interfaces that can ask; of bridges the number is negative: they ask for
 *	addresses of any network
 * @nifs: their number
 * @nets: networks
 * @nnets: their number
 * @known: those of @addrs that are neighbours
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

static bool same(const struct probe_addr *a, const struct probe_addr *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, len_of(a));
}

static bool get_addr(struct probe_addr *a, int family, struct nlattr *attr)
{
	a->family = family;
	if (!attr || (family != AF_INET && family != AF_INET6) ||
	    nla_len(attr) != (int)len_of(a))
		return false;
	memcpy(a->bytes, nla_data(attr), len_of(a));
	return true;
}

/* --- What is there ------------------------------------------------------- */

static bool is_bridge(struct nlattr *linkinfo)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	return linkinfo &&
	       !nla_parse_nested(tb, IFLA_INFO_MAX, linkinfo, NULL) &&
	       tb[IFLA_INFO_KIND] &&
	       !nla_strcmp(tb[IFLA_INFO_KIND], "bridge");
}

static int on_link(struct nl_msg *msg, void *arg)
{
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[IFLA_MAX + 1];
	struct view *v = arg;
	bool bridge;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifi), tb, IFLA_MAX, NULL) ||
	    !(ifi->ifi_flags & IFF_UP) ||
	    (ifi->ifi_flags & (IFF_LOOPBACK | IFF_NOARP)) ||
	    v->nifs == IFS_MAX)
		return NL_OK;
	/* A VRF may have a bridge. */
	bridge = is_bridge(tb[IFLA_LINKINFO]);
	if (bridge || !tb[IFLA_MASTER])
		v->ifs[v->nifs++] = bridge ? -ifi->ifi_index : ifi->ifi_index;
	return NL_OK;
}

static int on_addr(struct nl_msg *msg, void *arg)
{
	const struct ifaddrmsg *ifa = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[IFA_MAX + 1];
	struct view *v = arg;
	struct net *net = &v->nets[v->nnets];

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWADDR ||
	    v->nnets == NETS_MAX ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifa), tb, IFA_MAX, NULL) ||
	    !get_addr(&net->addr, ifa->ifa_family, tb[IFA_ADDRESS]))
		return NL_OK;
	net->index = (int)ifa->ifa_index;
	net->bits = ifa->ifa_prefixlen;
	v->nnets++;
	return NL_OK;
}

static int on_neigh(struct nl_msg *msg, void *arg)
{
	const struct ndmsg *ndm = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[NDA_MAX + 1];
	struct view *v = arg;
	struct known *k = &v->known[v->nknown];
	unsigned int i;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWNEIGH ||
	    v->nknown == KNOWN_MAX ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ndm), tb, NDA_MAX, NULL) ||
	    !get_addr(&k->addr, ndm->ndm_family, tb[NDA_DST]))
		return NL_OK;
	for (i = 0; i < v->naddrs && !same(&k->addr, &v->addrs[i]); i++)
		;
	if (i == v->naddrs)
		return NL_OK;
	k->index = ndm->ndm_ifindex;
	k->state = ndm->ndm_state;
	v->nknown++;
	return NL_OK;
}

static int dump(struct nl_sock *sk, int type, size_t len,
		nl_recvmsg_msg_cb_t fn, struct view *v)
{
	union {
		struct ifinfomsg	ifi;
		struct ifaddrmsg	ifa;
		struct ndmsg		ndm;
	} hdr;
	int rc;

	memset(&hdr, 0, sizeof(hdr));
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, fn, v);
	rc = nl_send_simple(sk, type, NLM_F_DUMP, &hdr, len);
	return rc < 0 ? rc : nl_recvmsgs_default(sk);
}

/* --- Asking -------------------------------------------------------------- */

static bool covers(const struct net *net, const struct probe_addr *a)
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
		if (v->nets[i].index == index && covers(&v->nets[i], a))
			return true;
	return false;
}

static uint16_t state_of(const struct view *v, int index,
			 const struct probe_addr *a)
{
	unsigned int i;

	for (i = 0; i < v->nknown; i++)
		if (v->known[i].index == index && same(&v->known[i].addr, a))
			return v->known[i].state;
	return NUD_NONE;
}

static void ask(struct nl_sock *sk, int index, const struct probe_addr *a,
		uint16_t state)
{
	const uint16_t valid = NUD_REACHABLE | NUD_STALE | NUD_DELAY;
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)a->family, .ndm_ifindex = index,
	};
	struct nl_msg *msg;

	/* It is asked for already, or an administrator has set it. */
	if (state & (NUD_PERMANENT | NUD_NOARP | NUD_PROBE | NUD_INCOMPLETE))
		return;
	/* One that is in use would be asked for after seconds only. */
	if (state & valid)
		ndm.ndm_state = NUD_PROBE;
	else
		ndm.ndm_flags = NTF_USE;
	msg = nlmsg_alloc_simple(RTM_NEWNEIGH, NLM_F_CREATE);
	if (!msg)
		return;
	if (!nlmsg_append(msg, &ndm, sizeof(ndm), NLMSG_ALIGNTO) &&
	    !nla_put(msg, NDA_DST, (int)len_of(a), a->bytes))
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
				ask(sk, index, &v->addrs[k],
				    state_of(v, index, &v->addrs[k]));
	}
}

/**
 * probe_ask() - ask for hosts
 * @addrs: their addresses
 * @n: how many, PROBE_MAX at most
 *
 * All bridges ask, and other interfaces that are in the same network. Does not
 * wait for answers.
 *
 * Return: 0, or -1 if the kernel does not tell which interfaces there are.
 */
int probe_ask(const struct probe_addr *addrs, unsigned int n)
{
	struct view *v = calloc(1, sizeof(*v));
	struct nl_sock *sk = nl_socket_alloc();
	int rc = -1;

	if (!v || !sk || nl_connect(sk, NETLINK_ROUTE))
		goto out;
	v->addrs = addrs;
	v->naddrs = n;
	if (dump(sk, RTM_GETLINK, sizeof(struct ifinfomsg), on_link, v) ||
	    dump(sk, RTM_GETADDR, sizeof(struct ifaddrmsg), on_addr, v) ||
	    dump(sk, RTM_GETNEIGH, sizeof(struct ndmsg), on_neigh, v))
		goto out;
	ask_all(sk, v);
	rc = 0;
out:
	nl_socket_free(sk);
	free(v);
	return rc;
}

/**
 * probe_parse() - read an address
 * @text: it
 * @a: result
 *
 * Return: 0, or -1 if no host can have it.
 */
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
