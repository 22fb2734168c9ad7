/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets that go to a member, as the routing tables see them.
 */
#ifndef _INC_FLOW_H
#define _INC_FLOW_H

#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ipv6.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "compat.h"
#include "object/qp.h"
#include "object/switch.h"

/**
 * inc_flow_ipv4() - describe the packets of a QP to an IPv4 route lookup
 * @qp: QP of a member with an IPv4 address
 *
 * Context: any.
 * Return: the flow, without devices but the one that the member is bound to.
 */
static inline struct flowi4 inc_flow_ipv4(const struct inc_qp *qp)
{
	return (struct flowi4) {
		.flowi4_oif	= qp->cfg.ifindex,
		.daddr		= qp->cfg.peer.s6_addr32[3],
		.saddr		= qp->cfg.local.s6_addr32[3],
		.flowi4_dscp	= inet_dsfield_to_dscp(qp->traffic_class),
		.flowi4_proto	= IPPROTO_UDP,
		.fl4_sport	= qp->sport,
		.fl4_dport	= htons(INC_UDP_PORT),
	};
}

/**
 * inc_flow_ipv6() - describe the packets of a QP to an IPv6 route lookup
 * @qp: QP of a member with an IPv6 address
 *
 * Context: any.
 * Return: the flow, without devices but the one that the member is bound to.
 */
static inline struct flowi6 inc_flow_ipv6(const struct inc_qp *qp)
{
	return (struct flowi6) {
		.flowi6_oif	= qp->cfg.ifindex,
		.daddr		= qp->cfg.peer,
		.saddr		= qp->cfg.local,
		.flowlabel	= ip6_make_flowinfo(qp->traffic_class, 0),
		.flowi6_proto	= IPPROTO_UDP,
		.fl6_sport	= qp->sport,
		.fl6_dport	= htons(INC_UDP_PORT),
	};
}

/**
 * inc_flow_genid() - get the generation of the routes and addresses
 * @qp: QP
 *
 * Context: any.
 * Return: a number that changes whenever a route or an address does.
 */
static inline int inc_flow_genid(const struct inc_qp *qp)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (qp->cfg.family == AF_INET6)
		return rt_genid_ipv6(qp->sw->net);
#endif
	return rt_genid_ipv4(qp->sw->net);
}

#endif /* _INC_FLOW_H */
