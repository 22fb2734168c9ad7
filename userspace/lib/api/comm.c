// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Creation and destruction of a communicator.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "change.h"
#include "engine/comm.h"
#include "fork.h"

/* A communicator that another thread may stop to want: how soon it is. */
#define STOP_LOOK_MS	50
#define STOP_CONNECT_MS	2000

/* --- Options ----------------------------------------------------------- */

static int opt_error(const struct inc_comm_opts *o, int ret,
		     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Report why a creation failed. Returns @ret. */
static int opt_error(const struct inc_comm_opts *o, int ret,
		     const char *fmt, ...)
{
	struct inc_who who = { .rank = o->rank, .nranks = o->nranks };
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(who.job, sizeof(who.job), "%s", o->job ? o->job : "");
	inc_err(&who, "%s", text);
	if (o->errbuf && o->errbuf_len)
		snprintf(o->errbuf, o->errbuf_len, "%s", text);
	return ret;
}

/* Read a number from the environment; leaves @val alone if it is not set. */
static int env_num(const struct inc_comm_opts *o, const char *name,
		   unsigned long max, unsigned long *val)
{
	const char *text = getenv(name);
	unsigned long num;
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	num = strtoul(text, &end, 0);
	if (errno || *end || *text == '-' || num > max)
		return opt_error(o, -EINVAL,
				 "%s=%s: must be a number, 0 ... %lu", name,
				 text, max);
	*val = num;
	return 0;
}

static int env_uint(const struct inc_comm_opts *o, const char *name,
		    unsigned int max, unsigned int *val)
{
	unsigned long num = *val;
	int ret = *val ? 0 : env_num(o, name, max, &num);

	*val = (unsigned int)num;
	return ret;
}

/* For settings where -1 means none. */
static int env_int(const struct inc_comm_opts *o, const char *name, int max,
		   int *val)
{
	unsigned long num = ULONG_MAX;
	int ret = *val >= 0 ? 0 : env_num(o, name, (unsigned long)max, &num);

	if (num != ULONG_MAX)
		*val = (int)num;
	return ret;
}

static void env_str(const char *name, const char **val)
{
	if (!*val || !**val)
		*val = getenv(name);
	if (*val && !**val)
		*val = NULL;
}

static int env_reg(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_REG");

	if (o->reg != INC_REG_DEFAULT)
		return o->reg == INC_REG_EACH || o->reg == INC_REG_CACHE ? 0 :
		       opt_error(o, -EINVAL, "registration mode %d", o->reg);
	o->reg = INC_REG_EACH;
	if (!text || !*text || !strcmp(text, "each"))
		return 0;
	if (strcmp(text, "cache"))
		return opt_error(o, -EINVAL,
				 "INC_REG=%s: must be each or cache", text);
	o->reg = INC_REG_CACHE;
	return 0;
}

static int env_transport(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_TRANSPORT");

	if (o->qp_type != INC_QP_DEFAULT)
		return o->qp_type == INC_QP_RC || o->qp_type == INC_QP_UC ? 0 :
		       opt_error(o, -EINVAL, "queue pair type %d", o->qp_type);
	if (!text || !*text || !strcmp(text, "auto"))
		return 0;
	if (!strcmp(text, "rc"))
		o->qp_type = INC_QP_RC;
	else if (!strcmp(text, "uc"))
		o->qp_type = INC_QP_UC;
	else
		return opt_error(o, -EINVAL, "INC_TRANSPORT=%s: must be auto, rc or uc",
				 text);
	return 0;
}

static int env_on_failure(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_AM_ON_FAILURE");

	if (o->flags & INC_COMM_F_REBUILD || !text || !*text ||
	    !strcmp(text, "end"))
		return 0;
	if (strcmp(text, "rebuild"))
		return opt_error(o, -EINVAL, "INC_AM_ON_FAILURE=%s: must be end or rebuild",
				 text);
	o->flags |= INC_COMM_F_REBUILD;
	return 0;
}

/* Without a manager, who connects the ranks is not the environment's to say. */
static int env_connect(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_AM_CONNECT");

	if (o->flags & INC_COMM_F_CM || !text || !*text ||
	    !strcmp(text, "manager"))
		return 0;
	if (strcmp(text, "cm"))
		return opt_error(o, -EINVAL, "INC_AM_CONNECT=%s: must be manager or cm",
				 text);
	if (o->am)
		o->flags |= INC_COMM_F_CM;
	return 0;
}

static int fill_from_env(struct inc_comm_opts *o)
{
	unsigned int port = o->port > 0 ? (unsigned int)o->port : 0;
	int ret;

	/* A daemon that the caller names is preferred to one of the environment. */
	if (!o->server || !*o->server)
		env_str("INC_AM", &o->am);
	env_str("INC_SERVER", &o->server);
	env_str("INC_JOB", &o->job);
	env_str("INC_DEV", &o->dev);
	ret = env_int(o, "INC_RANK", UINT16_MAX, &o->rank);
	if (!ret)
		ret = env_int(o, "INC_NRANKS", UINT16_MAX, &o->nranks);
	if (!ret)
		ret = env_int(o, "INC_GID_INDEX", INT_MAX, &o->gid_index);
	if (!ret)
		ret = env_uint(o, "INC_IB_PORT", UINT8_MAX, &port);
	if (!ret)
		ret = env_uint(o, "INC_QP_TIMEOUT", 31, &o->qp_timeout);
	if (!ret)
		ret = env_uint(o, "INC_WINDOW", UINT16_MAX, &o->window);
	if (!ret)
		ret = env_uint(o, "INC_TIMEOUT_MS", INT_MAX, &o->timeout_ms);
	if (!ret)
		ret = env_uint(o, "INC_JOIN_TIMEOUT_MS", INT_MAX,
			       &o->join_timeout_ms);
	if (!ret)
		ret = env_uint(o, "INC_RETRIES", UINT16_MAX, &o->retries);
	if (!ret)
		ret = env_on_failure(o);
	if (!ret)
		ret = env_connect(o);
	if (!ret)
		ret = env_reg(o);
	if (!ret)
		ret = env_transport(o);
	o->port = (int)port;
	return ret;
}

static int check_opts(const struct inc_comm_opts *o)
{
	if (!o->server && !o->am)
		return opt_error(o, -EINVAL, "no server (INC_SERVER), and no manager (INC_AM)");
	if (!o->job)
		return opt_error(o, -EINVAL, "no name of the job (INC_JOB)");
	if (strlen(o->job) > INC_JOB_MAX)
		return opt_error(o, -EINVAL,
				 "job \"%s\": longer than %d characters",
				 o->job, INC_JOB_MAX);
	if (o->nranks < 1)
		return opt_error(o, -EINVAL,
				 "number of ranks is %d (INC_NRANKS)",
				 o->nranks);
	if (o->rank < 0 || o->rank >= o->nranks)
		return opt_error(o, -EINVAL, "rank %d (INC_RANK) of %d",
				 o->rank, o->nranks);
	if (o->flags & ~(INC_COMM_F_PSN | INC_COMM_F_REBUILD | INC_COMM_F_CM) ||
	    o->tree.flags & ~INC_TREE_F_FIRST_MSG_ID)
		return opt_error(o, -EINVAL,
				 "flags that libinc %s does not know",
				 inc_version());
	if (o->flags & INC_COMM_F_CM && !o->am)
		return opt_error(o, -EINVAL, "RDMA CM needs an aggregation manager (INC_AM)");
	if (o->qp_timeout > 31)
		return opt_error(o, -EINVAL, "QP timeout %u: must be 1 ... 31",
				 o->qp_timeout);
	return 0;
}

/*
 * Convert the caller's options to this library's version, with all defaults.
 * @env: the environment has some
 */
static int take_opts(struct inc_comm_opts *o, const struct inc_comm_opts *given,
		     bool env)
{
	const struct inc_comm_opts init = INC_COMM_OPTS_INIT;
	const char *extra = (const char *)given + sizeof(*o);
	size_t size = given->size, i;
	int ret;

	*o = init;
	if (size < offsetof(struct inc_comm_opts, tree))
		return -EINVAL;
	memcpy(o, given, size < sizeof(*o) ? size : sizeof(*o));
	o->size = sizeof(*o);
	for (i = sizeof(*o); i < size; i++, extra++)
		if (*extra)
			return opt_error(o, -E2BIG,
					 "options of a newer libinc than %s",
					 inc_version());
	ret = env ? fill_from_env(o) : 0;
	if (!ret)
		ret = check_opts(o);
	if (!o->qp_timeout)
		o->qp_timeout = INC_QP_TIMEOUT_DEFAULT;
	if (!o->retries)
		o->retries = INC_RETRIES_DEFAULT;
	if (!o->timeout_ms)
		o->timeout_ms = INC_TIMEOUT_DEFAULT_MS;
	if (!o->join_timeout_ms)
		o->join_timeout_ms = o->timeout_ms;
	return ret;
}

/* --- Verbs ------------------------------------------------------------- */

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Unless fixed by the caller, the window adapts to the path: see bdp.h. */
static void set_window(struct inc_comm *comm, const struct inc_comm_opts *o,
		       uint32_t most)
{
	uint32_t first = INC_WINDOW_RC_DEFAULT, max = INC_WINDOW_RC_MAX;

	if (o->window) {
		first = o->window;
		max = o->window;
	} else if (comm->uc) {
		first = INC_WINDOW_UC_DEFAULT;
		max = INC_WINDOW_UC_MAX;
		if (o->tree.slots)
			max = min_u32(max, o->tree.slots);
	}
	/*
	 * If rxe meets a full queue, it ends the queue pair. Reserve half of
	 * the queue for retransmissions, queries and other users. rxe itself
	 * throttles RC.
	 */
	if (comm->uc && comm->dev.queue) {
		if (o->window > comm->dev.queue / 2)
			inc_info(&comm->who, "window %u: the device's queue takes %u packets",
				 o->window, comm->dev.queue);
		max = min_u32(max, (comm->dev.queue + 1) / 2);
	}
	comm->window.rc.adapts = !comm->uc && !o->window;
	comm->window.max = min_u32(max, most);
	comm->window.now = min_u32(first, comm->window.max);
}

static int verbs_error(const struct inc_comm_opts *o, const char *what)
{
	int ret = inc_verbs_errno();

	return opt_error(o, ret, "%s: %s", what, strerror(-ret));
}

static int make_queues(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct ibv_device_attr attr;
	uint32_t max;

	if (ibv_query_device(comm->dev.ctx, &attr))
		return opt_error(o, -EIO, "%s: device does not answer",
				 ibv_get_device_name(comm->dev.ctx->device));
	max = (uint32_t)(attr.max_qp_wr < attr.max_cqe ? attr.max_qp_wr :
							 attr.max_cqe);
	set_window(comm, o, max / (comm->uc ? 4 : 8));
	/* Over UC sends complete soon; a longer queue costs cache misses. */
	comm->sq.depth = round_up_pow2(2 * comm->window.now);
	if (comm->sq.depth < INC_SQ_DEPTH_MIN)
		comm->sq.depth = INC_SQ_DEPTH_MIN;
	/*
	 * Half of it is always posted; over RC the window may jump, see
	 * window_rc.c.
	 */
	comm->rq.depth = comm->window.max + INC_RQ_SPARE +
			 (comm->uc ? comm->window.now : comm->window.max);
	if (inc_comm_max_sends(comm) > max || comm->rq.depth > max)
		return opt_error(o, -EINVAL,
				 "%s: queues of %u requests are too short",
				 ibv_get_device_name(comm->dev.ctx->device),
				 max);

	comm->pd = inc_hca_pd(comm->dev.hca);
	if (!comm->pd)
		return verbs_error(o, "ibv_alloc_pd");
	comm->chan = ibv_create_comp_channel(comm->dev.ctx);
	if (!comm->chan)
		return verbs_error(o, "ibv_create_comp_channel");
	comm->rq.cq = ibv_create_cq(comm->dev.ctx, (int)comm->rq.depth, NULL,
				    comm->chan, 0);
	if (comm->rq.cq)
		comm->sq.cq = ibv_create_cq(comm->dev.ctx,
					    (int)inc_comm_max_sends(comm), NULL,
					    comm->chan, 0);
	if (!comm->sq.cq)
		return verbs_error(o, "ibv_create_cq");
	return 0;
}

static int make_qp(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	const char *what;
	int ret = inc_comm_make_qp(comm, &what);

	return ret ? opt_error(o, ret, "%s: %s", what, strerror(-ret)) : 0;
}

static int make_device(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct inc_dev_sel sel = {
		.dev		= o->dev,
		.port		= o->port,
		.gid_index	= o->gid_index,
		.addr		= comm->watchdog.conn.local,
	};
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	ret = inc_dev_open(&comm->dev, &sel, err, sizeof(err));
	if (ret)
		return opt_error(o, ret, "%s", err);
	if (o->qp_type == INC_QP_UC) {
		comm->uc = calloc(1, sizeof(*comm->uc));
		if (!comm->uc)
			return -ENOMEM;
		comm->uc->retries = o->retries;
	}
	ret = make_queues(comm, o);
	if (!ret)
		ret = make_qp(comm, o);
	if (!ret)
		inc_mem_init(&comm->mem, comm->pd, o->reg == INC_REG_CACHE,
			     &comm->who);
	return ret;
}

static void destroy_device(struct inc_comm *comm)
{
	if (comm->qp)
		ibv_destroy_qp(comm->qp);
	inc_mem_exit(&comm->mem);
	inc_uc_free(comm);
	inc_msg_free(comm);
	if (comm->rq.cq) {
		ibv_ack_cq_events(comm->rq.cq, comm->rq.events);
		ibv_destroy_cq(comm->rq.cq);
	}
	if (comm->sq.cq) {
		ibv_ack_cq_events(comm->sq.cq, comm->sq.events);
		ibv_destroy_cq(comm->sq.cq);
	}
	if (comm->chan)
		ibv_destroy_comp_channel(comm->chan);
	inc_dev_close(&comm->dev);
}

/* --- Rendezvous -------------------------------------------------------- */

/*
 * Tell the daemon and wait for its answer, so that the name is free again.
 * Returns whether there is an answer.
 */
static bool leave_job(struct inc_comm *comm, struct inc_rdv_msg *answer)
{
	const struct inc_rdv_msg bye = { .type = INC_RDV_LEAVE };
	struct inc_conn *conn = &comm->watchdog.conn;
	int64_t deadline = inc_now_ms() + INC_LEAVE_MS;
	char err[INC_RDV_TEXT_MAX];

	if (conn->fd < 0 || inc_conn_send(conn, &bye, deadline))
		return false;
	do {
		if (inc_conn_recv(conn, answer, deadline, err, sizeof(err)))
			return false;
	} while (answer->type != INC_RDV_BYE);
	return true;
}

/* Give up waiting for other ranks, or a tree; the daemon knows for which. */
static int not_all_came(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct inc_rdv_msg msg;
	bool am = comm->watchdog.conn.am, said = leave_job(comm, &msg);
	bool known = said && *msg.text;

	inc_conn_close(&comm->watchdog.conn);
	if (comm->rebuild.round)
		return opt_error(o, -ETIMEDOUT, "the tree has failed, and no other one was ready within %u ms",
				 o->join_timeout_ms);
	if (am && said && !known)
		return opt_error(o, -ETIMEDOUT, "job \"%s\" was not ready within %u ms, although no rank is missing: does a switch answer slowly? See inc-amctl event",
				 o->job, o->join_timeout_ms);
	return opt_error(o, -ETIMEDOUT, "not all %d ranks of job \"%s\" came within %u ms%s%s",
			 o->nranks, o->job, o->join_timeout_ms,
			 known ? ": missing: " : "", known ? msg.text : "");
}

/* The next line, unless another thread says that nobody wants it. */
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

/*
 * Receive the daemon's next line, which must be of type @type. A manager may say
 * "rebuild" instead, if it was asked for that.
 */
static int expect_msg(struct inc_comm *comm, const struct inc_comm_opts *o,
		      enum inc_rdv_type type, int64_t deadline_ms,
		      struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	do {
		ret = next_line(comm, deadline_ms, msg, err, sizeof(err));
	} while (!ret && (msg->type == INC_RDV_ALIVE ||
			  msg->type == INC_RDV_WRONG));
	/* Where several switches take part, "joined" waits for all ranks. */
	if (ret == -ETIMEDOUT)
		return not_all_came(comm, o);
	if (ret)
		return opt_error(o, ret, "%s", err);
	if (msg->type == type || (msg->type == INC_RDV_REBUILD &&
				  o->flags & INC_COMM_F_REBUILD))
		return 0;
	switch (msg->type) {
	case INC_RDV_ERROR:
		return opt_error(o, -msg->err, "%s", msg->text);
	case INC_RDV_FAILED:
		return opt_error(o, inc_status_errno(msg->status), "%s",
				 msg->text);
	case INC_RDV_LEFT:
		return opt_error(o, -ECONNRESET, "rank %d has left", msg->rank);
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
	return opt_error(o, -EPROTO, "rendezvous daemon: unexpected line");
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
			.rts	= true,
			.wrong	= true,
			.rebuild = o->flags & INC_COMM_F_REBUILD,
			.change	= comm->change.able,
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
	ret = inc_conn_send(&comm->watchdog.conn, &msg, deadline_ms);
	if (!ret)
		return 0;
	inc_conn_why(&comm->watchdog.conn, ret, err, sizeof(err));
	return opt_error(o, ret, "%s", err);
}

/*
 * Report that the queue pair is ready to receive: the daemon lets the ranks
 * begin only when all have reported. A failure to send shows in the daemon's
 * answer, or in an error line instead of it.
 */
static void send_rts(struct inc_comm *comm, int64_t deadline_ms)
{
	const struct inc_rdv_msg msg = { .type = INC_RDV_RTS };

	if (comm->tree.rts)
		inc_conn_send(&comm->watchdog.conn, &msg, deadline_ms);
}

/* Connect to the first tree, and wait until all ranks have. */
static int first_tree(struct inc_comm *comm, const struct inc_comm_opts *o,
		      uint32_t psn, int64_t deadline_ms,
		      struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	ret = inc_comm_take_tree(comm, &msg->joined, psn, err, sizeof(err));
	if (ret)
		return opt_error(o, ret, "%s", err);
	send_rts(comm, deadline_ms);
	return expect_msg(comm, o, INC_RDV_READY, deadline_ms, msg);
}

/*
 * The tree has failed before all ranks were ready. From here on it is as if it
 * had failed later, but for the thread that hears the manager: this one.
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
			return opt_error(o, comm->err, "%s", comm->error.text);
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

static int join_job(struct inc_comm *comm, const struct inc_comm_opts *o,
		    int64_t deadline_ms)
{
	struct inc_rdv_msg msg;
	uint32_t psn;
	int ret;

	if (getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		return opt_error(o, -EIO, "getrandom: %s", strerror(errno));
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

/* --- Public ------------------------------------------------------------ */

static int try_conn(struct inc_conn *conn, const struct inc_comm_opts *o,
		    int64_t deadline_ms, char *err, size_t err_len)
{
	return o->am ? inc_conn_open_am(conn, o->am, deadline_ms, err, err_len) :
		       inc_conn_open(conn, NULL, o->server, deadline_ms, err,
				     err_len);
}

/* Connect to the daemon, in short attempts if another thread may stop that. */
static int open_conn(struct inc_comm *comm, const struct inc_comm_opts *o,
		     int64_t deadline_ms, char *err, size_t err_len)
{
	struct inc_conn *conn = &comm->watchdog.conn;
	_Atomic bool *stop = comm->change.stopped_by;
	int64_t until;
	int ret;

	if (!stop)
		return try_conn(conn, o, deadline_ms, err, err_len);
	for (;;) {
		until = inc_now_ms() + STOP_CONNECT_MS;
		ret = try_conn(conn, o, until < deadline_ms ? until : deadline_ms,
			       err, err_len);
		if (!ret || inc_now_ms() < until || until >= deadline_ms ||
		    atomic_load(stop))
			return ret;
		inc_conn_close(conn);
	}
}

/* Other calls may carry it on, unless one that changes does. */
static void share(struct inc_comm *comm)
{
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&comm->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	comm->shared = true;
	if (comm->uc)
		inc_others_add(comm);
}

static int create_comm(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	int64_t deadline_ms = inc_now_ms() + o->join_timeout_ms;
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	comm->qp_timeout = o->qp_timeout;
	comm->cm = o->flags & INC_COMM_F_CM;
	comm->rank = o->rank;
	comm->nranks = o->nranks;
	comm->who.rank = o->rank;
	comm->who.nranks = o->nranks;
	snprintf(comm->who.job, sizeof(comm->who.job), "%s", o->job);
	comm->watchdog.who = &comm->who;
	atomic_store(&comm->watchdog.timeout_ms, o->timeout_ms);
	ret = open_conn(comm, o, deadline_ms, err, sizeof(err));
	if (ret)
		return opt_error(o, ret, "%s", err);
	comm->watchdog.conn.who = &comm->who;
	ret = inc_change_init(comm, o);
	if (!ret)
		ret = make_device(comm, o);
	if (!ret)
		ret = join_job(comm, o, deadline_ms);
	if (ret)
		return ret;
	inc_change_allow(comm);
	ret = inc_watchdog_start(&comm->watchdog, comm->qp, comm->dev.hca,
				 comm->dev.port);
	if (ret)
		return opt_error(o, ret, "thread: %s", strerror(-ret));
	comm->unsent = comm->watchdog.counters.unsent;
	if ((comm->uc || comm->change.able) && !comm->change.stopped_by)
		share(comm);
	return 0;
}

/**
 * inc_comm_create() - join a communicator
 * @comm: result
 * @opts: options, see struct inc_comm_opts
 *
 * Waits until all ranks of the job have joined. Different threads can create
 * several communicators concurrently.
 *
 * Return: 0 or a negative errno value, the message in opts->errbuf:
 *
 * * -EINVAL: wrong options, or those of this rank differ from another's;
 *   -E2BIG: options that this version does not know
 * * -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH: the daemon cannot be reached, or
 *   the switch has no route to this rank
 * * -ENODEV: no verbs device suits; -EMSGSIZE: its MTU is too small
 * * -ENOSPC: no room on the switch or in the daemon: its memory, a quota, a
 *   limit of jobs, connections or their host's share. It may succeed later
 * * -ETIMEDOUT: ranks are missing; the message says which
 * * -EEXIST: the rank is taken
 * * -EACCES: the daemon does not permit this rank's address
 * * -ECONNRESET: a rank left again; -ENOTCONN: the daemon ended; -EPROTO: what
 *   answers is no daemon
 * * -ENOMEM: no memory, here or on the switch
 */
int inc_comm_create(struct inc_comm **comm, const struct inc_comm_opts *opts)
{
	return inc_comm_create_until(comm, opts, NULL);
}

/**
 * inc_comm_create_until() - join a communicator, unless another thread stops that
 * @comm: result
 * @opts: options
 * @stop: it is to be given up; NULL: never
 *
 * Return: as inc_comm_create(), or -ECANCELED.
 */
int inc_comm_create_until(struct inc_comm **comm,
			  const struct inc_comm_opts *opts, _Atomic bool *stop)
{
	struct inc_comm_opts o;
	struct inc_comm *c;
	int ret;

	inc_log_init();
	*comm = NULL;
	/* Another thread may change the environment. */
	ret = take_opts(&o, opts, !stop);
	if (ret)
		return ret;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->watchdog.conn.fd = -1;
	c->change.stopped_by = stop;
	pthread_mutex_init(&c->watchdog.lock, NULL);
	inc_fork_add(c);
	ret = create_comm(c, &o);
	if (ret) {
		inc_comm_destroy(c);
		return ret;
	}
	inc_info(&c->who, "%s, %s QPN 0x%x to 0x%x, %u slots of %u bytes, PMTU %u, window %u",
		 ibv_get_device_name(c->dev.ctx->device), c->uc ? "UC" : "RC",
		 c->qpn, c->tree.qpn, c->tree.slots, c->tree.msg_size,
		 c->tree.pmtu, c->window.now);
	*comm = c;
	return 0;
}

/**
 * inc_comm_abort() - end a communicator on all ranks
 * @comm: communicator
 * @err: negative errno value that its operations end with here
 *
 * For a caller that cannot begin, or will not finish, an operation in which the
 * other ranks take part: they would wait for it, or combine their data with its
 * next operation. The other ranks get -ECONNRESET. Once this returns, nothing
 * more is written to the caller's buffers. The caller must still free the
 * requests and destroy the communicator.
 *
 * Return: 0; -EINVAL if @err is not negative; -ESTALE in a child of fork().
 */
int inc_comm_abort(struct inc_comm *comm, int err)
{
	struct inc_rdv_msg answer;

	if (comm->fork.child)
		return -ESTALE;
	if (err >= 0)
		return -EINVAL;
	inc_comm_lock(comm);
	inc_comm_fail(comm, err, "given up by its user: %s", inc_strerror(err));
	inc_watchdog_stop(&comm->watchdog);
	leave_job(comm, &answer);
	inc_conn_close(&comm->watchdog.conn);
	inc_comm_unlock(comm);
	return 0;
}

/**
 * inc_comm_destroy() - leave a communicator and free it
 * @comm: communicator; NULL does nothing
 *
 * Operations in progress are cancelled, and all requests are freed. Operations
 * of other ranks in which this rank has taken part are not disturbed; the
 * others fail with -ECONNRESET. In a child of fork() this does nothing.
 *
 * Return: 0.
 */
int inc_comm_destroy(struct inc_comm *comm)
{
	struct inc_rdv_msg answer;

	if (!comm || comm->fork.child)
		return 0;
	inc_others_del(comm);
	inc_change_end(comm);
	inc_fork_del(comm);
	inc_watchdog_stop(&comm->watchdog);
	leave_job(comm, &answer);
	if (comm->who.has_tree)
		inc_info(&comm->who, "left: %llu operations, %llu messages",
			 (unsigned long long)comm->info.operations,
			 (unsigned long long)comm->info.messages);
	if (comm->qp && !ibv_destroy_qp(comm->qp))
		comm->qp = NULL;
	inc_request_fail_all(comm, -ECANCELED);
	destroy_device(comm);
	inc_conn_close(&comm->watchdog.conn);
	pthread_mutex_destroy(&comm->watchdog.lock);
	if (comm->shared)
		pthread_mutex_destroy(&comm->lock);
	free(comm);
	return 0;
}
