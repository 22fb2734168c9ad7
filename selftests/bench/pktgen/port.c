// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: network devices that keep what they are given to send until it is
 * asked for. They take bursts whole, like veth; with gso_max_segs 1, like a NIC
 * that segments nothing. Each CPU has a queue, as drivers have it.
 */
#include <linux/etherdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>

#include "pktgen.h"

struct port {
	struct sk_buff_head	sent[PG_CPUS];
};

static struct net_device *ports[PG_PORTS_MAX];

/* The transmit queue's lock is held, as for the driver of a NIC. */
static netdev_tx_t port_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct port *p = netdev_priv(dev);

	skb->tstamp = pg_cycles();
	__skb_queue_tail(&p->sent[skb_get_queue_mapping(skb)], skb);
	return NETDEV_TX_OK;
}

static u16 select_queue(struct net_device *dev, struct sk_buff *skb,
			struct net_device *sb_dev)
{
	return pg_second_is_here();
}

static const struct net_device_ops port_ops = {
	.ndo_start_xmit		= port_xmit,
	.ndo_select_queue	= select_queue,
	.ndo_set_mac_address	= eth_mac_addr,
};

static struct net_device *make_port(unsigned int i)
{
	struct net_device *dev = alloc_etherdev_mq(sizeof(struct port), PG_CPUS);
	struct port *p;
	int q;

	if (!dev)
		return NULL;
	p = netdev_priv(dev);
	for (q = 0; q < PG_CPUS; q++)
		__skb_queue_head_init(&p->sent[q]);
	snprintf(dev->name, sizeof(dev->name), "pg%u", i);
	dev_net_set(dev, current->nsproxy->net_ns);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &port_ops;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->max_mtu = ETH_MAX_MTU;
	dev->features |= NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM |
			 NETIF_F_RXCSUM | NETIF_F_HIGHDMA |
			 NETIF_F_GSO_SOFTWARE;
	dev->hw_features = dev->features;
	netif_set_tso_max_size(dev, GSO_MAX_SIZE);
	if (register_netdev(dev)) {
		free_netdev(dev);
		return NULL;
	}
	return dev;
}

/**
 * pg_ports_make() - make the ports, pg0 and so on, in the caller's namespace
 * @n: number of ports
 *
 * Context: process.
 * Return: 0, or -ENOMEM.
 */
int pg_ports_make(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		ports[i] = make_port(i);
		if (ports[i])
			continue;
		pg_ports_remove();
		return -ENOMEM;
	}
	return 0;
}

/**
 * pg_ports_remove() - remove all ports
 *
 * Context: process.
 */
void pg_ports_remove(void)
{
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < PG_PORTS_MAX && ports[i]; i++) {
		unregister_netdev(ports[i]);
		local_bh_disable();
		while ((skb = pg_port_sent(ports[i])))
			kfree_skb(skb);
		local_bh_enable();
		free_netdev(ports[i]);
		ports[i] = NULL;
	}
}

/**
 * pg_port() - get a port
 * @i: its number
 *
 * Return: its device, or NULL.
 */
struct net_device *pg_port(unsigned int i)
{
	return i < PG_PORTS_MAX ? ports[i] : NULL;
}

/* Of the packets that the queues send next, the one that was there first. */
static struct sk_buff_head *find_oldest(struct port *p)
{
	struct sk_buff_head *oldest = &p->sent[0];
	struct sk_buff *a, *b;
	int q;

	for (q = 1; q < PG_CPUS; q++) {
		a = skb_peek(oldest);
		b = skb_peek(&p->sent[q]);
		if (b && (!a || b->tstamp < a->tstamp))
			oldest = &p->sent[q];
	}
	return oldest;
}

/* netif_tx_lock() does not keep those out who send without a qdisc. */
static void lock_queues(struct net_device *dev)
{
	unsigned int q;

	for (q = 0; q < PG_CPUS; q++)
		spin_lock_nested(&netdev_get_tx_queue(dev, q)->_xmit_lock, q);
}

static void unlock_queues(struct net_device *dev)
{
	unsigned int q;

	for (q = 0; q < PG_CPUS; q++)
		spin_unlock(&netdev_get_tx_queue(dev, q)->_xmit_lock);
}

/**
 * pg_port_sent() - take a packet that a port was given to send
 * @dev: port
 *
 * Context: BH off.
 * Return: the oldest packet, or NULL.
 */
struct sk_buff *pg_port_sent(struct net_device *dev)
{
	struct sk_buff *skb;

	lock_queues(dev);
	skb = __skb_dequeue(find_oldest(netdev_priv(dev)));
	unlock_queues(dev);
	return skb;
}
