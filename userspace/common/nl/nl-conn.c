// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The connection to the generic netlink family "rdma-inc": sends requests,
 * receives replies and events, and puts the kernel's extended ACK into one line
 * of text.
 */
#include "common.h"

#include <stdarg.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "nl-attr.h"
#include "nl-conn.h"
#include "nl/receive.h"

/* Buffer for events that have not been read yet. */
#define EVENT_BUF	(1 << 20)

/* The longest messages: of a dump, or the reply to members-new. */
#define MESSAGE_MAX	(64U << 10)

/**
 * struct call - a request in progress
 * @nl: connection
 * @r: the request
 * @msg: the message that was sent
 * @reply: state of the reply
 * @unknown: the kernel has no such family, or no such object
 * @buf: replies to a dump, in order
 * @len: bytes used in @buf
 * @room: bytes allocated
 */
struct call {
	struct inc_nl		*nl;
	const struct nl_request	*r;
	struct nl_msg		*msg;
	struct nl_reply		reply;
	bool			unknown;
	char			*buf;
	size_t			len;
	size_t			room;
};

static int set_error(struct inc_nl *nl, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int set_error(struct inc_nl *nl, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(nl->error, sizeof(nl->error), fmt, ap);
	va_end(ap);
	return err;
}

/* libnl does not keep the errno; restore the values that matter. */
static int nle_errno(int nle)
{
	switch (abs(nle)) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_INTR:
		return -EINTR;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_PERM:
		return -EPERM;
	case NLE_OPNOTSUPP:
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

static void append_error(struct inc_nl *nl, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void append_error(struct inc_nl *nl, const char *fmt, ...)
{
	size_t len = strlen(nl->error);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(nl->error + len, sizeof(nl->error) - len, fmt, ap);
	va_end(ap);
}

/* Returns the name of the request's attribute at an offset, or NULL. */
static const char *attr_at(const struct call *c, uint32_t off)
{
	struct nlmsghdr *nlh = nlmsg_hdr(c->msg);
	const char *name = NULL;
	struct nlattr *a;
	int rem;

	nlmsg_for_each_attr(a, nlh, GENL_HDRLEN, rem) {
		if ((char *)a - (char *)nlh == off && !c->r->put)
			return nl_attr_name(c->r->obj, nla_type(a));
		if (c->r->put && (char *)a - (char *)nlh < off)
			name = nl_nested_name(a, (char *)nlh + off) ?: name;
	}
	return name;
}

/* Add the range that the kernel's policy accepts. */
static void append_policy(struct inc_nl *nl, struct nlattr *policy)
{
	struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];
	struct nlattr *min, *max;

	if (nla_parse_nested(tb, NL_POLICY_TYPE_ATTR_MAX, policy, NULL))
		return;

	min = tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U];
	max = tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U];
	if (min && max && nla_len(min) >= 8 && nla_len(max) >= 8)
		append_error(nl, ", it takes %llu to %llu",
			     (unsigned long long)nla_get_u64(min),
			     (unsigned long long)nla_get_u64(max));

	max = tb[NL_POLICY_TYPE_ATTR_MAX_LENGTH];
	if (max && nla_len(max) >= 4)
		append_error(nl, ", it takes at most %u bytes",
			     nla_get_u32(max));
}

static const char *reason_of(int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		return "Operation not permitted (CAP_NET_ADMIN is needed)";
	default:
		return strerror(-err);
	}
}

/* Fill in nl->error from the attributes of an error. */
static void explain_error(void *arg, int err, struct nlattr *attrs, int len)
{
	struct call *c = arg;
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	const char *name = NULL, *miss = NULL;
	struct inc_nl *nl = c->nl;
	const char *text = NULL;

	nl->from_kernel = true;
	if (len > 0)
		nla_parse(tb, NLMSGERR_ATTR_MAX, attrs, len, NULL);

	if (tb[NLMSGERR_ATTR_MSG])
		text = nla_get_string(tb[NLMSGERR_ATTR_MSG]);
	if (tb[NLMSGERR_ATTR_OFFS] && nla_len(tb[NLMSGERR_ATTR_OFFS]) >= 4)
		name = attr_at(c, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
	if (tb[NLMSGERR_ATTR_MISS_TYPE] &&
	    nla_len(tb[NLMSGERR_ATTR_MISS_TYPE]) >= 4)
		miss = nl_attr_name(c->r->obj,
				    nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]));

	nl->attr = miss ? miss : name;
	nl->missing = miss;
	/* With a text, the module itself says which object is missing. */
	c->unknown = err == -ENOENT && !text;
	set_error(nl, 0, "%s", text ? text : reason_of(err));
	/* "Does not exist" and "exists already" need no attribute. */
	if (name && err != -ENOENT && err != -EEXIST &&
	    !strstr(nl->error, name))
		append_error(nl, ": %s", name);
	if (tb[NLMSGERR_ATTR_POLICY])
		append_policy(nl, tb[NLMSGERR_ATTR_POLICY]);
	if (miss)
		append_error(nl, ": %s is missing", miss);
}

static int on_reply(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	size_t len = NLMSG_ALIGN(nlh->nlmsg_len);
	struct call *c = arg;

	if (!c->r->dump) {
		if (c->r->reply)
			c->reply.err = c->r->reply(nlh, c->r->arg);
		c->reply.done = c->r->answered;
		return NL_OK;
	}

	if (c->len + len > c->room) {
		size_t room = (c->room + len) * 2;
		char *buf = realloc(c->buf, room);

		if (!buf) {
			c->reply.err = set_error(c->nl, -ENOMEM,
						 "out of memory");
			return NL_OK;
		}
		c->buf = buf;
		c->room = room;
	}
	memcpy(c->buf + c->len, nlh, nlh->nlmsg_len);
	c->len += len;
	return NL_OK;
}

static int receive_reply(struct call *c)
{
	int rc;

	c->reply = (struct nl_reply){
		.valid = on_reply, .failed = explain_error, .arg = c,
	};
	rc = nl_receive(c->nl->sock, &c->reply);
	return rc ? set_error(c->nl, nle_errno(rc),
			      "receiving from netlink: %s", nl_geterror(rc)) :
		    c->reply.err;
}

/* Room for the attributes of the largest requests. */
#define PUT_SIZE	(64U << 10)

static int send_request(struct call *c)
{
	const struct nl_request *r = c->r;
	struct inc_nl *nl = c->nl;
	int flags = r->dump ? NLM_F_DUMP : r->answered ? 0 : NLM_F_ACK;
	int rc;

	c->msg = r->put ? nlmsg_alloc_size(PUT_SIZE) : nlmsg_alloc();
	if (!c->msg ||
	    !genlmsg_put(c->msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
			 flags, r->cmd, nl->version) ||
	    (r->put ? r->put(c->msg, r->req) :
		      r->req && nl_encode(c->msg, r->obj, r->req)))
		return set_error(nl, -ENOMEM, "out of memory");

	rc = nl_send_auto(nl->sock, c->msg);
	if (rc < 0)
		return set_error(nl, nle_errno(rc), "sending to netlink: %s",
				 nl_geterror(rc));
	return 0;
}

static int request_once(struct call *c)
{
	int rc;

	c->nl->error[0] = '\0';
	c->nl->from_kernel = false;
	c->nl->attr = NULL;
	c->nl->missing = false;
	rc = send_request(c);
	if (!rc)
		rc = receive_reply(c);
	nlmsg_free(c->msg);
	c->msg = NULL;
	return rc;
}

/* Pass the objects of a dump to the caller. */
static int deliver_dump(const struct call *c)
{
	size_t off = 0;

	while (off < c->len) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)(c->buf + off);
		int rc = c->r->reply(nlh, c->r->arg);

		if (rc)
			return rc;
		off += NLMSG_ALIGN(nlh->nlmsg_len);
	}
	return 0;
}

static int resolve_family(struct inc_nl *nl)
{
	int rc = genl_ctrl_resolve(nl->sock, RDMA_INC_FAMILY_NAME);

	if (rc == -NLE_OBJ_NOTFOUND)
		return set_error(nl, -ENOENT,
				 "the module is not loaded: try \"modprobe rdma_inc\"");
	if (rc < 0)
		return set_error(nl, nle_errno(rc), "netlink family %s: %s",
				 RDMA_INC_FAMILY_NAME, nl_geterror(rc));
	nl->family = rc;
	nl->version = RDMA_INC_FAMILY_VERSION;
	return 0;
}

/* The family's ID changes when the module is loaded again. */
static bool is_loaded_again(struct inc_nl *nl, int *rc)
{
	int family = nl->family, ret = resolve_family(nl);

	if (!ret)
		return nl->family != family;
	nl->from_kernel = false;
	*rc = ret;
	return false;
}

/*
 * Send a request and wait for the complete reply. Returns 0, -errno with
 * nl->error filled in, or the return value of r->reply.
 */
int nl_request(struct inc_nl *nl, const struct nl_request *r)
{
	int tries, rc;

	if (!nl->sock)
		return set_error(nl, -ENOTCONN, "netlink is not open");

	for (tries = 0; tries < NL_TRIES; tries++) {
		struct call c = { .nl = nl, .r = r };

		rc = request_once(&c);
		if (!rc && c.reply.interrupted) {
			rc = set_error(nl, -EINTR,
				       "objects keep changing during the dump");
			free(c.buf);
			continue;
		}
		if (c.unknown && is_loaded_again(nl, &rc)) {
			free(c.buf);
			continue;
		}
		if (!rc && r->dump)
			rc = deliver_dump(&c);
		free(c.buf);
		break;
	}
	return rc;
}

static int connect_family(struct inc_nl *nl)
{
	int one = 1, rc;

	nl->sock = nl_socket_alloc();
	if (!nl->sock)
		return set_error(nl, -ENOMEM, "out of memory");
	/* MESSAGE_MAX suffices: do not peek at each message for its length. */
	nl_socket_disable_msg_peek(nl->sock);
	nl_socket_set_msg_buf_size(nl->sock, MESSAGE_MAX);
	nl_socket_disable_auto_ack(nl->sock);

	rc = genl_connect(nl->sock);
	if (rc < 0)
		return set_error(nl, nle_errno(rc),
				 "opening generic netlink: %s",
				 nl_geterror(rc));

	/* Older kernels lack these options: their errors say less. */
	setsockopt(nl_socket_get_fd(nl->sock), SOL_NETLINK, NETLINK_EXT_ACK,
		   &one, sizeof(one));
	setsockopt(nl_socket_get_fd(nl->sock), SOL_NETLINK, NETLINK_CAP_ACK,
		   &one, sizeof(one));

	return resolve_family(nl);
}

int inc_nl_open(struct inc_nl *nl)
{
	int rc;

	memset(nl, 0, sizeof(*nl));
	rc = connect_family(nl);
	if (rc)
		inc_nl_close(nl);
	return rc;
}

int inc_nl_renew(struct inc_nl *nl)
{
	int rc;

	/* After an error of this library, old replies may still arrive. */
	if (nl->sock && nl->error[0] && !nl->from_kernel)
		inc_nl_close(nl);
	if (!nl->sock)
		return inc_nl_open(nl);
	rc = resolve_family(nl);
	if (rc)
		inc_nl_close(nl);
	return rc;
}

void inc_nl_close(struct inc_nl *nl)
{
	if (nl->sock)
		nl_socket_free(nl->sock);
	nl->sock = NULL;
}

int inc_nl_subscribe(struct inc_nl *nl)
{
	int grp, rc;

	if (!nl->sock)
		return set_error(nl, -ENOTCONN, "netlink is not open");

	grp = genl_ctrl_resolve_grp(nl->sock, RDMA_INC_FAMILY_NAME,
				    RDMA_INC_MCGRP_EVENTS);
	if (grp < 0)
		return set_error(nl, nle_errno(grp), "multicast group %s: %s",
				 RDMA_INC_MCGRP_EVENTS, nl_geterror(grp));

	nl_socket_set_buffer_size(nl->sock, EVENT_BUF, 0);
	rc = nl_socket_add_membership(nl->sock, grp);
	if (!rc)
		rc = nl_socket_set_nonblocking(nl->sock);
	if (rc < 0)
		return set_error(nl, nle_errno(rc), "subscribing to events: %s",
				 nl_geterror(rc));
	return 0;
}

int inc_nl_fd(const struct inc_nl *nl)
{
	return nl_socket_get_fd(nl->sock);
}

/**
 * struct events - a call of inc_nl_events()
 * @fn: called for each event
 * @arg: its last argument
 * @rc: its return value
 */
struct events {
	int	(*fn)(const struct inc_nl_event *ev, void *arg);
	void	*arg;
	int	rc;
};

/* Events do not answer a request, so their sequence number is not ours. */
static int no_check(struct nl_msg *msg, void *arg)
{
	return NL_OK;
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct inc_nl_event ev = { .cmd = 0 };
	struct events *e = arg;

	if (nlmsg_datalen(nlh) < (int)GENL_HDRLEN)
		return NL_SKIP;

	ev.cmd = ((struct genlmsghdr *)nlmsg_data(nlh))->cmd;
	switch (ev.cmd) {
	case RDMA_INC_CMD_TREE_NEW_NTF:
	case RDMA_INC_CMD_TREE_DEL_NTF:
	case RDMA_INC_CMD_TREE_READY_NTF:
	case RDMA_INC_CMD_TREE_FAILED_NTF:
		nl_decode(nlh, &nl_tree, &ev.tree);
		break;
	case RDMA_INC_CMD_MEMBER_NEW_NTF:
	case RDMA_INC_CMD_MEMBER_DEL_NTF:
	case RDMA_INC_CMD_MEMBER_ERROR_NTF:
	case RDMA_INC_CMD_MEMBER_SILENT_NTF:
		nl_decode(nlh, &nl_member, &ev.member);
		break;
	case RDMA_INC_CMD_SLOT_FAILED_NTF:
		nl_decode(nlh, &nl_slot, &ev.slot);
		break;
	default:
		return NL_SKIP;
	}
	e->rc = e->fn(&ev, e->arg);
	return e->rc ? NL_STOP : NL_OK;
}

int inc_nl_events(struct inc_nl *nl,
		  int (*fn)(const struct inc_nl_event *ev, void *arg),
		  void *arg)
{
	struct events e = { .fn = fn, .arg = arg };
	struct nl_cb *cb;
	int rc;

	if (!nl->sock)
		return set_error(nl, -ENOTCONN, "netlink is not open");
	cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb)
		return set_error(nl, -ENOMEM, "out of memory");
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_event, &e);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, no_check, NULL);
	do {
		rc = nl_recvmsgs(nl->sock, cb);
	} while (rc >= 0 && !e.rc);
	nl_cb_put(cb);

	if (e.rc)
		return e.rc;
	if (rc == -NLE_AGAIN)
		return 0;
	if (rc == -NLE_NOMEM)
		return set_error(nl, -ENOBUFS, "events were lost");
	return set_error(nl, nle_errno(rc), "receiving events: %s",
			 nl_geterror(rc));
}
