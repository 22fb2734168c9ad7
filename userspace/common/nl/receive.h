/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The reply to a request to netlink, of any family, up to its end.
 */
#ifndef INC_NL_RECEIVE_H
#define INC_NL_RECEIVE_H

#include <stdbool.h>

#include <netlink/handlers.h>

/* Times that a dump is asked for, of which objects change while they are read. */
#define NL_TRIES	8

struct nl_sock;
struct nlattr;

/**
 * struct nl_reply - a reply
 * @valid: called for each object
 * @failed: called if the kernel refuses: -errno, and its attributes with their
 *	length; or NULL
 * @arg: last argument of both
 * @done: it is complete
 * @interrupted: objects have changed meanwhile: some are missing, or there twice
 * @err: -errno of the kernel, or that @valid has set
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
