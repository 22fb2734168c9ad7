/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connections to managers, when libinc's own is lost.
 */
#ifndef INC_AM_REACH_H
#define INC_AM_REACH_H

#include <stddef.h>

int reach_nth(const char *list, unsigned int n, char *addr, size_t len);
int reach_connect(const char *addr, int timeout_ms);

#endif /* INC_AM_REACH_H */
