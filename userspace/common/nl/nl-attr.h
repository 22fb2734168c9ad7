/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The family's objects as attributes of a message.
 */
#ifndef INC_NL_ATTR_H
#define INC_NL_ATTR_H

#include "nl-schema.h"
#include "tables-gen.h"

struct nl_msg;
struct nlattr;
struct nlmsghdr;

const struct field *nl_field(const struct object *obj, const char *name);
const char *nl_attr_name(const struct object *obj, unsigned int attr);
const char *nl_nested_name(struct nlattr *nest, const char *at);
int nl_encode(struct nl_msg *msg, const struct object *obj, const void *src);
void nl_decode(struct nlmsghdr *nlh, const struct object *obj, void *dst);
void nl_decode_attrs(struct nlattr *head, int len, const struct object *obj,
		     void *dst);

#endif /* INC_NL_ATTR_H */
