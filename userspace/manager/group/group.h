/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A group: the ranks of a job, and their tree. For this folder's files, and the
 * layers above it.
 *
 * Ownership: the manager owns groups; a group owns its subtrees. A stream belongs
 * to a rank of a group, or waits for its first message; its user pointer is the
 * struct rank, or NULL.
 *
 * A function that finds that something has happened to a group raises an event
 * and carries on: the group keeps its state, and still exists. Only step.c
 * changes the states of running groups, and frees groups, in group_settle().
 * state/ makes groups from the store's records, in the state recorded there.
 */
#ifndef INC_MANAGER_GROUP_H
#define INC_MANAGER_GROUP_H

#include "manager.h"
#include "rpc/message.h"
#include "fabric/tree.h"
#include "job/job.h"

#define REBUILD_SETTLED_MS	1000	/* a later failure is a new one */

enum group_state {
	GROUP_GATHERING,	/* not all ranks have joined */
	GROUP_PLACING,		/* the switches are asked for the fabric */
	GROUP_MAKING,		/* the switches make the tree */
	GROUP_JOINED,		/* not all queue pairs are ready */
	GROUP_READY,
	GROUP_REJOINING,	/* its tree has failed; ranks make queue pairs */
	GROUP_REPLACING,	/* PLACING for another tree */
	GROUP_REMAKING,		/* MAKING it */
	GROUP_REJOINED,		/* JOINED to it */
	GROUP_ENDING,		/* a rank has left or died: the name is free */
	GROUP_OVER,		/* freed once the trees are deleted */
	GROUP_STATES
};

/**
 * enum group_event - events of a group
 * @GROUP_EV_ABANDONED: another manager has taken the group over
 * @GROUP_EV_DISMANTLED: the group is to end at once
 * @GROUP_EV_REFUSED: the group cannot be placed, or made
 * @GROUP_EV_FAILED: its tree has failed
 * @GROUP_EV_LOST: a rank was lost
 * @GROUP_EV_LEFT: a rank has left
 * @GROUP_EV_ENDED: its last user is gone
 * @GROUP_EV_OP_DONE: no operation on a switch is left
 * @GROUP_EV_STORED: the store has the group's record
 * @GROUP_EV_RTS: a rank's queue pair is ready
 * @GROUP_EV_REJOINED: a rank has made a new queue pair
 * @GROUP_EV_FULL: the last rank has come
 * @GROUP_EV_LOOK: it is time to look at the fabric
 * @GROUP_EV_SEEN: all switches have answered
 * @GROUP_EV_DUE: its timer has expired
 * @GROUP_EVENTS: number of events
 *
 * Events are settled in this order. Events up to GROUP_EV_FAILED have a struct
 * group_fault, of which a group has only one: the first that was raised, unless
 * an event that precedes it here is raised later.
 */
enum group_event {
	GROUP_EV_ABANDONED,
	GROUP_EV_DISMANTLED,
	GROUP_EV_REFUSED,
	GROUP_EV_FAILED,
	GROUP_EV_LOST,
	GROUP_EV_LEFT,
	GROUP_EV_ENDED,
	GROUP_EV_OP_DONE,
	GROUP_EV_STORED,
	GROUP_EV_RTS,
	GROUP_EV_REJOINED,
	GROUP_EV_FULL,
	GROUP_EV_LOOK,
	GROUP_EV_SEEN,
	GROUP_EV_DUE,
	GROUP_EVENTS
};

/**
 * enum group_step - next step of the switches towards a tree
 * @STEP_MAKE: make the trees, with the members that are hosts
 * @STEP_ADD: add the members that are switches
 * @STEP_LINK: link these switches to their parents
 * @STEP_DONE: nothing is left to do
 */
enum group_step {
	STEP_MAKE,
	STEP_ADD,
	STEP_LINK,
	STEP_DONE,
};

/* A rank's queue pair: its number, and the first PSN that it sends. */
struct rank_qp {
	uint32_t qpn;
	uint32_t psn;
};

/**
 * struct rank - a rank of a group
 * @core: state of the rank
 * @group: group
 * @rejoined: has a new queue pair, for the next tree
 * @done: if @rejoined: operations whose results the rank has, modulo 2^32
 * @stream: its stream; NULL: none; a rank that is present is awaited then
 * @join: its request
 * @joined_sent: "joined" was sent over @stream, for a tree with @join's queue
 *	pair
 * @old_qp: its queue pair before @join's, if it has rejoined: the rank resumes
 *	with that one until it gets "joined"
 * @subtree: tree that the rank is a member of, once known
 * @member: its place there
 * @home_switch: switch of its host when the tree was made; NULL: unknown
 * @home_at: milliseconds; when @home_switch was noted
 * @heard_at: milliseconds; its last message other than its stream's heartbeats
 * @until: milliseconds; how long it is awaited after it has hung up; 0: as long
 *	as others
 */
struct rank {
	struct inc_job_rank	core;
	struct group		*group;
	bool			rejoined;
	bool			joined_sent;
	uint32_t		done;
	struct rpc_stream	*stream;
	struct inc_rdv_join	join;
	struct rank_qp		old_qp;
	struct subtree		*subtree;
	uint32_t		member;
	const struct sw		*home_switch;
	int64_t			home_at;
	int64_t			heard_at;
	int64_t			until;
};

/**
 * struct subtree - a group's tree on one switch
 * @by_tree: node among all subtrees, once the tree has its ID
 * @group: group
 * @sw: switch
 * @tree: tree
 * @first: its first rank
 * @count: number of its ranks
 * @parent: subtree of its parent, NULL: this is the root
 * @place: its place among the parent's members
 * @exists: the switch has made @tree
 * @made_at: milliseconds; when @exists was set
 * @lost_member: place of the member whose queue pair has failed; -1: none, or
 *	the parent
 * @lost_why: why its queue pair has failed; empty: none has
 */
struct subtree {
	struct index_node by_tree;
	struct group	*group;
	struct sw	*sw;
	struct tree	tree;
	uint32_t	first;
	uint32_t	count;
	struct subtree	*parent;
	uint32_t	place;
	bool		exists;
	int64_t		made_at;
	int		lost_member;
	char		lost_why[64];
};

/**
 * enum group_cause - why a group ends
 * @CAUSE_LEFT: a rank has left, in order
 * @CAUSE_CLIENT: a rank has died, or its heartbeats are missed
 * @CAUSE_LINK: a link has failed
 * @CAUSE_SWITCH: a switch, or its agent, is lost
 * @CAUSE_TREE: a tree has failed, or was deleted, on its switch
 * @CAUSE_HAND: an operator has deleted the group
 * @CAUSE_STOP: the manager stops
 * @CAUSE_REFUSED: the group could not be formed
 */
enum group_cause {
	CAUSE_LEFT,
	CAUSE_CLIENT,
	CAUSE_LINK,
	CAUSE_SWITCH,
	CAUSE_TREE,
	CAUSE_HAND,
	CAUSE_STOP,
	CAUSE_REFUSED,
};

/**
 * struct group_fault - fault of a group
 * @event: event that it raises
 * @cause: kind of cause
 * @rank: rank that caused it; -1: none
 * @status: enum inc_status that requests are answered with
 * @err: error that the ranks' streams end with, positive errno value
 * @text: reason, for the ranks
 */
struct group_fault {
	enum group_event	event;
	enum group_cause	cause;
	int			rank;
	unsigned int		status;
	int			err;
	char			text[INC_RDV_TEXT_MAX - 128];
};

/**
 * struct group_link - an interface that a group's tree needs
 * @sw: switch of the interface
 * @name: its name
 * @index: its ifindex; 0: unknown
 * @rank: rank at the other end; -1: a switch is
 * @old: answers of @sw for which the interface still counts though the tree no
 *	longer needs it; 0: the tree needs it
 */
struct group_link {
	const struct sw	*sw;
	char		name[32];
	uint32_t	index;
	int		rank;
	unsigned int	old;
};

/**
 * struct group_at - a group's use of a switch
 * @by_sw: node among the groups that need @sw
 * @sw: switch
 * @g: group
 */
struct group_at {
	LIST_ENTRY(group_at)	by_sw;
	const struct sw		*sw;
	struct group		*g;
};

/**
 * struct group_undetermined - failures that are sent unless a better cause
 *	arrives
 * @tree_at: milliseconds; when the group fails; 0: its tree has not failed
 * @tree_status: status that requests are answered with then
 * @tree: report on the tree, as far as known
 * @msg_at: milliseconds; when @msg is sent; 0: no message has failed
 * @msg: a message that failed because of a switch's request
 */
struct group_undetermined {
	int64_t			tree_at;
	unsigned int		tree_status;
	char			tree[256];
	int64_t			msg_at;
	struct inc_rdv_msg	msg;
};

/**
 * struct kept_place - place that is kept for a group without trees, see keep.c
 * @id: identity of the switch
 * @address: address of its agent
 */
struct kept_place {
	char	*id;
	char	*address;
};

/**
 * struct group_due - when a group is looked at next (timer.c)
 * @timer: goes off then
 * @is_touched: @timer is to be set anew
 * @next_touched: next group whose timer is
 */
struct group_due {
	struct timer	timer;
	bool		is_touched;
	struct group	*next_touched;
};

/**
 * struct group_raised - events that group_settle() has not settled yet (step.c)
 * @events: mask of enum group_event
 * @next: next group with events
 * @queued: the group is in that list
 * @fault: of the first of @events, if that is GROUP_EV_FAILED or an earlier one
 */
struct group_raised {
	unsigned int		events;
	STAILQ_ENTRY(group)	next;
	bool			queued;
	struct group_fault	fault;
};

/**
 * struct group_room - wait for room that ending groups hold (room.c)
 * @waits: how often the group has waited
 * @until: milliseconds; when there must be room; 0: the group does not wait
 * @freed_at: milliseconds; when the group's own room was freed; 0: others use it
 * @tried_at: milliseconds; when the group was tried last
 * @wanted: another group waits for this one's room
 * @limited: the tenant may not have more on &struct group_where.full_switch
 */
struct group_room {
	unsigned int	waits;
	int64_t		until;
	int64_t		freed_at;
	int64_t		tried_at;
	bool		wanted;
	bool		limited;
};

/**
 * struct group_making - a tree that the switches make (trees.c)
 * @ops: operations on switches that are not done
 * @err: error of the operations of this step, positive errno value
 * @why: and its message
 * @step: next step when all operations of this one are done
 * @began_at: milliseconds; when the last rank had joined
 */
struct group_making {
	unsigned int	ops;
	int		err;
	char		why[INC_RDV_TEXT_MAX];
	enum group_step	step;
	int64_t		began_at;
};

/**
 * struct group_rebuild - another tree for the same ranks (rebuild.c, move.c)
 * @round: how many trees have failed
 * @rejoined: ranks that have rejoined
 * @broken: why there is to be another tree, the first time of several
 * @attempt: why the last attempt to make it has failed; empty: none has
 * @resume: operations whose results all ranks have, modulo 2^32
 * @failed_at: milliseconds; when the tree failed, the first time of several, plus
 *	the time in which ranks were awaited since
 * @asked_at: milliseconds; when the ranks were told "rebuild", or what is to be
 *	connected then
 * @ready_at: milliseconds; when the last one was ready
 * @untold: the ranks are to hear that it is, once the store knows
 */
struct group_rebuild {
	uint32_t	round;
	uint32_t	rejoined;
	char		broken[192];
	char		attempt[256];
	uint32_t	resume;
	int64_t		failed_at;
	int64_t		asked_at;
	int64_t		ready_at;
	bool		untold;
};

/**
 * struct group_where - search for a place (where.c, route.c)
 * @place_at: milliseconds; when to compute a place, or to look at the fabric again;
 *	0: not yet
 * @probe_at: milliseconds; when to have the switches ask for hosts again
 * @probe_until: milliseconds; until when to wait for hosts; 0: all are known
 * @charge: load on links of the tree that was placed
 * @full_switch: switch that has just refused a tree for lack of room; NULL: none
 * @avoid: switches that have refused one before
 * @navoid: their number
 * @apart: nodes and members between which a switch had no route
 * @naparts: their number
 * @unrouted: another pair was just found
 * @refusal: error text of the last of these switches
 * @refusal_err: its error, positive errno value
 * @no_cm: ranks cannot connect by RDMA CM where they have to; @refusal says why
 */
struct group_where {
	int64_t			place_at;
	int64_t			probe_at;
	int64_t			probe_until;
	struct topo_charge	*charge;
	const struct sw		*full_switch;
	const struct sw		**avoid;
	uint32_t		navoid;
	struct place_apart	*apart;
	uint32_t		naparts;
	bool			unrouted;
	char			refusal[INC_RDV_TEXT_MAX];
	int			refusal_err;
	bool			no_cm;
};

/**
 * struct group_wish - an operator's wish where a tree is to be
 * @by_hand: there is one
 * @place: name of the switch that the whole tree is to be on; empty: any. A switch may
 *	be removed, and come back as another struct sw
 */
struct group_wish {
	bool	by_hand;
	char	place[SWITCH_ID_MAX + 1];
};

/**
 * struct group_move - a move to another tree (move.c)
 * @job: name of the group that the ranks are to join; empty: none
 * @keeps: over the same transport; else over UC
 * @to: that group; NULL: no rank has joined it yet
 * @from: group that moves to this one, and still has ranks; NULL: none
 * @next: wish for the tree that the ranks move to
 * @here: wish for the group's own tree
 * @asked_at: milliseconds; when the ranks were told; 0: they are when the store has it
 * @not_before: milliseconds; when it may move again
 * @pause_ms: time between the last two attempts; 0: none has failed
 * @refused: why the last attempt has failed; empty: none has
 * @mute: operators have heard of the end of the other group: there are no events of
 *	this one
 * @host_at: milliseconds; when it is to move because a host has moved; 0: no host has
 */
struct group_move {
	char		job[INC_RDV_JOB_MAX + 1];
	bool		keeps;
	struct group	*to;
	struct group	*from;
	struct group_wish next;
	struct group_wish here;
	int64_t		asked_at;
	int64_t		not_before;
	int64_t		pause_ms;
	char		refused[256];
	bool		mute;
	int64_t		host_at;
};

/**
 * struct group_kept - places of a tree that has failed, until there is another one
 *	(keep.c)
 * @places: the places
 * @n: their number
 */
struct group_kept {
	struct kept_place	*places;
	uint32_t		n;
};

/**
 * struct group_links - interfaces and switches that a group's tree needs (link.c)
 * @links: interfaces, as far as they are known
 * @n: their number
 * @missing: there are more
 * @switches: switches of the group's trees and links
 * @nswitches: their number
 */
struct group_links {
	struct group_link	*links;
	unsigned int		n;
	bool			missing;
	struct group_at		*switches;
	unsigned int		nswitches;
};

/**
 * struct group_end - ranks that were lost or have left, and the end (rank.c)
 * @loss_sent: the ranks know that one of them was lost
 * @nlost: ranks that were lost so far
 * @last_stream: stream of the last rank that has left, to be answered when the
 *	trees are deleted; NULL: none
 * @cause: why the group ends; empty: it does not
 * @from: state before GROUP_ENDING or GROUP_OVER
 */
struct group_end {
	bool			loss_sent;
	uint32_t		nlost;
	struct rpc_stream	*last_stream;
	char			cause[INC_RDV_TEXT_MAX];
	enum group_state	from;
};

/**
 * struct group - a group
 * @manager: manager
 * @next: next group
 * @by_name: among all groups, by the first name of @request.job
 * @name: name for operators: that of the group that it has moved from, else the ranks'
 * @tenant: who owns it; another tenant's groups may have the same name
 * @reservation: reservation that its room is from, until it ends; NULL: none
 * @born_ms: milliseconds since 1970; when its first rank came; 0: unknown
 * @first_addr: address that its first rank connected from; none: the group was in
 *	the store
 * @request: name, number of ranks, and the wishes so far; mtu is the lowest; uc
 *	if any rank's queue pair is; addr.vlan: VLAN of all its hosts, the tenant's
 *	when its first rank came
 * @state: its state
 * @core: its ranks, and what is due when
 * @due: when it is looked at
 * @raised: what has happened to it
 * @room: wait for room
 * @where: search for a place
 * @making: its tree, while that is made
 * @rebuild: another tree after that
 * @move: a move to another tree
 * @kept: places that it waits with
 * @links: interfaces and switches that it needs
 * @undetermined: failures whose cause only another switch can name
 * @end: its end
 * @subtrees: its trees, the root's first, children after their parents
 * @nsubtrees: their number
 * @persisted: what the store has of it
 * @ranks: ranks
 */
struct group {
	struct manager			*manager;
	struct group			*next;
	struct index_node		by_name;
	char				name[INC_RDV_JOB_MAX + 1];
	struct tenant			*tenant;
	struct reservation		*reservation;
	uint64_t			born_ms;
	struct inc_rdv_addr		first_addr;
	struct inc_rdv_join		request;
	enum group_state		state;
	struct inc_job			core;
	struct group_due		due;
	struct group_raised		raised;
	struct group_room		room;
	struct group_where		where;
	struct group_making		making;
	struct group_rebuild		rebuild;
	struct group_move		move;
	struct group_kept		kept;
	struct group_links		links;
	struct group_undetermined	undetermined;
	struct group_end		end;
	struct subtree			*subtrees;
	uint32_t			nsubtrees;
	struct persisted		persisted;
	struct rank			ranks[];
};

/**
 * struct group_ops - callbacks of the layers above groups
 * @store: store a group that has its tree, and raise GROUP_EV_STORED then; at
 *	once if there is no store
 * @changed: store a group again, if it is stored
 * @unstore: delete a group from the store
 * @on_end: a group's trees are going to be deleted
 */
struct group_ops {
	void	(*store)(struct group *g);
	void	(*changed)(struct group *g);
	void	(*unstore)(struct group *g);
	void	(*on_end)(struct group *g);
};

/**
 * group_phase() - get the state of a group, or the last one before it ended
 * @g: group
 *
 * Return: a state before GROUP_ENDING.
 */
static inline enum group_state group_phase(const struct group *g)
{
	return g->state < GROUP_ENDING ? g->state : g->end.from;
}

/**
 * group_is_forming() - check that no rank has got "joined" yet
 * @g: group
 *
 * Return: true if so.
 */
static inline bool group_is_forming(const struct group *g)
{
	return group_phase(g) < GROUP_JOINED;
}

/**
 * group_is_rebuilding() - check whether a group is being rebuilt
 * @g: group
 *
 * Return: true if so, or if it was when it ended.
 */
static inline bool group_is_rebuilding(const struct group *g)
{
	return group_phase(g) >= GROUP_REJOINING;
}

/**
 * group_is_joined() - check whether the tree exists and ranks get "joined"
 * @state: state of a group
 *
 * Return: true if so.
 */
static inline bool group_is_joined(enum group_state state)
{
	return state == GROUP_JOINED || state == GROUP_READY ||
	       state == GROUP_REJOINED;
}

/**
 * group_is_hidden() - check whether operators see another group instead
 * @g: group
 *
 * Return: true if @g comes from a group that still has ranks, or is not ready; or if @g's
 * ranks have moved.
 */
static inline bool group_is_hidden(const struct group *g)
{
	const struct group *from = g->move.from, *to = g->move.to;

	return (from && (from->state < GROUP_ENDING ||
			 group_phase(g) < GROUP_READY)) ||
	       (to && !to->move.mute && to->state == GROUP_READY &&
		g->state >= GROUP_ENDING);
}

/* object.c */
struct group *group_new(struct manager *m, struct tenant *tn,
			struct reservation *reserved,
			const struct inc_rdv_join *join);
int group_enter(struct group *g);
void group_set_state(struct group *g, enum group_state state);
void group_take_out(struct group *g);
void group_touch(struct group *g);
void group_hurry(struct group *g);
void group_raise(struct group *g, enum group_event event);
struct group *group_first(const struct manager *m, const char *name);
struct group *group_next(const struct group *g);
bool group_is_better(const struct group *g, const struct group *than);
struct group *group_of_tenant(const struct manager *m, const char *tenant,
			      const char *name);
bool group_uses(const struct group *g, const struct sw *sw);
void subtree_enter(struct subtree *subtree);
bool group_has_tree(const struct manager *m, uint32_t id);
struct rank *subtree_rank(const struct subtree *subtree, uint32_t member);
struct subtree *rank_subtree(const struct rank *r);
struct subtree *group_find_subtree(const struct manager *m, const struct sw *sw,
				   uint32_t id);
unsigned int group_levels(const struct group *g);
void group_missing(const struct group *g, const struct rank *but, char *text,
		   size_t len);
void group_awaited(const struct group *g, char *text, size_t len);
void group_forget_links(struct group *g);

/*
 * Log with the tenant, since tenants may use the same group names. Of a group that moves,
 * and the one that it moves to, operators hear of the one that they see.
 */
#define group_log(g, kind, ...)						\
	do {								\
		if (!group_is_hidden(g) && !(g)->move.mute)		\
			event_log_of(&(g)->manager->events, kind,	\
				     (g)->tenant->name, (g)->name,	\
				     __VA_ARGS__);			\
	} while (0)

/* fail.c */
void group_blame(struct group *g, enum group_cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void group_fail(struct group *g, enum group_cause cause, int rank,
		unsigned int status, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void group_raise_fault(struct group *g, enum group_event event,
		       enum group_cause cause, int err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void group_log_fault(struct group *g);

/* A new group that is refused ends; a group that is rebuilt may try again. */
#define group_refuse(g, err, ...)					\
	group_raise_fault(g, GROUP_EV_REFUSED, CAUSE_REFUSED, err, __VA_ARGS__)

/* tell.c */
void group_tell(struct rank *r, const struct am_message *msg);
void group_tell_all(struct group *g, const struct inc_rdv_msg *msg);
void group_tell_failed(struct group *g, int rank, unsigned int status,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void group_tell_joined(struct rank *r);
void group_tell_rebuild(struct rank *r, const char *text);
uint32_t group_beat_ms(const struct manager *m);
uint32_t group_resume_ms(const struct manager *m);

/* rank.c */
void rank_leave(struct rank *r);
void rank_lost(struct rank *r, const char *reason);
void group_delete_left(struct group *g);
void group_dismiss(struct group *g, int err, const char *why);

/* trees.c */
void group_wishes(const struct group *g, struct tree *t);
bool trees_build(struct group *g, const struct place *p);
bool trees_step(struct group *g);
void trees_delete(struct group *g);
void trees_drop(struct group *g);
void trees_del_member(const struct rank *r);

/* where.c */
bool where_locate(const struct group *g, bool near, uint32_t *at,
		  uint32_t *lost);
bool where_compute(struct group *g, const uint32_t *at, struct place *p);
bool where_await_hosts(struct group *g);
bool where_pmtu_fits(struct group *g);
void where_none(struct group *g, bool located, uint32_t lost);
struct place_why;
bool group_why(const struct group *g, struct place_why *list, uint32_t *root);
bool group_fits(struct group *g, const struct sw *place);
bool group_is_narrow(const struct group *g, char *text, size_t len);

/* cm.c */
bool cm_offered(const struct sw *sw);
bool cm_placed(struct group *g, const struct place *p);
bool cm_made(struct group *g);
bool cm_reached(struct rank *r);
void cm_tell(const struct rank *r, struct am_message *msg);
unsigned int cm_count(const struct group *g);

/* rebuild.c */
bool group_may_rebuild(const struct group *g);
void group_rebuild(struct group *g, const char *text);
bool group_try_again(struct group *g, const char *why);
bool group_start_over(struct group *g, const char *why);
void group_rejoin(struct rank *r, const struct inc_rdv_join *join);
void group_join_again(struct rank *r);
void group_rebuild_step(struct group *g);
void group_rebuild_on(struct group *g);

/* room.c */
bool group_waits(struct group *g);
bool group_awaits_room(struct group *g, const uint32_t *at);
bool group_awaits_memory(struct group *g);
void group_yield(struct group *g);
void group_has_room(struct group *g);
void group_wake(struct manager *m);

/* keep.c */
struct sw *keep_find(const struct manager *m, const char *id, const char *address);
void keep_place(struct group *g, const char *id, const char *address);
void keep_places(struct group *g);
void keep_release(struct group *g);
void keep_others(const struct group *g);
bool keep_any(const struct group *g);

/* route.c */
struct place_fabric;
void route_missing(const struct subtree *subtree, bool up);
void route_leave_out(const struct group *g, struct place_fabric *f);

/* move.c */
#define MOVE_MS	600000	/* for ranks that compute to take part */

struct group *move_find(const struct manager *m, const struct tenant *tn,
			const char *job);
void move_take(struct group *from, struct group *to);
void move_restore(struct group *g);
void move_refused(struct group *to, const char *why);
bool move_allows(const struct group *from, const struct inc_rdv_join *join);
void move_stored(struct group *g);
bool move_part(struct group *g);
void move_pass_on(struct group *g);
bool move_fits(struct group *g, const struct sw *place, char *why,
	       size_t len);
bool move_may_begin(const struct group *g);
bool move_can_begin(struct group *g);
bool move_begin(struct group *g, const struct group_wish *wish, const char *why);
void move_to_uc(struct group *g);
void move_tell_again(struct rank *r);
int64_t move_at(const struct group *g);
void move_expire(struct group *g);
void move_missing(const struct group *g, char *text, size_t len);

/* home.c */
void home_note(struct group *g);
void home_look(struct group *g);
int64_t home_at(const struct group *g);
void home_due(struct group *g);

/* link.c */
void group_note_links(struct group *g);
bool group_down_link(const struct group *g, int rank, char *text, size_t len);
void group_check_links(struct group *g, const struct sw *sw);

/* timer.c */
int64_t rank_heard_at(const struct rank *r);
void group_expire(struct group *g);

/* undetermined.c */
void group_undetermined_tree(struct group *g, unsigned int status,
			     const char *fmt,
			     ...) __attribute__((format(printf, 3, 4)));
void group_undetermined_message(struct group *g, const struct inc_rdv_msg *msg);
void group_log_wrong(struct group *g, const struct inc_rdv_msg *msg);
int64_t group_undetermined_at(const struct group *g);
void group_undetermined_due(struct group *g);

/* limit.c */
unsigned int limit_room(const struct group *g, bool ending);
void limit_ending(const struct group *new);
bool limit_is_reached(const struct group *g, const struct sw *sw);
bool limit_says(const struct group *g, char *why, size_t len);
bool limit_slots(const struct subtree *subtree, char *why, size_t len);

#endif /* INC_MANAGER_GROUP_H */
