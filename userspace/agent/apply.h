/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Changes the kernel's objects to those of a configuration.
 */
#ifndef INC_AGENT_APPLY_H
#define INC_AGENT_APPLY_H

#include "agent.h"

/* Treatment of earlier requests when one fails. */
enum apply_error {
	APPLY_ROLLBACK,
	APPLY_CONTINUE,
};

void apply_defaults(const struct lyd_node *running, struct lyd_node *wanted);
int apply_config(struct inc_nl *nl, const struct lyd_node *running,
		 const struct lyd_node *wanted,
		 enum apply_error on_error,
		 void (*failed)(const struct fault *f, void *arg), void *arg);

#endif /* INC_AGENT_APPLY_H */
