/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Filters of get, get-config and subscriptions (RFC 6241, section 6).
 */
#ifndef INC_AGENT_FILTER_H
#define INC_AGENT_FILTER_H

#include "agent.h"

int filter_check(const struct lyd_node *filter, struct fault *f);
bool filter_wants(const struct lyd_node *filter, const char *path);
uint32_t filter_tree(const struct lyd_node *filter);
int filter_apply(const struct ly_ctx *ctx, const struct lyd_node *filter,
		 struct lyd_node **data, struct fault *f);

#endif /* INC_AGENT_FILTER_H */
