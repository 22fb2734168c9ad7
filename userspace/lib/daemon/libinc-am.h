/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libinc-am: the part of libinc that speaks gRPC with a coordinator, inc-tool serve or
 * inc-amd. libinc loads it with the first communicator: programs without any need
 * neither HTTP/2 nor TLS. Both libraries must be of one build.
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
 * @open: begin a stream. Arguments: the connection to the coordinator, closed on
 *	failure, too; its address and other managers', separated by commas; whether
 *	it is a manager; buffer for an error text. Returns NULL on failure
 * @fd: descriptor to wait on before @recv, which may change it
 * @send: send a message; does not wait. Returns 0 or -ENOTCONN
 * @recv: receive a message, and do pending work. Returns 0; -EAGAIN: none yet, wait
 *	for @events; -ENOTCONN: there will be no more
 * @more: there may be messages that @fd does not report
 * @hang_up: end the stream, but keep the descriptors
 * @close: end the stream. In a child of fork(), only close the child's copies of
 *	the descriptors: else the coordinator would not notice the parent's death
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
