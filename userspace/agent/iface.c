// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Interfaces that lead to hosts and switches, and the neighbours behind them,
 * from rtnetlink. An IP neighbour behind a bridge is listed at the bridge's
 * port, which the forwarding database names.
 */
#include "iface.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if_bridge.h>
#include <linux/neighbour.h>
#include <linux/sockios.h>
#include <netlink/socket.h>

#include "agent.h"
#include "conf/array.h"
#include "loop/index.h"
#include "nl/rtnl.h"

#define MAC_LEN		6
/* All neighbours go into one answer, and a host can invent addresses. */
#define NEIGHBOURS_MAX	65536
/* Longest headers of RoCEv2, as the kernel counts them (iboe_get_mtu()). */
#define ROCE_OVERHEAD	96

/**
 * struct link - an interface
 * @index: its index
 * @name: its name
 * @mac: its MAC address
 * @has_mac: @mac is valid
 * @flags: IFF_*
 * @mtu: its MTU
 * @is_bridge: it is a bridge
 * @master: index of its bridge if it is a port, or 0
 * @stp: BR_STATE_*, if it is a port
 * @bond: index of its aggregation if it is a member, or 0
 * @lower: index of the interface below it if it is a VLAN or macvlan, or 0
 * @vlan: VLAN ID if it is a VLAN, or 0
 * @addrs: it has IP addresses
 * @node: its YANG data, or NULL
 */
struct link {
	int		index;
	char		name[IFNAMSIZ];
	uint8_t		mac[MAC_LEN];
	bool		has_mac;
	unsigned int	flags;
	uint32_t	mtu;
	bool		is_bridge;
	int		master;
	uint8_t		stp;
	int		bond;
	int		lower;
	uint16_t	vlan;
	bool		addrs;
	struct lyd_node	*node;
};

/**
 * struct entry - an address
 * @index: index of the interface
 * @mac: MAC address of a neighbour
 * @family: AF_INET or AF_INET6; AF_BRIDGE: only @mac
 * @addr: IP address
 */
struct entry {
	int	index;
	uint8_t	mac[MAC_LEN];
	int	family;
	uint8_t	addr[16];
};

/**
 * struct table - interfaces and addresses
 * @links: interfaces
 * @nlinks: number of @links
 * @entries: addresses, or neighbours
 * @n: number of @entries
 * @n_before: number of entries before the current dump
 * @err: negative errno value; 0: all were read
 * @fdb: entries of bridges' forwarding databases, by MAC address
 * @nfdb: number of @fdb
 */
struct table {
	struct link		*links;
	size_t			nlinks;
	struct entry		*entries;
	size_t			n;
	size_t			n_before;
	int			err;
	const struct entry	**fdb;
	size_t			nfdb;
};

static void add_entry(struct table *t, const struct entry *e)
{
	if (ARRAY_ROOM(t->entries, t->n))
		t->entries[t->n++] = *e;
	else
		t->err = -ENOMEM;
}

static bool is_kind(struct nlattr *a, const char *kind)
{
	return a && !nla_strcmp(a, kind);
}

static uint8_t stp_of(struct nlattr *slave_data)
{
	struct nlattr *tb[IFLA_BRPORT_MAX + 1];

	if (!slave_data ||
	    nla_parse_nested(tb, IFLA_BRPORT_MAX, slave_data, NULL) ||
	    !tb[IFLA_BRPORT_STATE])
		return BR_STATE_FORWARDING;
	return nla_get_u8(tb[IFLA_BRPORT_STATE]);
}

static uint16_t vlan_of(struct nlattr *info[])
{
	struct nlattr *tb[IFLA_VLAN_MAX + 1];

	if (!is_kind(info[IFLA_INFO_KIND], "vlan") || !info[IFLA_INFO_DATA] ||
	    nla_parse_nested(tb, IFLA_VLAN_MAX, info[IFLA_INFO_DATA], NULL) ||
	    !tb[IFLA_VLAN_ID])
		return 0;
	return nla_get_u16(tb[IFLA_VLAN_ID]);
}

/* Note the kinds of an interface and its master: a VRF is a master, too. */
static void take_kinds(struct link *l, struct nlattr *tb[])
{
	struct nlattr *info[IFLA_INFO_MAX + 1], *slave;
	int master = tb[IFLA_MASTER] ? (int)nla_get_u32(tb[IFLA_MASTER]) : 0;

	if (!tb[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL))
		return;
	slave = info[IFLA_INFO_SLAVE_KIND];
	if (is_kind(slave, "bridge")) {
		l->master = master;
		l->stp = stp_of(info[IFLA_INFO_SLAVE_DATA]);
	} else if (is_kind(slave, "bond") || is_kind(slave, "team")) {
		l->bond = master;
	}
	l->is_bridge = is_kind(info[IFLA_INFO_KIND], "bridge");
	l->vlan = vlan_of(info);
	/* The lower interface may be in another namespace. */
	if ((is_kind(info[IFLA_INFO_KIND], "vlan") ||
	     is_kind(info[IFLA_INFO_KIND], "macvlan")) && tb[IFLA_LINK] &&
	    !tb[IFLA_LINK_NETNSID])
		l->lower = (int)nla_get_u32(tb[IFLA_LINK]);
}

static void on_link(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifinfomsg *ifi = head;
	struct table *t = arg;
	struct link *l;

	if (!ifi) {
		t->nlinks = 0;
		return;
	}
	if (ifi->ifi_flags & IFF_LOOPBACK)
		return;
	if (!ARRAY_ROOM(t->links, t->nlinks)) {
		t->err = -ENOMEM;
		return;
	}
	l = &t->links[t->nlinks++];
	memset(l, 0, sizeof(*l));
	l->index = ifi->ifi_index;
	l->flags = ifi->ifi_flags;
	if (tb[IFLA_IFNAME])
		nla_strlcpy(l->name, tb[IFLA_IFNAME], sizeof(l->name));
	if (tb[IFLA_MTU])
		l->mtu = nla_get_u32(tb[IFLA_MTU]);
	take_kinds(l, tb);
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == MAC_LEN) {
		memcpy(l->mac, nla_data(tb[IFLA_ADDRESS]), MAC_LEN);
		l->has_mac = true;
	}
}

static void on_addr(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifaddrmsg *ifa = head;
	struct table *t = arg;
	struct entry e;

	if (!ifa) {
		t->n = t->n_before;
		return;
	}
	e = (struct entry){ (int)ifa->ifa_index, .family = ifa->ifa_family };
	/* With a peer (point to point), IFA_ADDRESS is the peer's. */
	if (inc_rt_addr(tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS],
			e.family, e.addr))
		add_entry(t, &e);
}

static void on_neigh(const void *head, struct nlattr **tb, void *arg)
{
	const int useless = NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP;
	const struct ndmsg *ndm = head;
	struct table *t = arg;
	struct entry e;

	if (!ndm) {
		t->n = t->n_before;
		return;
	}
	e = (struct entry){ ndm->ndm_ifindex, .family = ndm->ndm_family };
	if (!tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != MAC_LEN)
		return;
	memcpy(e.mac, nla_data(tb[NDA_LLADDR]), MAC_LEN);
	if (e.mac[0] & 1)
		return;			/* group address */
	if (ndm->ndm_family == AF_BRIDGE) {
		/*
		 * A port's own addresses are permanent. Stale entries are out
		 * of date: after a change of the spanning tree, they tell where
		 * hosts were before, until they are removed.
		 */
		if (!(ndm->ndm_state & (NUD_PERMANENT | NUD_STALE)) &&
		    tb[NDA_MASTER])
			add_entry(t, &e);
	} else if (!(ndm->ndm_state & useless) &&
		   inc_rt_addr(tb[NDA_DST], e.family, e.addr)) {
		add_entry(t, &e);
	}
}

static int by_index(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static struct link *link_of(const struct table *t, int index)
{
	const struct link key = { .index = index };

	return t->nlinks ? bsearch(&key, t->links, t->nlinks, sizeof(key),
				   by_index) : NULL;
}

static void mac_text(const uint8_t *mac, char *buf, size_t len)
{
	snprintf(buf, len, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
}

/* Returns the driver's speed in bits per second; 0: unknown. */
static uint64_t speed_of(const char *name)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_data = (char *)&cmd };
	uint32_t mbit = 0;

	memcpy(ifr.ifr_name, name, IFNAMSIZ);
	if (fd >= 0 && !ioctl(fd, SIOCETHTOOL, &ifr))
		/* ethtool_cmd_speed() would shift into the sign. */
		mbit = (uint32_t)cmd.speed_hi << 16 | cmd.speed;
	if (fd >= 0)
		close(fd);
	return mbit == (uint32_t)SPEED_UNKNOWN ? 0 : mbit * 1000000ULL;
}

static unsigned int pmtu_of(uint32_t mtu)
{
	unsigned int pmtu = 4096;

	while (pmtu >= 256 && pmtu + ROCE_OVERHEAD > mtu)
		pmtu /= 2;
	return pmtu >= 256 ? pmtu : 0;
}

static void put_known(struct lyd_node *node, const char *name, uint64_t v)
{
	if (v)
		put_number(node, name, v);
}

static void put_link(struct lyd_node *sw, const struct table *t,
		     struct link *l)
{
	static const char *const states[] = {
		[BR_STATE_DISABLED]	= "disabled",
		[BR_STATE_LISTENING]	= "listening",
		[BR_STATE_LEARNING]	= "learning",
		[BR_STATE_FORWARDING]	= "forwarding",
		[BR_STATE_BLOCKING]	= "blocking",
	};
	const struct link *bridge = link_of(t, l->master);
	const struct link *bond = link_of(t, l->bond);
	const struct link *lower = link_of(t, l->lower);
	bool up = (l->flags & IFF_UP) && (l->flags & IFF_RUNNING);
	char mac[18];

	if (lyd_new_list(sw, NULL, "interface", 0, &l->node, l->name))
		return;
	put_known(l->node, "if-index", (uint64_t)l->index);
	mac_text(l->mac, mac, sizeof(mac));
	if (l->has_mac)
		lyd_new_term(l->node, NULL, "phys-address", mac, 0, NULL);
	if (bridge)
		lyd_new_term(l->node, NULL, "bridge", bridge->name, 0, NULL);
	if (bond)
		lyd_new_term(l->node, NULL, "aggregation", bond->name, 0, NULL);
	put_known(l->node, "vlan-id", l->vlan);
	if (lower)
		lyd_new_term(l->node, NULL, "lower-layer-if", lower->name, 0,
			     NULL);
	if (bridge && l->stp < sizeof(states) / sizeof(states[0]))
		lyd_new_term(l->node, NULL, "stp-state", states[l->stp], 0,
			     NULL);
	lyd_new_term(l->node, NULL, "oper-up", up ? "true" : "false", 0, NULL);
	put_known(l->node, "mtu", l->mtu);
	put_known(l->node, "pmtu", pmtu_of(l->mtu));
	put_known(l->node, "speed", speed_of(l->name));
}

static void put_addr(struct lyd_node *node, const struct entry *e)
{
	char buf[INET6_ADDRSTRLEN];

	/* A repeated address is no error: YANG keeps one. */
	if (inet_ntop(e->family, e->addr, buf, sizeof(buf)))
		lyd_new_path(node, NULL, "address", buf, LYD_NEW_PATH_UPDATE,
			     NULL);
}

static struct lyd_node *find_neighbour(struct lyd_node *iface,
				       const uint8_t *mac)
{
	struct lyd_node *node = NULL;
	char path[48], text[18];

	mac_text(mac, text, sizeof(text));
	snprintf(path, sizeof(path), "neighbour[phys-address='%s']", text);
	return lyd_find_path(iface, path, 0, &node) ? NULL : node;
}

static struct lyd_node *new_neighbour(struct lyd_node *iface,
				      const uint8_t *mac)
{
	struct lyd_node *node = NULL;
	char text[18];

	mac_text(mac, text, sizeof(text));
	lyd_new_list(iface, NULL, "neighbour", 0, &node, text);
	return node;
}

static int by_mac(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;
	int diff = memcmp(x->mac, y->mac, MAC_LEN);

	return diff ? diff : x < y ? -1 : x > y;
}

/*
 * Sort the bridges' entries by MAC address, except entries of ports that do not
 * forward: they are out of date.
 */
static void sort_fdb(struct table *t)
{
	const struct link *port;
	size_t i;

	t->fdb = calloc(t->n + 1, sizeof(*t->fdb));
	for (i = 0; t->fdb && i < t->n; i++) {
		if (t->entries[i].family != AF_BRIDGE)
			continue;
		port = link_of(t, t->entries[i].index);
		if (port && port->master && port->stp != BR_STATE_FORWARDING)
			t->entries[i].index = 0;
		else
			t->fdb[t->nfdb++] = &t->entries[i];
	}
	if (t->nfdb)
		qsort(t->fdb, t->nfdb, sizeof(*t->fdb), by_mac);
}

/*
 * Returns the bridge's port that leads to a MAC address, or the bridge. Neighbours in
 * a VLAN of a bridge stay there: another VLAN can have the same addresses.
 */
static struct link *port_of(const struct table *t, const struct entry *e)
{
	size_t low = 0, high = t->nfdb, mid;
	struct link *port;

	while (low < high) {
		mid = (low + high) / 2;
		if (memcmp(t->fdb[mid]->mac, e->mac, MAC_LEN) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < t->nfdb && !memcmp(t->fdb[low]->mac, e->mac, MAC_LEN);
	     low++) {
		port = link_of(t, t->fdb[low]->index);
		if (port && port->master == e->index)
			return port;
	}
	return link_of(t, e->index);
}

/* Warn once about too many neighbours, until that is over. */
static void warn_left_out(size_t n)
{
	static bool warned;

	if (n && !warned)
		log_warn("more than %d neighbours: %zu are left out; see fdb_max_learned in ip-link(8)",
			 NEIGHBOURS_MAX, n);
	warned = n;
}

/*
 * From the end: entries with IP addresses first; then bridges' entries, which a
 * dump lists from the newest on: new ones are left out rather than old ones.
 */
static void put_neighbours(const struct table *t)
{
	size_t i, n = 0, left_out = 0;

	for (i = t->n; i-- > 0;) {
		const struct entry *e = &t->entries[i];
		struct link *l = e->family == AF_BRIDGE ?
				 link_of(t, e->index) : port_of(t, e);
		struct lyd_node *node;

		if (!l || !l->node)
			continue;
		node = find_neighbour(l->node, e->mac);
		if (!node && n == NEIGHBOURS_MAX) {
			left_out++;
			continue;
		}
		if (!node) {
			node = new_neighbour(l->node, e->mac);
			n++;
		}
		if (node && e->family != AF_BRIDGE)
			put_addr(node, e);
	}
	warn_left_out(left_out);
}

static int read_all(struct nl_sock *sk, struct table *t, int type, int family,
		    inc_rt_fn *fn)
{
	int rc;

	t->n_before = t->n;
	rc = inc_rt_dump(sk, type, family, fn, t);
	return rc ? rc : t->err;
}

/* Add the interfaces with their addresses, which were read last. */
static void put_links(struct lyd_node *sw, struct table *t)
{
	struct link *l;
	size_t i;

	for (i = 0; i < t->n; i++) {
		l = link_of(t, t->entries[i].index);
		if (l)
			l->addrs = true;
	}
	for (i = 0; i < t->nlinks; i++) {
		if (t->links[i].master || t->links[i].bond ||
		    t->links[i].addrs)
			put_link(sw, t, &t->links[i]);
	}
	for (i = 0; i < t->n; i++) {
		l = link_of(t, t->entries[i].index);
		if (l && l->node)
			put_addr(l->node, &t->entries[i]);
	}
}

static int put_all(struct lyd_node *sw, struct nl_sock *sk, struct table *t)
{
	int rc = read_all(sk, t, RTM_GETLINK, AF_UNSPEC, on_link);

	if (rc)
		return rc;
	if (t->nlinks)
		qsort(t->links, t->nlinks, sizeof(*t->links), by_index);
	rc = read_all(sk, t, RTM_GETADDR, AF_UNSPEC, on_addr);
	if (rc)
		return rc;
	put_links(sw, t);
	t->n = 0;
	rc = read_all(sk, t, RTM_GETNEIGH, AF_BRIDGE, on_neigh) ?:
	     read_all(sk, t, RTM_GETNEIGH, AF_UNSPEC, on_neigh);
	if (rc)
		return rc;
	sort_fdb(t);
	if (!t->fdb)
		return -ENOMEM;
	put_neighbours(t);
	return 0;
}

/*
 * Add the interfaces and their neighbours. Returns 0, or a negative errno value
 * if some are missing; -EINTR: they keep changing while they are read.
 */
int iface_add(struct lyd_node *sw)
{
	struct nl_sock *sk = inc_rt_open();
	struct table t = { .n = 0 };
	int rc = sk ? put_all(sw, sk, &t) : -EIO;

	nl_socket_free(sk);
	free(t.links);
	free(t.entries);
	free(t.fdb);
	return rc;
}

/* Add a number for all reported data on interfaces. */
void iface_version(struct lyd_node *sw, const char *id)
{
	uint64_t h = index_hash_text(0, id);
	struct lyd_node *child, *node;
	char text[20];

	LY_LIST_FOR(lyd_child(sw), child) {
		if (strcmp(LYD_NAME(child), "interface"))
			continue;
		LYD_TREE_DFS_BEGIN(child, node) {
			h = index_hash_text(h, LYD_NAME(node));
			if (node->schema->nodetype & LYD_NODE_TERM)
				h = index_hash_text(h, lyd_get_value(node));
			LYD_TREE_DFS_END(child, node);
		}
	}
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)h);
	lyd_new_term(sw, NULL, "interfaces-version", text, 0, NULL);
}

/*
 * Find or add a neighbour. Returns its node, or NULL if there is no such
 * interface.
 * @mac: the neighbour's MAC address, 6 bytes
 */
struct lyd_node *iface_neighbour(struct lyd_node *sw, const char *ifname,
				 const uint8_t *mac)
{
	struct lyd_node *iface, *node;

	/* The key is the first child. */
	LY_LIST_FOR(lyd_child(sw), iface) {
		if (strcmp(LYD_NAME(iface), "interface") ||
		    strcmp(lyd_get_value(lyd_child(iface)), ifname))
			continue;
		node = find_neighbour(iface, mac);
		return node ? node : new_neighbour(iface, mac);
	}
	return NULL;
}

/*
 * Open a socket that reports changes of interfaces and hosts. Returns the
 * descriptor, or -1.
 */
int iface_watch(void)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR |
			     RTMGRP_IPV6_IFADDR | RTMGRP_NEIGH,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * A bridge reports addresses that it learns, or sees at another port. IP
 * neighbours are left out: they age and are confirmed all the time.
 */
static enum iface_change neigh_changed(struct nlmsghdr *nlh, char *name,
				       size_t len)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);
	char ifname[IFNAMSIZ];

	if (ndm->ndm_family != AF_BRIDGE || (ndm->ndm_state & NUD_PERMANENT))
		return IFACE_OTHER;
	if (nlh->nlmsg_type == RTM_DELNEIGH)
		return IFACE_FORGOTTEN;
	if (if_indextoname((unsigned int)ndm->ndm_ifindex, ifname))
		snprintf(name, len, "%s", ifname);
	return IFACE_HOST;
}

/*
 * Read the next change. Returns its kind.
 * @name: result: name of the interface; empty: unknown
 */
enum iface_change iface_changed(int fd, char *name, size_t len)
{
	char buf[16384], ifname[IFNAMSIZ];
	const struct ifaddrmsg *ifa;
	struct nlattr *a;
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	ssize_t n = recv(fd, buf, sizeof(buf), 0);

	name[0] = '\0';
	if (n < (ssize_t)sizeof(*nlh))		/* some may be lost */
		return n < 0 && errno == ENOBUFS ? IFACE_HOST : IFACE_NONE;
	switch (nlh->nlmsg_type) {
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return neigh_changed(nlh, name, len);
	case RTM_NEWLINK:
	case RTM_DELLINK:
		a = nlmsg_find_attr(nlh, sizeof(struct ifinfomsg), IFLA_IFNAME);
		if (a)
			nla_strlcpy(name, a, len);
		return IFACE_LINK;
	default:
		ifa = nlmsg_data(nlh);
		if (if_indextoname(ifa->ifa_index, ifname))
			snprintf(name, len, "%s", ifname);
		return IFACE_LINK;
	}
}
