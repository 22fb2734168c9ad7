// SPDX-License-Identifier: GPL-2.0
/*
 * Which packets fit the way to a member.
 *
 * The route's device limits every packet. Below a bridge lies a port that may take
 * less: a bridge follows the smallest MTU of its ports only until somebody sets its
 * own, and then silently drops packets that are too long for a port.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/dst.h>
#include <net/lwtunnel.h>
#include <net/xfrm.h>

#include "datapath/nexthop.h"
#include "datapath/tx_mtu.h"
#include "object/qp.h"

/**
 * inc_mtu_device() - the largest packet that a route's device takes
 * @dst: route
 *
 * Not dst_mtu(), see tx_output.c.
 *
 * Context: any.
 * Return: bytes from the IP header on, less the headers of the route's
 * encapsulation.
 */
unsigned int inc_mtu_device(const struct dst_entry *dst)
{
	unsigned int mtu;

#ifdef CONFIG_XFRM
	if (dst->xfrm)
		return xfrm_state_mtu(dst->xfrm,
				      inc_mtu_device(xfrm_dst_child(dst)));
#endif
	mtu = READ_ONCE(dst->dev->mtu);
	return mtu - lwtunnel_headroom(dst->lwtstate, mtu);
}

/* Only below these lies another device of this namespace's. */
static bool is_above_another(const struct net_device *dev)
{
	return (netif_is_bridge_master(dev) || is_vlan_dev(dev)) &&
	       dev->netdev_ops->ndo_fill_forward_path;
}

static void take_smaller(struct inc_mtu *mtu, const struct net_device *dev,
			 unsigned int bytes)
{
	if (bytes >= mtu->bytes)
		return;
	mtu->bytes = bytes;
	strscpy(mtu->name, dev->name);
}

/**
 * inc_mtu_way() - find the narrowest device on the way to a member
 * @qp: its QP
 * @dst: its route
 * @mtu: filled in; a port counts if the bridge knows which one it is
 *
 * Packets in a tunnel or IPsec go to another address than the member's: only the
 * route's device counts.
 *
 * Context: BH off or process; no lock held.
 */
void inc_mtu_way(const struct inc_qp *qp, struct dst_entry *dst,
		 struct inc_mtu *mtu)
{
	struct net_device_path_ctx ctx = { .dev = dst->dev };
	struct net_device_path path;
	int depth;

	mtu->bytes = UINT_MAX;
	take_smaller(mtu, dst->dev, inc_mtu_device(dst));
	if (dst_xfrm(dst) || dst->lwtstate || !is_above_another(dst->dev) ||
	    !inc_nexthop_addr(qp, dst, ctx.daddr))
		return;
	rcu_read_lock();
	for (depth = 0; depth < NET_DEVICE_PATH_STACK_MAX; depth++) {
		if (!is_above_another(ctx.dev))
			break;
		memset(&path, 0, sizeof(path));
		if (ctx.dev->netdev_ops->ndo_fill_forward_path(&ctx, &path))
			break;
		take_smaller(mtu, ctx.dev, READ_ONCE(ctx.dev->mtu));
	}
	rcu_read_unlock();
}
