/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Reads interfaces, addresses, neighbours and routes through rtnetlink.
 */
#ifndef INC_NL_RTNL_H
#define INC_NL_RTNL_H

#include <stdbool.h>

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

struct nl_sock;

/**
 * typedef inc_rt_fn - callback for an object of a reply
 * @head: header, as struct ifinfomsg; NULL: the dump starts again, so forget
 *	its objects
 * @tb: attributes, NULL if absent, up to IFLA_MAX
 * @arg: as given
 */
typedef void inc_rt_fn(const void *head, struct nlattr **tb, void *arg);

struct nl_sock *inc_rt_open(void);
struct nl_msg *inc_rt_request(int type, int flags, const void *head);
int inc_rt_ask(struct nl_sock *sk, struct nl_msg *msg, inc_rt_fn *fn,
	       void *arg);
int inc_rt_dump(struct nl_sock *sk, int type, int family, inc_rt_fn *fn,
		void *arg);
bool inc_rt_is_kind(struct nlattr *const *tb, const char *kind);
bool inc_rt_addr(struct nlattr *a, int family, void *addr);

#endif /* INC_NL_RTNL_H */
