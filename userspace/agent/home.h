/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Calls home (RFC 8071): connections that the agent makes to its managers.
 */
#ifndef INC_AGENT_HOME_H
#define INC_AGENT_HOME_H

#define HOME_MANAGERS	4

struct agent;
struct lyd_node;

int home_start(struct agent *a, const char *const *managers, unsigned int n);
void home_stop(struct agent *a);
void home_add(const struct agent *a, struct lyd_node *sw);

#endif /* INC_AGENT_HOME_H */
