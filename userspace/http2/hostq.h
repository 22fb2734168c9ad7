/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Queues of connections that have something in common: each host has one, with its
 * oldest connection first, or its newest, and a set has its queues by their length.
 * All takes the same time, however many there are.
 */
#ifndef INC_HTTP2_HOSTQ_H
#define INC_HTTP2_HOSTQ_H

#include <stddef.h>
#include <sys/queue.h>

/**
 * enum hostq_kind - what they have in common
 * @HOSTQ_IDLE: they have no call
 * @HOSTQ_SHAKES: they shake hands
 * @HOSTQ_WAITS: they wait to begin with it, the newest first
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
 * @entry: in it
 * @queue: queue, NULL: none
 */
struct hostq_node {
	TAILQ_ENTRY(hostq_node)	entry;
	struct hostq		*queue;
};

/**
 * struct hostq - connections of a host
 * @entry: among the queues that are as long
 * @nodes: all of them
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
 * @by_n: those of that length, from 1
 * @top: the last of @by_n has longer ones, too
 * @most: the last of @by_n that has any, 0: none
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
