/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What one connection, one host, one tenant, and all together may have of the
 * server at a time; and how often something may happen.
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
 * enum share_what - what is counted
 * @SHARE_CONNECTIONS: connections
 * @SHARE_IDLE: connections without a call
 * @SHARE_HANDSHAKES: connections that shake hands
 * @SHARE_CALLS: calls
 * @SHARE_SILENT: calls whose client has said nothing yet
 * @SHARE_HELD: bytes of messages that have come in part
 * @SHARE_QUEUED: bytes of answers that are not sent
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
 * struct share - what one has
 * @node: found by kind and name
 * @kind: kind
 * @uses: sets that it is in
 * @used: of each, how much
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
 * struct share_set - whose share it is
 * @by_kind: one of each kind; NULL: none
 */
struct share_set {
	struct share	*by_kind[SHARE_KINDS];
};

/**
 * struct allowance - how often something may happen
 * @left: so often at once
 * @counted_at: milliseconds; when that was counted
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
