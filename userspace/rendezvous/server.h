/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rendezvous daemon: loop.c has the main loop, session.c what is said,
 * admit.c who may say it, client.c the connections, secure.c TLS and tokens,
 * server.c the clock and the log,
 * group.c groups of connections and limits per host, addr.c the permitted
 * addresses, job.c the jobs, their trees and ranks, job_end.c the end of jobs,
 * level.c jobs of several switches. See Documentation/rendezvous.rst; the
 * command line is inc-tool's (tool/serve.c).
 *
 * Ownership: the server owns connections, groups and hosts, in one list each. A
 * connection is in one group at most. Only group_add() and group_del() add and
 * remove it; the latter clears all pointers to it in the group. Only
 * sessions_sweep() frees a connection. The main loop calls it when nothing else
 * is in progress, after client_close() has removed the connection from its
 * group. A group is freed after all its connections have been removed.
 */
#ifndef INC_RENDEZVOUS_SERVER_H
#define INC_RENDEZVOUS_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "auth/stamp.h"
#include "network.h"
#include "proto.h"
#include "nl/nl.h"

struct client;
struct gather;
struct inc_tls;
struct inc_tls_ctx;
struct inc_tls_ops;
struct job;
struct server;
struct tokens;

/**
 * struct host - source address of connections, and its use of resources
 * @next: next host
 * @key: tells it from others
 * @clients: connections
 * @groups: jobs whose first rank it was
 * @memory: bytes of their trees
 */
struct host {
	struct host		*next;
	struct in6_addr		key;
	unsigned int		clients;
	unsigned int		groups;
	uint64_t		memory;
};

enum group_kind {
	GROUP_GATHER,	/* struct gather */
	GROUP_JOB,	/* struct job */
};

/**
 * struct group - the connections of a job, or of one that has no tree yet
 * @kind: the struct that it is the first member of
 * @server: daemon
 * @clients: connections that belong to it
 * @host: host of the first rank, which is charged
 * @memory: bytes charged
 * @until: milliseconds; when all ranks must be present
 */
struct group {
	enum group_kind		kind;
	struct server		*server;
	struct client		*clients;
	struct host		*host;
	uint64_t		memory;
	int64_t			until;
};

enum role {
	ROLE_NEW,	/* not known yet */
	ROLE_RANK,
	ROLE_CHILD,	/* the daemon of a switch below */
	ROLE_UP,	/* the daemon of the parent */
};

/**
 * struct client - a connection
 * @next: next connection
 * @server: daemon
 * @fd: socket; -1: closed, to be freed
 * @name: address and port of the other end
 * @addr: address of the other end
 * @host: host that is charged for it; NULL: none
 * @group: group that it belongs to, or NULL
 * @group_next: next in the group
 * @role: role of the peer
 * @rank: its place among the members of its job's tree
 * @join: its request, if it is a rank in a gather
 * @deadline: milliseconds; when it must have joined, or read its output. 0: no
 *	limit
 * @alive_at: milliseconds; when to send the next "alive"
 * @alive_ms: interval of "alive"; 0: none
 * @tls: TLS on @fd; NULL: none, or not yet
 * @wants: if @shaking: events that it waits for; 0: input
 * @shaking: hands are being shaken
 * @shake_next: next connection whose handshake goes on in this turn
 * @proved: it may speak: it has shown a certificate or a token, or need not
 * @wrong: it understands INC_RDV_WRONG
 * @bye: it has left; confirm that when its job's tree is deleted
 * @closing: close it when @out is sent
 * @in: received bytes
 * @out: bytes to send, NULL if there are none
 * @out_len: their number
 */
struct client {
	struct client		*next;
	struct server		*server;
	int			fd;
	char			name[64];
	struct inc_rdv_addr	addr;
	struct host		*host;
	struct group		*group;
	struct client		*group_next;
	enum role		role;
	uint32_t		rank;
	struct inc_rdv_join	join;
	int64_t			deadline;
	int64_t			alive_at;
	uint32_t		alive_ms;
	struct inc_tls		*tls;
	short			wants;
	bool			shaking;
	struct client		*shake_next;
	bool			proved;
	bool			wrong;
	bool			bye;
	bool			closing;
	struct inc_rdv_lines	in;
	char			*out;
	size_t			out_len;
};

/**
 * struct limits - limits of resources; 0: not given
 * @clients: connections
 * @host_clients: connections of one host
 * @groups: jobs
 * @host_groups: jobs whose first rank is of one host
 * @host_memory: bytes of the trees of these
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
 * struct security - who may talk to the daemon
 * @ca: file: authorities whose certificates clients and parents have, or NULL
 * @cert: file: the daemon's certificate; NULL: no TLS
 * @key: file: its private key
 * @tokens_path: file: tokens of clients, or NULL
 * @plaintext: the administrator wants no TLS
 * @ops: libinc-tls; NULL: neither TLS nor tokens
 * @down: TLS with ranks and children, or NULL
 * @up: TLS with the parent's daemon, or NULL
 * @tokens: tokens, or NULL
 * @files: what they were when they were read: @ca, @cert, @key, @tokens_path
 * @look_at: milliseconds; when to look again
 * @refused: number of connections that were refused
 * @log_since: milliseconds; when the log's period began
 * @logged: refusals in it
 */
struct security {
	const char			*ca;
	const char			*cert;
	const char			*key;
	const char			*tokens_path;
	bool				plaintext;
	const struct inc_tls_ops	*ops;
	struct inc_tls_ctx		*down;
	struct inc_tls_ctx		*up;
	struct tokens			*tokens;
	struct auth_stamp		files[4];
	int64_t				look_at;
	uint64_t			refused;
	int64_t				log_since;
	unsigned int			logged;
};

/**
 * struct server - the daemon
 * @nl: netlink, for requests
 * @events: netlink, for events; @events.sock is NULL if there is none
 * @listen_fd: listening socket
 * @clients: connections
 * @nclients: their number
 * @hosts: their hosts
 * @ngroups: number of gathers and jobs
 * @max: limits
 * @allow: addresses that ranks may have besides their connections'
 * @security: who may talk to it
 * @parent_host: name or address of the parent's daemon, as given
 * @parent: address of the parent's daemon; addr.ss_family 0: there is none
 * @parent_len: its length
 * @levels: this switch may have others below it
 * @gathers: jobs that have no tree yet
 * @jobs: jobs whose tree exists
 * @jobs_done: number of jobs that ended
 * @tree: settings for all trees (slots, msg_size, pmtu, first_msg_id, window,
 *	hold, min_rto, dead_time, traffic_class ...), as far as given
 * @tree_id: tree that the administrator made, for one job; 0: each job gets
 *	a tree of its own
 * @has_psn: @psn is given
 * @psn: first PSN of all queue pairs
 * @dead: the last member whose QP the kernel reported to be in error; tree_id
 *	0: none
 * @once: end after the first job
 * @verbose: print events
 * @now: milliseconds
 * @work_until: milliseconds; later work that can wait is left to the next turn
 *	of the main loop
 */
struct server {
	struct inc_nl		nl;
	struct inc_nl		events;
	int			listen_fd;
	struct client		*clients;
	unsigned int		nclients;
	struct host		*hosts;
	unsigned int		ngroups;
	struct limits		max;
	struct inc_rdv_network	*allow;
	struct security		security;
	char			parent_host[256];
	struct sockaddr_storage	parent;
	socklen_t		parent_len;
	bool			levels;
	struct gather		*gathers;
	struct job		*jobs;
	unsigned int		jobs_done;
	struct inc_nl_tree	tree;
	uint32_t		tree_id;
	bool			has_psn;
	uint32_t		psn;
	struct inc_nl_member	dead;
	bool			once;
	bool			verbose;
	int64_t			now;
	int64_t			work_until;
};

/**
 * struct options - other options of the command line
 * @listen: address to listen on, NULL: all
 * @port: TCP port
 * @parent: the parent's daemon, or NULL
 * @pidfile: or NULL
 */
struct options {
	const char	*listen;
	const char	*port;
	const char	*parent;
	const char	*pidfile;
};

/* server.c */
int64_t server_now_ms(void);
void server_log(const struct server *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool server_may_work(const struct server *s);

/* secure.c */
bool secure_start(struct server *s, const struct options *o);
void secure_forget(struct security *sec);
void secure_refuse(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void secure_accept(struct client *c);
bool secure_connect(struct client *c);
ssize_t secure_recv(struct client *c, void *buf, size_t len);
ssize_t secure_send(struct client *c, const void *buf, size_t len);
bool secure_pending(const struct client *c);
const char *secure_why(const struct client *c, const char *other);
void secure_close(struct client *c);

/* client.c */
struct client *client_new(struct server *s, int fd,
			  const struct sockaddr_storage *sa, socklen_t len);
struct client *client_connect(struct server *s);
void client_send(struct client *c, const struct inc_rdv_msg *msg);
void client_error(struct client *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void client_end(struct client *c);
void client_bye(struct client *c, const char *missing);
void client_wait_join(struct client *c);
void client_flush(struct client *c);
void client_shut(struct client *c);
void client_free(struct client *c);
void client_keep_alive(struct client *c, uint32_t dead_time);
int64_t clients_next_deadline(const struct server *s);
void clients_keep_alive(struct server *s);

/* group.c */
struct host *host_get(struct server *s, const struct inc_rdv_addr *addr);
void host_put(struct server *s, struct host *host);
bool group_allowed(struct client *c);
void group_open(struct group *group, enum group_kind kind, struct server *s,
		struct host *host);
void group_close(struct group *group);
int group_charge(struct group *group, uint64_t memory);
void group_add(struct group *group, struct client *c);
void group_del(struct client *c);
struct gather *gather_of(const struct client *c);
struct job *job_of(const struct client *c);

/* addr.c */
bool addr_allow(struct server *s, const char *text);
bool addr_believed(struct client *c, const struct inc_rdv_addr *addr);
uint32_t addr_pmtu(const struct client *c);

/* job.c */
void job_join(struct client *c, const struct inc_rdv_join *join);
void job_rts(struct client *c);
void job_forget(struct group *group, struct client *c);

/**
 * struct job_member - a member of a new job's tree
 * @client: a rank's connection, or that of the daemon of a switch
 * @first: its first rank
 * @n: number of its ranks
 */
struct job_member {
	struct client	*client;
	uint32_t	first;
	uint32_t	n;
};

struct job *job_make(struct server *s, struct host *host, const char *name,
		     const struct inc_nl_tree *want,
		     const struct job_member *members, uint32_t n, int *err);
void job_set_up(struct job *job, struct client *up);
const struct inc_nl_tree *job_tree_of(const struct job *job);
struct inc_nl_tree job_settings(const struct server *s, uint32_t members,
				const struct inc_rdv_join *like);
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined);
void job_expect(struct job *job, struct client *c, uint32_t rank);
void job_link_below(struct client *c, const struct inc_rdv_join *join);
void job_check_ready(struct job *job);
int job_link(struct job *job, const struct inc_rdv_joined *linked);
void job_parent_ready(struct job *job);

/* job_end.c */
void job_leave(struct client *c);
void job_lost(struct client *c, const char *why);
void job_up_lost(struct client *c, const char *why);
void job_refuse(struct job *job, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int64_t job_next_deadline(const struct server *s);
void job_expire(struct server *s);
void job_event(struct server *s, const struct inc_nl_event *ev);
void job_look_at_trees(struct server *s);
void job_end_all(struct server *s, const char *why);

/* level.c */
bool gather_wants(const struct server *s, const struct inc_rdv_join *join);
void gather_join(struct client *c, const struct inc_rdv_join *join);
void gather_retract(struct client *c, const struct inc_rdv_join *join);
void gather_lost(struct client *c, const char *why);
void gather_forget(struct group *group, struct client *c);
void gather_placed(struct client *c, const struct inc_rdv_placed *placed);
void gather_error(struct client *c, int err, const char *text);
int64_t gather_next_deadline(const struct server *s);
void gather_expire(struct server *s);

/* admit.c */
void admit_caller(struct server *s);
bool admit_step(struct client *c);
void admit_late(struct client *c);
bool admit_line(struct client *c, const char *line);
bool admit_speaks_tls(struct client *c, char first);

/* session.c */
void client_close(struct client *c, const char *why);
void session_input(struct client *c);
void sessions_check_deadlines(struct server *s);
void sessions_sweep(struct server *s);

/* loop.c */
int server_run(struct server *s, const struct options *o);

#endif /* INC_RENDEZVOUS_SERVER_H */
