/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Why an operation failed, as NETCONF tells it (RFC 6241, appendix A).
 */
#ifndef INC_AGENT_ERROR_H
#define INC_AGENT_ERROR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct inc_nl;
struct ly_ctx;
struct lyd_node;

/* The kinds that are used, by error-tag. */
enum nc_err {
	NC_ERR_UNKNOWN,
	NC_ERR_ACCESS_DENIED,
	NC_ERR_BAD_ATTR,
	NC_ERR_BAD_ELEM,
	NC_ERR_DATA_EXISTS,
	NC_ERR_DATA_MISSING,
	NC_ERR_IN_USE,
	NC_ERR_INVALID_VALUE,
	NC_ERR_LOCK_DENIED,
	NC_ERR_MALFORMED_MSG,
	NC_ERR_MISSING_ATTR,
	NC_ERR_MISSING_ELEM,
	NC_ERR_OP_FAILED,
	NC_ERR_OP_NOT_SUPPORTED,
	NC_ERR_RES_DENIED,
	NC_ERR_ROLLBACK_FAILED,
	NC_ERR_UNKNOWN_ATTR,
	NC_ERR_UNKNOWN_ELEM,
	NC_ERR_UNKNOWN_NS,
};

/* What is wrong, by error-type: the message, the operation, or data. */
enum nc_layer {
	NC_LAYER_RPC,
	NC_LAYER_PROTOCOL,
	NC_LAYER_APPLICATION,
};

/**
 * struct fault - an error
 * @tag: its kind; NC_ERR_UNKNOWN: none
 * @path: of the node that it concerns, or empty
 * @elem: name of the element that is bad, missing or unknown, or empty
 * @other: name of the attribute, or the namespace, that is
 * @app_tag: which rule of YANG it breaks (RFC 7950, section 15); "no-route"; or
 *	empty
 * @session: who has the lock that is denied
 * @msg: what is wrong
 */
struct fault {
	enum nc_err	tag;
	char		path[512];
	char		elem[64];
	char		other[64];
	char		app_tag[32];
	uint32_t	session;
	char		msg[640];
};

int fault_set(struct fault *f, enum nc_err tag, const struct lyd_node *node,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int fault_kernel(struct fault *f, const struct inc_nl *nl, int err,
		 const struct lyd_node *node);
int fault_text(struct fault *f, const char *msg, const char *path,
	       const char *app_tag);
int fault_yang(struct fault *f, const struct ly_ctx *ctx);
void error_print(FILE *out, const struct ly_ctx *ctx, const struct fault *f,
		 enum nc_layer layer);
void error_escape(FILE *out, const char *text, bool attribute);

#endif /* INC_AGENT_ERROR_H */
