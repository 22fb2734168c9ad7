/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The coordinator of one switch, inc-tool serve. From the bottom: up.c: streams to
 * the parent's coordinator; client.c: ranks and their hosts; addr.c: permitted
 * addresses; jobs: see job.h; dispatch.c: incoming messages; main.c: main loop;
 * serve.c: command line. Each file calls only files before it. rpc/ has gRPC. See
 * Documentation/rendezvous.rst.
 *
 * Ownership: the server owns clients, jobs and hosts, in one list each. A
 * client is in one job at most. Only job_add_client() and job_del_client()
 * add and remove it; the latter clears all pointers to it in the job. Only
 * sweep_clients() frees a client. The main loop calls it when nothing else
 * is in progress, after client_close() has removed the client from its job.
 */
#ifndef INC_RENDEZVOUS_SERVER_H
#define INC_RENDEZVOUS_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/log.h"
#include "conf/pace.h"
#include "loop/loop.h"
#include "network.h"
#include "proto.h"
#include "nl/nl.h"
#include "rpc/rpc.h"

#define WORK_MS		10	/* time per turn for work that can wait */

struct job;
struct server;
struct up;

/**
 * struct host - address of ranks, and its use of resources
 * @next: next host
 * @key: identifies the host
 * @clients: ranks, and switches below
 * @jobs: jobs whose first rank was of this host
 * @extra: number of @jobs that do not count for limits
 * @memory: bytes of their trees
 */
struct host {
	struct host		*next;
	struct in6_addr		key;
	unsigned int		clients;
	unsigned int		jobs;
	unsigned int		extra;
	uint64_t		memory;
};

/* Kinds of clients; identity.h has the roles of callers. */
enum peer {
	PEER_NEW,	/* not known yet */
	PEER_RANK,
	PEER_CHILD,	/* the daemon of a switch below */
	PEER_UP,	/* the daemon of the parent */
};

/**
 * struct client - the stream of a rank, of a switch below, or to the parent
 * @next: next client
 * @server: daemon
 * @stream: incoming stream; NULL: it has ended, or is @up
 * @up: the stream to the parent's daemon, or NULL
 * @name: address and port of the other end
 * @addr: address of the other end
 * @host: host charged for it; NULL: none
 * @job: its job, or NULL
 * @job_next: next client of the job
 * @peer: kind of the other end
 * @rank: its index among the members of its job's tree
 * @join: its request, if it is a rank of a job without a tree yet
 * @deadline: milliseconds; time limit for joining; 0: none
 * @leaving: it has left; to be confirmed when its job's tree is deleted
 * @closing: its stream has been ended
 * @gone: to be freed; in no job
 */
struct client {
	struct client		*next;
	struct server		*server;
	struct rpc_stream	*stream;
	struct up		*up;
	char			name[64];
	struct inc_rdv_addr	addr;
	struct host		*host;
	struct job		*job;
	struct client		*job_next;
	enum peer		peer;
	uint32_t		rank;
	struct inc_rdv_join	join;
	int64_t			deadline;
	bool			leaving;
	bool			closing;
	bool			gone;
};

/**
 * struct limits - limits of resources; 0: not given
 * @clients: ranks, and switches below
 * @host_clients: ranks, and switches below, of one host
 * @groups: jobs
 * @host_groups: jobs whose first rank is of one host
 * @host_memory: bytes of these jobs' trees
 * @join_ms: time from connecting to joining
 * @forming_ms: time from the first rank to the last
 */
struct limits {
	uint32_t		clients;
	uint32_t		host_clients;
	uint32_t		groups;
	uint32_t		host_groups;
	uint64_t		host_memory;
	uint32_t		join_ms;
	uint32_t		forming_ms;
};

/**
 * struct server - the daemon
 * @loop: main loop
 * @rpc: gRPC server
 * @nl: netlink, for requests
 * @events: netlink, for events; @events.sock is NULL if there is none
 * @events_io: handler of @events
 * @signal_io: handler of @signal_fd
 * @signal_fd: signals that end the daemon, or make it reload files
 * @clients: clients
 * @nclients: their number
 * @hosts: their hosts
 * @njobs: number of jobs
 * @max: limits
 * @allow: addresses that ranks may have besides their connection's
 * @security: TLS and authentication of callers
 * @refused: number of refused clients
 * @refused_pace: how often one is logged
 * @everywhere: the daemon listens at all addresses
 * @parent: the parent's daemon, HOST:PORT; NULL: none
 * @parent_said: handler of the parent's messages
 * @levels: this switch may have child switches
 * @jobs: jobs
 * @n_made: number of jobs whose tree was made
 * @n_begun: number of jobs whose ranks were all ready
 * @tree: settings for all trees (slots, msg_size, pmtu, first_msg_id, window,
 *	hold, min_rto, dead_time, traffic_class ...), as far as given
 * @tree_id: tree that the administrator made, for one job; 0: each job gets
 *	a tree of its own
 * @has_psn: @psn is given
 * @psn: first PSN of all queue pairs
 * @dead_member: the last member whose QP the kernel reported to be in error;
 *	tree_id 0: none
 * @once: end after the first job
 * @verbose: print events
 * @refresh_at: milliseconds; next check for changed files
 * @work_until: milliseconds, 0: no such work was done yet; after it, work that can wait is left to the next
 *	turn of the main loop
 * @stop: the main loop is to end
 */
struct server {
	struct loop		loop;
	struct rpc		*rpc;
	struct inc_nl		nl;
	struct inc_nl		events;
	struct loop_fd		events_io;
	struct loop_fd		signal_io;
	int			signal_fd;
	struct client		*clients;
	unsigned int		nclients;
	struct host		*hosts;
	unsigned int		njobs;
	struct limits		max;
	struct inc_rdv_network	*allow;
	struct rpc_security	security;
	uint64_t		refused;
	struct pace		refused_pace;
	bool			everywhere;
	const char		*parent;
	void			(*parent_said)(struct client *c,
					       const struct inc_rdv_msg *msg);
	bool			levels;
	struct job		*jobs;
	unsigned int		n_made;
	unsigned int		n_begun;
	struct inc_nl_tree	tree;
	uint32_t		tree_id;
	bool			has_psn;
	uint32_t		psn;
	struct inc_nl_member	dead_member;
	bool			once;
	bool			verbose;
	int64_t			refresh_at;
	int64_t			work_until;
	bool			stop;
};

/**
 * struct serve_options - options of the command line
 * @listen: address to listen on, NULL: all
 * @port: TCP port
 * @parent: the parent's daemon, or NULL
 * @pidfile: or NULL
 */
struct serve_options {
	const char	*listen;
	const char	*port;
	const char	*parent;
	const char	*pidfile;
};

/**
 * server_may_work() - check whether there is time for work that can wait
 * @s: daemon
 *
 * Return: false if not in this turn of the main loop.
 */
static inline bool server_may_work(struct server *s)
{
	int64_t now = now_ms();

	if (!s->work_until)
		s->work_until = now + WORK_MS;
	return now < s->work_until || now < s->loop.now + WORK_MS;
}

/* client.c */
struct host *host_get(struct server *s, const struct inc_rdv_addr *addr);
void host_put(struct server *s, struct host *host);
struct client *client_new(struct server *s);
struct client *client_connect(struct server *s);
void client_refuse(struct server *s, const char *name, const char *why);
void client_send(struct client *c, const struct inc_rdv_msg *msg);
void client_error(struct client *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void client_end(struct client *c);
void client_bye(struct client *c, const char *missing);
void client_wait_join(struct client *c);
void client_shut(struct client *c);
void client_free(struct client *c);
int client_own_addr(const struct client *c, struct inc_rdv_addr *addr);
int64_t clients_next_deadline(const struct server *s);

/* addr.c */
bool addr_believed(struct client *c, const struct inc_rdv_addr *addr);
uint32_t addr_pmtu(const struct client *c);

/* up.c */
struct up *up_connect(struct server *s, struct client *c);
void up_send(struct up *up, const struct inc_rdv_msg *msg);
int up_own_addr(const struct up *up, struct inc_rdv_addr *addr);
void up_close(struct up *up);
bool up_idle(void);

/* dispatch.c */
void dispatch_up(struct client *c, const struct inc_rdv_msg *msg);
extern const struct rpc_handler dispatch_handler;

/* main.c */
int server_run(struct server *s, const struct serve_options *o);

#endif /* INC_RENDEZVOUS_SERVER_H */
