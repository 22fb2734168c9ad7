/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How requests and the communicator end.
 */
#ifndef INC_LIB_ENGINE_END_H
#define INC_LIB_ENGINE_END_H

#include "comm/comm.h"

struct inc_request *inc_request_get(struct inc_comm *comm);
void inc_request_put(struct inc_request *req);
void inc_request_finish(struct inc_comm *comm);
void inc_request_fail_all(struct inc_comm *comm, int err);
void inc_comm_end_qp(struct inc_comm *comm, int ms);
void inc_comm_reap_mem(struct inc_comm *comm);
void inc_request_drop_kept(struct inc_comm *comm);
bool inc_request_again(struct inc_comm *comm, uint32_t done);
int inc_comm_note(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_comm_fail(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_comm_drop_qp(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_END_H */
