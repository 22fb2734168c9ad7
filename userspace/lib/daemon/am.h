/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Streams to an aggregation manager, by libinc-am.
 */
#ifndef INC_LIB_AM_H
#define INC_LIB_AM_H

#include <stddef.h>

struct inc_am;

int inc_am_open(struct inc_am **am, int tcp, const char *manager, int *fd,
		char *err, size_t err_len);
void inc_am_close(struct inc_am *am);

#endif /* INC_LIB_AM_H */
