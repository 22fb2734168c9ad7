/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_CHANGE_H
#define INC_LIB_CHANGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "inc.h"

/* comm.c */
int inc_comm_create_until(struct inc_comm **comm,
			  const struct inc_comm_opts *opts,
			  _Atomic bool *stop);

/* change.c */
int inc_change_init(struct inc_comm *comm, const struct inc_comm_opts *o);
void inc_change_allow(struct inc_comm *comm);
void inc_change_end(struct inc_comm *comm);

#endif /* INC_LIB_CHANGE_H */
