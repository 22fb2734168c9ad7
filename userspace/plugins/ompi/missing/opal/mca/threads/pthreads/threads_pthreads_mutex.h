/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Missing in Debian's package, like threads_pthreads_threads.h. */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "opal/class/opal_object.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER	PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER	PTHREAD_COND_INITIALIZER

static inline int
opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *m, bool recursive)
{
	pthread_mutexattr_t attr;
	int ret;

	pthread_mutexattr_init(&attr);
	if (recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	ret = pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return ret;
}

static inline void
opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *m)
{
	pthread_mutex_lock(m);
}

static inline int
opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *m)
{
	return pthread_mutex_trylock(m) ? 1 : 0;
}

static inline void
opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *m)
{
	pthread_mutex_unlock(m);
}

static inline void
opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *m)
{
	pthread_mutex_destroy(m);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *c)
{
	return pthread_cond_init(c, NULL);
}

static inline void
opal_thread_internal_cond_wait(opal_thread_internal_cond_t *c,
			       opal_thread_internal_mutex_t *m)
{
	pthread_cond_wait(c, m);
}

static inline void
opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *c)
{
	pthread_cond_broadcast(c);
}

static inline void
opal_thread_internal_cond_signal(opal_thread_internal_cond_t *c)
{
	pthread_cond_signal(c);
}

static inline void
opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *c)
{
	pthread_cond_destroy(c);
}

#endif
