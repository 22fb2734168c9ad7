/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Options of a communicator. */
#ifndef INC_LIB_OPTS_H
#define INC_LIB_OPTS_H

#include <stdbool.h>

#include "inc.h"

int inc_opts_error(const struct inc_comm_opts *o, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int inc_opts_here(const struct inc_comm_opts *o, int ret, const char *text);
int inc_opts_take(struct inc_comm_opts *o, const struct inc_comm_opts *given,
		  bool env);

#endif /* INC_LIB_OPTS_H */
