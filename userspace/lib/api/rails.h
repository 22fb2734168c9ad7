/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_RAILS_H
#define INC_LIB_RAILS_H

#include <stdbool.h>

#include "inc.h"

struct inc_comm;

bool inc_rails_able(const struct inc_comm_opts *o);
int inc_rails_open(struct inc_comm *comm, const struct inc_comm_opts *o);
void inc_rails_close(struct inc_comm *comm);

#endif /* INC_LIB_RAILS_H */
