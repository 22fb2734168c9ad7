// SPDX-License-Identifier: GPL-2.0
/*
 * Checks that IP and UDP make before they hand a packet to a socket, and that
 * the hooks run too early for: did it arrive on a device that leads to its
 * sender, and does the IPsec policy of the namespace allow it as it is?
 *
 * A member is reached by the device of its route. No lookup per packet is made,
 * unlike rp_filter: the route in use has told the device (inc_qp.iif). Only a
 * packet from another device is worth a lookup: several devices may lead to a
 * member, and routes change while nothing is sent. A member that is bound to an
 * interface is at that one alone.
 */
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/xfrm.h>

#include "datapath/flow.h"
#include "datapath/ingress.h"
#include "object/qp.h"
#include "object/switch.h"

/* rp_filter's value that accepts a source reachable over any device. */
#define RP_FILTER_LOOSE	2

static bool dev_leads_ipv4(const struct inc_qp *qp,
			   const struct net_device *dev, bool loose)
{
	struct flowi4 fl4 = inc_flow_ipv4(qp);
	struct fib_result res;
	int err;

	fl4.flowi4_iif = LOOPBACK_IFINDEX;
	fl4.flowi4_l3mdev = l3mdev_master_ifindex_rcu(dev);
	err = fib_lookup(qp->sw->net, &fl4, &res,
			 FIB_LOOKUP_IGNORE_LINKSTATE);
	if (err || res.type != RTN_UNICAST)
		return false;
	return loose || fib_info_nh_uses_dev(res.fi, dev);
}

static bool dev_leads_ipv6(const struct inc_qp *qp,
			   const struct net_device *dev,
			   const struct sk_buff *skb, bool loose)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = inc_flow_ipv6(qp);
	struct dst_entry *dst;
	struct rt6_info *rt;
	bool ok;

	fl6.flowi6_iif = LOOPBACK_IFINDEX;
	fl6.flowi6_l3mdev = l3mdev_master_ifindex_rcu(dev);
	/* If there are several routes, the one over this device. */
	fl6.flowi6_oif = loose ? 0 : dev->ifindex;
	dst = ip6_route_lookup(qp->sw->net, &fl6, skb,
			       RT6_LOOKUP_F_HAS_SADDR);
	rt = dst_rt6_info(dst);
	ok = !dst->error && rt->rt6i_idev &&
	     !(rt->rt6i_flags & (RTF_REJECT | RTF_ANYCAST | RTF_LOCAL)) &&
	     (loose || rt->rt6i_idev->dev == dev);
	dst_release(dst);
	return ok;
#else
	return false;
#endif
}

/* IPv6 has no rp_filter setting of its own: IPv4's counts for both. */
static bool dev_leads(const struct inc_qp *qp, const struct sk_buff *skb,
		      int iif)
{
	const struct in_device *in_dev;
	struct net_device *dev;
	bool loose;

	dev = dev_get_by_index_rcu(qp->sw->net, iif);
	if (!dev)
		return false;
	in_dev = __in_dev_get_rcu(dev);
	loose = in_dev && IN_DEV_RPFILTER(in_dev) == RP_FILTER_LOOSE;
	return qp->cfg.family == AF_INET ? dev_leads_ipv4(qp, dev, loose) :
					   dev_leads_ipv6(qp, dev, skb, loose);
}

/* The ingress device itself, where skb->dev is the VRF that it belongs to. */
static int ingress_ifindex(const struct inc_qp *qp, const struct sk_buff *skb)
{
	int sdif = qp->cfg.family == AF_INET ? inet_sdif(skb) : inet6_sdif(skb);

	return sdif ? sdif : skb->dev->ifindex;
}

/**
 * inc_ingress_early() - check whether a packet may skip IP's input
 * @qp: QP that it is for, whose addresses it has
 * @skb: packet
 * @dev: device at which IP would receive it
 *
 * Context: softirq, RCU read side.
 * Return: false if IP has to process it first.
 */
bool inc_ingress_early(const struct inc_qp *qp, struct sk_buff *skb,
		       const struct net_device *dev)
{
	/* The address may have been removed, or the route moved, since. */
	if (dev->ifindex != READ_ONCE(qp->iif) ||
	    inc_flow_genid(qp) != READ_ONCE(qp->genid))
		return false;
#ifdef CONFIG_XFRM
	return __xfrm_check_nopolicy(qp->sw->net, skb, XFRM_POLICY_IN);
#else
	return true;
#endif
}

/**
 * inc_ingress_check() - check the device and IPsec policy of a packet
 * @qp: QP that it is for, whose addresses it has
 * @skb: packet in IP's local input
 *
 * Context: softirq, RCU read side.
 * Return: 0, or the counter of the reason to drop it.
 */
unsigned int inc_ingress_check(const struct inc_qp *qp, struct sk_buff *skb)
{
	int iif = ingress_ifindex(qp, skb);

	if (iif != READ_ONCE(qp->iif) &&
	    (qp->cfg.ifindex || !dev_leads(qp, skb, iif)))
		return RDMA_INC_A_SWITCH_STATS_RX_INGRESS;
	if (!xfrm_policy_check(NULL, XFRM_POLICY_IN, skb, qp->cfg.family))
		return RDMA_INC_A_SWITCH_STATS_RX_POLICY;
	return 0;
}
