/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libinc-am: the part of libinc that speaks gRPC with an aggregation manager.
 * libinc loads it when it is told of a manager, so that other programs need no
 * HTTP/2 and no TLS. To libinc, it is a rendezvous daemon at the other end of a socket.
 */
#ifndef INC_LIB_LIBINC_AM_H
#define INC_LIB_LIBINC_AM_H

#include <stddef.h>

struct inc_am;

#define INC_AM_LIBRARY	"libinc-am.so.1"
#define INC_AM_START	"inc_am_start"
#define INC_AM_STOP	"inc_am_stop"
#define INC_AM_LIST	1024	/* bytes of addresses of managers, with commas */

typedef int inc_am_start_fn(struct inc_am **am, int tcp, const char *manager,
			    int *fd);
typedef void inc_am_stop_fn(struct inc_am *am);

int inc_am_start(struct inc_am **am, int tcp, const char *manager, int *fd);
void inc_am_stop(struct inc_am *am);

#endif /* INC_LIB_LIBINC_AM_H */
