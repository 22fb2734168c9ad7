/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Additional threads of a program, and how threads wait.
 */
#ifndef INC_CONF_THREAD_H
#define INC_CONF_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* As pthread_create(), but signals go to the program's own threads. */
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

/* As pthread_cond_timedwait(), up to a time of now_ms(); INT64_MAX: none. */
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
