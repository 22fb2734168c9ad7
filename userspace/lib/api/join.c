// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How a rank joins its job: the dialogue with the daemon, or the manager, up to
 * "ready", and leaving. See Documentation/rendezvous.rst.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "comm/comm.h"
#include "device/rails.h"
#include "engine/rebuild.h"
#include "join.h"
#include "opts.h"

/* Reaction time to a cancellation by another thread. */
#define STOP_LOOK_MS	50
#define STOP_CONNECT_MS	2000
#define ASK_MS		500	/* beyond the time limit: who was missing? */

static int try_conn(struct inc_conn *conn, const struct inc_comm_opts *o,
		    int64_t deadline_ms, char *err, size_t err_len)
{
	return inc_conn_open(conn, o->am ? o->am : o->server, o->am, deadline_ms,
			     err, err_len);
}

/*
 * Connect to the daemon, or to the manager; in short attempts if another thread
 * may cancel. Returns 0, or a negative errno value after inc_opts_error().
 */
int inc_join_open(struct inc_comm *comm, const struct inc_comm_opts *o,
		  int64_t deadline_ms)
{
	char err[INC_RDV_TEXT_MAX] = "";
	struct inc_conn *conn = &comm->watchdog.conn;
	_Atomic bool *stop = comm->change.stopped_by;
	int64_t until;
	int ret;

	for (;;) {
		until = inc_now_ms() + STOP_CONNECT_MS;
		if (!stop || until > deadline_ms)
			until = deadline_ms;
		ret = try_conn(conn, o, until, err, sizeof(err));
		if (!ret)
			return 0;
		if (inc_now_ms() < until || until == deadline_ms ||
		    atomic_load(stop))
			return inc_opts_here(o, ret, err);
		inc_conn_close(conn);
	}
}

/*
 * Leave the job. Waits for the answer, after which the name is free again.
 * Returns true if it came.
 * @ms: maximum time to wait, milliseconds
 */
bool inc_join_leave(struct inc_comm *comm, int ms, struct inc_rdv_msg *answer)
{
	const struct inc_rdv_msg bye = { .type = INC_RDV_LEAVE };
	struct inc_conn *conn = &comm->watchdog.conn;
	int64_t deadline = inc_now_ms() + ms;
	char err[INC_RDV_TEXT_MAX];

	if (conn->fd < 0 || inc_conn_send(conn, &bye))
		return false;
	do {
		if (inc_conn_recv(conn, answer, deadline, err, sizeof(err)))
			return false;
		if (answer->type == INC_RDV_BYE)
			return true;
	} while (inc_now_ms() < deadline);
	return false;
}

/* Give up waiting; the daemon says which ranks or trees are missing. */
static int not_all_came(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct inc_rdv_msg msg;
	bool am = comm->watchdog.conn.is_manager, said = inc_join_leave(comm, ASK_MS, &msg);
	bool known = said && *msg.text;

	inc_conn_close(&comm->watchdog.conn);
	if (comm->rebuild.round)
		return inc_opts_error(o, -ETIMEDOUT, "the tree has failed, and no other one was ready within %u ms",
				      o->join_timeout_ms);
	if (am && said && !known)
		return inc_opts_error(o, -ETIMEDOUT, "job \"%s\" was not ready within %u ms, although no rank is missing: does a switch answer slowly? See inc-amctl event",
				      o->job, o->join_timeout_ms);
	if (!said)
		return inc_opts_error(o, -ETIMEDOUT, "job \"%s\": %s does not answer, after %u ms: is it stopped, or its host cut off?",
				      o->job, am ? "the manager" : "the rendezvous daemon",
				      o->join_timeout_ms);
	return inc_opts_error(o, -ETIMEDOUT, "not all %d ranks of job \"%s\" came within %u ms%s%s",
			      o->nranks, o->job, o->join_timeout_ms,
			      known ? ": missing: " : "", known ? msg.text : "");
}

/* Receive the next message, unless another thread cancels. */
static int next_line(struct inc_comm *comm, int64_t deadline_ms,
		     struct inc_rdv_msg *msg, char *err, size_t err_len)
{
	_Atomic bool *stop = comm->change.stopped_by;
	int64_t now, until;
	int ret;

	if (!stop)
		return inc_conn_recv(&comm->watchdog.conn, msg, deadline_ms,
				     err, err_len);
	do {
		now = inc_now_ms();
		until = now + STOP_LOOK_MS;
		if (atomic_load(stop)) {
			snprintf(err, err_len, "not wanted any more");
			return -ECANCELED;
		}
		ret = inc_conn_recv(&comm->watchdog.conn, msg,
				    until < deadline_ms ? until : deadline_ms,
				    err, err_len);
	} while (ret == -ETIMEDOUT && now < deadline_ms);
	return ret;
}

static bool is_news(const struct inc_rdv_msg *msg)
{
	return msg->type != INC_RDV_ALIVE && msg->type != INC_RDV_WRONG;
}

/*
 * Receive the daemon's next message, which must be of type @type. A manager may
 * send "rebuild" instead, if the rank has enabled it.
 */
static int expect_msg(struct inc_comm *comm, const struct inc_comm_opts *o,
		      enum inc_rdv_type type, int64_t deadline_ms,
		      struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	do {
		ret = next_line(comm, deadline_ms, msg, err, sizeof(err));
		/* Read messages that have arrived even after the deadline. */
		if (!ret && !is_news(msg) && inc_now_ms() >= deadline_ms)
			ret = -ETIMEDOUT;
	} while (!ret && !is_news(msg));
	/* Where several switches take part, "joined" waits for all ranks. */
	if (ret == -ETIMEDOUT)
		return not_all_came(comm, o);
	if (ret)
		return inc_opts_error(o, ret, "%s", err);
	if (msg->type == type || (msg->type == INC_RDV_REBUILD &&
				  o->flags & INC_COMM_F_REBUILD))
		return 0;
	switch (msg->type) {
	case INC_RDV_ERROR:
		return inc_opts_error(o, -msg->err, "%s", msg->text);
	case INC_RDV_FAILED:
		return inc_opts_error(o, inc_status_errno(msg->status), "%s",
				      msg->text);
	case INC_RDV_LEFT:
		return inc_opts_error(o, -ECONNRESET, "rank %d has left", msg->rank);
	case INC_RDV_JOIN:
	case INC_RDV_RTS:
	case INC_RDV_LEAVE:
	case INC_RDV_LOST:
	case INC_RDV_JOINED:
	case INC_RDV_READY:
	case INC_RDV_BYE:
	case INC_RDV_ALIVE:
	case INC_RDV_WRONG:
	case INC_RDV_GATHER:
	case INC_RDV_RETRACT:
	case INC_RDV_LINK:
	case INC_RDV_PLACED:
	case INC_RDV_LINKED:
	case INC_RDV_REBUILD:
	case INC_RDV_REJOIN:
	case INC_RDV_LOSSY:
	case INC_RDV_CHANGE:
		break;
	}
	return inc_opts_error(o, -EPROTO, "rendezvous daemon: unexpected line");
}

static int send_join(struct inc_comm *comm, const struct inc_comm_opts *o,
		     uint32_t psn, int64_t deadline_ms)
{
	struct inc_rdv_msg msg = {
		.type = INC_RDV_JOIN,
		.join = {
			.ranks	= (uint32_t)o->nranks,
			.rank	= (uint32_t)o->rank,
			.addr	= comm->dev.addr,
			.qpn	= comm->qpn,
			.psn	= psn,
			.mtu	= comm->dev.mtu,
			.uc	= comm->uc,
			.rebuild = o->flags & INC_COMM_F_REBUILD,
			.change	= comm->change.able,
			.move	= comm->change.movable,
			.rails	= comm->rails.able,
			.cm	= comm->cm,
			.tree = {
				.slots		= o->tree.slots,
				.msg_size	= o->tree.msg_size,
				.pmtu		= o->tree.pmtu,
				.has_first_msg_id = o->tree.flags &
						INC_TREE_F_FIRST_MSG_ID,
				.first_msg_id	= o->tree.first_msg_id,
			},
		},
	};
	char err[INC_RDV_TEXT_MAX];
	int ret;

	snprintf(msg.join.job, sizeof(msg.join.job), "%s", o->job);
	ret = inc_conn_send(&comm->watchdog.conn, &msg);
	if (!ret)
		return 0;
	inc_conn_why(&comm->watchdog.conn, ret, err, sizeof(err));
	return inc_opts_error(o, ret, "%s", err);
}

/*
 * Report that the queue pair is ready to receive: the daemon lets the ranks
 * begin only when all have reported. A failure to send shows when receiving the
 * answer.
 */
static void send_rts(struct inc_comm *comm)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_RTS };

	if (comm->rails.able)
		msg.rails = inc_rails_reach(&comm->dev, comm->tree.rails);
	inc_conn_send(&comm->watchdog.conn, &msg);
}

/* Connect to the first tree, and wait until all ranks have done so. */
static int first_tree(struct inc_comm *comm, const struct inc_comm_opts *o,
		      uint32_t psn, int64_t deadline_ms,
		      struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	ret = inc_comm_take_tree(comm, &msg->joined, psn, err, sizeof(err));
	if (ret)
		return inc_opts_here(o, ret, err);
	send_rts(comm);
	ret = expect_msg(comm, o, INC_RDV_READY, deadline_ms, msg);
	if (ret || msg->type != INC_RDV_READY || !comm->rails.able)
		return ret;
	comm->rails.chosen = msg->rails;
	snprintf(comm->rails.job, sizeof(comm->rails.job), "%.*s", INC_JOB_MAX,
		 msg->text);
	return 0;
}

/*
 * Handle a tree that failed before all ranks were ready. As with a later
 * failure, except that this thread, not the watch, hears the manager.
 */
static int other_tree(struct inc_comm *comm, const struct inc_comm_opts *o,
		      struct inc_rdv_msg *msg)
{
	int64_t deadline_ms = inc_now_ms() + o->join_timeout_ms;
	int ret;

	comm->rebuild.state = INC_REBUILD_BROKEN;
	for (;;) {
		inc_watchdog_note_tree(&comm->watchdog, msg);
		inc_rebuild_progress(comm);
		if (comm->err)
			return inc_opts_error(o, comm->err, "%s", comm->error.text);
		if (comm->rebuild.state == INC_REBUILD_NONE)
			return 0;
		ret = expect_msg(comm, o,
				 comm->rebuild.state == INC_REBUILD_REJOINED ?
				 INC_RDV_JOINED : INC_RDV_READY, deadline_ms,
				 msg);
		if (ret)
			return ret;
	}
}

/*
 * Join the job, and wait until all ranks can send and receive. Returns 0, or a
 * negative errno value after inc_opts_error().
 */
int inc_join_job(struct inc_comm *comm, const struct inc_comm_opts *o,
		 int64_t deadline_ms)
{
	struct inc_rdv_msg msg;
	uint32_t psn;
	int ret;

	if (getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		return inc_opts_error(o, -EIO, "getrandom: %s", strerror(errno));
	if (o->flags & INC_COMM_F_PSN)
		psn = o->psn;
	psn &= 0xffffff;
	ret = send_join(comm, o, psn, deadline_ms);
	if (!ret)
		ret = expect_msg(comm, o, INC_RDV_JOINED, deadline_ms, &msg);
	if (!ret && msg.type == INC_RDV_JOINED)
		ret = first_tree(comm, o, psn, deadline_ms, &msg);
	if (!ret && msg.type == INC_RDV_REBUILD)
		ret = other_tree(comm, o, &msg);
	return ret;
}
