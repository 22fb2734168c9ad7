/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The path to a member, read through rtnetlink: route, neighbour, bridge port,
 * and the devices on the path.
 *
 * Functions return 0 or -errno; -ENOENT if the object does not exist.
 */
#ifndef INC_TOOL_RT_H
#define INC_TOOL_RT_H

#include <linux/if.h>

#include "common.h"
#include "nl.h"

#define RT_LLADDR_LEN	6

/**
 * struct rt_route - route to a destination
 * @type: RTN_*
 * @ifindex: device
 * @mtu: MTU that the route sets, or 0
 * @next: next hop: the gateway, or the destination itself
 */
struct rt_route {
	uint8_t			type;
	int			ifindex;
	uint32_t		mtu;
	struct inc_nl_addr	next;
};

/**
 * struct rt_neigh - a neighbour
 * @state: NUD_*
 * @has_lladdr: @lladdr is known
 * @lladdr: Ethernet address
 */
struct rt_neigh {
	uint16_t	state;
	bool		has_lladdr;
	uint8_t		lladdr[RT_LLADDR_LEN];
};

/**
 * struct rt_link - a network device
 * @ifindex: its index
 * @name: its name
 * @kind: bridge, veth ..., or empty
 * @flags: IFF_*
 * @mtu: its MTU
 * @master: index of its bridge, bond ..., or 0
 * @rx_packets: packets received
 * @tx_packets: packets sent
 * @rx_dropped: packets dropped on receive
 * @tx_dropped: packets dropped on transmit
 * @errors: packets damaged, missed or not sent
 * @queue_drops: packets dropped by its root queueing discipline
 */
struct rt_link {
	int		ifindex;
	char		name[IFNAMSIZ];
	char		kind[16];
	unsigned int	flags;
	uint32_t	mtu;
	int		master;
	uint64_t	rx_packets;
	uint64_t	tx_packets;
	uint64_t	rx_dropped;
	uint64_t	tx_dropped;
	uint64_t	errors;
	uint64_t	queue_drops;
};

struct nl_sock;

int rt_route_get(struct nl_sock *sk, const struct inc_nl_addr *dst,
		 const struct inc_nl_addr *src, struct rt_route *route);
int rt_neigh_get(struct nl_sock *sk, int ifindex,
		 const struct inc_nl_addr *addr, struct rt_neigh *neigh);
int rt_port_get(struct nl_sock *sk, int bridge, const uint8_t *lladdr,
		int *ifindex);
int rt_link_get(struct nl_sock *sk, int ifindex, struct rt_link *link);

#endif /* INC_TOOL_RT_H */
