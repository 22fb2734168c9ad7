/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A communicator. Each of its parts is a header beside this one; the functions
 * that change a part are in engine/ and api/. Each file of engine/ calls only
 * files that come before it in this list:
 *
 *	arena, end, fail, sq, window_rc, uc, msg, rebuild, progress, wait
 */
#ifndef INC_LIB_COMM_H
#define INC_LIB_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "comm/change.h"
#include "comm/memory.h"
#include "comm/messages.h"
#include "comm/queues.h"
#include "comm/rails.h"
#include "comm/rebuild.h"
#include "comm/request.h"
#include "comm/uc.h"
#include "comm/window.h"
#include "base/log.h"
#include "conf/clock.h"
#include "daemon/watchdog.h"
#include "device/dying.h"
#include "device/verbs.h"

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
 * struct inc_comm - a communicator
 * @fork: guarded by fork.c's lock
 * @fork.next: next in its list
 * @fork.child: this is a child's copy
 *
 * @watchdog: time limit and daemon; its members say which thread they belong to
 *
 * @lock: guards everything else, if calls on other communicators may carry on this
 *	one; recursive
 * @shared: they may: it is over UC, or may change to another tree
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
 * @qp_timeout: local ACK timeout exponent
 * @cm: the queue pair is connected by RDMA CM
 * @rq: receive queue
 * @sq: send queue
 *
 * @window: messages in flight
 * @uc: UC state; NULL: the queue pair is RC
 * @msgs: messages, by message ID
 * @arena: headers and copies of short data, one entry per ring entry
 * @first_arena: the one from before the ring grew; the device may still read it
 * @bounce: for messages that are too long for an entry and must be copied; RC
 * @mem: registered user memory
 * @ops: operations
 *
 * @rebuild: what happens if the tree fails
 * @rails: two devices of the ranks
 * @change: how it changes to another tree
 *
 * @turns: calls of inc_request_test() that found no result
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
	unsigned int			qp_timeout;
	bool				cm;
	struct inc_rq			rq;
	struct inc_sq			sq;

	struct inc_window		window;
	struct inc_uc			*uc;
	struct inc_msgs			msgs;
	struct inc_arena		arena;
	struct inc_arena		first_arena;
	struct inc_bounce		bounce;
	struct inc_mem_cache		mem;
	struct inc_ops			ops;

	struct inc_rebuild		rebuild;
	struct inc_rails		rails;
	struct inc_change		change;

	unsigned int			turns;
	struct inc_comm_info		info;
};

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

/* Is something to be done to change to another tree? */
static inline bool inc_comm_changes(const struct inc_comm *comm)
{
	return comm->change.state ||
	       ((comm->change.able || comm->change.movable) &&
		atomic_load_explicit(&comm->watchdog.change,
				     memory_order_relaxed));
}

/* The communicator over which the ranks agree on a change; NULL: they do not. */
static inline struct inc_comm *inc_comm_next(const struct inc_comm *comm)
{
	return comm->change.state >= INC_CHANGE_TRYING &&
	       comm->change.state <= INC_CHANGE_LEAVING ? comm->change.other :
							  NULL;
}

/* Does progress depend on more than this communicator's own completions? */
static inline bool inc_comm_agrees(const struct inc_comm *comm)
{
	return comm->rebuild.state || inc_comm_next(comm);
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
