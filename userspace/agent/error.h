/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Errors of operations in NETCONF's terms (RFC 6241, appendix A), including the
 * errors that libnetconf2 finds.
 */
#ifndef INC_AGENT_ERROR_H
#define INC_AGENT_ERROR_H

#include <stdbool.h>

#include <libnetconf2/messages_server.h>

struct inc_nl;
struct ly_ctx;
struct lyd_node;

/**
 * struct fault - an error
 * @tag: kind; NC_ERR_UNKNOWN: no error
 * @path: path of the node that it concerns, or empty
 * @elem: name of the element that is bad, missing or unknown, or empty
 * @other: name of the bad or unknown attribute, or of the namespace
 * @app_tag: rule of YANG that is broken (RFC 7950, section 15); "no-route"; or
 *	empty
 * @msg: description
 */
struct fault {
	NC_ERR		tag;
	char		path[512];
	char		elem[64];
	char		other[64];
	char		app_tag[32];
	char		msg[640];
};

int fault_set(struct fault *f, NC_ERR tag, const struct lyd_node *node,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int fault_kernel(struct fault *f, const struct inc_nl *nl, int err,
		 const struct lyd_node *node);
int fault_text(struct fault *f, const char *msg, const char *path,
	       const char *app_tag);
int fault_yang(struct fault *f, const struct ly_ctx *ctx);
struct lyd_node *error_make(const struct ly_ctx *ctx, const struct fault *f,
			    bool protocol);
void error_init(void);
void error_watch(bool on);

#endif /* INC_AGENT_ERROR_H */
