/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A job of the rendezvous daemon, for job.c and job_end.c.
 */
#ifndef INC_RENDEZVOUS_JOB_H
#define INC_RENDEZVOUS_JOB_H

#include "server.h"

enum rank_state {
	RANK_ABSENT,
	RANK_PRESENT,
	RANK_LEFT,	/* in order; its member still exists */
	RANK_LOST,	/* lost; its member must be deleted soon */
	RANK_GONE,
};

/**
 * struct rank - a rank of a job
 * @state: its state
 * @rts: its queue pair can send and receive, or it does not report that
 * @came: it has joined, and is there, or has given up waiting
 * @client: its connection, if present or expected
 * @first: its rank in the job, or the first of those below a switch
 * @n: number of ranks, several below a switch
 */
struct rank {
	enum rank_state	state;
	bool		rts;
	bool		came;
	struct client	*client;
	uint32_t	first;
	uint32_t	n;
};

/* Bytes of a list of ranks. */
#define JOB_MISSING	128

/**
 * struct job - a job
 * @group: connections of its ranks, of switches below, and of the parent's
 *	daemon
 * @next: next job
 * @name: its name
 * @tree: its tree as the kernel made it; id 0: deleted
 * @nranks: number of members of the tree, hosts or switches
 * @present: number of ranks that are present
 * @rts: number of these that can send and receive
 * @lost: number of ranks that are RANK_LOST
 * @ready: all ranks are present, and can send and receive
 * @ending: a rank has left or died
 * @over: no rank is left, or none may stay: delete the tree
 * @leave_at: when members of ranks that left are deleted; 0: none has left
 * @up: the parent's daemon, or NULL
 * @fixed: all ranks were present at the start; one that leaves ends the job,
 *	ready or not
 * @child: the tree has a parent
 * @tell_rts: tell the parent's daemon when all ranks can send and receive
 * @missing: ranks for which a rank waited that gave up
 * @parent_ready: the switches above and all ranks below them are ready
 * @ranks: ranks
 */
struct job {
	struct group		group;
	struct job		*next;
	char			name[INC_RDV_JOB_MAX + 1];
	struct inc_nl_tree	tree;
	uint32_t		nranks;
	uint32_t		present;
	uint32_t		rts;
	uint32_t		lost;
	bool			ready;
	bool			ending;
	bool			over;
	int64_t			leave_at;
	struct client		*up;
	bool			fixed;
	bool			child;
	bool			tell_rts;
	char			missing[JOB_MISSING];
	bool			parent_ready;
	struct rank		ranks[];
};

/* job.c */
void job_tell_all(struct job *job, const struct inc_rdv_msg *msg);
void job_missing(struct job *job);
void job_set_rts(struct job *job, uint32_t rank, bool rts);

/* job_end.c */
void job_tell_failed(struct job *job, int rank, unsigned int status,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool job_make_room(struct job *job, uint32_t rank);
void job_end(struct job *job);
void job_begin_end(struct job *job);

#endif /* INC_RENDEZVOUS_JOB_H */
