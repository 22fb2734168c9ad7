/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A session, and what its client asks for.
 */
#ifndef INC_AGENT_SESSION_H
#define INC_AGENT_SESSION_H

#include <netinet/in.h>
#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "netconf/carrier.h"

struct agent;
struct lyd_node;
struct subscriber;

enum transport {
	TRANSPORT_UNIX,
	TRANSPORT_SSH,
	TRANSPORT_TLS,
};

/**
 * struct serve_count - the counters of RFC 6022
 * @rpcs: requests
 * @bad_rpcs: messages that were none
 * @errors: replies with an error
 * @notifications: notifications sent
 */
struct serve_count {
	_Atomic uint32_t	rpcs;
	_Atomic uint32_t	bad_rpcs;
	_Atomic uint32_t	errors;
	_Atomic uint32_t	notifications;
};

/**
 * struct session - a client; its thread's own but for what others are said to use
 * @next: the next session that has begun
 * @a: agent
 * @c: its transport; others may shut down the socket
 * @id: of NETCONF; 0: it has not begun
 * @transport: which
 * @may_change: the user may do more than look
 * @user: name
 * @host: from there; empty: this one
 * @from: its host, or network, if not this one
 * @cert: the user's certificate, or NULL
 * @since: when it has begun, in seconds since 1970
 * @wake: descriptor of an event: there are notifications; others use it
 * @end: it is to end; others may say so
 * @writing: since when a reply is written, in milliseconds; or 0; for others
 * @sub: its subscription, or NULL
 * @count: for who asks
 */
struct session {
	struct session		*next;
	struct agent		*a;
	struct carrier		c;
	uint32_t		id;
	enum transport		transport;
	bool			may_change;
	char			user[128];
	char			host[INET6_ADDRSTRLEN];
	struct in6_addr		from;
	X509			*cert;
	time_t			since;
	int			wake;
	_Atomic bool		end;
	_Atomic int64_t		writing;
	struct subscriber	*sub;
	struct serve_count	count;
};

/**
 * struct request - an operation that a client asks for
 * @a: agent
 * @s: who asks
 * @op: operation
 * @text: the message
 * @out: where to print what is in the reply
 * @bad: result: that is errors
 * @broken: result: there was no memory to print all
 */
struct request {
	struct agent		*a;
	struct session		*s;
	struct lyd_node		*op;
	const char		*text;
	FILE			*out;
	bool			bad;
	bool			broken;
};

#endif /* INC_AGENT_SESSION_H */
