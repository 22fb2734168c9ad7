/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The watch over a communicator. It alone looks at the clock and at the connection to
 * the daemon, so that a call's fast path has neither clock nor poll(): it sleeps in
 * the completion channel only. When a time limit is exceeded or the daemon reports the
 * end of the tree, the watch moves the queue pair to ERROR: its receives are
 * flushed, and that wakes the sleeper. One thread (watcher.c) watches over all
 * communicators of a process.
 */
#ifndef INC_LIB_WATCH_H
#define INC_LIB_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "hca.h"
#include "loss.h"
#include "verbs.h"

/**
 * struct inc_watch_seen - what the watcher's thread alone knows
 * @now: milliseconds that it has been able to look
 * @before: when time limits were looked at last
 * @not_before: no time limit is over before
 * @calls: odd while the caller is inside a blocking call; as last seen
 * @calls_since: when that was seen first
 * @tests: counter of the same name, as last seen
 * @progress: likewise
 * @fruitless_ms: of inc_test() and inc_wait_for()
 * @loss_at: when losses were looked at last
 * @loss_progress: results at that time
 * @busy: there were more than before
 * @alive: the daemon says that it lives
 * @missed: times that it should have, and has not
 * @heard_at: when it was heard or missed last
 * @verdict: of the daemon, -errno
 * @verdict_at: when that counts
 * @text: what it says
 */
struct inc_watch_seen {
	int64_t		now;
	int64_t		before;
	int64_t		not_before;
	unsigned int	calls;
	int64_t		calls_since;
	unsigned int	tests;
	unsigned int	progress;
	int64_t		fruitless_ms;
	int64_t		loss_at;
	unsigned int	loss_progress;
	bool		busy;
	bool		alive;
	unsigned int	missed;
	int64_t		heard_at;
	int		verdict;
	int64_t		verdict_at;
	char		text[INC_RDV_TEXT_MAX];
};

/**
 * struct inc_watch - state shared between the watch and the caller's thread
 * @next: in the watcher's list, whose lock guards @next, @running, @at and @seen
 * @running: it is in that list
 * @at: place of @conn among what is polled; 0: none yet
 * @hca: device
 * @seen: what the watcher's thread knows
 * @who: whose it is, for the log
 * @conn: connection to the daemon; belongs to the watcher while @running
 * @hung_up: the caller has ended that, it is not to be looked at
 * @calls: odd while the caller is inside a blocking call; different each time
 * @tests: counts fruitless calls of inc_test(), and those of inc_wait_for()
 * @waits: the caller is inside inc_wait_for()
 * @progress: counts results
 * @timeout_ms: time limit
 * @beat_ms: how often the daemon says that it lives, once it has; 0: never
 * @flight: packets that should be in flight at most; 0: any number
 * @loss: where that comes from; belongs to the watcher
 * @lost: the daemon is to be told that the switch does not answer
 * @err: 0, or the negative errno value that the watch found; set once
 * @lock: protects @qp and all texts, and the closing of @conn
 * @qp: queue pair to move to ERROR; NULL: there is none any more
 * @text: what happened, if @err
 * @said: what the daemon says of the tree's end; empty: nothing yet
 * @wrong: what it said last of a message that failed; empty: nothing yet
 * @wrong_id: that message
 */
struct inc_watch {
	struct inc_watch *next;
	bool		running;
	unsigned int	at;
	struct inc_hca	*hca;
	struct inc_watch_seen seen;
	const struct inc_who *who;
	struct inc_conn	conn;
	_Atomic bool	hung_up;
	_Atomic unsigned int calls;
	_Atomic unsigned int tests;
	_Atomic bool	waits;
	_Atomic unsigned int progress;
	_Atomic unsigned int timeout_ms;
	unsigned int	beat_ms;
	_Atomic unsigned int flight;
	struct inc_loss	loss;
	bool		lost;
	_Atomic int	err;
	pthread_mutex_t	lock;
	struct ibv_qp	*qp;
	char		text[INC_RDV_TEXT_MAX];
	char		said[INC_RDV_TEXT_MAX];
	char		wrong[INC_RDV_TEXT_MAX];
	uint32_t	wrong_id;
};

/* watcher.c */
int inc_watch_start(struct inc_watch *watch, struct ibv_qp *qp, struct inc_hca *hca,
		    unsigned int port);
void inc_watch_stop(struct inc_watch *watch);
void inc_watch_forked(void);

/* watch.c; for watcher.c */
int inc_watch_patience(struct inc_watch *watch);
void inc_watch_turn(struct inc_watch *watch, int64_t ms, bool stood, bool readable);
void inc_watch_fire(struct inc_watch *watch, int err, const char *text);

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

/* The switch does not answer: the daemon is told so when it is hung up on. */
static inline void inc_watch_lost(struct inc_watch *watch)
{
	watch->lost = true;
}

void inc_watch_hang_up(struct inc_watch *watch);

static inline int inc_watch_error(struct inc_watch *watch)
{
	return atomic_load_explicit(&watch->err, memory_order_acquire);
}

#endif /* INC_LIB_WATCH_H */
