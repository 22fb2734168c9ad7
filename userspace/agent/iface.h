/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Interfaces, addresses and neighbours, read through rtnetlink.
 */
#ifndef INC_AGENT_IFACE_H
#define INC_AGENT_IFACE_H

#include <stddef.h>
#include <stdint.h>

struct lyd_node;

/**
 * enum iface_change - kind of change
 * @IFACE_NONE: no more changes
 * @IFACE_LINK: an interface
 * @IFACE_HOST: a bridge has learnt where a host is
 * @IFACE_FORGOTTEN: a bridge has forgotten a host
 * @IFACE_OTHER: nothing of interest
 */
enum iface_change {
	IFACE_NONE,
	IFACE_LINK,
	IFACE_HOST,
	IFACE_FORGOTTEN,
	IFACE_OTHER,
};

int iface_add(struct lyd_node *sw);
void iface_version(struct lyd_node *sw, const char *id);
struct lyd_node *iface_neighbour(struct lyd_node *sw, const char *ifname,
				 const uint8_t *mac);
int iface_watch(void);
enum iface_change iface_changed(int fd, char *name, size_t len);

#endif /* INC_AGENT_IFACE_H */
