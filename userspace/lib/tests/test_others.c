// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * engine/progress.c: a thread begins changes of communicators that another one destroys
 * meanwhile. The communicators are bare; what drives them finds that they have failed.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/watchdog.h"
#include "engine/progress.h"
#include "fake.h"

#define COMMS	20000

static atomic_bool over;
static atomic_uint began;

/* As begin_change(), which takes a while to start its thread. */
static void begin_slowly(struct inc_comm *c, bool called)
{
	(void)called;
	atomic_store(&c->watchdog.change, false);
	sched_yield();
	c->err = -ECANCELED;
	inc_others_add(c);
	atomic_fetch_add(&began, 1);
}

static struct inc_comm *new_comm(void)
{
	struct inc_comm *c = calloc(1, sizeof(*c));
	pthread_mutexattr_t recursive;

	OK(c != NULL);
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&c->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	c->shared = true;
	c->change.movable = true;
	c->change.step = begin_slowly;
	inc_others_enter(c);
	return c;
}

static void *drive_others(void *arg)
{
	const struct inc_comm *own = arg;

	while (!atomic_load(&over)) {
		inc_others_progress(own);
		sched_yield();
	}
	return NULL;
}

static void destroyed(void)
{
	static struct inc_comm own;
	struct inc_comm *c;
	pthread_t driver;
	int i, k;

	EQ(pthread_create(&driver, NULL, drive_others, &own), 0);
	for (i = 0; i < COMMS; i++) {
		c = new_comm();
		atomic_store(&c->watchdog.change, true);
		atomic_fetch_add(&inc_watchdog_changes, 1);
		for (k = i % 4; k; k--)
			sched_yield();
		inc_others_leave(c);
		OK(!c->listed);
		EQ(pthread_mutex_destroy(&c->lock), 0);
		free(c);
	}
	atomic_store(&over, true);
	pthread_join(driver, NULL);
	printf("# %u of %d began to change\n", atomic_load(&began), COMMS);
}

static const struct test_case cases[] = {
	{ "destroyed", destroyed },
};

TEST_MAIN(cases)
