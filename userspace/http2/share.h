/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Limits of connections, hosts, tenants and the whole server: how much they may
 * use at a time, and how often something may happen.
 */
#ifndef INC_HTTP2_SHARE_H
#define INC_HTTP2_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop/index.h"
#include "loop/loop.h"
#include "http2/hostq.h"

enum share_kind {
	SHARE_CONNECTION,
	SHARE_HOST,
	SHARE_TENANT,
	SHARE_ALL,
	SHARE_KINDS
};

/**
 * enum share_what - resource
 * @SHARE_CONNECTIONS: connections
 * @SHARE_IDLE: connections without a call
 * @SHARE_HANDSHAKES: connections in a TLS handshake
 * @SHARE_CALLS: calls
 * @SHARE_SILENT: calls without a message yet
 * @SHARE_HELD: bytes of incomplete messages
 * @SHARE_QUEUED: bytes of unsent answers
 * @SHARE_WHATS: their number
 */
enum share_what {
	SHARE_CONNECTIONS,
	SHARE_IDLE,
	SHARE_HANDSHAKES,
	SHARE_CALLS,
	SHARE_SILENT,
	SHARE_HELD,
	SHARE_QUEUED,
	SHARE_WHATS
};

/**
 * struct share - use of resources by a connection, a host, a tenant, or all
 * @node: found by kind and name
 * @kind: kind
 * @uses: number of sets it is in
 * @used: amount of each resource in use
 * @queues: a host's connections
 * @lane: its connections that wait for their turn
 * @name: host or tenant
 */
struct share {
	struct index_node	node;
	enum share_kind		kind;
	unsigned int		uses;
	size_t			used[SHARE_WHATS];
	struct hostq		queues[HOSTQS];
	struct lane		lane;
	char			name[];
};

/**
 * struct share_set - shares that a connection or a call counts towards
 * @by_kind: share of each kind; NULL: none
 */
struct share_set {
	struct share	*by_kind[SHARE_KINDS];
};

/**
 * struct allowance - limit on how often something may happen
 * @left: how often it may happen now
 * @counted_at: milliseconds; when @left grew last
 */
struct allowance {
	int64_t	left;
	int64_t	counted_at;
};

void share_self(const char *name);
bool share_join(struct share_set *set, enum share_kind kind, const char *name);
bool share_change(struct share_set *set, enum share_kind kind, const char *name);
void share_copy(struct share_set *to, const struct share_set *from);
void share_hold(struct share_set *set, struct share *s);
const char *share_greedy(enum share_kind kind, enum share_what what);
void share_leave(struct share_set *set);
int share_take(struct share_set *set, enum share_what what, size_t n,
	       char *why, size_t len);
void share_give(struct share_set *set, enum share_what what, size_t n);
struct share *share_owner(const struct share_set *set);
struct lane *share_lane(const struct share_set *set);
size_t share_limit(enum share_kind kind, enum share_what what);
void share_lower(enum share_kind kind, enum share_what what, size_t most);
bool allowance_take(struct allowance *a, int64_t now, int64_t n, int64_t most,
		    int64_t a_second);

#endif /* INC_HTTP2_SHARE_H */
