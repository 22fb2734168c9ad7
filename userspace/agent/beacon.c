// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See beacon.h. The frame is an empty UDP datagram to port 9, discard, of all
 * hosts (224.0.0.1, or ff02::1), which every bridge floods: RFC 4541, 2.1.2. It
 * needs no privilege, and nobody answers.
 *
 * The times between them are those of the trickle algorithm (RFC 6206) without
 * its suppression, since each switch has to be heard: short after a change, as it
 * may be the first of several, doubled then.
 */
#include "beacon.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#define PORT_DISCARD	9
/* Bridges forget after five minutes, unless told otherwise. */
#define GAP_MAX_MS	60000
/* After a change of a link; after something was forgotten: hosts come and go. */
#define GAP_LINK_MS	1000
#define GAP_FORGOT_MS	10000
/* Changes come together. */
#define SETTLE_MS	100

static struct {
	uint64_t	at;		/* milliseconds: when to send; 0: at once */
	uint64_t	last;		/* when it was sent */
	uint64_t	gap;		/* until it is sent again */
	uint64_t	wanted;		/* the gap that a change asks for, or 0 */
} beacon;

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

static bool is_kind(struct nlattr *linkinfo, const char *kind)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	return linkinfo &&
	       !nla_parse_nested(tb, IFLA_INFO_MAX, linkinfo, NULL) &&
	       tb[IFLA_INFO_KIND] && !nla_strcmp(tb[IFLA_INFO_KIND], kind);
}

static int on_link(struct nl_msg *msg, void *arg)
{
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[IFLA_MAX + 1];

	(void)arg;
	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifi), tb, IFLA_MAX, NULL) ||
	    !(ifi->ifi_flags & IFF_UP))
		return NL_OK;
	/* A bridge has a forwarding database for each of its VLANs. */
	if (!is_kind(tb[IFLA_LINKINFO], "bridge") &&
	    !is_kind(tb[IFLA_LINKINFO], "vlan"))
		return NL_OK;
	/* A bridge without addresses has none for IPv4 to be sent from. */
	if (!send_by(AF_INET, ifi->ifi_index))
		send_by(AF_INET6, ifi->ifi_index);
	return NL_OK;
}

/**
 * beacon_send() - let all others know by which way this switch is reached
 *
 * One frame by each of its bridges, and of their VLANs.
 */
void beacon_send(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };

	if (!sk || nl_connect(sk, NETLINK_ROUTE))
		goto out;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_link, NULL);
	if (nl_send_simple(sk, RTM_GETLINK, NLM_F_DUMP, &ifi,
			   sizeof(ifi)) >= 0)
		nl_recvmsgs_default(sk);
out:
	nl_socket_free(sk);
}

/**
 * beacon_hurry() - something has changed
 * @link: an interface, else something was forgotten
 *
 * Context: The thread that calls beacon_turn().
 */
void beacon_hurry(bool link)
{
	uint64_t gap = link ? GAP_LINK_MS : GAP_FORGOT_MS;

	if (!beacon.wanted || gap < beacon.wanted)
		beacon.wanted = gap;
}

/**
 * beacon_turn() - send one, if it is time
 * @now: milliseconds
 *
 * Return: milliseconds until it must be called again.
 */
int beacon_turn(uint64_t now)
{
	uint64_t soon = now + SETTLE_MS;

	if (beacon.wanted && beacon.at > soon) {
		if (soon < beacon.last + beacon.wanted)
			soon = beacon.last + beacon.wanted;
		if (soon < beacon.at)
			beacon.at = soon;
		if (beacon.wanted < beacon.gap)
			beacon.gap = beacon.wanted;
	}
	beacon.wanted = 0;
	if (beacon.at > now)
		return (int)(beacon.at - now);
	beacon_send();
	beacon.gap = !beacon.gap ? GAP_LINK_MS :
		     beacon.gap > GAP_MAX_MS / 2 ? GAP_MAX_MS : beacon.gap * 2;
	beacon.last = now;
	beacon.at = now + beacon.gap;
	return (int)beacon.gap;
}
