/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A message of a client's, and the reply to it (RFC 6241, section 4).
 */
#ifndef INC_AGENT_REPLY_H
#define INC_AGENT_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct lyd_node;
struct request;

/**
 * enum reply_kind - what becomes of a message
 * @REPLY_ANSWER: it is a request: answer it
 * @REPLY_REFUSE: it is none: the reply says so
 * @REPLY_NONE: it is none that there is a reply to
 */
enum reply_kind {
	REPLY_ANSWER,
	REPLY_REFUSE,
	REPLY_NONE,
};

/**
 * struct reply - a reply that is being printed
 * @q: to this request
 * @rpc: the request's outermost element, or NULL
 * @op: the operation, or NULL
 * @text: result
 * @len: its length
 */
struct reply {
	struct request	*q;
	struct lyd_node	*rpc;
	struct lyd_node	*op;
	char		*text;
	size_t		len;
};

enum reply_kind reply_begin(struct reply *r, struct request *q, const char *text,
			    bool always);
bool reply_end(struct reply *r);
void reply_free(struct reply *r);
void reply_ok(struct request *q);
void reply_fault(struct request *q, const struct fault *f, enum nc_layer layer);
void reply_data(struct request *q, const struct lyd_node *data);

#endif /* INC_AGENT_REPLY_H */
