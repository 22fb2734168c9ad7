/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Queues of connections in the same state: each host has one, with its oldest
 * or its newest connection first, and a set sorts the queues by length. All
 * operations take constant time.
 */
#ifndef INC_HTTP2_HOSTQ_H
#define INC_HTTP2_HOSTQ_H

#include <stddef.h>
#include <sys/queue.h>

/**
 * enum hostq_kind - state of a queue's connections
 * @HOSTQ_IDLE: without a call
 * @HOSTQ_SHAKES: in a TLS handshake
 * @HOSTQ_WAITS: waiting for a handshake, the newest first
 * @HOSTQS: their number
 */
enum hostq_kind {
	HOSTQ_IDLE,
	HOSTQ_SHAKES,
	HOSTQ_WAITS,
	HOSTQS
};

/**
 * struct hostq_node - a connection's place in a queue
 * @entry: links in @queue
 * @queue: queue; NULL: none
 */
struct hostq_node {
	TAILQ_ENTRY(hostq_node)	entry;
	struct hostq		*queue;
};

/**
 * struct hostq - connections of a host
 * @entry: among the queues of the same length
 * @nodes: its connections
 * @n: their number
 */
struct hostq {
	TAILQ_ENTRY(hostq)			entry;
	TAILQ_HEAD(hostq_nodes, hostq_node)	nodes;
	size_t					n;
};

TAILQ_HEAD(hostq_list, hostq);

/**
 * struct hostq_set - queues
 * @by_n: queues by length, from 1
 * @top: last index of @by_n, which has longer queues, too
 * @most: highest index of @by_n that has a queue; 0: none
 * @used: number of queues that are not empty
 */
struct hostq_set {
	struct hostq_list	*by_n;
	size_t			top;
	size_t			most;
	size_t			used;
};

int hostq_set_init(struct hostq_set *c, size_t top);
void hostq_set_free(struct hostq_set *c);
void hostq_init(struct hostq *q);
void hostq_append(struct hostq_set *c, struct hostq *q, struct hostq_node *p);
void hostq_push(struct hostq_set *c, struct hostq *q, struct hostq_node *p);
void hostq_remove(struct hostq_set *c, struct hostq_node *p);
struct hostq_node *hostq_set_turn(struct hostq_set *c);

#endif /* INC_HTTP2_HOSTQ_H */
