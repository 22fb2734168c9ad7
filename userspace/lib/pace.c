// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window over RC, see pace.h.
 *
 * What is posted beyond what the path takes waits in the host's queue, and the
 * acknowledgments of results wait behind it, those of others' messages, too: the
 * switch and they have windows as well.
 *
 * Only operations of many messages are measured, and they not all the time: to read
 * the clock may be a system call. A round trip without a queue is that of a message
 * that was sent when nothing was under way.
 */
#include "comm.h"
#include "pace.h"

/* Longer than most turns of a process that shares its CPU. */
#define QUEUE_US	10000
/*
 * A round trip is measured in so many operations, since ranks come to the first ones at
 * different times, then in one of as many.
 */
#define OPS_TIMED	8

/* In AllToAll most messages are others': what is under way is not this rank's. */
static bool is_paced(const struct inc_comm *comm, const struct inc_req *req)
{
	return comm->pace.follows && req->msgs > INC_WINDOW_RC_MIN &&
	       req->plan.collective != INC_COLL_ALLTOALL;
}

/**
 * inc_pace_issue() - an operation begins
 * @comm: communicator
 * @req: operation
 *
 * Messages of another length take other times: all begins anew.
 */
void inc_pace_issue(struct inc_comm *comm, const struct inc_req *req)
{
	struct inc_pace *pace = &comm->pace;

	if (!pace->follows)
		return;
	if (!is_paced(comm, req)) {
		comm->window = comm->window_max;
		return;
	}
	if (pace->piece != req->plan.chunk) {
		inc_window_init(&pace->window, INC_WINDOW_RC_DEFAULT,
				INC_WINDOW_RC_MIN, comm->window_max, QUEUE_US);
		pace->piece = req->plan.chunk;
		pace->timed_at = 0;
		pace->ops = 0;
	}
	comm->window = pace->window.now;
}

/**
 * inc_pace_sent() - a message is sent
 * @comm: communicator
 * @req: its operation
 * @id: message
 */
void inc_pace_sent(struct inc_comm *comm, const struct inc_req *req, uint32_t id)
{
	struct inc_pace *pace = &comm->pace;

	if (id != comm->head_id || pace->timed_at || !is_paced(comm, req))
		return;
	if (pace->ops++ >= OPS_TIMED && pace->ops % OPS_TIMED)
		return;
	pace->timed_id = id;
	pace->timed_at = inc_now_us();
}

/**
 * inc_pace_filled() - all messages have been sent that may be
 * @comm: communicator
 */
void inc_pace_filled(struct inc_comm *comm)
{
	struct inc_pace *pace = &comm->pace;

	if (!pace->came)
		return;
	pace->came = false;
	if (inc_msg_may_send(comm) || pace->window.measures)
		return;
	inc_window_filled(&pace->window, comm->next_id - 1, inc_now_us());
}

/**
 * inc_pace_done() - a message's result or error has come
 * @comm: communicator
 * @req: its operation
 * @id: message
 * @ok: it was a result
 */
void inc_pace_done(struct inc_comm *comm, const struct inc_req *req, uint32_t id,
		   bool ok)
{
	struct inc_pace *pace = &comm->pace;
	struct inc_window *w = &pace->window;
	uint64_t now = 0, rtt = 0;
	bool timed;

	if (!is_paced(comm, req))
		return;
	pace->came = true;
	timed = pace->timed_at && id == pace->timed_id;
	if (timed || inc_window_ends(w, id))
		now = inc_now_us();
	if (timed && ok)
		rtt = now - pace->timed_at;
	if (timed)
		pace->timed_at = 0;
	if (inc_window_done(w, id, rtt, now))
		comm->window = w->now;
}
