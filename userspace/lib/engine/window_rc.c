// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window over RC, see window_rc.h.
 *
 * Messages posted beyond the path's capacity wait in the host's queue. The
 * acknowledgments of results, including those of other ranks' messages, wait
 * behind them and hold up the windows of the switch and the other ranks.
 *
 * Only operations of many messages are measured, and not all the time: reading
 * the clock may be a system call. A message sent when nothing else was in
 * flight shows the round trip without queueing.
 */
#include "comm.h"
#include "window_rc.h"

/* Longer than most time slices of a process that shares its CPU. */
#define QUEUE_US	10000
/*
 * Round trips are measured in the first OPS_TIMED operations, as ranks enter
 * these at different times, and then in one operation out of OPS_TIMED.
 */
#define OPS_TIMED	8

/* In AllToAll most messages in flight are other ranks'. */
static bool is_paced(const struct inc_comm *comm, const struct inc_req *req)
{
	return comm->pace.follows && req->msgs > INC_WINDOW_RC_MIN &&
	       req->plan.collective != INC_COLL_ALLTOALL;
}

/**
 * inc_pace_issue() - set the window for a new operation
 * @comm: communicator
 * @req: operation
 *
 * Messages of another length take other times, so measuring starts over.
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
 * inc_pace_sent() - record that a message is sent
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
 * inc_pace_filled() - record that all messages that may be in flight are sent
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
 * inc_pace_done() - record a message's result or error
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
