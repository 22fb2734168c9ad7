// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reads routes, neighbours, bridge ports and devices through rtnetlink.
 */
#include "common.h"

#include <sys/socket.h>

#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>

#include "nl/rtnl.h"
#include "rt.h"

static uint8_t family_of(const struct inc_nl_addr *addr)
{
	return addr->len == 4 ? AF_INET : AF_INET6;
}

static void get_addr(struct nlattr *a, struct inc_nl_addr *addr)
{
	if (nla_len(a) != 4 && nla_len(a) != 16)
		return;
	addr->len = (uint8_t)nla_len(a);
	memcpy(addr->bytes, nla_data(a), addr->len);
}

static void parse_route(const void *head, struct nlattr **tb, void *arg)
{
	struct nlattr *metrics[RTAX_MAX + 1];
	const struct rtmsg *rtm = head;
	struct rt_route *route = arg;

	route->type = rtm->rtm_type;
	if (tb[RTA_OIF])
		route->ifindex = (int)nla_get_u32(tb[RTA_OIF]);
	if (tb[RTA_GATEWAY])
		get_addr(tb[RTA_GATEWAY], &route->next);
	if (tb[RTA_METRICS] &&
	    !nla_parse_nested(metrics, RTAX_MAX, tb[RTA_METRICS], NULL) &&
	    metrics[RTAX_MTU])
		route->mtu = nla_get_u32(metrics[RTAX_MTU]);
}

/*
 * Find the route to an address. Returns 0 or a negative errno value; -ENOENT:
 * none.
 */
int rt_route_get(struct nl_sock *sk, const struct inc_nl_addr *dst,
		 const struct inc_nl_addr *src, struct rt_route *route)
{
	struct rtmsg rtm = {
		.rtm_family = family_of(dst), .rtm_dst_len = dst->len * 8,
		.rtm_src_len = src->len * 8,
	};
	struct nl_msg *msg = inc_rt_request(RTM_GETROUTE, 0, &rtm);

	if (!msg || nla_put(msg, RTA_DST, dst->len, dst->bytes) ||
	    (src->len && nla_put(msg, RTA_SRC, src->len, src->bytes))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	memset(route, 0, sizeof(*route));
	route->next = *dst;
	return inc_rt_ask(sk, msg, parse_route, route);
}

static void parse_neigh(const void *head, struct nlattr **tb, void *arg)
{
	const struct ndmsg *ndm = head;
	struct rt_neigh *neigh = arg;

	neigh->state = ndm->ndm_state;
	if (tb[NDA_LLADDR] && nla_len(tb[NDA_LLADDR]) == RT_LLADDR_LEN) {
		memcpy(neigh->lladdr, nla_data(tb[NDA_LLADDR]), RT_LLADDR_LEN);
		neigh->has_lladdr = true;
	}
}

/* Find a neighbour. Returns 0 or a negative errno value; -ENOENT: none. */
int rt_neigh_get(struct nl_sock *sk, int ifindex,
		 const struct inc_nl_addr *addr, struct rt_neigh *neigh)
{
	struct ndmsg ndm = {
		.ndm_family = family_of(addr), .ndm_ifindex = ifindex,
	};
	struct nl_msg *msg = inc_rt_request(RTM_GETNEIGH, 0, &ndm);

	if (!msg || nla_put(msg, NDA_DST, addr->len, addr->bytes)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	memset(neigh, 0, sizeof(*neigh));
	return inc_rt_ask(sk, msg, parse_neigh, neigh);
}

static void parse_port(const void *head, struct nlattr **tb, void *arg)
{
	const struct ndmsg *ndm = head;

	*(int *)arg = ndm->ndm_ifindex;
}

/*
 * Find the port by which a bridge reaches an Ethernet address. Returns 0 or a
 * negative errno value; -ENOENT: none.
 */
int rt_port_get(struct nl_sock *sk, int bridge, const uint8_t *lladdr,
		int *ifindex)
{
	struct ndmsg ndm = { .ndm_family = AF_BRIDGE };
	struct nl_msg *msg = inc_rt_request(RTM_GETNEIGH, 0, &ndm);

	if (!msg || nla_put(msg, NDA_LLADDR, RT_LLADDR_LEN, lladdr) ||
	    nla_put_u32(msg, NDA_MASTER, (uint32_t)bridge)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return inc_rt_ask(sk, msg, parse_port, ifindex);
}

static void parse_link(const void *head, struct nlattr **tb, void *arg)
{
	struct rtnl_link_stats64 s = { .rx_packets = 0 };
	struct nlattr *info[IFLA_INFO_MAX + 1];
	const struct ifinfomsg *ifi = head;
	struct rt_link *link = arg;

	link->ifindex = ifi->ifi_index;
	link->flags = ifi->ifi_flags;
	if (tb[IFLA_IFNAME])
		nla_strlcpy(link->name, tb[IFLA_IFNAME], sizeof(link->name));
	if (tb[IFLA_MTU])
		link->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_MASTER])
		link->master = (int)nla_get_u32(tb[IFLA_MASTER]);
	if (tb[IFLA_LINKINFO] &&
	    !nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) &&
	    info[IFLA_INFO_KIND])
		nla_strlcpy(link->kind, info[IFLA_INFO_KIND],
			    sizeof(link->kind));
	if (tb[IFLA_STATS64]) {
		size_t len = (size_t)nla_len(tb[IFLA_STATS64]);

		memcpy(&s, nla_data(tb[IFLA_STATS64]),
		       len < sizeof(s) ? len : sizeof(s));
	}
	link->rx_packets = s.rx_packets;
	link->tx_packets = s.tx_packets;
	link->rx_dropped = s.rx_dropped;
	link->tx_dropped = s.tx_dropped;
	link->errors = s.rx_errors + s.tx_errors + s.rx_missed_errors;
}

static void parse_qdisc(const void *head, struct nlattr **tb, void *arg)
{
	struct nlattr *stats[TCA_STATS_MAX + 1];
	const struct tcmsg *tcm = head;
	struct gnet_stats_queue q = { .drops = 0 };
	struct rt_link *link = arg;

	if (!tcm) {
		link->queue_drops = 0;
		return;
	}
	/* A dump has all queues, and before 4.20 it has all devices' queues. */
	if (tcm->tcm_ifindex != link->ifindex || tcm->tcm_parent != TC_H_ROOT ||
	    !tb[TCA_STATS2] ||
	    nla_parse_nested(stats, TCA_STATS_MAX, tb[TCA_STATS2], NULL) ||
	    !stats[TCA_STATS_QUEUE])
		return;
	if (nla_len(stats[TCA_STATS_QUEUE]) >= (int)sizeof(q))
		memcpy(&q, nla_data(stats[TCA_STATS_QUEUE]), sizeof(q));
	link->queue_drops += q.drops;
}

/* Find a device. Returns 0 or a negative errno value; -ENOENT: none. */
int rt_link_get(struct nl_sock *sk, int ifindex, struct rt_link *link)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct tcmsg tcm = { .tcm_ifindex = ifindex };
	int rc;

	memset(link, 0, sizeof(*link));
	rc = inc_rt_ask(sk, inc_rt_request(RTM_GETLINK, 0, &ifi), parse_link,
			link);
	if (rc)
		return rc;
	rc = inc_rt_ask(sk, inc_rt_request(RTM_GETQDISC, NLM_F_DUMP, &tcm),
			parse_qdisc, link);
	/* The kernel may have been built without queueing disciplines. */
	return rc == -ENOENT || rc == -EOPNOTSUPP ? 0 : rc;
}
