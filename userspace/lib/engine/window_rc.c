// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window of a communicator over RC, which adapts to the path.
 *
 * Messages posted beyond the path's capacity wait in the host's queue. The
 * acknowledgments of results, including those of other ranks' messages, wait
 * behind them and hold up the windows of the switch and the other ranks.
 *
 * Only operations of many messages are measured, and not all the time: reading
 * the clock may be a system call. A message sent when nothing else was in
 * flight shows the round trip without queueing.
 */
#include "window_rc.h"

/* Longer than most time slices of a process that shares its CPU. */
#define QUEUE_US	10000
/*
 * Round trips are measured in the first OPS_TIMED operations, as ranks enter
 * these at different times, and then in one operation out of OPS_TIMED.
 */
#define OPS_TIMED	8

/* In AllToAll most messages in flight are other ranks'. */
static bool is_measured(const struct inc_comm *comm,
			const struct inc_request *req)
{
	return comm->window.rc.adapts && req->msgs > INC_WINDOW_RC_MIN &&
	       req->plan.collective != INC_COLL_ALLTOALL;
}

/*
 * Set the window for a new operation. Measuring starts over, as times depend on
 * the length of messages.
 */
void inc_window_rc_issue(struct inc_comm *comm, const struct inc_request *req)
{
	struct inc_window_rc *rc = &comm->window.rc;

	if (!rc->adapts)
		return;
	if (!is_measured(comm, req)) {
		comm->window.now = comm->window.max;
		return;
	}
	if (rc->piece != req->plan.chunk) {
		inc_bdp_init(&rc->bdp, INC_WINDOW_RC_DEFAULT,
			     INC_WINDOW_RC_MIN, comm->window.max, QUEUE_US);
		rc->piece = req->plan.chunk;
		rc->timed_at = 0;
		rc->ops = 0;
	}
	comm->window.now = rc->bdp.now;
}

/* Record that a message is sent. */
void inc_window_rc_sent(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id)
{
	struct inc_window_rc *rc = &comm->window.rc;

	if (id != comm->msgs.head || rc->timed_at || !is_measured(comm, req))
		return;
	if (rc->ops++ >= OPS_TIMED && rc->ops % OPS_TIMED)
		return;
	rc->timed_id = id;
	rc->timed_at = inc_now_us();
}

/* Record that the window is full. */
void inc_window_rc_filled(struct inc_comm *comm)
{
	struct inc_window_rc *rc = &comm->window.rc;

	if (!rc->results)
		return;
	rc->results = false;
	if (inc_msg_may_send(comm) || rc->bdp.measures)
		return;
	inc_bdp_filled(&rc->bdp, comm->msgs.next - 1, inc_now_us());
}

/* Record a message's result or error. */
void inc_window_rc_done(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id, bool ok)
{
	struct inc_window_rc *rc = &comm->window.rc;
	struct inc_bdp *bdp = &rc->bdp;
	uint64_t now = 0, rtt = 0;
	bool timed;

	if (!is_measured(comm, req))
		return;
	rc->results = true;
	timed = rc->timed_at && id == rc->timed_id;
	if (timed || inc_bdp_ends(bdp, id))
		now = inc_now_us();
	if (timed && ok)
		rtt = now - rc->timed_at;
	if (timed)
		rc->timed_at = 0;
	if (inc_bdp_done(bdp, id, rtt, now))
		comm->window.now = bdp->now;
}
