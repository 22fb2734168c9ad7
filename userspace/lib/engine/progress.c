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

#include "comm.h"

/* How soon to look again at one that changes: it is made, or holds operations. */
#define MAKING_LOOK_MS	10
#define HOLDING_LOOK_MS	1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inc_comm *comms;		/* guarded by lock */
static _Atomic unsigned int ncomms;	/* changed under lock */

/* @called: by who waits for @comm */
static void do_progress(struct inc_comm *comm, bool called)
{
	if (comm->err)
		return;
	if (comm->rebuild.state) {
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

/**
 * inc_comm_progress() - do what is due
 * @comm: communicator
 *
 * Does not sleep. Makes no system call if there is nothing to send.
 */
void inc_comm_progress(struct inc_comm *comm)
{
	do_progress(comm, true);
}

/* --- Others --------------------------------------------------------------- */

/**
 * inc_others_add() - have other calls carry on a communicator
 * @comm: communicator over UC, or one that begins to change
 *
 * Context: its lock is held, or nobody else has it.
 */
void inc_others_add(struct inc_comm *comm)
{
	comm->listed = true;
	pthread_mutex_lock(&lock);
	comm->change.next = comms;
	comms = comm;
	atomic_fetch_add(&ncomms, 1);
	pthread_mutex_unlock(&lock);
}

/**
 * inc_others_del() - undo inc_others_add(), if need be
 * @comm: communicator
 *
 * When this returns no other call carries it on.
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
static int change_ms(const struct inc_comm *comm)
{
	if (inc_comm_agrees(comm))
		return HOLDING_LOOK_MS;
	return comm->change.state == INC_CHANGE_MAKING ? MAKING_LOOK_MS :
							 INC_FOREVER;
}

/* The caller may have slept until a query of @comm is due. */
static int carry_on(struct inc_comm *comm)
{
	if (comm->uc)
		inc_uc_woke(comm);
	do_progress(comm, false);
	return comm->uc && comm->ops.first && !comm->err ?
	       inc_uc_patience(comm, change_ms(comm)) : change_ms(comm);
}

/**
 * inc_others_progress() - carry on other communicators
 * @but: the caller's
 *
 * Return: milliseconds after which to look again, at these and at @but, or
 * INC_FOREVER.
 */
int inc_others_progress(const struct inc_comm *but)
{
	int again_ms = change_ms(but);
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

/**
 * inc_others_lock() - keep the list as it is, for fork()
 */
void inc_others_lock(void)
{
	pthread_mutex_lock(&lock);
}

/**
 * inc_others_unlock() - undo inc_others_lock()
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
