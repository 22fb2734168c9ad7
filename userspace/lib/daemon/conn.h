/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connection to the coordinator, inc-tool serve or inc-amd, with a deadline on every
 * step. libinc-am speaks gRPC with it.
 */
#ifndef INC_LIB_CONN_H
#define INC_LIB_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "am.h"
#include "rendezvous/proto.h"

#define INC_AM_PORT	"18790"		/* of a manager */

struct inc_reach;
struct inc_who;

/**
 * struct inc_conn - connection to the coordinator
 * @fd: descriptor to wait on before inc_conn_recv()
 * @who: its communicator, for the log; NULL: none
 * @ops: libinc-am
 * @am: @ops' stream, or NULL
 * @is_manager: the coordinator is inc-amd, else inc-tool serve
 * @local: address of our end
 * @peer: address and port of the other end
 */
struct inc_conn {
	int			fd;
	const struct inc_who	*who;
	const struct inc_am_ops	*ops;
	struct inc_am		*am;
	bool			is_manager;
	struct inc_rdv_addr	local;
	struct sockaddr_storage	peer;
};

int64_t inc_now_ms(void);
int inc_conn_reach(struct inc_conn *conn, struct inc_reach *r, bool is_manager,
		   int64_t deadline_ms, char *err, size_t err_len);
int inc_conn_open(struct inc_conn *conn, const char *servers, bool is_manager,
		  int64_t deadline_ms, char *err, size_t err_len);
void inc_conn_close(struct inc_conn *conn);
int inc_conn_send(struct inc_conn *conn, const struct inc_rdv_msg *msg);
void inc_conn_hang_up(struct inc_conn *conn);
void inc_conn_why(const struct inc_conn *conn, int ret, char *err,
		  size_t err_len);
int inc_conn_recv(struct inc_conn *conn, struct inc_rdv_msg *msg,
		  int64_t deadline_ms, char *err, size_t err_len);
bool inc_conn_more(const struct inc_conn *conn);

#endif /* INC_LIB_CONN_H */
