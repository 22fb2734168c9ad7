/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Interface between nl.c (messages) and nl-obj.c (their content).
 */
#ifndef INC_TOOL_NL_INT_H
#define INC_TOOL_NL_INT_H

#include "common.h"
#include "nl.h"

struct nl_msg;
struct nlmsghdr;

enum field_type {
	FIELD_UINT8,
	FIELD_UINT16,
	FIELD_UINT32,
	FIELD_UINT,		/* 4 or 8 bytes on the wire, uint64_t here */
	FIELD_STRING,
	FIELD_ADDR,
	FIELD_STATS,		/* nest of FIELD_UINT, by attribute */
	FIELD_UINT16_LIST,	/* repeated; the count precedes the list */
};

/**
 * struct field - an attribute and where it lies in the object's struct
 * @name: as in the YNL spec
 * @attr: number
 * @type: type
 * @off: offset of the value
 * @size: its size
 */
struct field {
	const char	*name;
	uint16_t	attr;
	enum field_type	type;
	size_t		off;
	size_t		size;
};

/**
 * struct object - an attribute set of the family and its struct
 * @name: as in the YNL spec
 * @size: of the struct, which begins with its uint64_t has
 * @fields: attributes
 * @nfields: how many
 */
struct object {
	const char		*name;
	size_t			size;
	const struct field	*fields;
	size_t			nfields;
};

extern const struct object nl_switch, nl_tree, nl_member, nl_slot;

/**
 * struct request - a request and how to handle the reply
 * @cmd: RDMA_INC_CMD_*
 * @dump: request all objects
 * @obj: type of the objects in the request and in the replies
 * @req: the attributes to send, or NULL
 * @reply: called for each reply, or NULL
 * @arg: its last argument
 */
struct request {
	uint8_t			cmd;
	bool			dump;
	const struct object	*obj;
	const void		*req;
	int			(*reply)(struct nlmsghdr *nlh, void *arg);
	void			*arg;
};

int nl_request(struct inc_nl *nl, const struct request *r);
int nl_encode(struct nl_msg *msg, const struct object *obj, const void *src);
void nl_decode(struct nlmsghdr *nlh, const struct object *obj, void *dst);
const char *nl_attr_name(const struct object *obj, unsigned int attr);

#endif /* INC_TOOL_NL_INT_H */
