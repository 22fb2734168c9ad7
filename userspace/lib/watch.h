/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The watch: a communicator's one thread. It alone looks at the clock and at
 * the connection to the daemon, so that a call's fast path has neither clock
 * nor poll(): it sleeps in the completion channel only. When a time limit is
 * exceeded or the daemon reports the end of the tree, the watch moves the queue
 * pair to ERROR: its receives are flushed, and that wakes the sleeper.
 */
#ifndef INC_LIB_WATCH_H
#define INC_LIB_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "loss.h"
#include "verbs.h"

/**
 * struct inc_watch - state shared between the watch and the caller's thread
 * @thread: the watch
 * @running: @thread exists
 * @stop_fd: eventfd, written to end @thread
 * @who: whose it is, for the log
 * @conn: connection to the daemon; belongs to @thread while @running
 * @calls: odd while the caller is inside a blocking call; different each time
 * @tests: counts fruitless calls of inc_test(), and those of inc_wait_for()
 * @waits: the caller is inside inc_wait_for()
 * @progress: counts results
 * @timeout_ms: time limit
 * @beat_ms: how often the daemon says that it lives, once it has; 0: never
 * @flight: packets that should be in flight at most; 0: any number
 * @loss: where that comes from; belongs to @thread
 * @lost: the daemon is to be told that the switch does not answer
 * @err: 0, or the negative errno value that the watch found; set once
 * @lock: protects @qp and @text
 * @qp: queue pair to move to ERROR; NULL: there is none any more
 * @text: what happened, if @err
 */
struct inc_watch {
	pthread_t	thread;
	bool		running;
	int		stop_fd;
	const struct inc_who *who;
	struct inc_conn	conn;
	_Atomic unsigned int calls;
	_Atomic unsigned int tests;
	_Atomic bool	waits;
	_Atomic unsigned int progress;
	_Atomic unsigned int timeout_ms;
	unsigned int	beat_ms;
	_Atomic unsigned int flight;
	struct inc_loss	loss;
	_Atomic bool	lost;
	_Atomic int	err;
	pthread_mutex_t	lock;
	struct ibv_qp	*qp;
	char		text[INC_RDV_TEXT_MAX];
};

int inc_watch_start(struct inc_watch *watch, struct ibv_qp *qp,
		    unsigned int port);
void inc_watch_stop(struct inc_watch *watch);

static inline void inc_watch_count(_Atomic unsigned int *counter)
{
	/* One writer: no read-modify-write needed. */
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter,
						   memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static inline void inc_watch_waits(struct inc_watch *watch, bool waits)
{
	atomic_store_explicit(&watch->waits, waits, memory_order_relaxed);
}

/* The switch does not answer: the daemon is told, within a tick. */
static inline void inc_watch_lost(struct inc_watch *watch)
{
	atomic_store_explicit(&watch->lost, true, memory_order_relaxed);
}

static inline int inc_watch_error(struct inc_watch *watch)
{
	return atomic_load_explicit(&watch->err, memory_order_acquire);
}

#endif /* INC_LIB_WATCH_H */
