/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connection to the rendezvous daemon, with a deadline on every step; or to an
 * aggregation manager, which libinc-am makes look like a daemon.
 */
#ifndef INC_LIB_CONN_H
#define INC_LIB_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "rendezvous/proto.h"
#include "secure.h"

#define INC_AM_PORT	"18790"		/* of a manager */

struct inc_am;
struct inc_who;

/**
 * struct inc_conn - connection to the daemon
 * @fd: socket, non-blocking
 * @who: its communicator, for the log; NULL: none
 * @am: stream to a manager, at the other end of @fd; NULL: @fd is the daemon's
 * @secure: TLS on @fd
 * @local: address of our end, towards the daemon or manager
 * @lines: received data not processed yet
 */
struct inc_conn {
	int			fd;
	const struct inc_who	*who;
	struct inc_am		*am;
	struct inc_secure	secure;
	struct inc_rdv_addr	local;
	struct inc_rdv_lines	lines;
};

int inc_conn_open(struct inc_conn *conn, const char *program,
		  const char *server, int64_t deadline_ms, char *err,
		  size_t err_len);
int inc_conn_open_am(struct inc_conn *conn, const char *managers,
		     int64_t deadline_ms, char *err, size_t err_len);
void inc_conn_close(struct inc_conn *conn);
int inc_conn_send(struct inc_conn *conn, const struct inc_rdv_msg *msg,
		  int64_t deadline_ms);
void inc_conn_why(const struct inc_conn *conn, int ret, char *err,
		  size_t err_len);
int inc_conn_recv(struct inc_conn *conn, struct inc_rdv_msg *msg,
		  int64_t deadline_ms, char *err, size_t err_len);

#endif /* INC_LIB_CONN_H */
