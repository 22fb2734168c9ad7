/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libinc-am: the part of libinc that speaks gRPC with a coordinator, inc-tool serve or
 * inc-amd. libinc loads it with the first communicator, so that programs that make
 * none need no HTTP/2 and no TLS. Both libraries are of one build.
 */
#ifndef INC_LIB_LIBINC_AM_H
#define INC_LIB_LIBINC_AM_H

#include <stdbool.h>
#include <stddef.h>

#include "rendezvous/proto.h"

#define INC_AM_LIBRARY	"libinc-am.so.1"
#define INC_AM_OPS	inc_am_ops_2
#define INC_AM_LIST	1024	/* bytes of addresses of managers, with commas */

struct inc_am;

/**
 * struct inc_am_ops - the library's functions
 * @open: begin a stream. Its arguments: the connection to the coordinator, closed
 *	on failure, too; its address, and other managers', with commas between; a
 *	manager?; room for a text. Returns NULL, and the text, if that cannot be
 * @fd: descriptor at which to wait for @recv; another one after that, maybe
 * @send: send a message; does not wait. Returns 0 or -ENOTCONN
 * @recv: take a message, and do what there is to do. Returns 0, -EAGAIN: there is
 *	none yet, wait for @events, or -ENOTCONN: there are no more
 * @more: messages may be there of which @fd says nothing
 * @hang_up: end it, but keep the descriptors
 * @close: end it. In a child of fork() the stream is the parent's: only the child's
 *	copies of its descriptors are closed, so that the coordinator notices the
 *	parent's death
 *
 * All but @open and @close may run in several threads at a time.
 */
struct inc_am_ops {
	struct inc_am *(*open)(int tcp, const char *list, bool is_manager,
			       char *err, size_t err_len);
	int (*fd)(const struct inc_am *am);
	int (*send)(struct inc_am *am, const struct inc_rdv_msg *msg);
	int (*recv)(struct inc_am *am, struct inc_rdv_msg *msg, short *events);
	bool (*more)(struct inc_am *am);
	void (*hang_up)(struct inc_am *am);
	void (*close)(struct inc_am *am);
};

extern const struct inc_am_ops INC_AM_OPS;

#endif /* INC_LIB_LIBINC_AM_H */
