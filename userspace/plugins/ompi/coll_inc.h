/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * coll/inc: MPI collectives over an INC switch, for Open MPI 5.
 *
 * component.c	parameters, and which communicators get a module
 * module.c	a communicator's module, and its fallbacks
 * check.c	tests whether this process can use the switch
 * able.c	remembers whether this process can use the switch
 * aside.c	meetings in the background, for non-blocking operations
 * han.c	goes around coll/han where it is wrong
 * params.c	checks that all ranks have the same parameters
 * group.c	brings the ranks of a communicator together at the switch
 * types.c	maps MPI's types and operations to those of INC
 * copy.c	copies non-contiguous or device data to and from host memory
 * op.c		a collective in progress: waiting and completion
 * lost.c	communicators that were revoked or have lost a process (ULFM)
 * request.c	collectives as requests: non-blocking, persistent
 * coll.c	the collectives if each host has one rank
 * hosts.c	the collectives that are combined on hosts with several ranks
 * ranked.c	reductions in the order of the ranks, without the switch
 * entry.c	entry points for Open MPI
 * stats.c	which operations went through the switch, and why others did not
 */
#ifndef COLL_INC_H
#define COLL_INC_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/class/opal_list.h"
#include "opal/util/output.h"

#include <inc/inc.h>

/*
 * The collectives that this component implements, as X(NAME): blocking,
 * non-blocking and persistent.
 */
#define COLL_INC_NAMES(X)						\
	X(allgather) X(allreduce) X(alltoall) X(barrier) X(bcast)	\
	X(gather) X(reduce) X(reduce_scatter) X(reduce_scatter_block)	\
	X(scatter)
#define COLL_INC_INAMES(X)						\
	X(iallgather) X(iallreduce) X(ialltoall) X(ibarrier) X(ibcast)	\
	X(igather) X(ireduce) X(ireduce_scatter)			\
	X(ireduce_scatter_block) X(iscatter)
#define COLL_INC_INITS(X)						\
	X(allgather_init) X(allreduce_init) X(alltoall_init)		\
	X(barrier_init) X(bcast_init) X(gather_init) X(reduce_init)	\
	X(reduce_scatter_init) X(reduce_scatter_block_init)		\
	X(scatter_init)
#define COLL_INC_ALL(X)	COLL_INC_NAMES(X) COLL_INC_INAMES(X) COLL_INC_INITS(X)

enum coll_inc_fn {
#define X(name) COLL_INC_##name,
	COLL_INC_ALL(X)
#undef X
	COLL_INC_NFN
};

/**
 * enum coll_inc_why - why an operation did not go through the switch
 * @COLL_INC_GOES: it did
 * @COLL_INC_TRYING: a rank has not found out yet whether it can use the switch
 * @COLL_INC_LATE: not all ranks came to the daemon in time, or stayed there
 * @COLL_INC_NO_DEVICE: a host has no RDMA device
 * @COLL_INC_FULL: the switch or its daemon had no room
 * @COLL_INC_NO_TREE: a rank can't use the switch for another reason
 * @COLL_INC_NO_DAEMON: a rank can't reach the daemon
 * @COLL_INC_NO_SERVER: a rank knows of no daemon
 * @COLL_INC_ONE_HOST: all ranks are on one host
 * @COLL_INC_NOT_YET: the ranks have not met: too few operations so far
 * @COLL_INC_NO_WAIT: the ranks have not met, and a non-blocking operation must
 *	not wait for them
 * @COLL_INC_HOSTS: the operation is not combined on hosts with several ranks
 * @COLL_INC_SIZE: the data is smaller or larger than the configured limits
 * @COLL_INC_TYPE: the switch can't reduce that type, or not with that operation
 * @COLL_INC_OP: the operation is user-defined, or no reduction
 * @COLL_INC_DUP: Open MPI may be making a communicator by this operation
 * @COLL_INC_LANES: there are too many persistent operations
 * @COLL_INC_MEMLOCK: a rank may not register so much memory
 * @COLL_INC_PARAMS: the ranks have different parameters
 * @COLL_INC_LATER: undecided until the meeting in the background has ended
 * @COLL_INC_NWHY: number of reasons
 *
 * Of the ranks' reasons in a meeting, the greatest counts: if one finds the
 * switch full, the others only time out. Ranks retry after reasons before
 * COLL_INC_NO_SERVER.
 */
enum coll_inc_why {
	COLL_INC_GOES,
	COLL_INC_TRYING,
	COLL_INC_LATE,
	COLL_INC_NO_DEVICE,
	COLL_INC_FULL,
	COLL_INC_NO_TREE,
	COLL_INC_NO_DAEMON,
	COLL_INC_NO_SERVER,
	COLL_INC_ONE_HOST,
	COLL_INC_NOT_YET,
	COLL_INC_NO_WAIT,
	COLL_INC_HOSTS,
	COLL_INC_SIZE,
	COLL_INC_TYPE,
	COLL_INC_OP,
	COLL_INC_DUP,
	COLL_INC_LANES,
	COLL_INC_MEMLOCK,
	COLL_INC_PARAMS,
	COLL_INC_LATER,
	COLL_INC_NWHY
};

/**
 * enum coll_inc_state - state of a communicator
 * @COLL_INC_NEW: its ranks have not tried to meet, or will try again
 * @COLL_INC_MEETING: they are meeting; collectives used for that fall through
 * @COLL_INC_ASIDE: they are meeting in the background; non-blocking operations
 *	are queued, blocking ones wait
 * @COLL_INC_READY: its collectives go through the switch
 * @COLL_INC_NONE: its collectives never go through the switch
 */
enum coll_inc_state {
	COLL_INC_NEW,
	COLL_INC_MEETING,
	COLL_INC_ASIDE,
	COLL_INC_READY,
	COLL_INC_NONE,
};

/**
 * struct coll_inc_params - MCA parameters ("ompi_info --param coll inc")
 * @priority: priority of this component; 0 switches it off
 * @verbose: 1: report communicators, 2: operations, too
 * @min_ranks: smallest communicator that goes through the switch
 * @meet_after: a communicator's ranks meet in its suitable operation of this
 *	number; operations of much data count more
 * @min_bytes: smallest data of a rank, or of one of its blocks
 * @max_bytes: largest data of a rank, or of one of its blocks
 * @timeout_ms: limit of an operation without any progress; 0: none
 * @join_timeout_ms: how long ranks wait for each other at the daemon
 * @try_timeout_ms: how long meetings wait for a process's first try of the switch
 * @stats: report operations at the end; 1: of the first rank, 2: of each
 * @max_persistent: persistent operations with a tree of their own
 * @same_bits: what falls through is reduced in the switch's order
 * @server: HOST[:PORT] of the rendezvous daemon; NULL: INC_SERVER
 */
struct coll_inc_params {
	int		priority;
	int		verbose;
	int		min_ranks;
	int		meet_after;
	unsigned long	min_bytes;
	unsigned long	max_bytes;
	int		timeout_ms;
	int		join_timeout_ms;
	int		try_timeout_ms;
	int		stats;
	int		max_persistent;
	bool		same_bits;
	char		*server;
};

extern struct coll_inc_params coll_inc_params;
extern int coll_inc_output;

/* Print a message at a level of coll_inc_verbose. */
#define coll_inc_say(level, ...)					\
	do {								\
		if (coll_inc_params.verbose >= (level))			\
			opal_output(coll_inc_output, __VA_ARGS__);	\
	} while (0)

/* The functions that were selected before this component. */
struct coll_inc_below {
#define X(name)								\
	mca_coll_base_module_##name##_fn_t name;			\
	mca_coll_base_module_t *name##_module;
	COLL_INC_ALL(X)
#undef X
	mca_coll_base_module_allgatherv_fn_t allgatherv;
	mca_coll_base_module_t *allgatherv_module;
};

/* A host's partial result of up to this many bytes needs no allocation. */
#define COLL_INC_SCRATCH	65536

/* Tags of a non-blocking operation: see below.c. */
#define COLL_INC_TAGS		3

/* Bytes kept of a message of libinc's. */
#define COLL_INC_SAID		192

/* Trees that a communicator may have for persistent operations. */
#define COLL_INC_MAX_LANES	16
#define COLL_INC_NO_LANE	(-1)

/**
 * struct coll_inc_module - module of a communicator
 * @super: Open MPI's part
 * @live: in the list of all modules
 * @below: functions to fall through to
 * @comm: the communicator, which outlives this
 * @state: enum coll_inc_state
 * @why: reason for COLL_INC_NONE; in COLL_INC_NEW: why the last try failed
 * @said: message of libinc or the daemon when this rank last failed to meet, else
 *	the rank that found @why then
 * @tried: message of libinc or the daemon in this meeting
 * @culprit: lowest rank with reason @why
 * @counted: suitable operations so far, weighted; the same on all ranks
 * @meet_at: the ranks meet when @counted is that much
 * @alike: whether all ranks have the same parameters; -1: not compared yet
 * @ranked: what falls through is reduced in the switch's order; -1: undecided
 * @tally: number of operations by reason
 * @aside: meeting in the background
 * @decide: if operations are queued: starts them once it has ended
 * @no_aside: no meeting in the background is possible
 * @tagged: suitable non-blocking operations take tags when they are called
 * @tag: tags of the operation that is being decided
 * @queue: requests in COLL_INC_ASIDE
 * @err: 0, or the meeting's OMPI_ERR_*: it failed on some ranks, and this one can't
 *	know what the others do
 * @ended: a rank could not do its part: the trees are abandoned
 * @inc: the tree; NULL on ranks represented by their host's leader
 * @local: the ranks of this host; NULL if each host has one rank
 * @host_of: host number of each rank; NULL if @local is
 * @at: each rank's rank in its host's @local; NULL if @local is
 * @scratch: on a leader: buffer of COLL_INC_SCRATCH bytes
 * @untold: an error of this rank that its host does not know of yet
 * @broken: an error known on the whole host; each operation returns it
 * @failed: error of the last blocking operation that failed
 * @lanes: trees for persistent operations
 * @nlanes: their number, the same on all ranks
 * @free_lanes: mask of lanes that no operation of this rank uses
 * @memlock: bytes that each rank may register for all operations in progress
 * @unheard: coll/han made the communicator, and checks no completion status
 * @watched: in the list of modules that have trees, see lost.c
 * @is_watched: @watched is in that list
 * @lost: the communicator was revoked or has lost a process: the trees were ended
 * @news_by: milliseconds of a clock; limit for Open MPI to explain an error; 0: no
 *	error
 */
struct coll_inc_module {
	mca_coll_base_module_t	super;
	opal_list_item_t	live;
	struct coll_inc_below	below;
	ompi_communicator_t	*comm;
	enum coll_inc_state	state;
	enum coll_inc_why	why;
	char			said[COLL_INC_SAID];
	char			tried[COLL_INC_SAID];
	int			culprit;
	unsigned long		counted;
	unsigned long		meet_at;
	int			alike;
	int			ranked;
	unsigned long		tally[COLL_INC_NWHY];
	struct coll_inc_aside	*aside;
	void			(*decide)(struct coll_inc_module *m);
	bool			no_aside;
	bool			tagged;
	int32_t			tag;
	opal_list_t		queue;
	int			err;
	bool			ended;
	struct inc_comm		*inc;
	ompi_communicator_t	*local;
	int			*host_of;
	int			*at;
	void			*scratch;
	int			untold;
	int			broken;
	int			failed;
	struct inc_comm		*lanes[COLL_INC_MAX_LANES];
	int			nlanes;
	int			free_lanes;
	unsigned long		memlock;
	bool			unheard;
	opal_list_item_t	watched;
	bool			is_watched;
	bool			lost;
	int64_t			news_by;
};

OBJ_CLASS_DECLARATION(coll_inc_module_t);
typedef struct coll_inc_module coll_inc_module_t;

/**
 * struct coll_inc_args - arguments of a collective
 * @coll: the collective, as the number of its blocking variant
 * @sbuf: data to send, or MPI_IN_PLACE
 * @scount: elements of @sbuf, or of one of its blocks
 * @stype: their type
 * @rbuf: buffer for the result; for a Bcast, the data
 * @rcount: elements of @rbuf, or of one of its blocks
 * @rtype: their type; for a reduction, the type of all data
 * @counts: for Reduce_scatter: elements of each rank's part
 * @op: operation of a reduction
 * @root: root rank
 */
struct coll_inc_args {
	enum coll_inc_fn	coll;
	const void		*sbuf;
	int			scount;
	ompi_datatype_t		*stype;
	void			*rbuf;
	int			rcount;
	ompi_datatype_t		*rtype;
	const int		*counts;
	ompi_op_t		*op;
	int			root;
};

/**
 * struct coll_inc_op - a collective in progress
 * @m: its module
 * @inc: its tree
 * @rc: result of its start: 0 or -errno
 * @req: its libinc request; the last one, if there are several
 * @earlier: the other requests, which complete before
 * @nearlier: their number
 * @send_tmp: packed data to send, or NULL
 * @recv_tmp: buffer for packed results, or NULL
 * @recv_at: the wanted part of @recv_tmp
 * @buf: final destination of the result
 * @blocks: number of blocks to unpack
 * @count: elements of a block
 * @type: their type
 * @bytes: without a type: bytes to copy
 */
struct coll_inc_op {
	struct coll_inc_module	*m;
	struct inc_comm		*inc;
	int			rc;
	struct inc_request		*req;
	struct inc_request		**earlier;
	int			nearlier;
	void			*send_tmp;
	void			*recv_tmp;
	const char		*recv_at;
	char			*buf;
	int			blocks;
	int			count;
	ompi_datatype_t		*type;
	size_t			bytes;
};

/* module.c */
mca_coll_base_module_t *coll_inc_comm_query(ompi_communicator_t *comm,
					    int *priority);

/* decide.c */
enum coll_inc_why coll_inc_decide(struct coll_inc_module *m,
				  ompi_communicator_t *comm, enum coll_inc_fn fn,
				  const struct coll_inc_args *args);
enum coll_inc_why coll_inc_decide_apart(struct coll_inc_module *m,
					ompi_communicator_t *comm,
					enum coll_inc_fn fn,
					const struct coll_inc_args *args,
					int *lane);
bool coll_inc_suits(ompi_communicator_t *comm, enum coll_inc_fn fn,
		    const struct coll_inc_args *args);
bool coll_inc_keeps_order(struct coll_inc_module *m, ompi_communicator_t *comm,
			  const struct coll_inc_args *args);

/* below.c */
int32_t coll_inc_tag_use(ompi_communicator_t *comm, int32_t tag);
void coll_inc_tag_done(ompi_communicator_t *comm, int32_t next);
int32_t coll_inc_tags(ompi_communicator_t *comm);
int coll_inc_below(struct coll_inc_module *m, ompi_communicator_t *comm,
		   const struct coll_inc_args *a, int32_t tag,
		   ompi_request_t **request);

/* aside.c */
bool coll_inc_aside_may(struct coll_inc_module *m, ompi_communicator_t *comm);
void coll_inc_aside_begin(struct coll_inc_module *m, ompi_communicator_t *comm,
			  int32_t tag);
void coll_inc_aside_wait(const struct coll_inc_module *m);
void coll_inc_aside_end(void);

/* han.c */
void coll_inc_hosts_init(void);
bool coll_inc_hosts_shared(ompi_communicator_t *comm);
void coll_inc_around_han(struct coll_inc_module *m, ompi_communicator_t *comm);

/* params.c */
void coll_inc_params_tell(void);
bool coll_inc_params_same(ompi_communicator_t *comm);
bool coll_inc_params_threads(ompi_communicator_t *comm);

/* stats.c */
void coll_inc_count(struct coll_inc_module *m, enum coll_inc_fn fn,
		    size_t bytes, const struct coll_inc_args *args,
		    enum coll_inc_why why);
void coll_inc_stats_add(struct coll_inc_module *m);
void coll_inc_stats_del(struct coll_inc_module *m);
void coll_inc_show_stats(void);
const char *coll_inc_why_text(enum coll_inc_why why);

/*
 * Values exchanged before a meeting. All ranks get the maximum of each: the
 * worst reason, with the complement of the lowest rank that has it, whether any
 * rank shares its host, the complement of the minimum lock limit, and the name and
 * the owner, which only rank 0 has.
 */
enum {
	COLL_INC_SAY_WHY,
	COLL_INC_SAY_SHARED,
	COLL_INC_SAY_MEMLOCK,
	COLL_INC_SAY_NAME,
	COLL_INC_SAY_OWNER = COLL_INC_SAY_NAME + 2,
	COLL_INC_SAY_N = COLL_INC_SAY_OWNER + 2,
};

/* check.c */
unsigned int coll_inc_slots(void);
enum coll_inc_why coll_inc_why_of(int err);
enum coll_inc_why coll_inc_check(const char *server, char said[COLL_INC_SAID]);

/* group.c */
uint64_t coll_inc_blame(enum coll_inc_why why, ompi_communicator_t *comm);
enum coll_inc_why coll_inc_blamed(struct coll_inc_module *m, uint64_t blame);
bool coll_inc_can_say(ompi_communicator_t *comm);
void coll_inc_say_mine(uint64_t say[COLL_INC_SAY_N], ompi_communicator_t *comm);
enum coll_inc_why coll_inc_join(struct coll_inc_module *m,
				ompi_communicator_t *comm,
				const uint64_t say[COLL_INC_SAY_N]);
void coll_inc_met(struct coll_inc_module *m, ompi_communicator_t *comm);
void coll_inc_meet(struct coll_inc_module *m, ompi_communicator_t *comm);
void coll_inc_part(struct coll_inc_module *m);
enum coll_inc_why coll_inc_lane(struct coll_inc_module *m,
				ompi_communicator_t *comm, int *lane);

/* able.c */
void coll_inc_unable(enum coll_inc_why why, const char *said);
void coll_inc_tree_made(void);
void coll_inc_tree_gone(void);
bool coll_inc_tried(void);
enum coll_inc_why coll_inc_able(void);
void coll_inc_able_said(enum coll_inc_why why, char *said);

/* types.c */
enum coll_inc_why coll_inc_terms(const ompi_datatype_t *type, ompi_op_t *op,
				 enum inc_dtype *dtype, enum inc_op *iop);
enum inc_dtype coll_inc_bytes(size_t bytes, size_t *count);
size_t coll_inc_size(const ompi_datatype_t *type, int count);

/* copy.c */
const void *coll_inc_send(struct coll_inc_op *o, const void *buf, int blocks,
			  int count, ompi_datatype_t *type);
void *coll_inc_recv(struct coll_inc_op *o, void *buf, int blocks, int count,
		    ompi_datatype_t *type);
int coll_inc_stage(struct coll_inc_op *o, const struct coll_inc_args *a,
		   const void **send, size_t in, void **recv, size_t out);
int coll_inc_apart(struct coll_inc_op *o, const void **send, size_t in,
		   const void *recv, size_t own, size_t out);
int coll_inc_deliver(struct coll_inc_op *o);

/* op.c */
void coll_inc_lock(void);
bool coll_inc_trylock(void);
void coll_inc_unlock(void);
int coll_inc_error(int rc);
void coll_inc_end(struct coll_inc_module *m, int rc);
int coll_inc_finish(struct coll_inc_op *o, int rc);
int coll_inc_wait(struct coll_inc_op *o);

/* lost.c */
int coll_inc_lost(ompi_communicator_t *comm);
bool coll_inc_survives(void);
bool coll_inc_expects_news(struct coll_inc_module *m, int ret);
int coll_inc_explain(struct coll_inc_module *m, int ret);
void coll_inc_watch(struct coll_inc_module *m);
void coll_inc_unwatch(struct coll_inc_module *m);
void coll_inc_watch_end(void);

/* request.c */
int coll_inc_request(ompi_communicator_t *comm, struct coll_inc_op *o,
		     ompi_request_t **request);
int coll_inc_persistent(struct coll_inc_module *m, ompi_communicator_t *comm,
			int lane, const struct coll_inc_args *args,
			ompi_request_t **request);
int coll_inc_request_ranked(ompi_communicator_t *comm, int32_t tag,
			    const struct coll_inc_args *args,
			    ompi_request_t **request);
int coll_inc_request_later(struct coll_inc_module *m, ompi_communicator_t *comm,
			   enum coll_inc_fn fn,
			   const struct coll_inc_args *args,
			   ompi_request_t **request);
void coll_inc_progress_end(void);

/* coll.c */
size_t coll_inc_args_size(const struct coll_inc_args *a, int rank, int nranks);
size_t coll_inc_args_total(const struct coll_inc_args *a, size_t bytes,
			   int nranks);
enum coll_inc_why coll_inc_args_fit(const struct coll_inc_args *a,
				    size_t bytes);
void coll_inc_begin(struct coll_inc_op *o, const struct coll_inc_args *a);

/* hosts.c */
int coll_inc_hosts(struct coll_inc_module *m, const struct coll_inc_args *a,
		   int rank);

/* ranked.c */
struct coll_inc_ranked;
bool coll_inc_ranked_is(const struct coll_inc_args *a);
struct coll_inc_ranked *coll_inc_ranked_begin(ompi_communicator_t *comm,
					      const struct coll_inc_args *a,
					      int32_t tag);
bool coll_inc_ranked_ready(const struct coll_inc_ranked *t);
int coll_inc_ranked_next(struct coll_inc_ranked *t, bool *more);
int coll_inc_ranked_end(struct coll_inc_ranked *t, int ret);
int coll_inc_ranked(ompi_communicator_t *comm, const struct coll_inc_args *a);

/* entry.c */
int coll_inc_allgatherv(const void *sbuf, int scount, ompi_datatype_t *stype,
			void *rbuf, const int *rcounts, const int *disps,
			ompi_datatype_t *rtype, ompi_communicator_t *comm,
			mca_coll_base_module_t *module);
#define X(name)								\
	extern const mca_coll_base_module_##name##_fn_t coll_inc_##name##_fn;
COLL_INC_ALL(X)
#undef X

#endif /* COLL_INC_H */
