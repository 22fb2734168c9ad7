/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Errors as a client of NETCONF gets them (RFC 6241, appendix A), also what
 * libnetconf2 finds.
 */
#ifndef INC_AGENT_ERROR_H
#define INC_AGENT_ERROR_H

#include <stdbool.h>

struct fault;
struct ly_ctx;
struct lyd_node;

struct lyd_node *error_make(const struct ly_ctx *ctx, const struct fault *f,
			    bool protocol);
void error_init(void);
void error_watch(bool on);

#endif /* INC_AGENT_ERROR_H */
