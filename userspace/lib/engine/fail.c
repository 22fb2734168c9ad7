// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Why a communicator fails: the device, the switch and the daemon each know a
 * part of it, and at different times.
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
#define SAID_TRIES		400	/* a manager may wait for who knows more */

/*
 * Let a communicator fail, as its device or its tree has.
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

/* Others see only that packets are missing: this host may know why. */
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
	/* To a manager this would say that it is to make another tree. */
	if (!comm->rebuild.on)
		inc_watchdog_lost(&comm->watchdog);
	inc_comm_fail(comm, err, "%s", text);
}

/*
 * Let a communicator fail, and tell the other ranks why.
 * @fmt: what has happened to this rank; the cause is added if this host has it
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
static bool is_rebuilding(struct inc_comm *comm)
{
	bool asked;

	pthread_mutex_lock(&comm->watchdog.lock);
	asked = comm->watchdog.rebuild.round != comm->rebuild.round;
	pthread_mutex_unlock(&comm->watchdog.lock);
	return comm->rebuild.on && asked;
}

/*
 * Stop to use a tree that has failed.
 * @comm: communicator that goes on over another one
 * @err: negative errno value, for when it cannot
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
	/* If the manager does not answer, the time limit of the call counts. */
	if (!is_rebuilding(comm))
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

/* A port may be down, or have another MTU, since the QP was connected. */
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
 * A device that is just plugged in elsewhere refuses packets, too: go on over
 * another tree, unless it did so before, and nothing has been done since; or over
 * another device.
 */
static bool try_again(struct inc_comm *comm)
{
	uint32_t last = comm->rails.peer ? 0 : comm->rebuild.refused;

	comm->rebuild.refused = comm->rebuild.finished + 1;
	return comm->rebuild.on && last != comm->rebuild.refused;
}

/*
 * The switch does not say why it has given up a tree. The daemon does, soon
 * after. Returns its negative errno value; 0: it has said nothing.
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
 * The switch refuses so what breaks its rules, which ends the queue pair, or what
 * comes for a tree that has failed.
 */
static bool is_refused(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_INV_REQ_ERR ||
	       status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
}

/*
 * Let the communicator fail, as a completion has an error. If the manager
 * makes another tree, operations are repeated over that.
 * @what: what was being done, for the message
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
	if (is_rebuilding(comm)) {
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
 * Let the communicator fail, as its tree has. If the manager makes another
 * tree, operations are repeated over that.
 * @status: what the switch says of it, at least INC_STATUS_TREE_MIN
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
 * Let a communicator fail, as the trees of both rails have. Another rank, or
 * the switch, is the cause then.
 */
void inc_fail_rails(struct inc_comm *comm)
{
	char text[INC_RDV_TEXT_MAX];
	/* Nobody listens to the first one's daemon any more. */
	int err = wait_said(comm->rails.other, text);

	if (!err || err == -ENOTCONN)
		err = wait_said(comm, text);
	if (!err || err == -ENOTCONN)
		inc_comm_fail(comm, comm->rebuild.err, "%s",
			      comm->rebuild.text);
	else
		inc_comm_fail(comm, err, "%s", text);
}
