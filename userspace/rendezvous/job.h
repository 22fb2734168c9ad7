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
	RANK_LEFT,	/* in order; the tree still has its member */
	RANK_LOST,	/* likewise, which has to go soon */
	RANK_GONE,
};

/**
 * struct rank - a rank of a job
 * @state: what it is
 * @rts: its queue pair can send and receive, as far as it would tell
 * @client: its connection, if present or expected
 * @first: its rank in the job, or the first of those below a switch
 */
struct rank {
	enum rank_state	state;
	bool		rts;
	struct client	*client;
	uint32_t	first;
};

/**
 * struct job - a job
 * @group: connections of its ranks, of switches below, and of the parent's
 *	daemon
 * @next: next of all jobs
 * @name: its name
 * @tree: its tree as the kernel made it; id 0: the tree is gone
 * @nranks: number of members of the tree, hosts or switches
 * @present: ranks that are present
 * @rts: those of them that can send and receive
 * @lost: ranks that are RANK_LOST
 * @ready: all ranks are present, and can send and receive
 * @ending: a rank is gone
 * @over: no rank is left, or none may stay: the tree is to be deleted
 * @leave_at: when ranks that left are taken out of the tree; 0: none has left
 * @up: the parent's daemon, or NULL
 * @fixed: all ranks were present at the start; one that leaves ends the job,
 *	ready or not
 * @child: the tree has a parent
 * @tell_rts: the parent's daemon is to be told when all ranks can send and
 *	receive
 * @parent_ready: the switches above, and all ranks below those, are ready
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
	bool			parent_ready;
	struct rank		ranks[];
};

/* job.c */
void job_tell_all(struct job *job, const struct inc_rdv_msg *msg);
void job_set_rts(struct job *job, uint32_t rank, bool rts);

/* job_end.c */
void job_tell_failed(struct job *job, int rank, unsigned int status,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool job_make_room(struct job *job, uint32_t rank);
void job_end(struct job *job);
void job_begin_end(struct job *job);

#endif /* INC_RENDEZVOUS_JOB_H */
