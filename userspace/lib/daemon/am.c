// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Loads libinc-am, which speaks gRPC with an aggregation manager, when it is
 * needed, and not before: programs without a manager need no HTTP/2 and no TLS.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "am.h"
#include "libinc-am.h"
#include "tls/tls.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static inc_am_start_fn *start;
static inc_am_stop_fn *stop;

/* It stays loaded: OpenSSL has functions that run when the program ends. */
static int load_library(char *err, size_t err_len)
{
	void *lib;

	if (start)
		return 0;
	lib = inc_load_library(INC_AM_LIBRARY);
	if (lib) {
		stop = (inc_am_stop_fn *)dlsym(lib, INC_AM_STOP);
		start = (inc_am_start_fn *)dlsym(lib, INC_AM_START);
	}
	if (start && stop)
		return 0;
	start = NULL;
	snprintf(err, err_len, "INC_AM needs " INC_AM_LIBRARY ": %s",
		 dlerror());
	return -ENOPKG;
}

/**
 * inc_am_open() - begin a stream to a manager
 * @am: result, for inc_am_close()
 * @tcp: connection to the manager; is closed on failure
 * @manager: its address, for messages
 * @fd: result: socket that takes the place of the connection, non-blocking
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value; -ENOPKG if libinc-am is missing.
 */
int inc_am_open(struct inc_am **am, int tcp, const char *manager, int *fd,
		char *err, size_t err_len)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = load_library(err, err_len);
	pthread_mutex_unlock(&lock);
	if (ret) {
		close(tcp);
		return ret;
	}
	ret = start(am, tcp, manager, fd);
	if (ret)
		snprintf(err, err_len, "aggregation manager %s: %s", manager,
			 strerror(-ret));
	return ret;
}

/**
 * inc_am_close() - end the stream to a manager
 * @am: stream; the other end of its socket is closed already
 */
void inc_am_close(struct inc_am *am)
{
	stop(am);
}
