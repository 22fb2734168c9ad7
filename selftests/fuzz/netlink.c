// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink messages of every command, while packets arrive: attributes that are
 * right, wrong, missing, duplicate, nested, or of a wrong length; truncated
 * messages. Replies are not judged here, except that there are both kinds.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rdma_inc.h>

#include "fuzz.h"

#define ROOM	1024

struct message {
	struct nlmsghdr		nlh;
	struct genlmsghdr	genl;
	uint8_t			attrs[ROOM];
};

static int sock;
static struct message msg;
static unsigned long acks, refusals, answers;

/* Sizes that attributes of the family have, and others. */
static unsigned int some_len(void)
{
	static const uint8_t often[] = {
		4, 4, 4, 4, 2, 2, 8, 16, 0, 1, 3, 5, 12, 64,
	};

	return often[rnd(sizeof(often))];
}

static uint32_t some_value(void)
{
	static const uint32_t edge[] = {
		0, 1, 2, 3, 4, 8, 16, 64, 256, 512, 1023, 1024, 1025, 4096,
		65535, 65536, 0x7fffffff, 0x80000000, 0xffffff, 0x1000000,
		0xffffffff,
	};

	switch (rnd(4)) {
	case 0:
		return edge[rnd(sizeof(edge) / sizeof(*edge))];
	case 1:
		return rnd(1 << 16) << 16 | rnd(1 << 16);
	default:
		return 1 + rnd(8);
	}
}

static void add_attr(uint16_t type, const void *data, unsigned int len)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	unsigned int at =
		msg.nlh.nlmsg_len - sizeof(msg.nlh) - sizeof(msg.genl);

	if (at + NLA_HDRLEN + NLA_ALIGN(len) > ROOM)
		return;
	memcpy(msg.attrs + at, &a, sizeof(a));
	memcpy(msg.attrs + at + NLA_HDRLEN, data, len);
	msg.nlh.nlmsg_len += NLA_HDRLEN + NLA_ALIGN(len);
}

static void add_number(uint16_t type, uint32_t value, unsigned int len)
{
	uint8_t data[64] = {};

	/* Keep the memory limit small, or this machine runs out of memory. */
	if (msg.genl.cmd == RDMA_INC_CMD_SWITCH_SET)
		value &= (64 << 20) - 1;
	memcpy(data, &value, len < 4 ? len : 4);
	if (msg.genl.cmd != RDMA_INC_CMD_SWITCH_SET)
		for (unsigned int i = 4; i < len; i++)
			data[i] = rnd(256);
	add_attr(type, data, len);
}

/* The attributes of each command, with their right lengths. */
static const struct {
	uint8_t	cmd, type, len;
} right[] = {
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MEMORY_LIMIT, 4 },
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MAX_TREES, 4 },
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MAX_RANKS, 2 },
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MAX_SLOTS, 2 },
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MAX_TREE_MEMORY, 4 },
	{ RDMA_INC_CMD_SWITCH_SET, RDMA_INC_A_SWITCH_MAX_TREE_HOLD, 4 },
	{ RDMA_INC_CMD_TREE_GET, RDMA_INC_A_TREE_ID, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_ID, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_RANKS, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_SLOTS, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_MSG_SIZE, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_PMTU, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_FIRST_MSG_ID, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_COLLECTIVES, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_DTYPES, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_OPS, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_WINDOW, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_HOLD, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_MIN_RTO, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_DEAD_TIME, 4 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_ORDER, 1 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_TRAFFIC_CLASS, 1 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_ECN, 1 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_PRIORITY, 1 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_JOB_RANKS, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_FIRST_RANK, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_BELOW, 2 },
	{ RDMA_INC_CMD_TREE_NEW, RDMA_INC_A_TREE_BELOW, 2 },
	{ RDMA_INC_CMD_TREE_SET, RDMA_INC_A_TREE_ID, 4 },
	{ RDMA_INC_CMD_TREE_SET, RDMA_INC_A_TREE_PRIORITY, 1 },
	{ RDMA_INC_CMD_TREE_SET, RDMA_INC_A_TREE_WINDOW, 2 },
	{ RDMA_INC_CMD_TREE_SET, RDMA_INC_A_TREE_HOLD, 4 },
	{ RDMA_INC_CMD_TREE_SET, RDMA_INC_A_TREE_MIN_RTO, 4 },
	{ RDMA_INC_CMD_TREE_DEL, RDMA_INC_A_TREE_ID, 4 },
	{ RDMA_INC_CMD_MEMBER_GET, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_MEMBER_GET, RDMA_INC_A_MEMBER_RANK, 2 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_RANK, 2 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_PSN, 4 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_PKEY, 2 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_PEER_QPN, 4 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_PEER_PSN, 4 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_IFINDEX, 4 },
	{ RDMA_INC_CMD_MEMBER_NEW, RDMA_INC_A_MEMBER_TRANSPORT, 1 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_RANK, 2 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_PSN, 4 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_PKEY, 2 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_PEER_QPN, 4 },
	{ RDMA_INC_CMD_MEMBER_SET, RDMA_INC_A_MEMBER_PEER_PSN, 4 },
	{ RDMA_INC_CMD_PARENT_GET, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_PKEY, 2 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_PEER_QPN, 4 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_PEER_PSN, 4 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_PEER_TREE_ID, 4 },
	{ RDMA_INC_CMD_PARENT_SET, RDMA_INC_A_MEMBER_PEER_RKEY, 4 },
	{ RDMA_INC_CMD_MEMBER_DEL, RDMA_INC_A_MEMBER_TREE_ID, 4 },
	{ RDMA_INC_CMD_MEMBER_DEL, RDMA_INC_A_MEMBER_RANK, 2 },
	{ RDMA_INC_CMD_SLOT_GET, RDMA_INC_A_SLOT_TREE_ID, 4 },
	{ RDMA_INC_CMD_SLOT_GET, RDMA_INC_A_SLOT_INDEX, 2 },
};

static void right_attrs(const struct options *o)
{
	for (unsigned int i = 0; i < sizeof(right) / sizeof(*right); i++) {
		/* An ID or rank is required, others are optional. */
		if (right[i].cmd != msg.genl.cmd ||
		    !rnd(right[i].type < 3 ? 12 : 2))
			continue;
		add_number(right[i].type,
			   right[i].len == 1 ? rnd(3) : some_value(),
			   right[i].len);
	}
	if ((msg.genl.cmd == RDMA_INC_CMD_MEMBER_NEW ||
	     msg.genl.cmd == RDMA_INC_CMD_MEMBER_SET ||
	     msg.genl.cmd == RDMA_INC_CMD_PARENT_SET) && rnd(10))
		add_attr(RDMA_INC_A_MEMBER_PEER_ADDR, &o->host_addr, 4);
}

static void wrong_attr(void)
{
	uint16_t type = rnd(40);
	uint8_t inner[NLA_HDRLEN + 8] = {};

	switch (rnd(4)) {
	case 0:
		add_number(type, some_value(), some_len());
		break;
	case 1:
		inner[0] = rnd(16);
		inner[2] = rnd(8);
		add_attr(type | NLA_F_NESTED, inner, sizeof(inner));
		break;
	case 2:
		add_number(type | rnd(4) << 14, some_value(), 4);
		break;
	case 3:
		for (unsigned int i = rnd(20); i; i--)
			add_number(type, some_value(), some_len());
		break;
	}
}

static void damage(void)
{
	unsigned int room = msg.nlh.nlmsg_len - sizeof(msg.nlh);

	switch (rnd(4)) {
	case 0:			/* cut off */
		msg.nlh.nlmsg_len = sizeof(msg.nlh) + rnd(room + 1);
		break;
	case 1:			/* an attribute's length */
		if (room > sizeof(msg.genl) &&
		    msg.genl.cmd != RDMA_INC_CMD_SWITCH_SET)
			msg.attrs[0] = rnd(256);
		break;
	case 2:
		if (msg.genl.cmd == RDMA_INC_CMD_SWITCH_SET)
			break;
		for (unsigned int i = 1 + rnd(6); i && room > sizeof(msg.genl);
		     i--)
			msg.attrs[rnd(room - sizeof(msg.genl))] ^= 1 << rnd(8);
		break;
	case 3:
		msg.genl.version = rnd(256);
		msg.genl.reserved = rnd(2) ? rnd(65536) : 0;
		break;
	}
}

static void drain(void)
{
	static uint8_t buf[65536];
	ssize_t n;

	while ((n = recv(sock, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *h = (const void *)buf;
		const struct nlmsgerr *e = NLMSG_DATA(h);

		if (h->nlmsg_type != NLMSG_ERROR)
			answers++;
		else if (e->error)
			refusals++;
		else
			acks++;
	}
}

/* Requests only; events are numbered between them. */
static uint8_t some_cmd(void)
{
	if (!rnd(6))
		return rnd(3) ? RDMA_INC_CMD_PARENT_SET :
				RDMA_INC_CMD_PARENT_GET;
	return 1 + rnd(RDMA_INC_CMD_SLOT_GET);
}

static int one(const struct options *o)
{
	memset(&msg, 0, sizeof(msg));
	msg.nlh.nlmsg_type = control_family();
	msg.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg.nlh.nlmsg_len = sizeof(msg.nlh) + sizeof(msg.genl);
	msg.genl.cmd = rnd(20) ? some_cmd() : rnd(256);
	msg.genl.version = RDMA_INC_FAMILY_VERSION;
	if (!rnd(10))
		msg.nlh.nlmsg_flags |= NLM_F_DUMP;
	right_attrs(o);
	for (unsigned int i = rnd(3) ? 0 : 1 + rnd(3); i; i--)
		wrong_attr();
	if (!rnd(4))
		damage();
	if (send(sock, &msg, msg.nlh.nlmsg_len, 0) < 0 &&
	    errno != ENOBUFS && errno != EINVAL)
		return -1;
	drain();
	return 0;
}

/**
 * fuzz_netlink() - send netlink messages
 * @o: options
 *
 * Return: 0, or -1 if there is no netlink.
 */
int fuzz_netlink(const struct options *o)
{
	enter(o->switch_ns);
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0 || control_open() || control_limit(FUZZ_MEMORY)) {
		fprintf(stderr, "netlink: no family\n");
		return -1;
	}
	for (unsigned long n = 0; n < o->count; n++) {
		if (one(o)) {
			perror("netlink: send");
			return -1;
		}
	}
	control_limit(1 << 30);
	printf("# netlink: %lu messages, %lu done, %lu refused, %lu answers\n",
	       o->count, acks, refusals, answers);
	return acks && refusals && answers ? 0 : -1;
}
