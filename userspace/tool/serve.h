/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rendezvous daemon: serve.c has the sockets, serve-job.c the jobs, their
 * trees and who is in them. See Documentation/rendezvous.rst.
 */
#ifndef INC_TOOL_SERVE_H
#define INC_TOOL_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/rdv.h"
#include "nl.h"

struct job;
struct server;

/**
 * struct client - a connection
 * @next: next of all connections
 * @server: daemon
 * @fd: socket; -1: closed, to be freed
 * @name: address and port of the other end
 * @job: job that it is a rank of; NULL: has not joined, or has left
 * @rank: its rank in @job
 * @quiet_until: milliseconds; without a complete line by then it is dropped.
 *	0: no limit
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
	int64_t			quiet_until;
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
void client_send(struct client *c, const struct inc_rdv_msg *msg);
void client_error(struct client *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void server_log(const struct server *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* serve-job.c */
void job_join(struct client *c, const struct inc_rdv_join *join);
void job_leave(struct client *c);
void job_lost(struct client *c, const char *why);
int64_t job_next_deadline(const struct server *s);
void job_expire(struct server *s);
void job_event(struct server *s, const struct inc_nl_event *ev);
void job_end_all(struct server *s, const char *why);

#endif /* INC_TOOL_SERVE_H */
