// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is due of a communicator, and of others besides.
 *
 * Over UC libinc retransmits what is lost, and while a communicator changes from RC
 * to UC its operations wait until every rank has called it. A program may wait for
 * another communicator meanwhile, and other ranks the other way round. So whoever
 * waits for any communicator also carries on those, unless a thread is in a call on
 * them.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "progress.h"
#include "end.h"
#include "fail.h"
#include "msg.h"
#include "rebuild.h"
#include "uc.h"

/* How soon to look again at one that changes: it is made, or holds operations. */
#define MAKING_LOOK_MS	10
#define HOLDING_LOOK_MS	1
/* Or at one that may have lost a rail, for which other ranks wait. */
#define RAILS_LOOK_MS	100
/* So many operations in turn must say that a rail is slow. */
#define SLOW_OPS	16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inc_comm *comms;		/* guarded by lock */
static _Atomic unsigned int ncomms;	/* changed under lock */

/* @called: by who waits for @comm */
static void progress_one(struct inc_comm *comm, bool called)
{
	if (comm->err)
		return;
	if (comm->rebuild.state) {
		if (comm->rails.peer)
			comm->change.step(comm, called);
		else
			inc_rebuild_progress(comm);
		return;
	}
	if (inc_comm_changes(comm)) {
		comm->change.step(comm, called);
		/* Nothing is left to do over RC, and it may fail. */
		if (comm->err || comm->change.state == INC_CHANGE_LEAVING)
			return;
	}
	inc_msg_progress(comm);
}

/*
 * A rail so slow that the other one alone would be faster is given up, as if its tree
 * had failed: both trees are over the faster device then.
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

/* What has happened to the second rail is the first one's to say. */
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
 * Do what is due. Does not sleep. Makes no system call if there is nothing to
 * send.
 */
void inc_comm_progress(struct inc_comm *comm)
{
	do_progress(comm, true);
}

/* --- Others --------------------------------------------------------------- */

/*
 * Have other calls carry on a communicator. Context: its lock is held, or
 * nobody else has it.
 * @comm: communicator over UC, or one that begins to change
 */
void inc_others_add(struct inc_comm *comm)
{
	/* The second rail is the first one's business. */
	if (comm->listed || !comm->shared)
		return;
	comm->listed = true;
	pthread_mutex_lock(&lock);
	comm->change.next = comms;
	comms = comm;
	atomic_fetch_add(&ncomms, 1);
	pthread_mutex_unlock(&lock);
}

/*
 * Undo inc_others_add(), if need be. When this returns no other call carries
 * it on.
 */
void inc_others_del(struct inc_comm *comm)
{
	struct inc_comm **link;

	if (!comm->shared)
		return;
	pthread_mutex_lock(&lock);
	for (link = &comms; *link && *link != comm; link = &(*link)->change.next)
		;
	if (*link) {
		*link = comm->change.next;
		atomic_fetch_sub(&ncomms, 1);
	}
	pthread_mutex_unlock(&lock);
	inc_comm_lock(comm);
	comm->listed = false;
	inc_comm_unlock(comm);
}

/* The next one in no call, from number @at on, locked; not @but. */
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

/* Its results may not wake who waits for it. */
static inline int change_ms(const struct inc_comm *comm)
{
	if (inc_comm_agrees(comm))
		return HOLDING_LOOK_MS;
	return comm->change.state == INC_CHANGE_MAKING ? MAKING_LOOK_MS :
							 INC_FOREVER;
}

static inline int both_change_ms(const struct inc_comm *comm)
{
	const struct inc_comm *second = comm->rails.other;
	int ms = change_ms(comm);

	return second ? inc_shorter(ms, change_ms(second)) : ms;
}

/* When a query over UC is due, or sooner. */
static int due_ms(const struct inc_comm *comm, int ms)
{
	return comm && comm->uc && comm->ops.first && !comm->err ?
	       inc_uc_patience(comm, ms) : ms;
}

/* The caller may have slept until a query of @comm is due. */
static int carry_on(struct inc_comm *comm)
{
	struct inc_comm *second = comm->rails.other;

	if (comm->uc)
		inc_uc_woke(comm);
	if (second && second->uc)
		inc_uc_woke(second);
	do_progress(comm, false);
	return due_ms(second, due_ms(comm, inc_shorter(both_change_ms(comm),
						       second ? RAILS_LOOK_MS :
								INC_FOREVER)));
}

/*
 * Carry on other communicators. Returns milliseconds after which to look
 * again, at these and at @but, or INC_FOREVER.
 */
int inc_others_progress(const struct inc_comm *but)
{
	int again_ms = both_change_ms(but);
	struct inc_comm *comm;
	unsigned int at = 0;

	if (atomic_load_explicit(&ncomms, memory_order_relaxed) == but->listed)
		return again_ms;
	while ((comm = take_next(but, &at))) {
		again_ms = inc_shorter(again_ms, carry_on(comm));
		pthread_mutex_unlock(&comm->lock);
	}
	return again_ms;
}

/* Keep the list as it is, for fork(). */
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
		atomic_store(&ncomms, 0);
	}
	pthread_mutex_unlock(&lock);
}
