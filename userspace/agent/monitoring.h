/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The agent's own state, as RFC 6022 and 5277 have it.
 */
#ifndef INC_AGENT_MONITORING_H
#define INC_AGENT_MONITORING_H

#include "agent.h"

/**
 * struct monitoring_lock - who has locked the running datastore
 * @owner: session, 0: nobody
 * @since: when, in seconds since 1970
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
