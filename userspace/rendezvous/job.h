/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A job of the rendezvous daemon: a name, a connection for each rank, and a tree. A
 * job of one switch gets its tree with its first rank. A job of several switches
 * gathers: all ranks must be known first (level.c). From the bottom: job.c: jobs as
 * objects; tree.c: their trees; end.c: their ends; rails.c: ranks with two devices;
 * event.c: the kernel's events; join.c: joining; level.c: ranks of several switches.
 * userspace/job/ decides for whom a job waits, and when it is over.
 */
#ifndef INC_RENDEZVOUS_JOB_H
#define INC_RENDEZVOUS_JOB_H

#include "job/job.h"
#include "server.h"

/**
 * struct rank - a rank of a job, or a switch below with several ranks
 * @core: its state
 * @client: its connection, if present or expected; NULL: none. While the job
 *	gathers, ranks of a lower switch share its connection
 * @first: its rank in the job, or the first rank below a switch
 * @n: number of ranks
 * @rails: mask of the job's @rails that it reaches over a second device
 */
struct rank {
	struct inc_job_rank	core;
	struct client		*client;
	uint32_t		first;
	uint32_t		n;
	uint32_t		rails;
};

/* Bytes of a list of ranks. */
#define JOB_MISSING	128

/**
 * struct job - a job
 * @core: its ranks: while it gathers, all that this daemon knows; later the members
 *	of its tree
 * @next: next job
 * @server: daemon
 * @clients: connections of its ranks, of switches below, and of the parent's
 *	daemon
 * @host: host of the first rank, which is charged
 * @memory: bytes charged
 * @request: name, number of ranks, and the settings requested of the tree so far;
 *	mtu is the lowest; uc if any rank's queue pair is UC; change and rails if all
 *	ranks support these
 * @levels: all ranks must be known before it gets a tree
 * @gathers: it has no tree yet
 * @tree: its tree as the kernel made it; id 0: none yet, or deleted
 * @up: the parent's daemon, or NULL
 * @child: the tree has a parent
 * @up_changes: the parent's daemon knows INC_RDV_LOSSY
 * @tell_rts: tell the parent's daemon when all ranks can send and receive
 * @parent_ready: the switches above and all ranks below them are ready
 * @rails: addresses of the switch that its ranks choose from; empty: none
 * @second: name of the second rail's job, set in both rails' jobs and in jobs that
 *	replace one of them; empty: none
 * @extra: it is a second rail or a replacement, and does not count for limits of
 *	jobs
 * @missing: ranks that were missing when a rank gave up
 * @ranks: ranks
 */
struct job {
	struct inc_job		core;
	struct job		*next;
	struct server		*server;
	struct client		*clients;
	struct host		*host;
	uint64_t		memory;
	struct inc_rdv_join	request;
	bool			levels;
	bool			gathers;
	struct inc_nl_tree	tree;
	struct client		*up;
	bool			child;
	bool			up_changes;
	bool			tell_rts;
	bool			parent_ready;
	char			rails[INC_RDV_RAILS_LEN];
	char			second[INC_RDV_JOB_MAX + 1];
	bool			extra;
	char			missing[JOB_MISSING];
	struct rank		*ranks;
};

/* Get a connection's job, with a tree or gathering; or NULL. */
static inline struct job *job_of(const struct client *c)
{
	return c->job && !c->job->gathers ? c->job : NULL;
}

static inline struct job *gather_of(const struct client *c)
{
	return c->job && c->job->gathers ? c->job : NULL;
}

/* job.c */
struct job *job_find(const struct server *s, const struct inc_rdv_join *join,
		     bool levels);
struct job *job_new(struct client *c, const struct inc_rdv_join *join,
		    bool levels);
void job_set_ranks(struct job *job, struct rank *ranks, uint32_t n);
void job_free(struct job *job);
void job_add_client(struct job *job, struct client *c);
void job_del_client(struct client *c);
void job_drop(struct job *job, uint32_t rank);
void job_tell_all(struct job *job, const struct inc_rdv_msg *msg);
void job_tell_failed(struct job *job, int rank, unsigned int status,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* tree.c */
struct inc_nl_tree tree_settings(const struct server *s, uint32_t members,
				 const struct inc_rdv_join *like);
int tree_make(struct job *job, const struct inc_nl_tree *want);
void tree_take(struct job *job, const struct inc_nl_tree *tree);
int member_new(struct job *job, const struct inc_rdv_join *join,
	       struct inc_rdv_joined *joined);
void member_del(struct job *job, struct rank *r);
bool members_del(struct job *job, enum rank_state state);
int tree_link(struct job *job, const struct inc_rdv_joined *linked);

/* end.c */
void job_end(struct job *job);
void job_refuse(struct job *job, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void job_leave(struct client *c);
void job_lost(struct client *c, const char *why);
void client_close(struct client *c, const char *why);
int64_t jobs_next_deadline(const struct server *s);
void jobs_expire(struct server *s);
void jobs_end_all(struct server *s, const char *why);

/* rails.c */
void rails_offer(struct job *job, const struct inc_rdv_join *join,
		 struct inc_rdv_joined *joined);
void rails_choose(struct job *job, struct inc_rdv_msg *ready);
void rails_lost(const struct server *s, const struct inc_rdv_join *join);

/* join.c */
bool join_key_fits(struct client *c, const struct inc_rdv_join *join);
bool join_fits(struct client *c, struct job *job,
	       const struct inc_rdv_join *join);
void job_join(struct client *c, const struct inc_rdv_join *join);
void job_rts(struct client *c, uint32_t rails);
void job_lossy(struct client *c);
void job_change(struct job *job, const struct inc_rdv_msg *msg);
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined);
void job_check_ready(struct job *job);

/* level.c */
bool gather_wants(const struct server *s, const struct inc_rdv_join *join);
void gather_join(struct client *c, const struct inc_rdv_join *join);
void gather_retract(struct client *c, const struct inc_rdv_join *join);
void gather_placed(struct job *job, const struct inc_rdv_placed *placed);
void level_link(struct client *c, const struct inc_rdv_join *join);
int level_linked(struct job *job, const struct inc_rdv_joined *linked);
void level_ready(struct job *job);

/* event.c */
void events_open(struct server *s);
void event_tree_new(const struct job *job);
void event_tree(struct server *s, const struct inc_nl_event *ev);
void events_lost(struct server *s);

#endif /* INC_RENDEZVOUS_JOB_H */
