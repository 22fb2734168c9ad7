/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses of servers, and connections to one of them, for libinc, inc-amctl
 * and the manager.
 */
#ifndef INC_HTTP2_REACH_H
#define INC_HTTP2_REACH_H

#include <stdbool.h>
#include <stddef.h>

#define INC_REACH_MOST	16	/* connections under way at a time */
#define INC_REACH_SEEN	(INC_REACH_MOST + 1)
#define INC_REACH_ADDR	288	/* a DNS name and a port */

/**
 * struct inc_reach_sockets - descriptors while a connection is being made
 * @fd: descriptors; -1: none
 */
struct inc_reach_sockets {
	_Atomic int	fd[INC_REACH_SEEN];
};

struct inc_reach;

int inc_reach_nth(const char *list, unsigned int n, char *addr, size_t len);
bool inc_reach_is_path(const char *addr);
struct inc_reach *inc_reach_new(const char *list, int port, bool tcp);
void inc_reach_free(struct inc_reach *r);
bool inc_reach_add(struct inc_reach *r, const char *addr);
void inc_reach_skip(struct inc_reach *r, unsigned int i);
void inc_reach_again(struct inc_reach *r);
unsigned int inc_reach_left(const struct inc_reach *r);
int inc_reach_next(struct inc_reach *r, int timeout_ms,
		   struct inc_reach_sockets *seen);
unsigned int inc_reach_count(const struct inc_reach *r);
unsigned int inc_reach_which(const struct inc_reach *r);
const char *inc_reach_addr(const struct inc_reach *r, unsigned int i);
int inc_reach_error(const struct inc_reach *r, unsigned int i);
void inc_reach_why(const struct inc_reach *r, const char *program, char *text,
		   size_t len);
int inc_reach_connect(const char *addr, int port, int timeout_ms);

#endif /* INC_HTTP2_REACH_H */
