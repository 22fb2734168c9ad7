// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Interfaces that change while they are read, with a kernel that is the test's:
 * what the agent tells is all of them, or what it told before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>

#include "ifcache.h"

#define LINKS	6

static int failures, breaks, dumps, links = LINKS, broken;
static int part;
static struct nlmsghdr asked;

static void check(bool good, const char *what)
{
	static int n;

	failures += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
}

static struct nlmsghdr *put_head(char *buf, int type, size_t len, int flags)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;

	memset(buf, 0, NLMSG_SPACE(len));
	nlh->nlmsg_len = (uint32_t)NLMSG_LENGTH(len);
	nlh->nlmsg_type = (uint16_t)type;
	nlh->nlmsg_flags = (uint16_t)(NLM_F_MULTI | flags);
	nlh->nlmsg_seq = asked.nlmsg_seq;
	nlh->nlmsg_pid = asked.nlmsg_pid;
	return nlh;
}

static size_t put_link(char *buf, int index, int flags)
{
	struct nlmsghdr *nlh = put_head(buf, RTM_NEWLINK,
					sizeof(struct ifinfomsg), flags);
	struct ifinfomsg *ifi = NLMSG_DATA(nlh);
	struct rtattr *rta = (struct rtattr *)(buf + nlh->nlmsg_len);

	ifi->ifi_index = index;
	rta->rta_type = IFLA_IFNAME;
	rta->rta_len = RTA_LENGTH(8);
	snprintf(RTA_DATA(rta), 8, "eth%d", index);
	nlh->nlmsg_len += RTA_SPACE(8);
	return nlh->nlmsg_len;
}

static size_t put_addr(char *buf, int index)
{
	struct nlmsghdr *nlh = put_head(buf, RTM_NEWADDR,
					sizeof(struct ifaddrmsg), 0);
	struct ifaddrmsg *ifa = NLMSG_DATA(nlh);
	struct rtattr *rta = (struct rtattr *)(buf + nlh->nlmsg_len);

	ifa->ifa_family = AF_INET;
	ifa->ifa_index = (uint32_t)index;
	rta->rta_type = IFA_LOCAL;
	rta->rta_len = RTA_LENGTH(4);
	memcpy(RTA_DATA(rta), (uint8_t[]){ 192, 0, 2, (uint8_t)index }, 4);
	nlh->nlmsg_len += RTA_SPACE(4);
	return nlh->nlmsg_len;
}

/* The kernel's end: a dump comes in two parts, and its end. */
static size_t answer(char *buf)
{
	int i, intr = breaks > 0 ? NLM_F_DUMP_INTR : 0;
	size_t len = 0;

	if (part++ >= 2 || (asked.nlmsg_type != RTM_GETLINK &&
			    asked.nlmsg_type != RTM_GETADDR)) {
		len = put_head(buf, NLMSG_DONE, sizeof(broken), 0)->nlmsg_len;
		memcpy(NLMSG_DATA(buf), &broken, sizeof(broken));
		return len;
	}
	/* One that was interrupted has missed some. */
	for (i = part; i <= links - (intr ? 2 : 0); i += 2)
		len += asked.nlmsg_type == RTM_GETLINK ?
		       put_link(buf + len, i, part == 2 ? intr : 0) :
		       put_addr(buf + len, i);
	if (part == 2 && asked.nlmsg_type == RTM_GETLINK && breaks)
		breaks--;
	return len;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)flags;
	memcpy(&asked, msg->msg_iov[0].iov_base, sizeof(asked));
	part = 0;
	dumps++;
	return (ssize_t)msg->msg_iov[0].iov_len;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	static char buf[4096];
	static size_t len;
	size_t room = msg->msg_iov[0].iov_len;

	(void)fd;
	if (!len)
		len = answer(buf);
	memset(msg->msg_name, 0, sizeof(struct sockaddr_nl));
	((struct sockaddr_nl *)msg->msg_name)->nl_family = AF_NETLINK;
	msg->msg_namelen = sizeof(struct sockaddr_nl);
	msg->msg_controllen = 0;
	msg->msg_flags = len > room ? MSG_TRUNC : 0;
	memcpy(msg->msg_iov[0].iov_base, buf, len < room ? len : room);
	room = len;
	if (!(flags & MSG_PEEK))
		len = 0;
	return (ssize_t)room;
}

/* Returns the number of interfaces that are told, or the error. */
static int told(struct agent *a)
{
	struct lyd_node *sw, *node;
	int n = 0, rc;

	if (lyd_new_inner(NULL, a->mod, "switch", 0, &sw))
		return -ENOMEM;
	/* As if a link had changed: it is read at once. */
	ifcache_note(a, IFCACHE_LINK);
	rc = ifcache_add(a, sw, true);
	LY_LIST_FOR(lyd_child(sw), node)
		n += !strcmp(LYD_NAME(node), "interface");
	lyd_free_tree(sw);
	return rc ? rc : n;
}

int main(void)
{
	struct agent a = { .id = "s0" };

	if (ly_ctx_new(YANG, 0, &a.ctx))
		return 1;
	a.mod = ly_ctx_load_module(a.ctx, "rdma-inc-switch", NULL, NULL);
	breaks = 1000;
	check(told(&a) == -EINTR, "what was never read as a whole is an error");
	check(dumps == 8, "it is tried eight times");
	breaks = 3;
	check(told(&a) == LINKS, "three dumps are interrupted, the next one is whole");
	breaks = 1000;
	links = 4;
	check(told(&a) == LINKS, "all are: it is as before");
	breaks = 0;
	broken = -ENOBUFS;
	check(told(&a) == LINKS, "a dump that ends with an error");
	broken = 0;
	check(told(&a) == 4, "and then as it is now");
	ifcache_free(&a);
	ly_ctx_destroy(a.ctx);
	puts("1..6");
	return failures != 0;
}
