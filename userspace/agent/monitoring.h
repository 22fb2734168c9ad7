/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The agent's own state (RFC 6022, RFC 5277).
 */
#ifndef INC_AGENT_MONITORING_H
#define INC_AGENT_MONITORING_H

#include "agent.h"

/**
 * struct monitoring_lock - lock of the running datastore
 * @owner: session; 0: none
 * @since: when it was locked, in seconds since 1970
 */
struct monitoring_lock {
	uint32_t	owner;
	time_t		since;
};

int monitoring_library(const struct agent *a, struct lyd_node **data);
int monitoring_streams(const struct agent *a, struct lyd_node **data);
int monitoring_add(const struct agent *a, const struct monitoring_lock *lock,
		   struct lyd_node **data);

#endif /* INC_AGENT_MONITORING_H */
