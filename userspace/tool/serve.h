/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rendezvous daemon: serve.c has the command and the main loop, serve-client.c
 * the connections, serve-job.c the jobs, their trees and who is in them,
 * serve-level.c jobs of several switches. See Documentation/rendezvous.rst.
 */
#ifndef INC_TOOL_SERVE_H
#define INC_TOOL_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/rdv.h"
#include "nl.h"

struct gather;
struct job;
struct server;

/**
 * struct client - a connection
 * @next: next of all connections
 * @server: daemon
 * @fd: socket; -1: closed, to be freed
 * @name: address and port of the other end
 * @job: job that it is a rank of; NULL: has not joined, or has left
 * @rank: its rank in @job: its place among the members of its tree
 * @gather: job whose ranks are not all there yet, that it is a rank of
 * @join: what it said, if it is a rank in @gather
 * @link: it is the daemon of a switch below
 * @up: it is the daemon of the parent
 * @quiet_until: milliseconds; without a complete line by then it is dropped.
 *	0: no limit
 * @alive_at: milliseconds; when it is told again that the daemon lives
 * @alive_ms: how often; 0: it is not
 * @closing: to be closed when @out is sent
 * @in: bytes that came
 * @out: bytes to send
 * @out_len: how many
 */
struct client {
	struct client		*next;
	struct server		*server;
	int			fd;
	char			name[64];
	struct job		*job;
	uint32_t		rank;
	struct gather		*gather;
	struct inc_rdv_join	join;
	bool			link;
	bool			up;
	int64_t			quiet_until;
	int64_t			alive_at;
	uint32_t		alive_ms;
	bool			closing;
	struct inc_rdv_lines	in;
	char			out[8 * INC_RDV_LINE_MAX];
	size_t			out_len;
};

/**
 * struct server - the daemon
 * @nl: netlink, for requests
 * @events: netlink, for events; @events.sock is NULL if there is none
 * @listen_fd: listening socket
 * @clients: connections
 * @nclients: how many
 * @max_clients: so many connections at once
 * @parent: address of the parent's daemon; addr.ss_family 0: there is none
 * @parent_len: its length
 * @levels: switches may be below this one
 * @gathers: jobs that have no tree yet
 * @jobs: jobs whose tree exists
 * @njobs: how many
 * @jobs_done: jobs that ended
 * @max_trees: so many jobs at once
 * @tree: settings for all trees (slots, msg_size, pmtu, first_msg_id, window, hold,
 *	min_rto, dead_time), as far as given
 * @tree_id: tree that the administrator made, for one job; 0: each job gets
 *	a tree of its own
 * @has_psn: @psn is given
 * @psn: first PSN of all queue pairs
 * @once: end after the first job
 * @verbose: say what happens
 * @now: milliseconds
 */
struct server {
	struct inc_nl		nl;
	struct inc_nl		events;
	int			listen_fd;
	struct client		*clients;
	unsigned int		nclients;
	unsigned int		max_clients;
	struct sockaddr_storage	parent;
	socklen_t		parent_len;
	bool			levels;
	struct gather		*gathers;
	struct job		*jobs;
	unsigned int		njobs;
	unsigned int		jobs_done;
	unsigned int		max_trees;
	struct inc_nl_tree	tree;
	uint32_t		tree_id;
	bool			has_psn;
	uint32_t		psn;
	bool			once;
	bool			verbose;
	int64_t			now;
};

/* serve.c */
int cmd_serve(int argc, char **argv);
void server_log(const struct server *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* serve-client.c */
void client_send(struct client *c, const struct inc_rdv_msg *msg);
void client_error(struct client *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct client *client_connect(struct server *s);
void client_accept(struct server *s);
void client_input(struct client *c);
void client_flush(struct client *c);
void client_close(struct client *c, const char *why);
void client_keep_alive(struct client *c, uint32_t dead_time);
int64_t clients_next_deadline(const struct server *s);
void clients_check_quiet(struct server *s);
void clients_keep_alive(struct server *s);
void clients_sweep(struct server *s);

/* serve-job.c */
void job_join(struct client *c, const struct inc_rdv_join *join);
void job_leave(struct client *c);
void job_lost(struct client *c, const char *why);
int64_t job_next_deadline(const struct server *s);
void job_expire(struct server *s);
void job_event(struct server *s, const struct inc_nl_event *ev);
void job_end_all(struct server *s, const char *why);

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

struct job *job_make(struct server *s, const char *name,
		     const struct inc_nl_tree *want,
		     const struct job_member *members, uint32_t n,
		     struct client *up);
const struct inc_nl_tree *job_tree_of(const struct job *job);
void job_uc_defaults(struct inc_nl_tree *tree);
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined);
void job_expect(struct job *job, struct client *c, uint32_t rank);
void job_link_below(struct client *c, const struct inc_rdv_join *join);
void job_check_ready(struct job *job);
int job_link(struct job *job, const struct inc_rdv_joined *linked);
void job_parent_ready(struct job *job);
void job_up_lost(struct client *c, const char *why);

/* serve-level.c */
bool gather_wants(const struct server *s, const struct inc_rdv_join *join);
void gather_join(struct client *c, const struct inc_rdv_join *join);
void gather_retract(struct client *c, const struct inc_rdv_join *join);
void gather_lost(struct client *c, const char *why);
void gather_placed(struct client *c, const struct inc_rdv_placed *placed);
void gather_error(struct client *c, int err, const char *text);

#endif /* INC_TOOL_SERVE_H */
