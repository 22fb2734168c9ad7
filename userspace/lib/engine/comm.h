/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A communicator and its requests, for the files of engine/ and api/. Of those in
 * engine/, each calls only what is above it here:
 *
 *	arena.c		memory for outgoing messages and short results
 *	end.c		how requests and the communicator end
 *	fail.c		why the communicator fails, or its tree does
 *	sq.c		the send queue
 *	window_rc.c	the window over RC
 *	uc.c		the UC transport
 *	msg.c		turns requests into messages, and results into progress
 *	rebuild.c	goes on over another tree
 *	progress.c	does what is due, of other communicators, too
 *	wait.c		sleeps until results arrive
 *
 *	api/call.c	turns calls into requests
 *	api/coll.c	the public collectives
 *	api/comm.c	creation and destruction
 *	api/fork.c	communicators in a child of fork()
 *	api/mem_reg.c	the public functions for memory
 *	api/query.c	queries
 *	api/rails.c	a second tree, over a second device
 *	api/request.c	the public functions for requests
 */
#ifndef INC_LIB_COMM_H
#define INC_LIB_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "base/log.h"
#include "conf/clock.h"
#include "core/bdp.h"
#include "core/plan.h"
#include "core/uc_rtx.h"
#include "daemon/watchdog.h"
#include "device/dying.h"
#include "device/landing.h"
#include "device/mem.h"
#include "device/verbs.h"
#include "inc.h"

/* Over RC: initial value, minimum and maximum. */
#define INC_WINDOW_RC_DEFAULT	4
#define INC_WINDOW_RC_MIN	3
#define INC_WINDOW_RC_MAX	32
/* Over UC, in messages of one packet: initial value and maximum. */
#define INC_WINDOW_UC_DEFAULT	64
#define INC_WINDOW_UC_MAX	1024
#define INC_RETRIES_DEFAULT	60
#define INC_TIMEOUT_DEFAULT_MS	30000
/*
 * 1.07 s, longer than any round trip and any stall of a busy machine. If rxe
 * times out during a retransmission that the path delays, it loses count of its
 * PSNs. Lost packets are retransmitted on the switch's NAK, or when it solicits
 * them.
 */
#define INC_QP_TIMEOUT_DEFAULT	18
#define INC_LEAVE_MS		2000	/* for the daemon's answer to "leave" */
#define INC_SQ_DEPTH_MIN	128	/* send requests */
#define INC_RQ_SPARE		16	/* more receives, for statuses */
#define INC_INLINE_MAX		96	/* bytes; a header and 8 fp64 */
#define INC_WC_BATCH		16
#define INC_FOREVER		(-1)	/* instead of milliseconds */
#define INC_QP_DESTROY_MS	200	/* for a call to wait for the device */

/**
 * struct inc_request - an operation
 * @comm: communicator
 * @next: next operation in order of issue, while in progress
 * @all: next of all requests that the communicator has allocated
 * @hdr: fields common to the INC headers of its messages
 * @plan: its steps
 * @step: the step whose messages are being sent
 * @step_no: number of @step
 * @send: caller's data; NULL: this rank sends none
 * @recv: caller's buffer for the result; NULL: this rank gets none
 * @source: caller's data, if @send is @temp
 * @temp: copy of the data, freed at the end
 * @keeps: @temp is kept for when it has to be repeated after its end
 * @in: bytes of its data; of what is kept, the result lies behind them
 * @out: bytes of its result
 * @last_id: ID of its last message
 * @esize: element size in bytes
 * @stride: bytes from a block to the next one in the caller's buffers
 * @part: the rest of it, over the second rail; NULL: none
 * @since_us: when it began, if both rails had nothing else to do; 0: they had
 * @after: operations over the second rail that end before it does
 * @pd: protection domain of @smem and @rmem
 * @number: how many operations had begun when it had
 * @uc: it is planned, and has memory, for UC
 * @posted: offset of the next message's part in a block, bytes
 * @msgs: number of its messages; with @inc_comm.rebuild.on, and without @keeps, the
 *	last one tells the other ranks that this one has all results
 * @msgs_posted: messages sent
 * @msgs_done: messages whose result has arrived
 * @last_seq: number of its last send request
 * @smem: registration of @send; NULL: copied
 * @rmem: registration of @recv; NULL: copied
 * @bounces: a registration failed: long messages are copied, one at a time
 * @err: first error
 * @persistent: can be started again, and keeps its memory until it is freed
 * @done: not in progress: completed, or not started yet
 * @orphan: the user has freed it; release it when it is done
 */
struct inc_request {
	struct inc_comm	*comm;
	struct inc_request	*next;
	struct inc_request	*all;
	struct inc_hdr	hdr;
	struct inc_plan	plan;
	struct inc_step	step;
	uint64_t	step_no;
	uint64_t	number;
	bool		uc;
	const char	*send;
	char		*recv;
	const char	*source;
	void		*temp;
	bool		keeps;
	size_t		in;
	size_t		out;
	uint32_t	last_id;
	size_t		esize;
	size_t		stride;
	struct inc_request	*part;
	uint64_t	since_us;
	uint64_t	after;
	const struct ibv_pd	*pd;
	size_t		posted;
	uint64_t	msgs;
	uint64_t	msgs_posted;
	uint64_t	msgs_done;
	uint64_t	last_seq;
	struct inc_mem	*smem;
	struct inc_mem	*rmem;
	bool		bounces;
	int		err;
	bool		persistent;
	bool		done;
	bool		orphan;
};

/**
 * struct inc_msg - a message in flight, indexed by message ID in the ring
 * @req: its operation; NULL: its result has arrived
 * @to: final destination of its result
 * @land: where the switch writes the result, if it must be copied to @to
 * @len: bytes of the result
 * @out: bytes sent, including the header
 * @seq: send request that reads its arena entry; 0: none
 * @bounced: it uses the bounce buffer
 */
struct inc_msg {
	struct inc_request	*req;
	char		*to;
	const char	*land;
	size_t		len;
	uint32_t	out;
	uint64_t	seq;
	bool		bounced;
};

/**
 * struct inc_bounce - buffer for one long message, if user memory can't be
 *	registered
 * @mem: data to send, followed by the result; NULL: no message is that long, or
 *	none has come yet
 * @mr: its registration
 * @room: bytes of either half
 * @busy: a message uses it
 * @seq: send request that reads it
 */
struct inc_bounce {
	char		*mem;
	struct ibv_mr	*mr;
	size_t		room;
	bool		busy;
	uint64_t	seq;
};

/**
 * struct inc_arena - registered memory for headers and short data
 * @mem: its memory
 * @mr: its registration
 * @size: its length
 * @entry_data: bytes of data to send in an entry; over RC as many again for the
 *	result
 */
struct inc_arena {
	char		*mem;
	struct ibv_mr	*mr;
	size_t		size;
	size_t		entry_data;
};

/**
 * struct inc_window_rc - a communicator's window over RC
 * @bdp: how many messages to keep in flight
 * @piece: bytes of a block in each measured message; 0: none
 * @timed_at: when the message whose round trip is measured was sent, in
 *	microseconds; 0: none
 * @timed_id: that message
 * @ops: operations, modulo 256
 * @results: results have arrived since messages were sent
 * @adapts: the window adapts, as the caller has not fixed it
 */
struct inc_window_rc {
	struct inc_bdp		bdp;
	size_t			piece;
	uint64_t		timed_at;
	uint32_t		timed_id;
	uint8_t			ops;
	bool			results;
	bool			adapts;
};

/**
 * struct inc_uc - additional state of a communicator over UC
 * @rtx: which messages to query when
 * @ring: its messages
 * @bdp: how many of them to keep in flight
 * @landing: where results land
 * @queries: headers of queries being sent, one per send request
 * @mr: their registration
 * @now: last reading of the clock, microseconds
 * @idle: calls since the last results
 * @retries: maximum unanswered queries of a message
 */
struct inc_uc {
	struct inc_uc_rtx		rtx;
	struct inc_uc_rtx_msg	*ring;
	struct inc_bdp		bdp;
	struct inc_landing	landing;
	struct inc_hdr		*queries;
	struct ibv_mr		*mr;
	uint64_t		now;
	unsigned int		idle;
	unsigned int		retries;
};

/**
 * enum inc_change_state - how far a communicator is on its way from RC to UC
 * @INC_CHANGE_NONE: it does not change, or has changed
 * @INC_CHANGE_MAKING: a thread makes another communicator, over UC
 * @INC_CHANGE_COUNTING: the ranks agree over that on the last operation over RC
 * @INC_CHANGE_DRAINING: the operations up to that one end
 * @INC_CHANGE_LEAVING: the ranks tell each other that they have
 * @INC_CHANGE_MOVED: it has changed, and other ranks may not have
 * @INC_CHANGE_CLEANING: a thread destroys what is not used any more
 */
enum inc_change_state {
	INC_CHANGE_NONE,
	INC_CHANGE_MAKING,
	INC_CHANGE_COUNTING,
	INC_CHANGE_DRAINING,
	INC_CHANGE_LEAVING,
	INC_CHANGE_MOVED,
	INC_CHANGE_CLEANING,
};

/**
 * enum inc_rebuild_state - how far a communicator is on its way to another tree
 * @INC_REBUILD_NONE: its tree works
 * @INC_REBUILD_BROKEN: the tree has failed, and the manager is to say "rebuild"
 * @INC_REBUILD_REJOINED: it has a new queue pair, and waits for "joined"
 * @INC_REBUILD_CONNECTED: the queue pair is in RTS, and waits for "ready"
 *
 * With two rails nobody says that: it makes another communicator instead, and then
 * agrees over it with the other ranks on what to repeat.
 */
enum inc_rebuild_state {
	INC_REBUILD_NONE,
	INC_REBUILD_BROKEN,
	INC_REBUILD_REJOINED,
	INC_REBUILD_CONNECTED,
};

/**
 * struct inc_comm - a communicator
 * @fork: guarded by fork.c's lock
 * @fork.next: next in its list
 * @fork.child: this is a child's copy
 *
 * @watchdog: time limit and daemon; its members say which thread they belong to
 *
 * @lock: guards everything else, if calls on other communicators may carry on this
 *	one; recursive
 * @shared: they may: it is over UC, or may change to that
 * @listed: they do
 *
 * The rest belongs to the thread that calls the library, one at a time:
 *
 * @rank: rank of the caller
 * @nranks: number of ranks
 * @who: its identity, for the log
 * @tree: the daemon's description of the tree
 *
 * @err: 0, or the negative errno value that it failed with
 * @error: the last failure, of the communicator or of an operation
 * @error.text: why it failed
 * @error.ask: the daemon may know which rank's request caused it
 * @error.msg_id: message that failed then
 *
 * @dev: verbs device
 * @pd: protection domain, the device's
 * @chan: completion channel of both queues
 * @qp: queue pair; NULL once the communicator has failed
 * @dying: the one before, if it takes long to destroy it; NULL: none
 * @qpn: its QPN
 * @unsent: packets that the device had failed to send before this communicator
 *
 * @rq: receive queue
 * @rq.cq: its completion queue
 * @rq.armed: @rq.cq will raise an event, or has an event pending
 * @rq.events: events of @rq.cq not acknowledged yet
 * @rq.depth: size, in requests
 * @rq.posted: receives posted
 *
 * @sq: send queue
 * @sq.cq: its completion queue
 * @sq.armed: @sq.cq will raise an event, or has an event pending
 * @sq.events: events of @sq.cq not acknowledged yet
 * @sq.depth: size, in messages
 * @sq.posted: messages posted
 * @sq.done: send requests known to be complete
 * @sq.signaled: the last signaled send request
 * @sq.every: at least one send request in this many is signaled
 * @sq.full: sending waits for a send completion
 * @sq.inline_max: maximum inline data, bytes
 * @sq.wr: send requests being built, two for each message of @window.max
 * @sq.sge: their gather lists, two entries each
 *
 * @window: messages in flight
 * @window.now: their current maximum number
 * @window.max: upper bound of @window.now
 * @window.rc: how @window.now adapts if the queue pair is RC
 * @uc: UC state; NULL: the queue pair is RC
 *
 * @msgs: messages, by message ID
 * @msgs.next: the next message
 * @msgs.head: oldest message without a result; @msgs.next: none
 * @msgs.ring: messages in flight, at index message ID & @msgs.mask
 * @msgs.mask: size of the ring - 1
 * @msgs.entries_max: entries of the ring once it has grown
 * @msgs.grow: it is to grow as soon as no message is in flight
 * @msgs.early: statuses of messages not sent yet, at index message ID &
 *	(slots - 1)
 *
 * @arena: headers and copies of short data, one entry per ring entry
 * @first_arena: the one from before the ring grew; the device may still read it
 * @bounce: for messages that are too long for an entry and must be copied; RC
 * @mem: registered user memory
 *
 * @ops: operations
 * @ops.first: the first in progress, in order of issue
 * @ops.last: the last in progress
 * @ops.tx: the first that has messages to send; NULL: none
 * @ops.free: spare requests
 * @ops.all: all requests, spare or not
 * @ops.kept: those that have ended and may have to be repeated, in order of issue
 * @ops.kept_last: the last of these
 * @ops.nkept: their number
 *
 * @rebuild: what happens if the tree fails
 * @rebuild.on: another one is made
 * @rebuild.state: how far that is
 * @rebuild.round: the manager's last "rebuild" that was answered
 * @rebuild.finished: operations that all ranks have the results of
 * @rebuild.refused: one more than these were when the device refused a packet
 * @rebuild.psn: first PSN of the new queue pair
 * @rebuild.err: why it has failed, a negative errno value
 * @rebuild.text: the same in words
 * @rails: if the ranks have two devices, each with a tree of its own, see api/rails.c
 * @rails.other: the second one; NULL: there is none, or this is it
 * @rails.peer: the other one; NULL: there is none
 * @rails.able: the job may have two
 * @rails.chosen: the second one's address, as a mask of @tree.rails; 0: none
 * @rails.at: where this one's daemon is
 * @rails.job: the second one's job; then, the one that replaces this one's if its tree
 *	fails, over the device of @rails.peer
 * @rails.opts: options of a communicator in that
 * @rails.text: why there could be none
 * @rails.tries: number of those that failed
 * @rails.took_us: how long this one took for its part of an operation; 0: not known
 * @rails.slow: the one that took much longer, so many times, @rails.slow_ops, in turn
 * @change: how it changes from RC to UC if packets are lost, see api/change.c
 * @change.next: next of those that other calls carry on, see progress.c
 * @change.step: does what is due, also after a failure; @called: a caller waits for it
 * @change.able: it may
 * @change.state: how far that is
 * @change.tries: number of times that it failed to
 * @change.opts: options of the communicator over UC
 * @change.job: its job
 * @change.text: why that could not be made
 * @change.thread: makes it, or destroys what is left; joined if @change.runs
 * @change.runs: there is such a thread
 * @change.ended: it has done its work
 * @change.stop: it is to give up
 * @change.stopped_by: if this is what it makes: its creator's @change.stop
 * @change.other: the communicator over UC; after the change, what was over RC
 * @change.req: operation over UC by which the ranks agree
 * @change.count: its data: number of operations begun; all ranks' highest one
 * @change.holds: operations after number @change.last are not sent
 * @change.last: the last one over RC
 * @change.results: results that there were at the change
 * @turns: calls of inc_request_test() in vain
 * @qp_timeout: local ACK timeout exponent
 * @cm: the queue pair is connected by RDMA CM
 *
 * @info: counters
 */
struct inc_comm {
	struct {
		struct inc_comm		*next;
		bool			child;
	} fork;

	struct inc_watchdog		watchdog;

	pthread_mutex_t			lock;
	bool				shared;
	bool				listed;

	int				rank;
	int				nranks;
	struct inc_who			who;
	struct inc_rdv_joined		tree;

	int				err;
	struct {
		char			text[INC_RDV_TEXT_MAX];
		bool			ask;
		uint32_t		msg_id;
	} error;

	struct inc_dev			dev;
	struct ibv_pd			*pd;
	struct ibv_comp_channel		*chan;
	struct ibv_qp			*qp;
	struct inc_dying		*dying;
	uint32_t			qpn;
	uint64_t			unsent;

	struct {
		struct ibv_cq		*cq;
		bool			armed;
		unsigned int		events;
		uint32_t		depth;
		uint32_t		posted;
	} rq;

	struct {
		struct ibv_cq		*cq;
		bool			armed;
		unsigned int		events;
		uint32_t		depth;
		uint64_t		posted;
		uint64_t		done;
		uint64_t		signaled;
		uint32_t		every;
		bool			full;
		uint32_t		inline_max;
		struct ibv_send_wr	*wr;
		struct ibv_sge		*sge;
	} sq;

	struct {
		uint32_t		now;
		uint32_t		max;
		struct inc_window_rc	rc;
	} window;
	struct inc_uc			*uc;

	struct {
		uint32_t		next;
		uint32_t		head;
		struct inc_msg		*ring;
		uint32_t		mask;
		uint32_t		entries_max;
		bool			grow;
		uint8_t			*early;
	} msgs;

	struct inc_arena		arena;
	struct inc_arena		first_arena;
	struct inc_bounce		bounce;
	struct inc_mem_cache		mem;

	struct {
		struct inc_request	*first;
		struct inc_request	*last;
		struct inc_request	*tx;
		struct inc_request	*free;
		struct inc_request	*all;
		struct inc_request	*kept;
		struct inc_request	*kept_last;
		uint32_t		nkept;
	} ops;

	struct {
		bool			on;
		enum inc_rebuild_state	state;
		uint32_t		round;
		uint32_t		finished;
		uint32_t		refused;
		uint32_t		psn;
		int			err;
		char			text[INC_RDV_TEXT_MAX];
	} rebuild;

	struct {
		struct inc_comm		*other;
		struct inc_comm		*peer;
		bool			able;
		uint32_t		chosen;
		char			at[64];
		char			job[INC_JOB_MAX + 1];
		struct inc_comm_opts	opts;
		char			text[INC_RDV_TEXT_MAX];
		unsigned int		tries;
		uint64_t		took_us;
		const struct inc_comm	*slow;
		unsigned int		slow_ops;
	} rails;

	struct {
		struct inc_comm		*next;
		void			(*step)(struct inc_comm *comm, bool called);
		bool			able;
		enum inc_change_state	state;
		unsigned int		tries;
		struct inc_comm_opts	opts;
		char			job[INC_JOB_MAX + 1];
		char			text[INC_RDV_TEXT_MAX];
		pthread_t		thread;
		bool			runs;
		_Atomic bool		ended;
		_Atomic bool		stop;
		_Atomic bool		*stopped_by;
		struct inc_comm		*other;
		struct inc_request	*req;
		uint64_t		count;
		bool			holds;
		uint64_t		last;
		uint64_t		results;
	} change;

	unsigned int			turns;
	unsigned int			qp_timeout;
	bool				cm;

	struct inc_comm_info		info;
};

/* arena.c */
struct inc_hdr *inc_msg_hdr(const struct inc_comm *comm, uint32_t id);
char *inc_msg_result(const struct inc_comm *comm, uint32_t id);
int inc_msg_alloc(struct inc_comm *comm);
int inc_msg_bounce(struct inc_comm *comm);
void inc_msg_grow(struct inc_comm *comm);
void inc_msg_free(struct inc_comm *comm);

/* end.c */
struct inc_request *inc_request_get(struct inc_comm *comm);
void inc_request_put(struct inc_request *req);
void inc_request_finish(struct inc_comm *comm);
void inc_request_fail_all(struct inc_comm *comm, int err);
void inc_comm_end_qp(struct inc_comm *comm, int ms);
void inc_comm_reap_mem(struct inc_comm *comm);
void inc_request_drop_kept(struct inc_comm *comm);
bool inc_request_again(struct inc_comm *comm, uint32_t done);
int inc_comm_note(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_comm_fail(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_comm_drop_qp(struct inc_comm *comm);

/* fail.c */
void inc_fail_device(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool inc_comm_watch_failed(struct inc_comm *comm);
void inc_comm_break(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_fail_rails(struct inc_comm *comm);
void inc_fail_own(struct inc_comm *comm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void inc_fail_wc(struct inc_comm *comm, const struct ibv_wc *wc,
		 const char *what);
void inc_fail_tree(struct inc_comm *comm, unsigned int status);

/* sq.c */
bool inc_sq_post(struct inc_comm *comm, struct ibv_send_wr *wr);
void inc_sq_reap(struct inc_comm *comm);

/* window_rc.c */
void inc_window_rc_issue(struct inc_comm *comm, const struct inc_request *req);
void inc_window_rc_sent(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id);
void inc_window_rc_filled(struct inc_comm *comm);
void inc_window_rc_done(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id, bool ok);

/* uc.c */
int inc_uc_alloc(struct inc_comm *comm);
void inc_uc_restart(struct inc_comm *comm);
void inc_uc_free(struct inc_comm *comm);
void inc_uc_sent(struct inc_comm *comm, bool first);
void inc_uc_came(struct inc_comm *comm);
bool inc_uc_heard(struct inc_comm *comm, uint32_t id, unsigned int *status);
void inc_uc_done(struct inc_comm *comm, uint32_t id, unsigned int status);
void inc_uc_progress(struct inc_comm *comm);
bool inc_uc_nap(struct inc_comm *comm);
int inc_uc_patience(const struct inc_comm *comm, int ms);
void inc_uc_woke(struct inc_comm *comm);

/* msg.c */
int inc_msg_post_recvs(struct inc_comm *comm);
void inc_msg_resume(struct inc_comm *comm, uint32_t done);
void inc_msg_issue(struct inc_comm *comm, struct inc_request *req);
void inc_msg_progress(struct inc_comm *comm);

/* rebuild.c */
int inc_comm_make_qp(struct inc_comm *comm, const char **what);
int inc_comm_take_memory(struct inc_comm *comm, char *err, size_t err_len);
int inc_comm_take_tree(struct inc_comm *comm, const struct inc_rdv_joined *tree,
		       uint32_t psn, char *err, size_t err_len);
uint64_t inc_rebuild_count(const struct inc_comm *comm);
void inc_rebuild_progress(struct inc_comm *comm);

/* progress.c */
void inc_comm_progress(struct inc_comm *comm);
void inc_others_add(struct inc_comm *comm);
void inc_others_del(struct inc_comm *comm);
int inc_others_progress(const struct inc_comm *but);
void inc_others_lock(void);
void inc_others_unlock(bool child);

/* wait.c */
bool inc_request_sleep(struct inc_request *req, int ms);

/* Microseconds of CLOCK_MONOTONIC. */
static inline uint64_t inc_now_us(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC) / 1000;
}

/* Send requests that are in flight at most: two for a message over RC. */
static inline uint32_t inc_comm_max_sends(const struct inc_comm *comm)
{
	return comm->uc ? comm->sq.depth : 2 * comm->sq.depth;
}

/* Address to write a message to: offset of its slot. */
static inline uint64_t inc_msg_addr(const struct inc_comm *comm, uint32_t id)
{
	return (uint64_t)(id & (comm->tree.slots - 1)) * comm->tree.msg_size;
}

/* Of two time limits in milliseconds; INC_FOREVER: none. */
static inline int inc_shorter(int a, int b)
{
	return b == INC_FOREVER || (a != INC_FOREVER && a < b) ? a : b;
}

/* Is there no queue pair to use? */
static inline bool inc_comm_stopped(const struct inc_comm *comm)
{
	return comm->err || comm->rebuild.state;
}

/* Is something to be done to change from RC to UC? */
static inline bool inc_comm_changes(const struct inc_comm *comm)
{
	return comm->change.state ||
	       (comm->change.able &&
		atomic_load_explicit(&comm->watchdog.change,
				     memory_order_relaxed));
}

/* Does progress depend on more than this communicator's own completions? */
static inline bool inc_comm_agrees(const struct inc_comm *comm)
{
	return comm->rebuild.state ||
	       (comm->change.state >= INC_CHANGE_COUNTING &&
		comm->change.state <= INC_CHANGE_LEAVING);
}

/*
 * Public functions do this first, unless other threads may call them at any time. In a
 * child of fork() a thread of the parent may have the lock.
 */
static inline void inc_comm_lock(struct inc_comm *comm)
{
	if (comm->shared && !comm->fork.child)
		pthread_mutex_lock(&comm->lock);
}

static inline void inc_comm_unlock(struct inc_comm *comm)
{
	if (comm->shared && !comm->fork.child)
		pthread_mutex_unlock(&comm->lock);
}

/* Is an operation kept back until the communicator has changed? */
static inline bool inc_request_is_held(const struct inc_request *req)
{
	return req->comm->change.holds && req->number > req->comm->change.last;
}

/* Is it done, over both rails, and what began before it? */
static inline bool inc_request_over(const struct inc_request *req)
{
	const struct inc_comm *second = req->comm->rails.other;

	return req->done &&
	       (!second || second->err ||
		second->info.operations >= req->after);
}

/* Does an operation end only when all ranks have all results? */
static inline bool inc_request_confirms(const struct inc_request *req)
{
	return req->comm->rebuild.on && !req->keeps;
}

/* Are all results of an operation here, if not yet those of all ranks? */
static inline bool inc_request_arrived(const struct inc_request *req)
{
	return req->msgs_done + inc_request_confirms(req) >= req->msgs;
}

/* May one more message be in flight? */
static inline bool inc_msg_may_send(const struct inc_comm *comm)
{
	uint32_t n;

	if (comm->uc)
		return inc_uc_rtx_may_send(&comm->uc->rtx, comm->window.now);
	n = comm->msgs.next - comm->msgs.head;
	return n < comm->window.now && n <= comm->msgs.mask &&
	       (!n || !comm->msgs.grow);
}

#endif /* INC_LIB_COMM_H */
