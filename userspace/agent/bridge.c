// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See bridge.h. The frame is an empty UDP datagram to port 9, discard, of all
 * hosts (224.0.0.1, or ff02::1), which every bridge floods: RFC 4541, 2.1.2.
 * Sending it needs no privilege, and no host answers.
 */
#include "bridge.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <netlink/socket.h>

#include "nl/rtnl.h"

#define PORT_DISCARD	9

static bool send_by(int family, int index)
{
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = htons(PORT_DISCARD),
		.sin_addr = { htonl(INADDR_ALLHOSTS_GROUP) },
	};
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(PORT_DISCARD),
		.sin6_addr = { { { [0] = 0xff, [1] = 0x02, [15] = 1 } } },
		.sin6_scope_id = (uint32_t)index,
	};
	const struct ip_mreqn by = { .imr_ifindex = index };
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int no = 0;
	bool ok;

	if (family == AF_INET)
		ok = !setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by,
				 sizeof(by)) &&
		     !setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &no,
				 sizeof(no)) &&
		     !sendto(fd, "", 0, 0, (const struct sockaddr *)&v4,
			     sizeof(v4));
	else
		ok = !setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &no,
				 sizeof(no)) &&
		     !sendto(fd, "", 0, 0, (const struct sockaddr *)&v6,
			     sizeof(v6));
	if (fd >= 0)
		close(fd);
	return ok;
}

static void on_link(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifinfomsg *ifi = head;

	/* A bridge has a forwarding database for each of its VLANs. */
	if (!ifi || !(ifi->ifi_flags & IFF_UP) || (!inc_rt_is_kind(tb, "bridge") &&
					   !inc_rt_is_kind(tb, "vlan")))
		return;
	/* A bridge may have no address to send IPv4 from. */
	if (!send_by(AF_INET, ifi->ifi_index))
		send_by(AF_INET6, ifi->ifi_index);
}

/* Is a bridge's spanning tree changing? */
static bool is_changing(struct nlattr *linkinfo)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1], *br[IFLA_BR_MAX + 1];

	return linkinfo &&
	       !nla_parse_nested(tb, IFLA_INFO_MAX, linkinfo, NULL) &&
	       tb[IFLA_INFO_DATA] &&
	       !nla_parse_nested(br, IFLA_BR_MAX, tb[IFLA_INFO_DATA], NULL) &&
	       br[IFLA_BR_TOPOLOGY_CHANGE] &&
	       nla_get_u8(br[IFLA_BR_TOPOLOGY_CHANGE]);
}

static void on_bridge(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifinfomsg *ifi = head;
	uint64_t *sum = arg;

	if (!ifi)
		*sum = 0;
	else if (inc_rt_is_kind(tb, "bridge") && is_changing(tb[IFLA_LINKINFO]))
		*sum += (1ULL << 32) + (uint32_t)ifi->ifi_index;
}

/* Ask for all links of a kind; NULL: of any kind. */
static int dump_links(const char *kind, inc_rt_fn *fn, void *arg)
{
	const struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = inc_rt_request(RTM_GETLINK, NLM_F_DUMP, &ifi);
	struct nl_sock *sk = inc_rt_open();
	struct nlattr *info;
	int rc = -EIO;

	if (msg && kind) {
		info = nla_nest_start(msg, IFLA_LINKINFO);
		nla_put_string(msg, IFLA_INFO_KIND, kind);
		nla_nest_end(msg, info);
	}
	if (sk)
		rc = inc_rt_ask(sk, msg, fn, arg);
	else
		nlmsg_free(msg);
	nl_socket_free(sk);
	return rc == -ENOENT ? 0 : rc;
}

/*
 * Show all bridges the way to this switch, by one frame from each of its
 * bridges, and from their VLANs.
 */
void bridge_beacon(void)
{
	dump_links(NULL, on_link, NULL);
}

/*
 * Ask which bridges' spanning trees are changing. The root tells all bridges of
 * a kernel's spanning tree for 35 seconds by default, when they forget sooner.
 * Returns 0: none; else a number that depends on the bridges; the last result,
 * if the kernel does not answer.
 */
uint64_t bridge_changing(void)
{
	static uint64_t last;
	uint64_t sum = 0;

	if (!dump_links("bridge", on_bridge, &sum))
		last = sum;
	return last;
}
