/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Interface between nl.c (messages) and nl-obj.c (their content).
 */
#ifndef INC_TOOL_NL_INT_H
#define INC_TOOL_NL_INT_H

#include "common.h"
#include "nl.h"
#include "nl-schema.h"

struct nl_msg;
struct nlattr;
struct nlmsghdr;

/**
 * struct request - a request and how to handle the reply
 * @cmd: RDMA_INC_CMD_*
 * @dump: request all objects
 * @obj: type of the objects in the request and in the replies
 * @req: the attributes to send, or NULL
 * @put: appends attributes in another way to the message, or NULL
 * @answered: there is a reply, and an ACK would say nothing more
 * @reply: called for each reply, or NULL
 * @arg: its last argument
 */
struct request {
	uint8_t			cmd;
	bool			dump;
	bool			answered;
	const struct object	*obj;
	const void		*req;
	int			(*put)(struct nl_msg *msg, const void *req);
	int			(*reply)(struct nlmsghdr *nlh, void *arg);
	void			*arg;
};

int nl_request(struct inc_nl *nl, const struct request *r);
int nl_encode(struct nl_msg *msg, const struct object *obj, const void *src);
void nl_decode(struct nlmsghdr *nlh, const struct object *obj, void *dst);
const char *nl_nested_name(struct nlattr *nest, const char *at);
const char *nl_attr_name(const struct object *obj, unsigned int attr);

#endif /* INC_TOOL_NL_INT_H */
