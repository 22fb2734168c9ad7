/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The agent's own state (RFC 6022, RFC 5277).
 */
#ifndef INC_AGENT_MONITORING_H
#define INC_AGENT_MONITORING_H

#include "agent.h"

int monitoring_library(const struct agent *a, struct lyd_node **data);
int monitoring_streams(const struct agent *a, struct lyd_node **data);
int monitoring_add(struct agent *a, struct lyd_node **data);

#endif /* INC_AGENT_MONITORING_H */
