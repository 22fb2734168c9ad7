/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Missing in Debian's package, like threads_pthreads_threads.h. */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_TSD_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

#endif
