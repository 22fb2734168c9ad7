/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The aggregation manager. main.c starts and stops it, options.c reads its
 * options. Its folders, from the bottom up:
 *
 *	base	events, and the pool of threads
 *	place	computes trees, without I/O
 *	tenant	limits of tenants, and their use
 *	api	addresses that ranks may name, and messages as JSON
 *	store	the database: SQLite, or etcd
 *	fabric	the switches, by NETCONF, and the links between them
 *	group	groups: their events (step.c), their trees' places (where.c), and
 *		the trees on the switches (trees.c)
 *	state	state that outlives the manager, and its right to act
 *	session	ranks that join or come back
 *	stats	present and past activity of tasks, switches and clients
 *	answer	answers to operators and clients
 *	web	the page, and Prometheus' metrics
 *	ctl	inc-amctl, a program of its own
 *
 * All of the manager's state belongs to the main loop.
 */
#ifndef INC_MANAGER_MANAGER_H
#define INC_MANAGER_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/rpc.h"
#include "base/event.h"
#include "loop/index.h"
#include "loop/loop.h"
#include "fabric/switch.h"
#include "fabric/topo.h"
#include "rendezvous/network.h"
#include "state/state.h"
#include "tenant/quota.h"

struct group;
struct group_ops;
struct json_object;
struct stats;

/**
 * struct amd_options - options of the manager
 * @listen: address of the gRPC server
 * @callhome: address at which agents call; NULL: they do not
 * @switches: addresses of the agents
 * @nswitches: number of @switches
 * @cables: configured links
 * @ncables: number of @cables
 * @key: SSH: file with the private key, or NULL
 * @known_hosts: SSH: file with the agents' keys, or NULL: any are accepted
 * @any_host_key: accept any keys beyond loopback, too
 * @allow: addresses that ranks may have besides their connections'
 * @forming_ms: time that a group may wait for its ranks
 * @heartbeat_ms: interval of heartbeats, 0: none
 * @misses: heartbeats that may be missed
 * @first_tree: first tree ID of the manager; 0: it chooses itself
 * @last_tree: last tree ID of the manager
 * @dead_time: dead time of trees, milliseconds; 0: the kernel's default
 * @agent_ms: interval of polls of each agent
 * @agent_misses: answers that an agent may miss
 * @rebuild_ms: time that a rebuild may take
 * @pidfile: file for the process ID, or NULL
 * @store: database, or "none"
 * @etcd: security of the connection, if @store is etcd
 * @advertise: address of this manager that others tell clients
 * @verbose: log more
 * @security: credentials, and how callers prove theirs
 * @http: address of the web page; NULL: none
 * @http_plaintext: show the page to other hosts, too
 * @tenants: file with the limits of tenants; NULL: the default one, if it exists
 * @config: file that was read last, or NULL
 * @argc: number of arguments
 * @argv: arguments
 */
struct amd_options {
	const char	*listen;
	const char	*callhome;
	const char	**switches;
	unsigned int	nswitches;
	struct topo_cable *cables;
	unsigned int	ncables;
	const char	*key;
	const char	*known_hosts;
	bool		any_host_key;
	struct inc_rdv_network *allow;
	uint32_t	forming_ms;
	uint32_t	heartbeat_ms;
	uint32_t	misses;
	uint32_t	first_tree;
	uint32_t	last_tree;
	uint32_t	dead_time;
	uint32_t	agent_ms;
	uint32_t	agent_misses;
	uint32_t	rebuild_ms;
	const char	*pidfile;
	const char	*store;
	struct store_security etcd;
	const char	*advertise;
	bool		verbose;
	struct rpc_security security;
	const char	*http;
	bool		http_plaintext;
	const char	*tenants;
	const char	*config;
	int		argc;
	char		**argv;
};

LIST_HEAD(health_list, health_watch);
STAILQ_HEAD(group_list, group);

/**
 * struct manager - the manager
 * @o: options
 * @loop: main loop
 * @events: what has happened
 * @rpc: gRPC server
 * @refresh_at: milliseconds; when its credentials are looked at again
 * @state: records that survive it
 * @pool: threads that talk with switches
 * @fabric: switches, how they are linked, and where hosts are
 * @tenants: whose groups these are
 * @drains: switches that get no more trees
 * @links: links that are there, or were, by name: links.c
 * @links_changed: switches whose links the store has otherwise
 * @drain_at: milliseconds; when to look for groups that must leave them
 * @groups: groups, in the order of their creation
 * @groups_end: where the next one is appended
 * @by_name: the same, by their names
 * @by_tree: subtrees of groups, by their trees' IDs
 * @touched: groups whose timers are to be set anew
 * @raised: groups with events to settle
 * @group_ops: who hears of groups
 * @placing: how many groups are GROUP_PLACING or GROUP_REPLACING
 * @nlinks_missing: how many of them need interfaces that are not known
 * @linked_in: generation of the topology in which those were looked for
 * @linked_at: milliseconds; when that was
 * @stats: statistics
 * @healths: clients that watch whether it serves
 * @stop: end
 */
struct manager {
	struct amd_options	o;
	struct loop	loop;
	struct events	events;
	struct rpc	*rpc;
	int64_t		refresh_at;
	struct state	state;
	struct sw_pool	pool;
	struct fabric	fabric;
	struct tenants	tenants;
	struct drain	*drains;
	struct json_object *links;
	struct json_object *links_changed;
	int64_t		drain_at;
	struct group	*groups;
	struct group	**groups_end;
	struct index	by_name;
	struct index	by_tree;
	struct group	*touched;
	struct group_list raised;
	const struct group_ops *group_ops;
	uint32_t	placing;
	uint32_t	nlinks_missing;
	uint64_t	linked_in;
	int64_t		linked_at;
	struct stats	*stats;
	struct health_list healths;
	bool		stop;
};

/* options.c */
int options_read(struct amd_options *o, int argc, char **argv);
int options_again(struct amd_options *o, const struct amd_options *before);
void options_free(struct amd_options *o);
void options_target(const struct manager *m, struct sw *sw);

/* switches.c */
int switches_start(struct manager *m);
int switches_add(struct manager *m, unsigned int i, const char *address);
bool switches_stop(struct manager *m);

/* reload.c */
void switches_reload(struct manager *m);
struct sw *switches_caller(void *ctx, const char *id);
bool switches_may_call(void *ctx);

/* session/violation.c */
void violation_call(void *ctx, const char *peer, const char *why);
void violation_cut(void *ctx, const char *peer, const char *why);

/* answer/calls.c */
void answer_call(void *ctx, enum rpc_method method, const uint8_t *data,
		 size_t len, struct rpc_stream *stream,
		 struct rpc_answer *answer);

/* session/join.c */
void session_opened(void *ctx, struct rpc_stream *stream);
void session_message(void *ctx, struct rpc_stream *stream, const uint8_t *data,
		     size_t len);
void session_closed(void *ctx, struct rpc_stream *stream);
void session_check_callers(struct manager *m);

/* group/step.c */
void group_settle(struct manager *m);
void group_fabric_changed(struct manager *m);
void group_delete(struct group *g, const char *why);
void group_delete_all(struct manager *m, const char *why);

/* group/timer.c */
void group_arm(struct manager *m);

/* group/link.c */
void group_find_links(struct manager *m);
void group_note_again(struct manager *m);

/* group/drain.c */
int64_t group_drain_deadline(const struct manager *m);
void group_drain_turn(struct manager *m);

/* group/report.c */
void group_on_notif(struct manager *m, const struct sw_notif *notif);
void group_on_snapshot(struct manager *m, struct sw *sw,
		       const struct sw_snapshot *before);

/* group/trees.c */
void group_clear_tree(struct sw *sw, uint32_t id);

#endif /* INC_MANAGER_MANAGER_H */
