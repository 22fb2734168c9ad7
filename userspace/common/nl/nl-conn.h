/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The connection to the family "rdma-inc": requests, replies and events.
 */
#ifndef INC_NL_CONN_H
#define INC_NL_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rdma_inc.h>
#include <linux/rdma_inc_proto.h>

#include "tables-gen.h"

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

#define INC_NL_ERROR_LEN	512

/**
 * struct inc_nl - a connection to the switch of one network namespace
 * @sock: libnl's socket
 * @family: ID of the family
 * @version: version of the family
 * @error: description of the last error, without a newline
 * @attr: name of the attribute that the last error concerns, or NULL
 * @missing: that attribute is missing from the request
 * @from_kernel: the module reported the error, not this library
 */
struct inc_nl {
	struct nl_sock	*sock;
	int		family;
	int		version;
	const char	*attr;
	bool		missing;
	bool		from_kernel;
	char		error[INC_NL_ERROR_LEN];
};

/**
 * struct inc_nl_event - an event
 * @cmd: RDMA_INC_CMD_*_NTF
 * @tree: the tree, after RDMA_INC_CMD_TREE_*_NTF
 * @member: the member, after RDMA_INC_CMD_MEMBER_*_NTF
 * @slot: the slot, after RDMA_INC_CMD_SLOT_*_NTF
 */
struct inc_nl_event {
	uint8_t			cmd;
	struct inc_nl_tree	tree;
	struct inc_nl_member	member;
	struct inc_nl_slot	slot;
};

/**
 * struct nl_request - a request and how to handle the reply
 * @cmd: RDMA_INC_CMD_*
 * @dump: request all objects
 * @obj: type of the objects in the request and in the replies
 * @req: the attributes to send, or NULL
 * @put: appends attributes to the message in another way, or NULL
 * @answered: there is a reply, which makes an ACK superfluous
 * @reply: called for each reply, or NULL
 * @arg: last argument of @reply
 */
struct nl_request {
	uint8_t			cmd;
	bool			dump;
	bool			answered;
	const struct object	*obj;
	const void		*req;
	int			(*put)(struct nl_msg *msg, const void *req);
	int			(*reply)(struct nlmsghdr *nlh, void *arg);
	void			*arg;
};

/* -ENOENT: the module is not loaded; the error text says so. */
int inc_nl_open(struct inc_nl *nl);
/*
 * As inc_nl_open(), for a connection that is zero or was opened before: to
 * check that the module was not loaded again takes less time.
 */
int inc_nl_renew(struct inc_nl *nl);
/* May be called after a failed inc_nl_open(), and twice. */
void inc_nl_close(struct inc_nl *nl);

int nl_request(struct inc_nl *nl, const struct nl_request *r);

/*
 * Events: after inc_nl_subscribe(), use @nl for events only. Poll the file
 * descriptor for input, then call inc_nl_events(), which calls @fn for each
 * pending event and does not block. -ENOBUFS: events were lost; continue.
 */
int inc_nl_subscribe(struct inc_nl *nl);
int inc_nl_fd(const struct inc_nl *nl);
int inc_nl_events(struct inc_nl *nl,
		  int (*fn)(const struct inc_nl_event *ev, void *arg),
		  void *arg);

#endif /* INC_NL_CONN_H */
