/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Notifications (RFC 5277): the kernel's events for the sessions that
 * subscribe.
 */
#ifndef INC_AGENT_NOTIF_H
#define INC_AGENT_NOTIF_H

#include "agent.h"

/* The only stream of events. */
#define NOTIF_STREAM	"NETCONF"

struct session;

int notif_start(struct agent *a);
void notif_stop(struct agent *a);
void notif_free(struct agent *a);
void notif_changed(struct agent *a);
int notif_send(struct session *s);
int notif_subscribe(struct session *s, const struct lyd_node *filter,
		    struct fault *f);
void notif_unsubscribe(struct session *s);

#endif /* INC_AGENT_NOTIF_H */
