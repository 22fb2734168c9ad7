/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Why the communicator fails, or its tree does.
 */
#ifndef INC_LIB_ENGINE_FAIL_H
#define INC_LIB_ENGINE_FAIL_H

#include "comm/comm.h"

void inc_fail_device(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool inc_comm_watch_failed(struct inc_comm *comm);
bool inc_fail_is_rebuilding(struct inc_comm *comm);
void inc_fail_with_others(struct inc_comm *comm);
void inc_comm_break(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_fail_rails(struct inc_comm *comm);
void inc_fail_own(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_fail_wc(struct inc_comm *comm, const struct ibv_wc *wc,
		 const char *what);
void inc_fail_tree(struct inc_comm *comm, unsigned int status);

#endif /* INC_LIB_ENGINE_FAIL_H */
