/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Unknown attributes in an edit.
 */
#ifndef INC_AGENT_ATTRIBUTE_H
#define INC_AGENT_ATTRIBUTE_H

#include <libyang/libyang.h>

struct fault;

int attribute_check(const struct ly_ctx *ctx, const struct lyd_node *op,
		    const char *text, struct fault *f);

#endif /* INC_AGENT_ATTRIBUTE_H */
