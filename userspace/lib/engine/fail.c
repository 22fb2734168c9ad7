// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Causes of a communicator's failure: the device, the switch and the daemon
 * each know a part of them, and at different times.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fail.h"
#include "base/log.h"
#include "device/cause.h"
#include "end.h"

#define CAUSE_TRIES		20
#define CAUSE_PAUSE_MS		1
#define SAID_TRIES		400	/* a manager may await other reports */

/*
 * Fail a communicator, as its device or its tree has failed.
 * @comm: communicator; with two rails, only its tree fails
 */
void inc_fail_device(struct inc_comm *comm, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (comm->rails.peer)
		inc_comm_break(comm, err, "%s", text);
	else
		inc_comm_fail(comm, err, "%s", text);
}

/* Append this host's reason: other hosts see only that packets are missing. */
static void add_own(struct inc_comm *comm, char text[INC_RDV_TEXT_MAX])
{
	size_t len = strlen(text);
	char own[INC_RDV_TEXT_MAX];

	if (comm->who.has_tree &&
	    inc_dev_check_path(&comm->dev, &comm->tree.addr, comm->tree.pmtu,
			       own, sizeof(own)))
		snprintf(text + len, INC_RDV_TEXT_MAX - len, "; %s: %s",
			 inc_cause_host(), own);
}

/* Fail, and tell the other ranks why. */
static void fail_telling(struct inc_comm *comm, int err, const char *text)
{
	/* A manager would take this as a request for another tree. */
	if (!comm->rebuild.on)
		inc_watchdog_lost(&comm->watchdog);
	inc_comm_fail(comm, err, "%s", text);
}

/*
 * Fail a communicator, and tell the other ranks why.
 * @fmt: this rank's error; the cause is added if this host has it
 */
void inc_fail_own(struct inc_comm *comm, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_own(comm, text);
	fail_telling(comm, err, text);
}

/*
 * Take over an error that the watch found. Returns true if there was
 * one: the communicator, or its tree, has failed.
 */
bool inc_comm_watch_failed(struct inc_comm *comm)
{
	char text[INC_RDV_TEXT_MAX];
	int err = inc_watchdog_error(&comm->watchdog);

	if (!err)
		return false;
	pthread_mutex_lock(&comm->watchdog.lock);
	memcpy(text, comm->watchdog.text, sizeof(text));
	pthread_mutex_unlock(&comm->watchdog.lock);
	add_own(comm, text);
	if (err == -ETIMEDOUT)
		inc_comm_fail(comm, err, "%s", text);
	else
		inc_fail_device(comm, err, "%s", text);
	return true;
}

/* Has the manager asked for another tree since the last one? */
bool inc_fail_is_rebuilding(struct inc_comm *comm)
{
	bool asked;

	pthread_mutex_lock(&comm->watchdog.lock);
	asked = comm->watchdog.rebuild.round != comm->rebuild.round;
	pthread_mutex_unlock(&comm->watchdog.lock);
	return comm->rebuild.on && asked;
}

/* Take part in a rebuild that other ranks need, though this one needs no tree. */
void inc_fail_with_others(struct inc_comm *comm)
{
	if (!comm->rebuild.state && inc_fail_is_rebuilding(comm))
		inc_comm_break(comm, -EIO, "the manager makes another tree");
}

/*
 * Stop using a tree that has failed.
 * @comm: communicator that goes on over another one
 * @err: negative errno value in case it cannot
 */
void inc_comm_break(struct inc_comm *comm, int err, const char *fmt, ...)
{
	const struct inc_rdv_msg lost = { .type = INC_RDV_LOST };
	va_list ap;

	if (inc_comm_stopped(comm))
		return;
	va_start(ap, fmt);
	vsnprintf(comm->rebuild.text, sizeof(comm->rebuild.text), fmt, ap);
	va_end(ap);
	comm->rebuild.err = err;
	inc_info(&comm->who, "the tree does not work: %s", comm->rebuild.text);
	comm->rebuild.state = INC_REBUILD_BROKEN;
	inc_comm_drop_qp(comm);
	/* If the manager does not answer, the call's time limit expires. */
	if (!inc_fail_is_rebuilding(comm))
		inc_watchdog_say(&comm->watchdog, &lost);
}

/* Find the error in @cq that preceded the flushed completions. */
static bool find_cause(struct ibv_cq *cq, struct ibv_wc *cause)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (wc.status == IBV_WC_SUCCESS ||
		    wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		*cause = wc;
		return true;
	}
	return false;
}

/* rxe does not report the cause, but its counters show it. */
static bool is_unsent(const struct inc_comm *comm, enum ibv_wc_status status)
{
	int dev = ibv_get_device_index(comm->dev.ctx->device);

	if (status != IBV_WC_WR_FLUSH_ERR && status != IBV_WC_LOC_QP_OP_ERR)
		return false;
	return inc_hw_counters_unsent(dev, comm->dev.port) != comm->unsent;
}

/* Fail with the reason, such as a port that is down or has another MTU now. */
static void fail_unsent(struct inc_comm *comm)
{
	char own[INC_RDV_TEXT_MAX / 2], text[INC_RDV_TEXT_MAX];
	int err = inc_dev_check_path(&comm->dev, &comm->tree.addr,
				     comm->tree.pmtu, own, sizeof(own));

	if (err)
		snprintf(text, sizeof(text), "sending: %s: %s",
			 inc_cause_host(), own);
	else
		snprintf(text, sizeof(text), "sending: %s: the network device refused a packet: is its queue full (tc -s qdisc)? Window %u",
			 inc_cause_host(), comm->window.now);
	fail_telling(comm, err ? err : -ENOBUFS, text);
}

/*
 * A device whose cable is being moved refuses packets, too: go on over another
 * tree, unless it refused before without progress since; or over another device.
 */
static bool try_again(struct inc_comm *comm)
{
	uint32_t last = comm->rails.peer ? 0 : comm->rebuild.refused;

	comm->rebuild.refused = comm->rebuild.finished + 1;
	return comm->rebuild.on && last != comm->rebuild.refused;
}

/*
 * The daemon gives the reason why the switch has given up a tree, soon after.
 * Returns its negative errno value; 0: no reason came.
 */
static int wait_said(struct inc_comm *comm, char text[INC_RDV_TEXT_MAX])
{
	const struct timespec pause = { .tv_nsec = CAUSE_PAUSE_MS * 1000000L };
	int tries, err = 0;

	text[0] = '\0';
	for (tries = 0; !text[0] && tries < SAID_TRIES; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		pthread_mutex_lock(&comm->watchdog.lock);
		memcpy(text, comm->watchdog.said, sizeof(comm->watchdog.said));
		err = comm->watchdog.said_err;
		pthread_mutex_unlock(&comm->watchdog.lock);
	}
	return err;
}

/*
 * Has the switch sent a NAK, for a violation of its rules, which ends the queue
 * pair, or for a request to a failed tree?
 */
static bool is_refused(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_INV_REQ_ERR ||
	       status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
}

/*
 * Fail the communicator after a completion with an error. If the manager makes
 * another tree, operations are repeated over it instead.
 * @what: current action, for the message
 */
void inc_fail_wc(struct inc_comm *comm, const struct ibv_wc *wc,
		 const char *what)
{
	const struct timespec pause = { .tv_nsec = CAUSE_PAUSE_MS * 1000000L };
	char said[INC_RDV_TEXT_MAX];
	struct ibv_wc cause = *wc;
	int tries, err, said_err = 0;

	/* A flush means that the QP is in ERROR, perhaps moved by the watch. */
	if (inc_comm_watch_failed(comm))
		return;
	if (inc_fail_is_rebuilding(comm)) {
		inc_comm_break(comm, -EIO, "the manager makes another tree");
		return;
	}
	/* Else the device did; the cause appears in either CQ, maybe later. */
	for (tries = 0; cause.status == IBV_WC_WR_FLUSH_ERR &&
			tries < CAUSE_TRIES; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		if (find_cause(comm->sq.cq, &cause))
			what = "sending";
		else if (find_cause(comm->rq.cq, &cause))
			what = "receiving";
	}
	err = cause.status == IBV_WC_RETRY_EXC_ERR ? -EHOSTUNREACH : -EIO;
	if (is_refused(cause.status) && !comm->rebuild.on)
		said_err = wait_said(comm, said);
	if (is_unsent(comm, cause.status) && !try_again(comm))
		fail_unsent(comm);
	else if (comm->rebuild.on)
		inc_comm_break(comm, err, "%s: %s", what,
			       ibv_wc_status_str(cause.status));
	else if (said_err)
		inc_comm_fail(comm, said_err, "%s", said);
	else
		inc_fail_own(comm, err, "%s: %s (vendor error %u)", what,
			     ibv_wc_status_str(cause.status), cause.vendor_err);
}

/*
 * Fail the communicator, as its tree has failed. If the manager makes another
 * tree, operations are repeated over it instead.
 * @status: the switch's status, at least INC_STATUS_TREE_MIN
 */
void inc_fail_tree(struct inc_comm *comm, unsigned int status)
{
	char text[INC_RDV_TEXT_MAX];

	if (comm->rebuild.on) {
		inc_comm_break(comm, inc_status_errno(status), "%s",
			       inc_status_str(status));
		return;
	}
	wait_said(comm, text);
	inc_comm_fail(comm, inc_status_errno(status), "%s%s%s",
		      inc_status_str(status), text[0] ? ": " : "", text);
}

/*
 * Fail a communicator, as the trees of both rails have failed. The cause is
 * then another rank, or the switch.
 */
void inc_fail_rails(struct inc_comm *comm)
{
	char text[INC_RDV_TEXT_MAX];
	/* The first rail's connection to its daemon is not read any more. */
	int err = wait_said(comm->rails.other, text);

	if (!err || err == -ENOTCONN)
		err = wait_said(comm, text);
	if (!err || err == -ENOTCONN)
		inc_comm_fail(comm, comm->rebuild.err, "%s",
			      comm->rebuild.text);
	else
		inc_comm_fail(comm, err, "%s", text);
}
