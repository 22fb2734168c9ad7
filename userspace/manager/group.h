/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A group: the ranks of a job, and their tree. For group.c, group-make.c,
 * group-end.c and answer.c.
 *
 * Ownership: the manager owns groups; a group owns its parts. A group is freed
 * when it is over and no operation on a switch is left (@busy). A stream
 * belongs to a rank of a group, or waits for its first message; its user
 * pointer is the struct rank, or NULL.
 */
#ifndef INC_MANAGER_GROUP_H
#define INC_MANAGER_GROUP_H

#include "manager.h"
#include "message.h"
#include "tree.h"

enum group_state {
	GROUP_GATHERING,	/* ranks are missing */
	GROUP_PLACING,		/* the fabric is looked at once more */
	GROUP_MAKING,		/* the switches make the tree */
	GROUP_JOINED,		/* queue pairs are not ready yet */
	GROUP_READY,
};

enum rank_state {
	RANK_ABSENT,
	RANK_PRESENT,
	RANK_LEFT,	/* in order; its member still exists */
	RANK_GONE,
};

/**
 * struct rank - a rank of a group
 * @group: group
 * @state: its state
 * @rts: its queue pair can send and receive
 * @stream: its stream; NULL: none
 * @join: its request
 * @part: tree that it is a member of, once that is known
 * @member: its place there
 * @heard_at: milliseconds; its last message
 * @alive_at: milliseconds; when it is told next that the switch is alive; 0:
 *	never
 */
struct rank {
	struct group		*group;
	enum rank_state		state;
	bool			rts;
	struct rpc_stream	*stream;
	struct inc_rdv_join	join;
	struct part		*part;
	uint32_t		member;
	int64_t			heard_at;
	int64_t			alive_at;
};

/**
 * struct part - a group's tree on one switch
 * @group: group
 * @sw: switch
 * @tree: tree
 * @first: its first rank
 * @count: number of its ranks
 * @parent: part of its parent, NULL: it is the root
 * @place: its place among the parent's members
 * @made: it exists
 */
struct part {
	struct group	*group;
	struct sw	*sw;
	struct tree	tree;
	uint32_t	first;
	uint32_t	count;
	struct part	*parent;
	uint32_t	place;
	bool		made;
};

/**
 * struct group - a group
 * @manager: manager
 * @next: next group
 * @like: name, number of ranks, and the wishes so far; mtu is the lowest; uc if
 *	any rank's queue pair is
 * @state: its state
 * @ending: a rank has left or died, or it failed: the name is free
 * @over: no rank is left, or none may stay: the trees are being deleted
 * @present: ranks that are present
 * @rts: number of these that can send and receive
 * @busy: operations on switches that are not done
 * @failed: error of the operations of this step, positive errno value
 * @why: and its message
 * @step: the next step when all operations of this one are done
 * @until: milliseconds; when it must be ready, or over
 * @leave_at: milliseconds; when members of ranks that have left are deleted; 0:
 *	none has
 * @began_at: milliseconds; when the last rank had joined
 * @last: the stream of the last rank that has left, to be told when all is
 *	gone; NULL: none
 * @parts: its trees, the root's first
 * @nparts: their number
 * @ranks: ranks
 */
struct group {
	struct manager		*manager;
	struct group		*next;
	struct inc_rdv_join	like;
	enum group_state	state;
	bool			ending;
	bool			over;
	uint32_t		present;
	uint32_t		rts;
	unsigned int		busy;
	int			failed;
	char			why[INC_RDV_TEXT_MAX];
	void			(*step)(struct group *g);
	int64_t			until;
	int64_t			leave_at;
	int64_t			began_at;
	struct rpc_stream	*last;
	struct part		*parts;
	uint32_t		nparts;
	struct rank		ranks[];
};

/* group.c */
void group_tell(struct rank *r, const struct am_message *msg);
void group_tell_all(struct group *g, const struct inc_rdv_msg *msg);
void group_check_ready(struct group *g);

/* group-make.c */
void group_place(struct group *g);

/* group-end.c */
void group_tell_failed(struct group *g, int rank, unsigned int status,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void group_refuse(struct group *g, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void group_begin_end(struct group *g);
void group_end(struct group *g);
void group_leave(struct rank *r);
void group_lost(struct rank *r, const char *why);
void group_delete_left(struct group *g);
void group_op_done(struct group *g);

#endif /* INC_MANAGER_GROUP_H */
