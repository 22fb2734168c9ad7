/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The aggregation manager: main.c starts and stops it, options.c reads its
 * options, answer.c answers operators. topo.c knows the fabric, place.c
 * computes trees. A group's life is in group.c, from its first rank on;
 * group-make.c makes its tree, group-end.c ends it. All of this is the main
 * loop's.
 */
#ifndef INC_MANAGER_MANAGER_H
#define INC_MANAGER_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"
#include "rendezvous/proto.h"
#include "rpc.h"
#include "switch.h"

struct group;

/**
 * struct network - addresses
 * @next: next one
 * @addr: network
 * @bits: length of its prefix
 */
struct network {
	struct network		*next;
	struct inc_rdv_addr	addr;
	unsigned int		bits;
};

/**
 * struct options - how the manager was started
 * @listen: address of the gRPC server
 * @switches: addresses of the agents
 * @nswitches: their number
 * @key: SSH: file with the private key, or NULL
 * @known_hosts: SSH: file with the agents' keys, or NULL
 * @allow: addresses that ranks may have besides their connections'
 * @forming_ms: how long a group may wait for its ranks
 * @heartbeat_ms: interval of heartbeats, 0: none
 * @misses: heartbeats that may be missed
 * @first_tree: the first tree ID that is the manager's
 * @last_tree: and the last one
 * @dead_time: dead time of trees, milliseconds; 0: the kernel's default
 * @pidfile: or NULL
 * @verbose: log more
 */
struct options {
	const char	*listen;
	const char	**switches;
	unsigned int	nswitches;
	const char	*key;
	const char	*known_hosts;
	struct network	*allow;
	uint32_t	forming_ms;
	uint32_t	heartbeat_ms;
	uint32_t	misses;
	uint32_t	first_tree;
	uint32_t	last_tree;
	uint32_t	dead_time;
	const char	*pidfile;
	bool		verbose;
};

/**
 * struct manager - the manager
 * @o: options
 * @loop: main loop
 * @rpc: gRPC server
 * @switches: switches, @o.nswitches of them
 * @groups: groups, in the order of their creation
 * @next_tree: tree ID to try next
 * @stop: end
 */
struct manager {
	struct options	o;
	struct loop	loop;
	struct rpc	*rpc;
	struct sw	*switches;
	struct group	*groups;
	uint32_t	next_tree;
	bool		stop;
};

/* options.c */
int options_read(struct options *o, int argc, char **argv);

/* addr.c */
bool network_parse(struct network *net, const char *text);
bool addr_same(const struct inc_rdv_addr *a, const struct inc_rdv_addr *b);
bool addr_of_peer(const char *peer, struct inc_rdv_addr *addr);
bool addr_believed(const struct options *o, const char *peer,
		   const struct inc_rdv_addr *addr, char *err, size_t len);

/* topo.c */
struct sw *topo_find(const struct manager *m, const struct inc_rdv_addr *addr,
		     const struct sw_if **itf);
bool topo_addr(const struct sw *sw, const struct sw *to,
	       struct inc_rdv_addr *addr);
uint32_t *topo_hops(const struct manager *m);
struct sw *topo_behind(const struct manager *m, const struct sw *sw,
		       const struct sw_if *itf, const struct sw_if **other);

/* answer.c */
void answer_call(void *ctx, enum rpc_method method, const uint8_t *data,
		 size_t len, struct rpc_answer *answer);

/* group.c */
void group_opened(void *ctx, struct rpc_stream *stream);
void group_message(void *ctx, struct rpc_stream *stream, const uint8_t *data,
		   size_t len);
void group_closed(void *ctx, struct rpc_stream *stream);
int64_t group_deadline(const struct manager *m);
void group_expire(struct manager *m);
void group_fabric_changed(struct manager *m);

/* group-end.c */
void group_delete(struct group *g, const char *why);
void group_delete_all(struct manager *m, const char *why);
bool group_owns_tree(const struct manager *m, const struct sw *sw,
		     uint32_t id);
void group_clear_tree(struct sw *sw, uint32_t id);

#endif /* INC_MANAGER_MANAGER_H */
