// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Progress of a communicator, and of others meanwhile.
 *
 * Over UC libinc retransmits lost messages, and during a change to another tree
 * operations wait until every rank has called the library. Ranks may wait for
 * different communicators meanwhile. So a call that waits for one also drives the
 * others, unless a thread is in a call on them.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "progress.h"
#include "end.h"
#include "fail.h"
#include "msg.h"
#include "rebuild.h"
#include "uc.h"

/* Polling interval of another communicator that changes, or is rebuilt. */
#define AGREES_LOOK_MS	1
/* Polling interval for the loss of a rail, as other ranks may wait. */
#define RAILS_LOOK_MS	100
/* A rail must be slow in this many operations in a row. */
#define SLOW_OPS	16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inc_comm *comms;		/* guarded by lock, as the next one */
static LIST_HEAD(, inc_comm) able;	/* that may change */
static _Atomic unsigned int begun;	/* changes that were looked for; under lock */
static _Atomic unsigned int ncomms;	/* changed under lock */

/*
 * Wait until no rank needs the old tree. It may fail by now, or other ranks may have
 * left it; but until then, they may need this rank's part in a rebuild.
 */
static void leave_tree(struct inc_comm *comm, bool called)
{
	comm->change.step(comm, called);
	if (comm->err || comm->change.state != INC_CHANGE_LEAVING ||
	    inc_watchdog_error(&comm->watchdog))
		return;
	inc_fail_with_others(comm);
	if (comm->rebuild.state)
		inc_rebuild_progress(comm);
}

/* @called: by a call that waits for @comm */
static void progress_one(struct inc_comm *comm, bool called)
{
	if (comm->err)
		return;
	if (comm->change.state == INC_CHANGE_LEAVING) {
		leave_tree(comm, called);
		if (comm->err || comm->change.state == INC_CHANGE_LEAVING)
			return;
	}
	if (comm->rebuild.state) {
		if (comm->rails.peer)
			comm->change.step(comm, called);
		else
			inc_rebuild_progress(comm);
		return;
	}
	if (inc_comm_changes(comm)) {
		comm->change.step(comm, called);
		if (comm->err || comm->change.state == INC_CHANGE_LEAVING)
			return;
	}
	inc_msg_progress(comm);
}

/*
 * Give up a rail, as if its tree had failed, if the other one alone would be faster:
 * both trees then go over the faster device.
 */
static void compare_rails(struct inc_comm *comm, struct inc_comm *second)
{
	uint64_t a = comm->rails.took_us, b = second->rails.took_us;
	struct inc_comm *slow = a > b ? comm : second;
	uint64_t longer = a > b ? a : b, shorter = a > b ? b : a;
	bool is_slow = 2 * longer > 5 * shorter;

	comm->rails.took_us = 0;
	second->rails.took_us = 0;
	if (!is_slow || slow != comm->rails.slow)
		comm->rails.slow_ops = 0;
	comm->rails.slow = slow;
	if (!is_slow || ++comm->rails.slow_ops < SLOW_OPS)
		return;
	comm->rails.slow_ops = 0;
	inc_comm_break(slow, -EHOSTUNREACH, "its half took %llu us, the other one %llu us",
		       (unsigned long long)longer, (unsigned long long)shorter);
}

/* Drive the second rail; its failures and progress count for the first. */
static void progress_second(struct inc_comm *comm, bool called)
{
	struct inc_comm *second = comm->rails.other;
	uint64_t results = second->info.results;

	if (comm->err)
		return;
	progress_one(second, called);
	if (second->err)
		inc_comm_fail(comm, second->err, "%s", second->error.text);
	else if (comm->rebuild.state && second->rebuild.state)
		inc_fail_rails(comm);
	else if (second->info.results != results)
		inc_watchdog_count(&comm->watchdog.progress);
	if (comm->rails.took_us && second->rails.took_us && !comm->err &&
	    comm->dev.hca != second->dev.hca &&
	    !inc_comm_agrees(comm) && !inc_comm_agrees(second))
		compare_rails(comm, second);
}

static void do_progress(struct inc_comm *comm, bool called)
{
	progress_one(comm, called);
	if (comm->rails.other)
		progress_second(comm, called);
}

/*
 * Make progress. Does not sleep. Makes no system call if there is nothing to
 * send.
 */
void inc_comm_progress(struct inc_comm *comm)
{
	do_progress(comm, true);
}

/* --- Other communicators -------------------------------------------------- */

/*
 * Have calls on other communicators begin this one's changes: its own next call may be
 * long in coming.
 * @comm: communicator that is shared, and not published yet
 */
void inc_others_enter(struct inc_comm *comm)
{
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&able, comm, change.by_able);
	pthread_mutex_unlock(&lock);
}

/*
 * Have calls on other communicators drive this one. Context: its lock is held,
 * or it is not published yet.
 * @comm: communicator over UC, or one that begins to change
 */
void inc_others_add(struct inc_comm *comm)
{
	/* The first rail drives the second one. */
	if (comm->listed || !comm->shared)
		return;
	comm->listed = true;
	pthread_mutex_lock(&lock);
	comm->change.next = comms;
	comms = comm;
	atomic_fetch_add(&ncomms, 1);
	pthread_mutex_unlock(&lock);
}

/* Undo inc_others_add(), if needed. Context: its lock is held. */
void inc_others_del(struct inc_comm *comm)
{
	struct inc_comm **link;

	if (!comm->listed)
		return;
	comm->listed = false;
	pthread_mutex_lock(&lock);
	for (link = &comms; *link != comm; link = &(*link)->change.next)
		;
	*link = comm->change.next;
	atomic_fetch_sub(&ncomms, 1);
	pthread_mutex_unlock(&lock);
}

/*
 * Undo inc_others_enter() and inc_others_add(), if needed. When this returns, no other
 * call drives the communicator.
 */
void inc_others_leave(struct inc_comm *comm)
{
	if (!comm->shared)
		return;
	/* A call on another one may be about to add it, as it begins a change. */
	inc_comm_lock(comm);
	pthread_mutex_lock(&lock);
	LIST_REMOVE(comm, change.by_able);
	pthread_mutex_unlock(&lock);
	inc_others_del(comm);
	inc_comm_unlock(comm);
}

/* Lock the next communicator in no call, from number @at on, except @but. */
static struct inc_comm *take_next(const struct inc_comm *but, unsigned int *at)
{
	struct inc_comm *comm;
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	for (comm = comms; comm; comm = comm->change.next)
		if (i++ >= *at && comm != but &&
		    !pthread_mutex_trylock(&comm->lock))
			break;
	*at = i;
	pthread_mutex_unlock(&lock);
	return comm;
}

/*
 * Lock the next communicator, except @but, that is to begin a change. Those in a call
 * do so themselves.
 */
static struct inc_comm *take_asked(const struct inc_comm *but)
{
	unsigned int n = atomic_load(&inc_watchdog_changes);
	struct inc_comm *comm;

	pthread_mutex_lock(&lock);
	for (comm = begun == n ? NULL : LIST_FIRST(&able); comm;
	     comm = LIST_NEXT(comm, change.by_able)) {
		if (comm == but || pthread_mutex_trylock(&comm->lock))
			continue;
		if (!comm->change.state && !inc_comm_stopped(comm) &&
		    inc_comm_changes(comm))
			break;
		pthread_mutex_unlock(&comm->lock);
	}
	if (!comm)
		begun = n;
	pthread_mutex_unlock(&lock);
	return comm;
}

static void begin_changes(const struct inc_comm *but)
{
	struct inc_comm *comm;

	while ((comm = take_asked(but))) {
		comm->change.step(comm, false);
		pthread_mutex_unlock(&comm->lock);
	}
}

/* Shorten @ms to the time of the next query over UC. */
static int due_ms(const struct inc_comm *comm, int ms)
{
	return comm && comm->uc && comm->ops.first && !comm->err ?
	       inc_uc_patience(comm, ms) : ms;
}

/* Drive another communicator. Sleep may have ended when its query was due. */
static int carry_on(struct inc_comm *comm)
{
	struct inc_comm *second = comm->rails.other;
	int ms = second ? RAILS_LOOK_MS : INC_FOREVER;

	if (comm->uc)
		inc_uc_woke(comm);
	if (second && second->uc)
		inc_uc_woke(second);
	do_progress(comm, false);
	/* Nobody sleeps on what it waits for. */
	if (inc_comm_agrees(comm) || (second && inc_comm_agrees(second)))
		ms = AGREES_LOOK_MS;
	return due_ms(second, due_ms(comm, ms));
}

/*
 * Drive other communicators than @but. Returns milliseconds after which they need
 * attention again, or INC_FOREVER.
 */
int inc_others_progress(const struct inc_comm *but)
{
	int again_ms = INC_FOREVER;
	struct inc_comm *comm;
	unsigned int at = 0;

	if (atomic_load_explicit(&inc_watchdog_changes, memory_order_relaxed) !=
	    atomic_load_explicit(&begun, memory_order_relaxed))
		begin_changes(but);
	if (atomic_load_explicit(&ncomms, memory_order_relaxed) == but->listed)
		return again_ms;
	while ((comm = take_next(but, &at))) {
		again_ms = inc_shorter(again_ms, carry_on(comm));
		pthread_mutex_unlock(&comm->lock);
	}
	return again_ms;
}

/* Lock the list during fork(). */
void inc_others_lock(void)
{
	pthread_mutex_lock(&lock);
}

/*
 * Undo inc_others_lock().
 * @child: in the child, where the list is empty
 */
void inc_others_unlock(bool child)
{
	if (child) {
		comms = NULL;
		LIST_INIT(&able);
		atomic_store(&ncomms, 0);
	}
	pthread_mutex_unlock(&lock);
}
