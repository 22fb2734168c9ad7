/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * LLDP by lldpd: announces this switch at all its ports, and learns its
 * neighbours there.
 */
#ifndef INC_AGENT_LLDP_H
#define INC_AGENT_LLDP_H

struct agent;
struct lyd_node;

int lldp_start(const struct agent *a, const char *sock, void (*changed)(void));
void lldp_stop(void);
void lldp_add(struct lyd_node *sw);

#endif /* INC_AGENT_LLDP_H */
