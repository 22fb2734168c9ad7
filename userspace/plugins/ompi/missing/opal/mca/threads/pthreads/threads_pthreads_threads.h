/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Debian's libopenmpi-dev lacks this header of Open MPI's own, which its other
 * headers include. Only the needed parts are here, for Open MPI with pthreads.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>

static inline void opal_thread_yield(void)
{
	sched_yield();
}

#endif
