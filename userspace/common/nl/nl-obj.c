// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The objects of the family "rdma-inc": conversion between attributes and
 * structures, and the requests.
 */
#include "common.h"

#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "nl-int.h"

static const struct field *find_field(const struct object *obj,
				      unsigned int attr)
{
	size_t i;

	for (i = 0; i < obj->nfields; i++) {
		if (obj->fields[i].attr == attr)
			return &obj->fields[i];
	}
	return NULL;
}

const char *nl_attr_name(const struct object *obj, unsigned int attr)
{
	const struct field *f = find_field(obj, attr);

	return f ? f->name : NULL;
}

/**
 * nl_field() - find an attribute by its name
 * @obj: type of the object
 * @name: name in the YNL spec
 *
 * Return: the attribute, or NULL.
 */
const struct field *nl_field(const struct object *obj, const char *name)
{
	size_t i;

	for (i = 0; i < obj->nfields; i++) {
		if (!strcmp(obj->fields[i].name, name))
			return &obj->fields[i];
	}
	return NULL;
}

/**
 * nl_stat_name() - the name of a counter
 * @obj: type of the object
 * @f: its attribute with counters (FIELD_STATS)
 * @attr: number of the counter
 *
 * Return: the name in the YNL spec, or NULL.
 */
const char *nl_stat_name(const struct object *obj, const struct field *f,
			 unsigned int attr)
{
	if (obj == &nl_switch && f->attr == RDMA_INC_A_SWITCH_STATS)
		return inc_nl_switch_stat_name(attr);
	/* Members' counters, and sums of them. */
	if (obj == &nl_member ||
	    f->attr == (obj == &nl_tree ? RDMA_INC_A_TREE_MEMBER_STATS :
					  RDMA_INC_A_SWITCH_GONE_MEMBER_STATS))
		return inc_nl_member_stat_name(attr);
	return inc_nl_tree_stat_name(attr);
}

static int encode_list(struct nl_msg *msg, int attr, const uint16_t *list)
{
	uint16_t i, n = list[-1];
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = nla_put_u16(msg, attr, list[i]);
	return rc;
}

static int encode_field(struct nl_msg *msg, const struct field *f,
			const char *src)
{
	const struct inc_nl_addr *addr;
	uint64_t v64;
	uint32_t v32;

	switch (f->type) {
	case FIELD_UINT8:
	case FIELD_UINT16:
	case FIELD_UINT32:
		return nla_put(msg, f->attr, (int)f->size, src);
	case FIELD_UINT:
		memcpy(&v64, src, sizeof(v64));
		v32 = (uint32_t)v64;
		if (v32 == v64)
			return nla_put_u32(msg, f->attr, v32);
		return nla_put_u64(msg, f->attr, v64);
	case FIELD_STRING:
		return nla_put_string(msg, f->attr, src);
	case FIELD_ADDR:
		addr = (const struct inc_nl_addr *)src;
		return nla_put(msg, f->attr, addr->len, addr->bytes);
	case FIELD_UINT16_LIST:
		return encode_list(msg, f->attr, (const uint16_t *)src);
	case FIELD_STATS:
		break;			/* the kernel takes none */
	}
	return 0;
}

/**
 * nl_encode() - append an object's attributes, those that its has names
 * @msg: message
 * @obj: type of the object
 * @src: the object
 *
 * Return: 0 or an error number of libnl.
 */
int nl_encode(struct nl_msg *msg, const struct object *obj, const void *src)
{
	uint64_t has;
	size_t i;

	memcpy(&has, src, sizeof(has));
	for (i = 0; i < obj->nfields; i++) {
		const struct field *f = &obj->fields[i];
		int rc;

		if (!((has >> f->attr) & 1))
			continue;
		rc = encode_field(msg, f, (const char *)src + f->off);
		if (rc)
			return rc;
	}
	return 0;
}

static uint64_t get_uint(const struct nlattr *a)
{
	uint32_t v32;
	uint64_t v64;

	if (nla_len(a) >= (int)sizeof(v64)) {
		memcpy(&v64, nla_data(a), sizeof(v64));
		return v64;
	}
	if (nla_len(a) >= (int)sizeof(v32)) {
		memcpy(&v32, nla_data(a), sizeof(v32));
		return v32;
	}
	return 0;
}

static void decode_stats(struct nlattr *nest, uint64_t *stats, size_t n)
{
	struct nlattr *a;
	int rem;

	nla_for_each_nested(a, nest, rem) {
		if ((size_t)nla_type(a) < n)
			stats[nla_type(a)] = get_uint(a);
	}
}

static void decode_list(const struct nlattr *a, uint16_t *count, size_t max)
{
	uint16_t *list = count + 1;

	if (nla_len(a) >= (int)sizeof(*list) && *count < max)
		memcpy(&list[(*count)++], nla_data(a), sizeof(*list));
}

static void decode_field(struct nlattr *a, const struct field *f, char *dst)
{
	struct inc_nl_addr *addr;
	uint64_t v64;

	switch (f->type) {
	case FIELD_UINT8:
	case FIELD_UINT16:
	case FIELD_UINT32:
		if (nla_len(a) >= (int)f->size)
			memcpy(dst, nla_data(a), f->size);
		break;
	case FIELD_UINT:
		v64 = get_uint(a);
		memcpy(dst, &v64, sizeof(v64));
		break;
	case FIELD_STRING:
		nla_strlcpy(dst, a, f->size);
		break;
	case FIELD_ADDR:
		addr = (struct inc_nl_addr *)dst;
		if (nla_len(a) == 4 || nla_len(a) == 16) {
			addr->len = (uint8_t)nla_len(a);
			memcpy(addr->bytes, nla_data(a), addr->len);
		}
		break;
	case FIELD_STATS:
		decode_stats(a, (uint64_t *)dst, f->size / sizeof(uint64_t));
		break;
	case FIELD_UINT16_LIST:
		decode_list(a, (uint16_t *)dst - 1,
			    f->size / sizeof(uint16_t));
		break;
	}
}

static void decode_attrs(struct nlattr *head, int len,
			 const struct object *obj, void *dst)
{
	uint64_t has = 0;
	struct nlattr *a;
	int rem;

	nla_for_each_attr(a, head, len, rem) {
		const struct field *f = find_field(obj, nla_type(a));

		if (!f)
			continue;
		decode_field(a, f, (char *)dst + f->off);
		has |= 1ULL << f->attr;
	}
	memcpy(dst, &has, sizeof(has));
}

/**
 * nl_decode() - read an object from a message, skipping unknown attributes
 * @nlh: message
 * @obj: type of the object
 * @dst: the object
 */
void nl_decode(struct nlmsghdr *nlh, const struct object *obj, void *dst)
{
	memset(dst, 0, obj->size);
	if (nlmsg_datalen(nlh) >= (int)GENL_HDRLEN)
		decode_attrs(nlmsg_attrdata(nlh, GENL_HDRLEN),
			     nlmsg_attrlen(nlh, GENL_HDRLEN), obj, dst);
}

struct one {
	const struct object	*obj;
	void			*dst;
};

static int decode_one(struct nlmsghdr *nlh, void *arg)
{
	const struct one *o = arg;

	if (o->dst)
		nl_decode(nlh, o->obj, o->dst);
	return 0;
}

/* A request that the kernel answers with an object; @reply may be NULL. */
static int ask_object(struct inc_nl *nl, uint8_t cmd, const struct object *obj,
		      const void *req, void *reply)
{
	struct one o = { .obj = obj, .dst = reply };
	const struct request r = {
		.cmd = cmd, .answered = true, .obj = obj, .req = req,
		.reply = decode_one, .arg = &o,
	};

	return nl_request(nl, &r);
}

/* One that it answers with an ACK. */
static int order_object(struct inc_nl *nl, uint8_t cmd,
			const struct object *obj, const void *req)
{
	const struct request r = { .cmd = cmd, .obj = obj, .req = req };

	return nl_request(nl, &r);
}

int inc_nl_switch_get(struct inc_nl *nl, struct inc_nl_switch *reply)
{
	return ask_object(nl, RDMA_INC_CMD_SWITCH_GET, &nl_switch, NULL, reply);
}

int inc_nl_switch_set(struct inc_nl *nl, const struct inc_nl_switch *req)
{
	return order_object(nl, RDMA_INC_CMD_SWITCH_SET, &nl_switch, req);
}

int inc_nl_tree_new(struct inc_nl *nl, const struct inc_nl_tree *req,
		    struct inc_nl_tree *reply)
{
	return ask_object(nl, RDMA_INC_CMD_TREE_NEW, &nl_tree, req, reply);
}

int inc_nl_tree_set(struct inc_nl *nl, const struct inc_nl_tree *req)
{
	return order_object(nl, RDMA_INC_CMD_TREE_SET, &nl_tree, req);
}

int inc_nl_tree_get(struct inc_nl *nl, uint32_t id, struct inc_nl_tree *reply)
{
	struct inc_nl_tree req = { .has = 0 };

	INC_NL_SET(&req, TREE_ID, id, id);
	return ask_object(nl, RDMA_INC_CMD_TREE_GET, &nl_tree, &req, reply);
}

int inc_nl_tree_del(struct inc_nl *nl, uint32_t id)
{
	struct inc_nl_tree req = { .has = 0 };

	INC_NL_SET(&req, TREE_ID, id, id);
	return order_object(nl, RDMA_INC_CMD_TREE_DEL, &nl_tree, &req);
}

int inc_nl_member_new(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply)
{
	return ask_object(nl, RDMA_INC_CMD_MEMBER_NEW, &nl_member, req, reply);
}

/* Of @n members, @made are in the reply so far. */
struct many {
	uint32_t			tree_id;
	const struct inc_nl_member	*req;
	unsigned int			n;
	struct inc_nl_member		*reply;
	unsigned int			made;
};

static int put_many(struct nl_msg *msg, const void *req)
{
	const struct many *many = req;
	unsigned int i;
	int rc;

	rc = nla_put_u32(msg, RDMA_INC_A_MEMBERS_TREE_ID, many->tree_id);
	for (i = 0; i < many->n && !rc; i++) {
		struct inc_nl_member one = many->req[i];
		struct nlattr *nest;

		/* It is said once. */
		one.has &= ~(1ULL << RDMA_INC_A_MEMBER_TREE_ID);
		nest = nla_nest_start(msg, NLA_F_NESTED |
					   RDMA_INC_A_MEMBERS_MEMBER);
		if (!nest)
			return -NLE_NOMEM;
		rc = nl_encode(msg, &nl_member, &one);
		nla_nest_end(msg, nest);
	}
	return rc;
}

static int decode_many(struct nlmsghdr *nlh, void *arg)
{
	struct many *many = arg;
	struct nlattr *a;
	int rem;

	if (nlmsg_datalen(nlh) < (int)GENL_HDRLEN)
		return 0;
	nlmsg_for_each_attr(a, nlh, GENL_HDRLEN, rem) {
		struct inc_nl_member *m = &many->reply[many->made];

		if (nla_type(a) != RDMA_INC_A_MEMBERS_MADE ||
		    many->made == many->n)
			continue;
		memset(m, 0, sizeof(*m));
		decode_attrs(nla_data(a), nla_len(a), &nl_member, m);
		many->made++;
	}
	return 0;
}

int inc_nl_members_new(struct inc_nl *nl, uint32_t tree_id,
		       const struct inc_nl_member *req, unsigned int n,
		       struct inc_nl_member *reply)
{
	struct many many = {
		.tree_id = tree_id, .req = req, .n = n, .reply = reply,
	};
	const struct request r = {
		.cmd = RDMA_INC_CMD_MEMBERS_NEW, .answered = true,
		.obj = &nl_member, .req = &many, .put = put_many,
		.reply = reply ? decode_many : NULL, .arg = &many,
	};

	return nl_request(nl, &r);
}

/**
 * nl_nested_name() - get the name of an attribute of a new member
 * @nest: one of several new members in a request
 * @at: where the attribute is, if there
 *
 * Return: the name, or NULL.
 */
const char *nl_nested_name(struct nlattr *nest, const char *at)
{
	struct nlattr *a;
	int rem;

	if (nla_type(nest) != RDMA_INC_A_MEMBERS_MEMBER)
		return NULL;
	nla_for_each_nested(a, nest, rem) {
		if ((char *)a == at)
			return nl_attr_name(&nl_member, (unsigned int)nla_type(a));
	}
	return NULL;
}

int inc_nl_member_set(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply)
{
	return ask_object(nl, RDMA_INC_CMD_MEMBER_SET, &nl_member, req, reply);
}

static void name_member(struct inc_nl_member *req, uint32_t tree_id,
			uint16_t rank)
{
	INC_NL_SET(req, MEMBER_TREE_ID, tree_id, tree_id);
	INC_NL_SET(req, MEMBER_RANK, rank, rank);
}

int inc_nl_member_get(struct inc_nl *nl, uint32_t tree_id, uint16_t rank,
		      struct inc_nl_member *reply)
{
	struct inc_nl_member req = { .has = 0 };

	name_member(&req, tree_id, rank);
	return ask_object(nl, RDMA_INC_CMD_MEMBER_GET, &nl_member, &req, reply);
}

int inc_nl_member_del(struct inc_nl *nl, uint32_t tree_id, uint16_t rank)
{
	struct inc_nl_member req = { .has = 0 };

	name_member(&req, tree_id, rank);
	return order_object(nl, RDMA_INC_CMD_MEMBER_DEL, &nl_member, &req);
}

int inc_nl_parent_get(struct inc_nl *nl, uint32_t tree_id,
		      struct inc_nl_member *reply)
{
	struct inc_nl_member req = { .has = 0 };

	INC_NL_SET(&req, MEMBER_TREE_ID, tree_id, tree_id);
	return ask_object(nl, RDMA_INC_CMD_PARENT_GET, &nl_member, &req, reply);
}

int inc_nl_parent_set(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply)
{
	return ask_object(nl, RDMA_INC_CMD_PARENT_SET, &nl_member, req, reply);
}

int inc_nl_slot_get(struct inc_nl *nl, uint32_t tree_id, uint16_t index,
		    struct inc_nl_slot *reply)
{
	struct inc_nl_slot req = { .has = 0 };

	INC_NL_SET(&req, SLOT_TREE_ID, tree_id, tree_id);
	INC_NL_SET(&req, SLOT_INDEX, index, index);
	return ask_object(nl, RDMA_INC_CMD_SLOT_GET, &nl_slot, &req, reply);
}

/* A dump of the type of object whose function is set. */
struct dump {
	int	(*tree)(const struct inc_nl_tree *tree, void *arg);
	int	(*member)(const struct inc_nl_member *member, void *arg);
	int	(*slot)(const struct inc_nl_slot *slot, void *arg);
	void	*arg;
};

static int dump_one(struct nlmsghdr *nlh, void *arg)
{
	const struct dump *d = arg;

	if (d->tree) {
		struct inc_nl_tree tree;

		nl_decode(nlh, &nl_tree, &tree);
		return d->tree(&tree, d->arg);
	} else if (d->member) {
		struct inc_nl_member member;

		nl_decode(nlh, &nl_member, &member);
		return d->member(&member, d->arg);
	} else {
		struct inc_nl_slot slot;

		nl_decode(nlh, &nl_slot, &slot);
		return d->slot(&slot, d->arg);
	}
}

int inc_nl_tree_dump(struct inc_nl *nl,
		     int (*fn)(const struct inc_nl_tree *tree, void *arg),
		     void *arg)
{
	struct dump d = { .tree = fn, .arg = arg };
	const struct request r = {
		.cmd = RDMA_INC_CMD_TREE_GET, .dump = true, .obj = &nl_tree,
		.reply = dump_one, .arg = &d,
	};

	return nl_request(nl, &r);
}

int inc_nl_member_dump(struct inc_nl *nl, uint32_t tree_id,
		       int (*fn)(const struct inc_nl_member *member, void *arg),
		       void *arg)
{
	struct dump d = { .member = fn, .arg = arg };
	struct inc_nl_member req = { .has = 0 };
	const struct request r = {
		.cmd = RDMA_INC_CMD_MEMBER_GET, .dump = true, .obj = &nl_member,
		.req = &req, .reply = dump_one, .arg = &d,
	};

	if (tree_id)
		INC_NL_SET(&req, MEMBER_TREE_ID, tree_id, tree_id);
	return nl_request(nl, &r);
}

int inc_nl_slot_dump(struct inc_nl *nl, uint32_t tree_id,
		     int (*fn)(const struct inc_nl_slot *slot, void *arg),
		     void *arg)
{
	struct dump d = { .slot = fn, .arg = arg };
	struct inc_nl_slot req = { .has = 0 };
	const struct request r = {
		.cmd = RDMA_INC_CMD_SLOT_GET, .dump = true, .obj = &nl_slot,
		.req = &req, .reply = dump_one, .arg = &d,
	};

	if (tree_id)
		INC_NL_SET(&req, SLOT_TREE_ID, tree_id, tree_id);
	return nl_request(nl, &r);
}
