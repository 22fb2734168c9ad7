/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A switch: what is known of it, and the thread that talks with its agent. The
 * main loop owns the structs; operations go to the thread and come back.
 */
#ifndef INC_MANAGER_SWITCH_H
#define INC_MANAGER_SWITCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "loop.h"
#include "netconf.h"
#include "rendezvous/proto.h"

#define SWITCH_ID_MAX	63	/* characters */
#define MAC_LEN		18	/* as text */

/**
 * struct sw_neigh - who is reached through an interface
 * @mac: MAC address
 * @switch_id: switch that announces itself there; empty: none
 * @switch_port: and its interface
 * @addrs: IP addresses
 * @naddrs: their number
 */
struct sw_neigh {
	char			mac[MAC_LEN];
	char			switch_id[SWITCH_ID_MAX + 1];
	char			switch_port[32];
	struct inc_rdv_addr	*addrs;
	unsigned int		naddrs;
};

/**
 * struct sw_if - an interface of a switch
 * @name: its name
 * @mac: its MAC address
 * @up: it is up
 * @speed: bits per second, 0: unknown
 * @neighs: who is reached through it
 * @nneighs: their number
 * @addrs: its own IP addresses
 * @naddrs: their number
 */
struct sw_if {
	char			name[32];
	char			mac[MAC_LEN];
	bool			up;
	uint64_t		speed;
	struct sw_neigh		*neighs;
	unsigned int		nneighs;
	struct inc_rdv_addr	*addrs;
	unsigned int		naddrs;
};

/**
 * struct sw_info - what an agent tells of its switch
 * @id: identity
 * @collectives: mask of those that it offers
 * @memory_limit: bytes that all trees may take
 * @memory_used: bytes that they take
 * @max_trees: 0: no limit
 * @ntrees: number of trees
 * @trees: their IDs
 * @ifs: interfaces
 * @nifs: their number
 */
struct sw_info {
	char		id[SWITCH_ID_MAX + 1];
	uint32_t	collectives;
	uint64_t	memory_limit;
	uint64_t	memory_used;
	uint32_t	max_trees;
	uint32_t	ntrees;
	uint32_t	*trees;
	struct sw_if	*ifs;
	unsigned int	nifs;
};

struct sw;

/**
 * struct sw_op - an operation on a switch
 * @work: brings it back to the main loop
 * @next: next in the switch's queue
 * @sw: switch
 * @run: the operation, in the switch's thread; returns 0 or -errno, with
 *	@err. -ENOTCONN: the session is dead
 * @done: its result, in the main loop; frees it
 * @ret: what @run returned
 * @err: error message
 */
struct sw_op {
	struct work	work;
	struct sw_op	*next;
	struct sw	*sw;
	int		(*run)(struct sw_op *op, struct netconf *n);
	void		(*done)(struct sw_op *op);
	int		ret;
	char		err[NETCONF_ERROR_LEN];
};

/**
 * struct sw - a switch
 * @next: next switch
 * @loop: main loop
 * @address: of its agent, as it was given
 * @target: the same, understood
 * @index: its place in the list
 * @up: the agent has answered the last time
 * @why: if not @up: the reason
 * @info: what it told last; NULL: nothing yet
 * @parts: trees that groups have there
 * @refreshing: an operation asks for @info
 * @refresh_at: milliseconds; when to ask next
 * @seen: called when @info has changed or @up has
 * @thread: talks with the agent
 * @lock: guards @head, @tail, @stop
 * @wake: there is an operation, or @stop
 * @head: first operation
 * @tail: where the next one is appended
 * @stop: end the thread when the queue is empty
 * @session: the thread's; NULL: none
 * @tried_at: the thread's: when it last failed to connect
 * @tried: and why
 */
struct sw {
	struct sw		*next;
	struct loop		*loop;
	const char		*address;
	struct netconf_target	target;
	unsigned int		index;
	bool			up;
	char			why[NETCONF_ERROR_LEN];
	struct sw_info		*info;
	unsigned int		parts;
	bool			refreshing;
	int64_t			refresh_at;
	void			(*seen)(struct sw *sw);
	pthread_t		thread;
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	struct sw_op		*head;
	struct sw_op		**tail;
	bool			stop;
	struct netconf		*session;
	int64_t			tried_at;
	char			tried[NETCONF_ERROR_LEN];
};

int sw_start(struct sw *sw);
void sw_stop(struct sw *sw);
void sw_submit(struct sw *sw, struct sw_op *op);
void sw_refresh(struct sw *sw);
void sw_refresh_due(struct sw *sw);
const char *sw_name(const struct sw *sw);

/* info.c */
struct sw_info *sw_info_get(struct netconf *n, char *err);
void sw_info_free(struct sw_info *info);

/* yang.c */
const struct lyd_node *yang_child(const struct lyd_node *node,
				  const char *name);
const char *yang_text(const struct lyd_node *node, const char *name);
uint64_t yang_number(const struct lyd_node *node, const char *name);
uint32_t yang_bits(const struct lyd_node *node, const char *name);
unsigned int yang_count(const struct lyd_node *node, const char *name);

#endif /* INC_MANAGER_SWITCH_H */
