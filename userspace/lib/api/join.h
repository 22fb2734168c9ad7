/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* How a rank joins its job, and leaves it. */
#ifndef INC_LIB_JOIN_H
#define INC_LIB_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "inc.h"

struct inc_comm;
struct inc_rdv_msg;

int inc_join_open(struct inc_comm *comm, const struct inc_comm_opts *o,
		  int64_t deadline_ms);
int inc_join_job(struct inc_comm *comm, const struct inc_comm_opts *o,
		 int64_t deadline_ms);
bool inc_join_leave(struct inc_comm *comm, int ms, struct inc_rdv_msg *answer);

#endif /* INC_LIB_JOIN_H */
