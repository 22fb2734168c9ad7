/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The watch over a communicator. Only the watch reads the clock and the
 * connection to the daemon, so a call's fast path needs no clock. When a time
 * limit expires or the daemon reports the end of the tree, the watch moves the
 * queue pair to ERROR. This flushes the receives, which wakes the sleeper. What
 * else the daemon has for a caller rings the bells of all communicators, since
 * calls on one carry on others. One thread (watchdog_thread.c) watches over all
 * communicators of a process.
 */
#ifndef INC_LIB_WATCHDOG_H
#define INC_LIB_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "core/loss.h"
#include "device/hca.h"
#include "device/hw_counters.h"
#include "device/verbs.h"

/**
 * struct inc_watchdog_seen - private state of the watcher's thread
 * @now: milliseconds during which this process could run
 * @before: last check of the time limits
 * @not_before: no time limit expires before this time
 * @not_late: last time when none had expired
 * @calls: inc_watchdog.calls as last seen
 * @calls_since: when that value was first seen
 * @tests: inc_watchdog.tests as last seen
 * @tester: inc_watchdog.tester as last seen
 * @tester_ms: milliseconds of that clock
 * @progress: inc_watchdog.progress as last seen
 * @fruitless_ms: time spent in fruitless calls of inc_request_test() and
 *	inc_request_wait_for()
 * @loss_at: last reading of the loss counters
 * @loss_progress: results at that time
 * @busy: there were more results than before
 * @loss: losses of the path
 * @lossy: number of reports to the daemon that the path loses packets
 * @lossy_at: when the next report is allowed
 * @down_at: when the port was found down; 0: it is up
 * @verdict: the daemon's verdict, -errno
 * @verdict_at: when the verdict takes effect
 * @text: text of the verdict
 * @told: the daemon has told something that a caller is to act on
 */
struct inc_watchdog_seen {
	int64_t		now;
	int64_t		before;
	int64_t		not_before;
	int64_t		not_late;
	unsigned int	calls;
	int64_t		calls_since;
	unsigned int	tests;
	clockid_t	tester;
	int64_t		tester_ms;
	unsigned int	progress;
	int64_t		fruitless_ms;
	int64_t		loss_at;
	unsigned int	loss_progress;
	bool		busy;
	struct inc_loss	loss;
	unsigned int	lossy;
	int64_t		lossy_at;
	int64_t		down_at;
	int		verdict;
	int64_t		verdict_at;
	char		text[INC_RDV_TEXT_MAX];
	bool		told;
};

/**
 * struct inc_watchdog - state shared between the watch and the caller's thread
 * @next: in the watcher's list, whose lock guards @next, @running, @at and
 *	@seen
 * @running: the watch is in that list
 * @at: index of @conn in the poll array; 0: none yet
 * @hca: device
 * @seen: private state of the watcher's thread
 * @who: its communicator, for the log
 * @conn: connection to the daemon; belongs to the watcher while @running
 * @bell: eventfd on which the caller sleeps, too; -1: none
 * @hung_up: the caller has shut down @conn; ignore it
 * @calls: odd while the caller is inside a blocking call; different each time
 * @tests: counts fruitless calls of inc_request_test() and inc_request_wait_for()
 * @tester: CPU clock of the thread that last called inc_request_test(); 0: none
 * @waits: the caller is inside inc_request_wait_for()
 * @progress: counts results
 * @timeout_ms: time limit
 * @flight: maximum packets to have in flight; 0: unlimited
 * @counters: losses that determine @flight; belongs to the watcher
 * @spare: there is a tree over another device: give up a port that is down
 * @may_change: report a lossy path to the daemon
 * @change: the daemon has told all ranks to change to another tree
 * @change_keeps: over the same transport; else over UC
 * @change_job: job to join for that; not written, like @change_keeps, while @change is
 *	set
 * @lost: tell the daemon, and so the other ranks, why the communicator has failed
 * @err: 0, or the negative errno value that the watch found; set once
 * @lock: protects @qp and all texts, and the closing of @conn
 * @qp: queue pair to move to ERROR; NULL: destroyed
 * @text: description of @err
 * @said: the daemon's text on the end of the tree; empty: none yet
 * @said_err: negative errno value of @said; 0: none yet
 * @wrong: the daemon's last text on a failed message; empty: none yet
 * @wrong_id: message ID that @wrong is about
 * @rebuild: the manager's messages about another tree
 * @rebuild.round: round of the last "rebuild"; 0: none
 * @rebuild.joined: the manager has answered "rejoin" with @rebuild.tree
 * @rebuild.ready: all ranks can begin over @rebuild.tree
 * @rebuild.tree: the new tree
 */
struct inc_watchdog {
	struct inc_watchdog *next;
	bool		running;
	unsigned int	at;
	struct inc_hca	*hca;
	struct inc_watchdog_seen seen;
	const struct inc_who *who;
	struct inc_conn	conn;
	int		bell;
	_Atomic bool	hung_up;
	_Atomic unsigned int calls;
	_Atomic unsigned int tests;
	_Atomic clockid_t tester;
	_Atomic bool	waits;
	_Atomic unsigned int progress;
	_Atomic unsigned int timeout_ms;
	_Atomic unsigned int flight;
	struct inc_hw_counters counters;
	_Atomic bool	spare;
	_Atomic bool	may_change;
	_Atomic bool	change;
	bool		change_keeps;
	char		change_job[INC_RDV_JOB_MAX + 1];
	bool		lost;
	_Atomic int	err;
	pthread_mutex_t	lock;
	struct ibv_qp	*qp;
	char		text[INC_RDV_TEXT_MAX];
	char		said[INC_RDV_TEXT_MAX];
	int		said_err;
	char		wrong[INC_RDV_TEXT_MAX];
	uint32_t	wrong_id;
	struct {
		uint32_t		round;
		bool			joined;
		bool			ready;
		struct inc_rdv_joined	tree;
	} rebuild;
};

/* How often a daemon has told ranks of this process to change. */
extern _Atomic unsigned int inc_watchdog_changes;

/* watchdog_thread.c */
int inc_watchdog_start(struct inc_watchdog *watch, struct ibv_qp *qp,
		       struct inc_hca *hca, unsigned int port);
void inc_watchdog_stop(struct inc_watchdog *watch);
void inc_watchdog_restart(struct inc_watchdog *watch);
void inc_watchdog_hold(void);
void inc_watchdog_release(void);
void inc_watchdog_ring(void);
void inc_watchdog_forked(void);

/* watchdog.c; for watchdog_thread.c */
int inc_watchdog_patience(struct inc_watchdog *watch);
int64_t inc_watchdog_counts(int waited, int64_t ms, int64_t ran);
void inc_watchdog_turn(struct inc_watchdog *watch, int64_t ms, bool stood,
		       bool readable);
void inc_watchdog_fire(struct inc_watchdog *watch, int err, const char *text);
void inc_watchdog_port(struct inc_watchdog *watch, bool up);

/* watchdog.c */
void inc_watchdog_note_tree(struct inc_watchdog *watch,
			    const struct inc_rdv_msg *msg);

static inline void inc_watchdog_count(_Atomic unsigned int *counter)
{
	/* Single writer: no read-modify-write needed. */
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter,
						   memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Count a fruitless call of inc_request_test(). */
static inline void inc_watchdog_test(struct inc_watchdog *watch)
{
	clockid_t clock;

	inc_watchdog_count(&watch->tests);
	if (!pthread_getcpuclockid(pthread_self(), &clock))
		atomic_store_explicit(&watch->tester, clock,
				      memory_order_relaxed);
}

static inline void inc_watchdog_waits(struct inc_watchdog *watch, bool waits)
{
	atomic_store_explicit(&watch->waits, waits, memory_order_relaxed);
}

/* Tell the daemon on hanging up why this rank has failed. */
static inline void inc_watchdog_lost(struct inc_watchdog *watch)
{
	watch->lost = true;
}

int inc_watchdog_say(struct inc_watchdog *watch, const struct inc_rdv_msg *msg);
void inc_watchdog_hang_up(struct inc_watchdog *watch, const char *why);

static inline int inc_watchdog_error(struct inc_watchdog *watch)
{
	return atomic_load_explicit(&watch->err, memory_order_acquire);
}

#endif /* INC_LIB_WATCHDOG_H */
