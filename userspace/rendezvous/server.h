/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rendezvous daemon. From the bottom: server.c has the clock and the log,
 * secure.c TLS, client.c connections and their hosts, addr.c the permitted
 * addresses; job.h says where jobs are; admit.c lets connections in, dispatch.c
 * hands on what they say, loop.c has the main loop. Each file calls those
 * before it only. See Documentation/rendezvous.rst; the command line is
 * inc-tool's (tool/serve.c).
 *
 * Ownership: the server owns connections, jobs and hosts, in one list each. A
 * connection is in one job at most. Only job_add_client() and job_del_client()
 * add and remove it; the latter clears all pointers to it in the job. Only
 * sweep_clients() frees a connection. The main loop calls it when nothing else
 * is in progress, after client_close() has removed the connection from its job.
 */
#ifndef INC_RENDEZVOUS_SERVER_H
#define INC_RENDEZVOUS_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "auth/stamp.h"
#include "conf/clock.h"
#include "conf/log.h"
#include "network.h"
#include "proto.h"
#include "nl/nl.h"

struct client;
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
 * @jobs: jobs whose first rank it was
 * @extra: how many of @jobs do not count for limits
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
 * @job: job that it belongs to, or NULL
 * @job_next: next in the job
 * @role: role of the peer
 * @rank: its place among the members of its job's tree
 * @join: its request, if it is a rank of a job that has no tree yet
 * @deadline: milliseconds; when it must have joined, or read its output. 0: no
 *	limit
 * @alive_at: milliseconds; when to send the next "alive"
 * @alive_ms: interval of "alive"; 0: none
 * @tls: TLS on @fd; NULL: none, or not yet
 * @wants: if @handshaking: events that it waits for; 0: input
 * @handshaking: hands are being shaken
 * @shake_next: next connection whose handshake goes on in this turn
 * @authenticated: it may speak: it has shown a certificate or a token, or need
 *	not
 * @takes_wrong: it understands INC_RDV_WRONG
 * @leaving: it has left; confirm that when its job's tree is deleted
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
	struct job		*job;
	struct client		*job_next;
	enum role		role;
	uint32_t		rank;
	struct inc_rdv_join	join;
	int64_t			deadline;
	int64_t			alive_at;
	uint32_t		alive_ms;
	struct inc_tls		*tls;
	short			wants;
	bool			handshaking;
	struct client		*shake_next;
	bool			authenticated;
	bool			takes_wrong;
	bool			leaving;
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
 * @njobs: number of jobs
 * @max: limits
 * @allow: addresses that ranks may have besides their connections'
 * @security: who may talk to it
 * @parent_host: name or address of the parent's daemon, as given
 * @parent: address of the parent's daemon; addr.ss_family 0: there is none
 * @parent_len: its length
 * @levels: this switch may have others below it
 * @jobs: jobs
 * @n_made: number of these whose tree was made
 * @n_begun: number of jobs that were ready
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
	unsigned int		njobs;
	struct limits		max;
	struct inc_rdv_network	*allow;
	struct security		security;
	char			parent_host[256];
	struct sockaddr_storage	parent;
	socklen_t		parent_len;
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
	int64_t			now;
	int64_t			work_until;
};

/**
 * struct serve_options - other options of the command line
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
static inline bool server_may_work(const struct server *s)
{
	return now_ms() < s->work_until;
}

/* secure.c */
bool secure_start(struct server *s, const struct serve_options *o);
void secure_forget(struct security *sec);
void secure_refuse(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void secure_accept(struct client *c);
bool secure_connect(struct client *c);
ssize_t secure_recv(struct client *c, void *buf, size_t len);
ssize_t secure_send(struct client *c, const void *buf, size_t len);
void secure_close(struct client *c);

/* client.c */
struct host *host_get(struct server *s, const struct inc_rdv_addr *addr);
void host_put(struct server *s, struct host *host);
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

/* addr.c */
bool addr_believed(struct client *c, const struct inc_rdv_addr *addr);
uint32_t addr_pmtu(const struct client *c);

/* admit.c */
void admit_caller(struct server *s);
bool admit_step(struct client *c);
bool admit_line(struct client *c, const char *line);
bool admit_speaks_tls(struct client *c, char first);

/* dispatch.c */
void dispatch_input(struct client *c);

/* loop.c */
int server_run(struct server *s, const struct serve_options *o);

#endif /* INC_RENDEZVOUS_SERVER_H */
