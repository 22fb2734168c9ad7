/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Why an operation failed, as NETCONF tells it (RFC 6241, appendix A).
 */
#ifndef INC_AGENT_FAULT_H
#define INC_AGENT_FAULT_H

struct inc_nl;
struct ly_ctx;
struct lyd_node;

enum fault_tag {
	FAULT_NONE,
	FAULT_ACCESS_DENIED,
	FAULT_BAD_ATTRIBUTE,
	FAULT_BAD_ELEMENT,
	FAULT_DATA_EXISTS,
	FAULT_DATA_MISSING,
	FAULT_IN_USE,
	FAULT_INVALID_VALUE,
	FAULT_MISSING_ELEMENT,
	FAULT_NOT_SUPPORTED,
	FAULT_FAILED,
	FAULT_RESOURCE_DENIED,
	FAULT_ROLLBACK_FAILED,
	FAULT_UNKNOWN_ATTRIBUTE,
	FAULT_UNKNOWN_ELEMENT,
	FAULT_UNKNOWN_NAMESPACE,
};

/**
 * struct fault - an error
 * @tag: its kind
 * @path: of the node that it concerns, or empty
 * @elem: name of the element that is bad, missing or unknown, or empty
 * @other: name of the attribute, or the namespace, that is
 * @app_tag: which rule of YANG it breaks, or empty (RFC 7950, section 15)
 * @msg: what is wrong
 */
struct fault {
	enum fault_tag	tag;
	char		path[512];
	char		elem[64];
	char		other[64];
	char		app_tag[32];
	char		msg[640];
};

int fault_set(struct fault *f, enum fault_tag tag, const struct lyd_node *node,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int fault_kernel(struct fault *f, const struct inc_nl *nl, int err,
		 const struct lyd_node *node);
int fault_text(struct fault *f, const char *msg, const char *path,
	       const char *app_tag);
int fault_yang(struct fault *f, const struct ly_ctx *ctx);

#endif /* INC_AGENT_FAULT_H */
