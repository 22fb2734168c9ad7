/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * LLDP by lldpd: announces this switch at all its ports, and learns its
 * neighbours there.
 */
#ifndef INC_AGENT_LLDP_H
#define INC_AGENT_LLDP_H

struct agent;
struct lyd_node;

int lldp_start(struct agent *a, const char *sock,
	       void (*changed)(struct agent *a));
void lldp_stop(struct agent *a);
void lldp_free(struct agent *a);
void lldp_add(struct agent *a, struct lyd_node *sw);

#endif /* INC_AGENT_LLDP_H */
