// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Communicators in a child of fork(). The child shares the queue pair, its
 * memory and the daemon's connection with the parent and must not disturb them.
 * So the child's copy is marked: every call on it fails, and destroying it
 * touches nothing. The child's file descriptor of the connection is closed at
 * once. Otherwise the daemon would not notice that the parent has died while
 * the child lives.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm.h"
#include "engine/progress.h"
#include "fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct inc_comm *comms;		/* guarded by lock */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
	inc_others_lock();
	inc_log_lock();
}

static void unlock_all(bool child)
{
	inc_log_unlock();
	inc_others_unlock(child);
	pthread_mutex_unlock(&lock);
}

static void in_parent(void)
{
	unlock_all(false);
}

/*
 * Rely on flags only: another thread may have been inside the library when the
 * process forked.
 */
static void in_child(void)
{
	static const char text[] =
		"the communicator is that of the parent process";
	struct inc_comm *comm;

	for (comm = comms; comm; comm = comm->fork.next) {
		comm->fork.child = true;
		comm->err = -ESTALE;
		memcpy(comm->error.text, text, sizeof(text));
		inc_conn_close(&comm->watchdog.conn);
	}
	comms = NULL;
	inc_watchdog_forked();
	inc_hca_forked();
	unlock_all(true);
}

static void register_handlers(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* Add a communicator to the list for fork(). */
void inc_fork_add(struct inc_comm *comm)
{
	pthread_once(&once, register_handlers);
	pthread_mutex_lock(&lock);
	comm->fork.next = comms;
	comms = comm;
	pthread_mutex_unlock(&lock);
}

/* Remove a communicator from the list. */
void inc_fork_del(struct inc_comm *comm)
{
	struct inc_comm **link;

	pthread_mutex_lock(&lock);
	for (link = &comms; *link && *link != comm; link = &(*link)->fork.next)
		;
	if (*link)
		*link = comm->fork.next;
	pthread_mutex_unlock(&lock);
}
