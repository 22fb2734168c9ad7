/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The reply to a netlink request of any family, up to its end.
 */
#ifndef INC_NL_RECEIVE_H
#define INC_NL_RECEIVE_H

#include <stdbool.h>

#include <netlink/handlers.h>

/* Times that a dump is requested if objects change while they are read. */
#define NL_TRIES	8

struct nl_sock;
struct nlattr;

/**
 * struct nl_reply - a reply
 * @valid: called for each object
 * @failed: called with -errno and its attributes if the kernel refuses; or NULL
 * @arg: last argument of @valid, first one of @failed
 * @done: the reply is complete
 * @interrupted: objects have changed meanwhile: some are missing, or repeated
 * @err: -errno of the kernel, or set by @valid
 */
struct nl_reply {
	nl_recvmsg_msg_cb_t	valid;
	void			(*failed)(void *arg, int err,
					  struct nlattr *attrs, int len);
	void			*arg;
	bool			done;
	bool			interrupted;
	int			err;
};

int nl_receive(struct nl_sock *sk, struct nl_reply *r);

#endif /* INC_NL_RECEIVE_H */
