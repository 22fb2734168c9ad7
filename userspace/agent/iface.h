/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Interfaces, addresses and neighbours, read through rtnetlink.
 */
#ifndef INC_AGENT_IFACE_H
#define INC_AGENT_IFACE_H

#include <stdbool.h>
#include <stddef.h>

struct lyd_node;

void iface_add(struct lyd_node *sw);
int iface_watch(void);
bool iface_changed(int fd, char *name, size_t len);

#endif /* INC_AGENT_IFACE_H */
