/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The ranks of a job: which are present, which are missing, when the job is
 * ready or over, and which action is due when. For the rendezvous daemon and
 * the aggregation manager. Pure: no socket, no clock, no memory of its own; the
 * daemons talk to ranks and to switches.
 *
 * A rank that leaves in order stays in the tree for INC_JOB_LEAVE_MS: when a
 * program ends, all its ranks leave at about the same time, and the slower ones
 * must not see an error.
 */
#ifndef INC_JOB_H
#define INC_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Over UC only the rank itself knows that its last result was lost, and may
 * need several timeouts to recover it.
 */
#define INC_JOB_LEAVE_MS	2000
#define INC_JOB_CHILD_MS	300	/* the last results are on their way */
/* A rank that stays after its tree has failed must not keep the tree. */
#define INC_JOB_ENDING_MS	60000
/* All ranks lose packets at about the same time, and fail to change together. */
#define INC_JOB_CHANGE_PAUSE_MS	45000

struct inc_rdv_join;
struct inc_rdv_msg;

/**
 * enum inc_job_phase - phase of a job
 * @INC_JOB_OPEN: ranks are missing; a rank that goes may be replaced
 * @INC_JOB_FORMING: all have joined, but not all can send and receive yet
 * @INC_JOB_READY: the ranks may begin
 * @INC_JOB_ENDING: a rank has left or was lost, or the tree has failed: the name
 *	is free for a new job
 * @INC_JOB_OVER: no rank needs the tree
 */
enum inc_job_phase {
	INC_JOB_OPEN,
	INC_JOB_FORMING,
	INC_JOB_READY,
	INC_JOB_ENDING,
	INC_JOB_OVER,
};

/* Do not renumber: the manager stores the states. */
enum rank_state {
	RANK_ABSENT,
	RANK_PRESENT,
	RANK_LEFT,	/* in order; its member still exists */
	RANK_GONE,
	RANK_LOST,	/* its member must be deleted soon */
};

/**
 * struct inc_job_rank - a rank of a job
 * @state: state; set by inc_job_set()
 * @rts: its queue pair can send and receive
 * @arrived: it is present, or was and did not want to wait
 */
struct inc_job_rank {
	enum rank_state	state;
	bool		rts;
	bool		arrived;
};

/**
 * struct inc_job - a job
 * @phase: phase
 * @n: number of ranks
 * @present: number of ranks that are present
 * @rts: number of ranks that can send and receive
 * @lost: number of ranks that are RANK_LOST
 * @deadline: milliseconds; when the job must be ready, or over
 * @leave_at: milliseconds; when members of ranks that left are deleted; 0: none
 *	has left
 * @change_at: milliseconds; when ranks may be told again to change to UC
 * @ranks: the daemon's ranks, each of which begins with a struct inc_job_rank
 * @size: bytes per rank
 */
struct inc_job {
	enum inc_job_phase	phase;
	uint32_t		n;
	uint32_t		present;
	uint32_t		rts;
	uint32_t		lost;
	int64_t			deadline;
	int64_t			leave_at;
	int64_t			change_at;
	void			*ranks;
	size_t			size;
};

/**
 * enum inc_job_due - action due for a job
 * @INC_JOB_NOTHING: nothing yet
 * @INC_JOB_LATE: refuse the job: it is not ready in time
 * @INC_JOB_LEAVE: delete members that are RANK_LEFT, and tell the other ranks
 * @INC_JOB_END: end the job
 */
enum inc_job_due {
	INC_JOB_NOTHING,
	INC_JOB_LATE,
	INC_JOB_LEAVE,
	INC_JOB_END,
};

/* Characters of a job's name that leave room for what inc_job_secret() adds. */
#define INC_JOB_FIRST_MAX	(INC_RDV_JOB_MAX - 16)

void inc_job_init(struct inc_job *job, void *ranks, size_t size, uint32_t n);
void inc_job_set(struct inc_job *job, struct inc_job_rank *r,
		 enum rank_state state);
bool inc_job_key_fits(const struct inc_rdv_join *first,
		      const struct inc_rdv_join *join);
const char *inc_job_key_why(const struct inc_rdv_join *first,
			    const struct inc_rdv_join *join);
void inc_job_set_rts(struct inc_job *job, struct inc_job_rank *r, bool rts);
void inc_job_vacate(struct inc_job *job, struct inc_job_rank *r);
void *inc_job_next(const struct inc_job *job, const void *after,
		   enum rank_state state);
bool inc_job_name_ranks(char *list, size_t len, uint32_t first, uint32_t last);
bool inc_job_misses(const struct inc_job *job, const struct inc_job_rank *r,
		    bool told);
bool inc_job_fail(struct inc_job *job, int64_t now);
bool inc_job_left(struct inc_job *job, int64_t now, bool wide);
void inc_job_hurry(struct inc_job *job, int64_t now);
int64_t inc_job_deadline(const struct inc_job *job);
enum inc_job_due inc_job_due(const struct inc_job *job, int64_t now);
size_t inc_job_first(const char *job);
bool inc_job_is_other(const char *job);
bool inc_job_secret(struct inc_rdv_msg *msg, const char *job, const char *what);
bool inc_job_change(struct inc_job *job, const struct inc_rdv_join *like,
		    int64_t now, struct inc_rdv_msg *msg);
bool inc_job_move(const struct inc_rdv_join *like, struct inc_rdv_msg *msg);

bool inc_job_merge(struct inc_rdv_join *like, const struct inc_rdv_join *join);
void inc_job_uc(uint32_t pmtu, uint32_t *msg_size, uint32_t *slots);
const char *inc_job_hint(const char *why);
void inc_job_say_wrong(struct inc_rdv_msg *msg, const char *wrong,
		       const char *unlike, const char *status);

/* Loop over a daemon's ranks in a state; the body may change that of @r. */
#define inc_job_for_each(job, r, state)					\
	for ((r) = inc_job_next(job, NULL, state); (r);			\
	     (r) = inc_job_next(job, r, state))

#endif /* INC_JOB_H */
