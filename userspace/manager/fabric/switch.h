/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A switch: its last report, and the communication with its agent. The main
 * loop owns the structs; operations go to a thread and come back.
 */
#ifndef INC_MANAGER_SWITCH_H
#define INC_MANAGER_SWITCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "loop/loop.h"
#include "base/pool.h"
#include "fabric/dial.h"
#include "fabric/session.h"
#include "rendezvous/proto.h"

#define SWITCH_ID_MAX	63	/* characters */
#define MAC_LEN		18	/* as text */

LIST_HEAD(at_list, group_at);

/**
 * struct sw_neigh - a neighbour behind an interface
 * @mac: MAC address
 * @switch_id: switch that announces itself there; empty: none
 * @switch_port: interface that it announces
 * @addrs: IP addresses
 * @naddrs: number of @addrs
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
 * @index: ifindex, which stays when the name changes; 0: unknown
 * @mac: its MAC address
 * @up: operationally up
 * @blocked: a port of a bridge that the spanning tree does not use now
 * @bridge: a bridge; its own neighbours may be behind any port
 * @port: a port of a bridge
 * @master: if @port: place of the bridge in the list, plus 1; 0: unknown
 * @member: a member of an aggregation, which takes its place
 * @upper: if @member: place of the aggregation in the list
 * @members: of an aggregation: place of its first member, plus 1; 0: it has none
 * @next_member: if @member: place of the next member, plus 1; 0: the last one
 * @vlan: VLAN ID if it is a VLAN; 0: none
 * @tagged: it is a VLAN of a bridge, whose ports lead to its neighbours
 * @speed: bits per second, 0: unknown
 * @mtu: MTU, bytes; 0: unknown
 * @neighs: neighbours behind it
 * @nneighs: number of @neighs
 * @addrs: its own IP addresses
 * @naddrs: number of @addrs
 */
struct sw_if {
	char			name[32];
	uint32_t		index;
	char			mac[MAC_LEN];
	bool			up;
	bool			blocked;
	bool			bridge;
	bool			port;
	unsigned int		master;
	bool			member;
	unsigned int		upper;
	unsigned int		members;
	unsigned int		next_member;
	uint16_t		vlan;
	bool			tagged;
	uint64_t		speed;
	uint32_t		mtu;
	struct sw_neigh		*neighs;
	unsigned int		nneighs;
	struct inc_rdv_addr	*addrs;
	unsigned int		naddrs;
};

/**
 * struct sw_tree - a tree of a switch, this manager's or not
 * @id: tree ID
 * @error: enum inc_status that requests are answered with after a failure; 0: the
 *	tree has not failed
 */
struct sw_tree {
	uint32_t	id;
	unsigned int	error;
};

/**
 * struct sw_snapshot - an agent's report on its switch
 * @id: identity
 * @cm_addr: address at which ranks connect by RDMA CM; all 0: any of its own; if
 *	IPv6, IPv4 ones, too
 * @cm_port: port for RDMA CM; 0: the agent does not accept it
 * @collectives: mask of the collectives that it offers
 * @memory_limit: bytes that all trees may use
 * @memory_used: bytes that all trees use
 * @max_trees: trees that it may have; 0: no limit
 * @max_ranks: ranks that a tree may have; 0: no limit
 * @max_slots: slots that a tree may have; 0: no limit
 * @max_tree_memory: bytes that a tree may use; 0: no limit
 * @expires: expiry of its certificate, seconds since 1970; 0: it has none
 * @deleting: deleted trees that still use memory
 * @ntrees: number of @trees
 * @trees: trees
 * @version: version of the interfaces; empty: the agent does not report it
 * @same_ifs: interfaces are the same as before
 * @ifs: interfaces
 * @nifs: number of @ifs
 * @by_name: places of all interfaces in @ifs, ordered by name
 * @by_index: places of all interfaces in @ifs, ordered by @index
 * @asked_at: milliseconds; when the agent was asked
 * @told_at: milliseconds; when it had answered
 */
struct sw_snapshot {
	char		id[SWITCH_ID_MAX + 1];
	struct inc_rdv_addr cm_addr;
	uint16_t	cm_port;
	uint32_t	collectives;
	uint64_t	memory_limit;
	uint64_t	memory_used;
	uint32_t	max_trees;
	uint32_t	max_ranks;
	uint32_t	max_slots;
	uint64_t	max_tree_memory;
	int64_t		expires;
	uint32_t	deleting;
	uint32_t	ntrees;
	struct sw_tree	*trees;
	char		version[SWITCH_ID_MAX + 1];
	bool		same_ifs;
	struct sw_if	*ifs;
	unsigned int	nifs;
	uint32_t	*by_name;
	uint32_t	*by_index;
	int64_t		asked_at;
	int64_t		told_at;
};

struct drain;
struct sw;

/**
 * struct sw_op - an operation on a switch
 * @work: brings it back to the main loop
 * @next: next in the switch's queue
 * @sw: switch
 * @run: runs the operation, in a thread; returns 0 or -errno, with @err.
 *	-ENOTCONN: the session is dead
 * @done: handles its result, in the main loop; frees it
 * @ret: return value of @run
 * @err: error message
 * @reads: changes nothing
 */
struct sw_op {
	struct loop_work	work;
	struct sw_op	*next;
	struct sw	*sw;
	int		(*run)(struct sw_op *op, struct sw_session *n);
	void		(*done)(struct sw_op *op);
	int		ret;
	char		err[SW_ERROR_LEN];
	bool		reads;
};

/**
 * enum sw_notif_kind - kinds of notifications
 * @SW_NOTIF_WATCHED: notifications arrive from now on
 * @SW_NOTIF_UNWATCHED: notifications have stopped: the agent has gone
 * @SW_NOTIF_LINK: an interface has changed
 * @SW_NOTIF_TREE_FAILED: a tree has failed
 * @SW_NOTIF_TREE_DELETED: a tree was deleted
 * @SW_NOTIF_MEMBER_ERROR: a member's queue pair went to ERROR
 * @SW_NOTIF_SLOT_FAILED: a rank's request made a message fail
 */
enum sw_notif_kind {
	SW_NOTIF_WATCHED,
	SW_NOTIF_UNWATCHED,
	SW_NOTIF_LINK,
	SW_NOTIF_TREE_FAILED,
	SW_NOTIF_TREE_DELETED,
	SW_NOTIF_MEMBER_ERROR,
	SW_NOTIF_SLOT_FAILED,
};

/**
 * struct sw_notif - a notification of a switch
 * @work: brings it to the main loop
 * @sw: switch
 * @kind: kind
 * @tree: tree
 * @member: place of the member; of SW_NOTIF_SLOT_FAILED the one that sent the
 *	request; -1: none, or the parent
 * @other_member: SW_NOTIF_SLOT_FAILED: member whose request disagrees, -1: none
 * @status: enum inc_status that requests, or the message, are answered with
 * @msg_id: SW_NOTIF_SLOT_FAILED: message
 * @text: reason, or interface
 */
struct sw_notif {
	struct loop_work	work;
	struct sw		*sw;
	enum sw_notif_kind	kind;
	uint32_t		tree;
	int			member;
	int			other_member;
	unsigned int		status;
	uint32_t		msg_id;
	char			text[64];
};

/**
 * struct sw_pool - the threads that communicate with all switches
 * @pool: threads for work that may block
 * @epoll: sessions whose notifications are awaited
 * @end: descriptor that ends @poller
 * @poller: thread that waits on @epoll
 */
struct sw_pool {
	struct pool	pool;
	int		epoll;
	int		end;
	pthread_t	poller;
};

/**
 * enum sw_watch_state - state of a switch's job for notifications
 * @SW_WATCH_BUSY: running, or queued
 * @SW_WATCH_ARMED: waits for data of its session
 * @SW_WATCH_LATER: waits for a timer
 * @SW_WATCH_OVER: has ended
 */
enum sw_watch_state {
	SW_WATCH_BUSY,
	SW_WATCH_ARMED,
	SW_WATCH_LATER,
	SW_WATCH_OVER,
};

/**
 * struct sw_watch - wait for a switch's notifications
 * @job: connects, or reads notifications
 * @state: guarded by the switch's lock, like @wanted
 * @wanted: notifications are wanted
 * @session: session of @job; NULL: none
 * @in_epoll: @session is in the pool's epoll
 * @work: has the main loop set @timer
 * @later_ms: time until @timer goes off
 * @timer: submits @job again
 */
struct sw_watch {
	struct job		job;
	enum sw_watch_state	state;
	bool			wanted;
	struct sw_session		*session;
	bool			in_epoll;
	struct loop_work	work;
	int			later_ms;
	struct timer		timer;
};

/**
 * struct sw_refresh - how a switch is asked for its snapshot (refresh.c)
 * @running: an operation asks for it
 * @timer: when to ask next; or, while it is being asked, when the next answer
 *	counts as missed
 * @again: ask once more after that: something has changed
 * @quiet: it is not to be asked again
 * @interval_ms: how often to ask
 * @missed: answers that were missed, one after another, as often as it is asked
 *	of itself: refreshes on demand do not make it lost earlier
 * @missed_at: milliseconds; when the last of them was
 * @known_at: milliseconds; when it answered first; 0: it has not
 * @asked_at: milliseconds; when it was asked last
 */
struct sw_refresh {
	bool		running;
	struct timer	timer;
	bool		again;
	bool		quiet;
	uint32_t	interval_ms;
	unsigned int	missed;
	int64_t		missed_at;
	int64_t		known_at;
	int64_t		asked_at;
};

/**
 * struct sw_on - who hears of a switch
 * @snapshot: called after each answer, or without one, with the snapshot before,
 *	without interfaces if they are the same; NULL: it has not changed
 * @notif: called with its notifications
 * @identity: called with an identity that it did not have before; returns another
 *	switch that has it, or NULL
 * @change: called by a thread before an operation that changes something; returns
 *	false if it must not
 */
struct sw_on {
	void		(*snapshot)(struct sw *sw, const struct sw_snapshot *before);
	void		(*notif)(const struct sw_notif *notif);
	const struct sw	*(*identity)(const struct sw *sw, const char *id);
	bool		(*change)(void);
};

/**
 * struct sw_queue - operations on a switch (ops.c)
 * @job: does them
 * @job_active: it runs, or is queued; guarded by the switch's lock, as @head, @tail,
 *	@stop and @session_ended
 * @head: first operation
 * @tail: where the next one is appended
 * @stop: end the session when the queue is empty
 * @session: @job's; NULL: none
 * @tried_at: when @job last failed to connect, if that took long
 * @connect_error: and why
 * @session_ended: the session has ended after @stop
 * @pending: operations whose done() was not called yet
 * @n_posted: what the threads have posted besides, that the main loop has not
 *	taken
 */
struct sw_queue {
	struct job	job;
	bool		job_active;
	struct sw_op	*head;
	struct sw_op	**tail;
	bool		stop;
	struct sw_session	*session;
	int64_t		tried_at;
	char		connect_error[SW_ERROR_LEN];
	bool		session_ended;
	unsigned int	pending;
	atomic_uint	n_posted;
};

/**
 * struct sw - a switch
 * @loop: main loop
 * @pool: threads
 * @address: of its agent, as it was given
 * @target: the same, understood
 * @index: its place in the list
 * @up: the agent has answered the last time
 * @why: if not @up: the reason
 * @named: name by which it has answered, perhaps to an earlier manager; empty: none
 * @info: what it told last; NULL: nothing yet
 * @drain: no more trees are made there, and who has wished so; NULL: they are
 * @leaving: --switch does not name it; it gets no more trees
 * @renaming: the name that it is getting, and it gets no trees meanwhile; NULL: none
 * @gone: nor has it any: it is not talked with
 * @gone_at: milliseconds; since when
 * @subtrees: trees that groups have there
 * @groups: groups that need it, or one of its interfaces
 * @reported_up: the last event about it said that it is up
 * @refresh: how it is asked for @info
 * @on: who hears of it
 * @queue: operations on it
 * @watch: session for its notifications
 * @lock: of @queue and @watch
 * @has_lock: it was made. Both outlive the switch: another one can take its
 *	place
 */
struct sw {
	struct loop		*loop;
	struct sw_pool		*pool;
	const char		*address;
	struct netconf_target	target;
	unsigned int		index;
	bool			up;
	char			why[SW_ERROR_LEN];
	char			named[SWITCH_ID_MAX + 1];
	struct sw_snapshot	*info;
	struct drain		*drain;
	bool			leaving;
	const char		*renaming;
	bool			gone;
	int64_t			gone_at;
	unsigned int		subtrees;
	struct at_list		groups;
	bool			reported_up;
	struct sw_refresh	refresh;
	struct sw_on		on;
	struct sw_queue		queue;
	struct sw_watch		watch;
	pthread_mutex_t		lock;
	bool			has_lock;
};

/**
 * sw_name() - name a switch in messages
 * @sw: switch
 *
 * Return: its identity, or the address of its agent.
 */
static inline const char *sw_name(const struct sw *sw)
{
	return sw->info ? sw->info->id : sw->address;
}

/**
 * sw_closed() - check whether a switch gets no more trees
 * @sw: switch
 *
 * Return: true if it is drained, is getting another name, or if --switch does not
 * name it.
 */
static inline bool sw_closed(const struct sw *sw)
{
	return sw->drain || sw->leaving || sw->renaming;
}

/* start.c */
int sw_pool_start(struct sw_pool *pool, unsigned int switches);
bool sw_pool_stop(struct sw_pool *pool);
int sw_start(struct sw *sw);
void sw_stop(struct sw *sw);
void sw_retire(struct sw *sw);
bool sw_is_over(struct sw *sw);
void sw_clear(struct sw *sw);

/* refresh.c */
int sw_refresh_start(struct sw *sw);
void sw_refresh(struct sw *sw);
void sw_silence(struct sw *sw);
bool sw_awaited(const struct sw *sw);

/* ops.c */
void sw_ops_start(struct sw *sw);
void sw_ops_stop(struct sw *sw);
void sw_submit(struct sw *sw, struct sw_op *op);

/* watch.c */
void *sw_watch_poll(void *arg);
int sw_watch_start(struct sw *sw);
void sw_watch_stop(struct sw *sw);

/* probe.c */
void sw_probe(struct sw *sw, const struct inc_rdv_addr *const *addrs,
	      unsigned int n);

/* snapshot.c */
struct sw_snapshot *sw_snapshot_get(struct sw_session *n, const char *known,
				    char *err);
void sw_snapshot_free(struct sw_snapshot *info);

/* iface.c */
bool sw_ifs_order(struct sw_snapshot *info);
void sw_ifs_chain(struct sw_snapshot *info);
void sw_ifs_free(struct sw_snapshot *info);
struct sw_if *sw_if_named(const struct sw_snapshot *info, const char *name);
uint32_t sw_if_vlan(const struct sw_snapshot *info,
		    const struct inc_rdv_addr *host);
struct sw_if *sw_if_again(const struct sw_snapshot *info, uint32_t index,
			  const char *name);

/**
 * sw_if_upper() - find the interface that takes an interface's place
 * @info: an agent's report
 * @itf: place of the interface
 *
 * Return: the place of its aggregation if it is a member of one, else its own.
 */
static inline unsigned int sw_if_upper(const struct sw_snapshot *info,
				       unsigned int itf)
{
	return info->ifs[itf].member ? info->ifs[itf].upper : itf;
}

#endif /* INC_MANAGER_SWITCH_H */
