// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The public functions for requests.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "call.h"
#include "comm/comm.h"
#include "engine/end.h"
#include "engine/progress.h"
#include "engine/wait.h"

/* Calls of inc_request_test() after which other communicators have a turn. */
#define OTHERS_EVERY	16

/*
 * A failed communicator has no operation in progress. A child's copy may have
 * one, which never ends.
 */
static bool is_over(const struct inc_request *req)
{
	return req->comm->err || inc_request_over(req);
}

static int end_of(const struct inc_request *req)
{
	if (!inc_request_over(req))
		return req->comm->err;
	return req->err || !req->part ? req->err : req->part->err;
}

/**
 * inc_request_start() - start a persistent operation
 * @req: operation of inc_allreduce_init() or the like; not in progress
 *
 * Sends the current contents of the buffers. From then on the operation is like
 * one of inc_iallreduce() and the like: inc_request_test(), inc_request_wait()
 * and inc_request_wait_for() report when it is done and how it ended. Then it
 * may be started again. Before its first start it counts as done.
 *
 * Return: 0; -EINVAL if it is not persistent; -EBUSY if it is in progress; or
 * the error that the communicator failed with.
 */
int inc_request_start(struct inc_request *req)
{
	return inc_call_again(req);
}

/**
 * inc_request_test() - check whether an operation is done
 * @req: operation
 * @done: 1 if it is, else 0
 *
 * Makes progress, does not sleep. If a program keeps calling it for the
 * communicator's time limit while no result arrives, the communicator fails
 * with -ETIMEDOUT.
 *
 * Return: 0, or the error of the operation (see inc_request_wait()).
 */
int inc_request_test(struct inc_request *req, int *done)
{
	int ret;

	inc_comm_lock(req->comm);
	ret = inc_request_try(req, done);
	if (!*done) {
		inc_watchdog_test(&req->comm->watchdog);
		if (!(++req->comm->turns % OTHERS_EVERY))
			inc_others_progress(req->comm);
	}
	inc_comm_unlock(req->comm);
	return ret;
}

/*
 * As inc_request_test(), for the library itself. Does not count for the time
 * limit. Returns as inc_request_test().
 * @done: 1 if it is, else 0
 */
int inc_request_try(struct inc_request *req, int *done)
{
	if (!is_over(req))
		inc_comm_progress(req->comm);
	*done = is_over(req);
	return *done ? end_of(req) : 0;
}

/**
 * inc_request_wait() - wait until an operation is done
 * @req: operation
 *
 * Sleeps, does not spin. May be called again.
 *
 * Return: 0; or, for this operation alone, -EBADE if the ranks disagree about
 * it, -EOPNOTSUPP or -EMSGSIZE if the switch refused it; or, for all operations
 * in progress and all later ones, -ETIMEDOUT, -ECONNRESET if a rank died or
 * left, -ESHUTDOWN if the tree was dismantled, -ENOTCONN if the daemon is gone,
 * -EHOSTUNREACH, -EPROTO or -EIO. inc_comm_strerror() says more.
 */
int inc_request_wait(struct inc_request *req)
{
	struct inc_watchdog *watch = &req->comm->watchdog;
	int ret;

	inc_comm_lock(req->comm);
	if (!is_over(req)) {
		inc_watchdog_count(&watch->calls);
		inc_request_sleep(req, INC_FOREVER);
		inc_watchdog_count(&watch->calls);
	}
	ret = end_of(req);
	inc_comm_unlock(req->comm);
	return ret;
}

/**
 * inc_request_wait_for() - wait for a limited time until an operation is done
 * @req: operation
 * @timeout_ms: maximum milliseconds to sleep; 0: as inc_request_test()
 *
 * For programs that have other work. Over UC it may take 4 ms longer. If a
 * program keeps calling it for the communicator's time limit while no result
 * arrives, the communicator fails with -ETIMEDOUT.
 *
 * Return: -EAGAIN if the operation is still in progress, else as
 * inc_request_wait().
 */
int inc_request_wait_for(struct inc_request *req, unsigned int timeout_ms)
{
	struct inc_watchdog *watch = &req->comm->watchdog;
	int done, ret;

	if (!timeout_ms) {
		ret = inc_request_test(req, &done);
		return done ? ret : -EAGAIN;
	}
	inc_comm_lock(req->comm);
	if (is_over(req)) {
		ret = end_of(req);
	} else {
		inc_watchdog_waits(watch, true);
		done = inc_request_sleep(req, timeout_ms < INT_MAX ?
					      (int)timeout_ms : INT_MAX);
		inc_watchdog_waits(watch, false);
		inc_watchdog_count(&watch->tests);
		ret = done ? end_of(req) : -EAGAIN;
	}
	inc_comm_unlock(req->comm);
	return ret;
}

/**
 * inc_request_free() - free a request
 * @req: operation, done or not; NULL does nothing
 *
 * An operation that is not done continues and still needs its buffers.
 */
void inc_request_free(struct inc_request *req)
{
	struct inc_comm *comm;
	bool held;

	if (!req)
		return;
	comm = req->comm;
	inc_comm_lock(comm);
	if (req->part)
		inc_request_free(req->part);
	req->part = NULL;
	if (!req->done) {
		req->orphan = true;
	} else {
		held = req->persistent;
		inc_request_put(req);
		if (held)
			inc_call_reap(comm);
	}
	inc_comm_unlock(comm);
}
