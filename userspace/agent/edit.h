/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rules of edit-config (RFC 6241, section 7.2).
 */
#ifndef INC_AGENT_EDIT_H
#define INC_AGENT_EDIT_H

#include "agent.h"

enum edit_op {
	EDIT_MERGE,
	EDIT_REPLACE,
	EDIT_CREATE,
	EDIT_DELETE,
	EDIT_REMOVE,
	EDIT_NONE,
};

int edit_op(const char *name, enum edit_op *op);
bool edit_has_sense(const struct lyd_node *edit, enum edit_op op);
bool edit_is_unique(const struct lyd_node *edit, struct fault *f);
uint32_t edit_tree(const struct lyd_node *edit, enum edit_op op);
int edit_apply(const struct lyd_node *edit, enum edit_op op,
	       struct lyd_node **config, struct fault *f);

#endif /* INC_AGENT_EDIT_H */
