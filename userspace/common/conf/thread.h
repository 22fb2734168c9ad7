/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Threads beside a program's own, and how they wait.
 */
#ifndef INC_CONF_THREAD_H
#define INC_CONF_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* As pthread_create(); signals are for the program's own threads. */
static inline int thread_create(pthread_t *thread, void *(*run)(void *arg),
				void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/* As pthread_cond_timedwait(), to a time of now_ms(); INT64_MAX: for ever. */
static inline int cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			    int64_t until)
{
	const struct timespec ts = {
		.tv_sec = until / 1000,
		.tv_nsec = until % 1000 * 1000000,
	};

	if (until == INT64_MAX)
		return pthread_cond_wait(cond, lock);
	return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &ts);
}

#endif /* INC_CONF_THREAD_H */
