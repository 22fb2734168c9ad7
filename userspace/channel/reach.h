/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses of servers, and connections to them.
 */
#ifndef INC_CHANNEL_REACH_H
#define INC_CHANNEL_REACH_H

#include <stdbool.h>
#include <stddef.h>

#define REACH_MOST	16	/* connections that are being made at a time */

/**
 * struct reach_sockets - connections that are being made
 * @fd: their sockets; -1: none
 */
struct reach_sockets {
	_Atomic int	fd[REACH_MOST];
};

int reach_nth(const char *list, unsigned int n, char *addr, size_t len);
bool reach_is_path(const char *addr);
int reach_connect(const char *addr, int port, int timeout_ms,
		  struct reach_sockets *seen);

#endif /* INC_CHANNEL_REACH_H */
