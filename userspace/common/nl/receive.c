// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See receive.h.
 */
#include <string.h>

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "nl/receive.h"

static void fail_reply(struct nl_reply *r, int err, void *attrs, int len)
{
	r->err = err;
	if (r->failed)
		r->failed(r->arg, err, attrs, len);
}

static int on_error(struct sockaddr_nl *addr, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	size_t off = sizeof(*e), len = (size_t)nlmsg_datalen(nlh);
	struct nl_reply *r = arg;

	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || off > len)
		off = len;
	r->done = true;
	fail_reply(r, e->error, (char *)e + off, (int)(len - off));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct nl_reply *r = arg;

	r->done = true;
	return NL_STOP;
}

/* The end of a dump carries an error number, which libnl ignores. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const int off = NLMSG_ALIGN(sizeof(int));
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	bool tlvs = nlh->nlmsg_flags & NLM_F_ACK_TLVS;
	struct nl_reply *r = arg;
	int err = 0;

	r->done = true;
	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	if (err < 0)
		fail_reply(r, err, (char *)nlmsg_data(nlh) + off,
			   tlvs ? nlmsg_datalen(nlh) - off : 0);
	return NL_STOP;
}

/* Read an interrupted dump to its end: only then it can be repeated. */
static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct nl_reply *r = arg;

	r->interrupted = true;
	return NL_OK;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nl_reply *r = arg;

	return r->valid(msg, r->arg);
}

/*
 * Receive the reply to the last request, up to its end. Returns 0, even if the
 * kernel refuses, or a negative NLE_... of libnl, after which the rest of the
 * reply may still arrive.
 */
int nl_receive(struct nl_sock *sk, struct nl_reply *r)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int rc = cb ? 0 : -NLE_NOMEM;

	if (!cb)
		return rc;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, r);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, r);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, r);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, r);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, r);
	while (rc >= 0 && !r->done)
		rc = nl_recvmsgs(sk, cb);
	nl_cb_put(cb);
	return r->done ? 0 : rc;
}
