// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The requests of the family "rdma-inc".
 */
#include "common.h"

#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>

#include "nl.h"
#include "nl-attr.h"

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
	const struct nl_request r = {
		.cmd = cmd, .answered = true, .obj = obj, .req = req,
		.reply = decode_one, .arg = &o,
	};

	return nl_request(nl, &r);
}

/* As ask_object(), but the kernel answers with an ACK. */
static int order_object(struct inc_nl *nl, uint8_t cmd,
			const struct object *obj, const void *req)
{
	const struct nl_request r = { .cmd = cmd, .obj = obj, .req = req };

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

/* Request for @n members, of which @made are in @reply so far. */
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

		/* The tree ID is sent once, not per member. */
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
		nl_decode_attrs(nla_data(a), nla_len(a), &nl_member, m);
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
	const struct nl_request r = {
		.cmd = RDMA_INC_CMD_MEMBERS_NEW, .answered = true,
		.obj = &nl_member, .req = &many, .put = put_many,
		.reply = reply ? decode_many : NULL, .arg = &many,
	};

	return nl_request(nl, &r);
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

/* A dump of trees, members or slots: one of the functions is set. */
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
	const struct nl_request r = {
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
	const struct nl_request r = {
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
	const struct nl_request r = {
		.cmd = RDMA_INC_CMD_SLOT_GET, .dump = true, .obj = &nl_slot,
		.req = &req, .reply = dump_one, .arg = &d,
	};

	if (tree_id)
		INC_NL_SET(&req, SLOT_TREE_ID, tree_id, tree_id);
	return nl_request(nl, &r);
}
