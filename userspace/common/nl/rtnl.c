// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See rtnl.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "nl/receive.h"
#include "nl/rtnl.h"

/**
 * struct answer - the reply to a request
 * @type: type of the objects' messages
 * @fn: called for each object
 * @arg: last argument of @fn
 * @got: number of objects
 */
struct answer {
	int		type;
	inc_rt_fn	*fn;
	void		*arg;
	int		got;
};

/* Index: a quarter of RTM_NEW..., or of RTM_GET..., which is larger by two. */
static const int head_len[] = {
	[RTM_NEWLINK >> 2]	= sizeof(struct ifinfomsg),
	[RTM_NEWADDR >> 2]	= sizeof(struct ifaddrmsg),
	[RTM_NEWROUTE >> 2]	= sizeof(struct rtmsg),
	[RTM_NEWNEIGH >> 2]	= sizeof(struct ndmsg),
	[RTM_NEWQDISC >> 2]	= sizeof(struct tcmsg),
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct answer *a = arg;

	if (nlh->nlmsg_type == a->type &&
	    !nlmsg_parse(nlh, head_len[a->type >> 2], tb, IFLA_MAX, NULL)) {
		a->got++;
		a->fn(nlmsg_data(nlh), tb, a->arg);
	}
	return NL_OK;
}

/*
 * Open a connection in this thread's network namespace. Returns the socket,
 * for nl_socket_free(), or NULL.
 */
struct nl_sock *inc_rt_open(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (sk && nl_connect(sk, NETLINK_ROUTE)) {
		nl_socket_free(sk);
		return NULL;
	}
	return sk;
}

/* Begin a request. Returns the request, or NULL. */
struct nl_msg *inc_rt_request(int type, int flags, const void *head)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags | NLM_F_REQUEST);

	if (msg && nlmsg_append(msg, (void *)head, (size_t)head_len[type >> 2],
				NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int ask_once(struct nl_sock *sk, struct nl_msg *msg, inc_rt_fn *fn,
		    void *arg)
{
	struct answer a = {
		.type = nlmsg_hdr(msg)->nlmsg_type & ~3, .fn = fn, .arg = arg,
	};
	struct nl_reply r = { .valid = on_valid, .arg = &a };
	int rc;

	nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
	rc = nl_send_auto(sk, msg);
	if (rc >= 0)
		rc = nl_receive(sk, &r);
	if (r.err)
		return r.err;
	if (rc < 0)
		return rc == -NLE_NOMEM ? -ENOMEM : -EIO;
	if (r.interrupted)
		return -EINTR;
	return a.got ? 0 : -ENOENT;
}

/*
 * Send a request, and wait for the complete reply. Returns 0 or a negative
 * errno value; -ENOENT: there was no object; -EINTR: objects kept changing
 * while they were read. After other errors than -ENOENT, @fn has not got all
 * objects.
 * @msg: request, which is freed; NULL: no memory
 */
int inc_rt_ask(struct nl_sock *sk, struct nl_msg *msg, inc_rt_fn *fn,
	       void *arg)
{
	int tries, rc = msg ? -EINTR : -ENOMEM;

	for (tries = 0; rc == -EINTR && tries < NL_TRIES; tries++) {
		if (tries)
			fn(NULL, NULL, arg);
		rc = ask_once(sk, msg, fn, arg);
	}
	nlmsg_free(msg);
	return rc;
}

/*
 * Read all objects of a type. Returns 0, even if there is none, or a negative
 * errno value.
 */
int inc_rt_dump(struct nl_sock *sk, int type, int family, inc_rt_fn *fn,
		void *arg)
{
	/* The family is the first byte of each header. */
	const struct tcmsg head = { .tcm_family = (unsigned char)family };
	int rc = inc_rt_ask(sk, inc_rt_request(type, NLM_F_DUMP, &head), fn,
			    arg);

	return rc == -ENOENT ? 0 : rc;
}

/* Check what kind of device an interface is. Returns true if so. */
bool inc_rt_is_kind(struct nlattr *const *tb, const char *kind)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];

	return tb[IFLA_LINKINFO] &&
	       !nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) &&
	       info[IFLA_INFO_KIND] && !nla_strcmp(info[IFLA_INFO_KIND], kind);
}

/*
 * Get an address from an attribute. Returns true if it has one.
 * @family: AF_INET or AF_INET6; others have no address
 * @addr: result, 4 or 16 bytes
 */
bool inc_rt_addr(struct nlattr *a, int family, void *addr)
{
	int len = family == AF_INET ? 4 : family == AF_INET6 ? 16 : -1;

	if (!a || nla_len(a) != len)
		return false;
	memcpy(addr, nla_data(a), (size_t)len);
	return true;
}
