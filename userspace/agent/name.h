/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The switch's name in the fabric, which a manager can set: a file keeps it.
 */
#ifndef INC_AGENT_NAME_H
#define INC_AGENT_NAME_H

#include <stdbool.h>

struct agent;
struct fault;
struct lyd_node;

int name_init(struct agent *a, const char *id, const char *dir);
void name_get(const struct agent *a, char *name);
void name_add(const struct agent *a, struct lyd_node *identity);
int name_apply(struct agent *a, const struct lyd_node *sw, bool busy,
	       struct fault *f);

#endif /* INC_AGENT_NAME_H */
