// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Creation and destruction of a communicator.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/log.h"
#include "change.h"
#include "comm/comm.h"
#include "device/cause.h"
#include "engine/arena.h"
#include "engine/end.h"
#include "engine/progress.h"
#include "engine/rebuild.h"
#include "engine/uc.h"
#include "fork.h"
#include "join.h"
#include "opts.h"
#include "rails.h"
#include "rdma_inc.h"

/* --- Verbs ------------------------------------------------------------- */

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Set the window, which adapts to the path unless fixed: see bdp.h. */
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
			max = MIN(max, o->tree.slots);
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
		max = MIN(max, (comm->dev.queue + 1) / 2);
	}
	comm->window.rc.adapts = !comm->uc && !o->window;
	comm->window.max = MIN(max, most);
	comm->window.now = MIN(first, comm->window.max);
}

static int verbs_error(const struct inc_comm_opts *o, const char *what)
{
	char err[INC_RDV_TEXT_MAX];
	int ret = inc_verbs_errno();

	inc_cause(-ret, err, sizeof(err), "%s", what);
	return inc_opts_here(o, ret, err);
}

static int make_queues(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct ibv_device_attr attr;
	uint32_t max;

	if (ibv_query_device(comm->dev.ctx, &attr))
		return inc_opts_error(o, -EIO, "%s: device does not answer",
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
		return inc_opts_error(o, -EINVAL,
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
	char err[INC_RDV_TEXT_MAX];
	const char *what;
	int ret = inc_comm_make_qp(comm, &what);

	if (!ret)
		return 0;
	inc_cause(-ret, err, sizeof(err), "%s", what);
	return inc_opts_here(o, ret, err);
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
		return inc_opts_here(o, ret, err);
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

/* --- Public ------------------------------------------------------------ */

/* Let other calls drive @comm, but not a communicator made by a change. */
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
	inc_others_enter(comm);
}

/* Prepare all that involves no other rank. */
static int begin_comm(struct inc_comm *comm, const struct inc_comm_opts *o,
		      int64_t deadline_ms)
{
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
	ret = inc_join_open(comm, o, deadline_ms);
	if (ret)
		return ret;
	comm->watchdog.conn.who = &comm->who;
	comm->rails.able = inc_rails_able(o) && !comm->change.stopped_by;
	ret = inc_change_init(comm, o);
	return ret ? ret : make_device(comm, o);
}

/* A communicator made by a change replaces one that has a bell. */
static int open_bell(struct inc_comm *comm)
{
	if (comm->change.stopped_by)
		return 0;
	comm->watchdog.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return comm->watchdog.bell < 0 ? -errno : 0;
}

static int create_comm(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	int64_t deadline_ms = inc_now_ms() + o->join_timeout_ms;
	char err[INC_RDV_TEXT_MAX];
	int ret;

	ret = begin_comm(comm, o, deadline_ms);
	if (!ret)
		ret = inc_join_job(comm, o, deadline_ms);
	if (ret)
		return ret;
	inc_change_allow(comm);
	ret = open_bell(comm);
	if (!ret)
		ret = inc_watchdog_start(&comm->watchdog, comm->qp,
					 comm->dev.hca, comm->dev.port);
	if (ret) {
		inc_cause(-ret, err, sizeof(err), "thread");
		return inc_opts_here(o, ret, err);
	}
	comm->unsent = comm->watchdog.counters.unsent;
	if ((comm->uc || comm->change.able || comm->change.movable) &&
	    !comm->change.stopped_by)
		share(comm);
	return 0;
}

static struct inc_comm *new_comm(_Atomic bool *stop)
{
	struct inc_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->watchdog.conn.fd = -1;
	c->watchdog.bell = -1;
	c->change.stopped_by = stop;
	pthread_mutex_init(&c->watchdog.lock, NULL);
	inc_fork_add(c);
	return c;
}

/* Allocate memory as for a tree with the daemon's default settings. */
static int try_memory(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	comm->tree.msg_size = o->tree.msg_size;
	comm->tree.slots = o->tree.slots;
	comm->tree.pmtu = o->tree.pmtu;
	if (!comm->tree.pmtu)
		comm->tree.pmtu = RDMA_INC_DEFAULT_PMTU;
	if (!comm->tree.msg_size)
		comm->tree.msg_size = comm->uc ? comm->tree.pmtu :
						 RDMA_INC_DEFAULT_MSG_SIZE;
	if (!comm->tree.slots)
		comm->tree.slots = RDMA_INC_DEFAULT_SLOTS;
	ret = inc_comm_take_memory(comm, err, sizeof(err));
	if (ret)
		return inc_opts_here(o, ret, err);
	ret = inc_msg_bounce(comm);
	if (!ret)
		return 0;
	inc_cause(-ret, err, sizeof(err), "memory to copy messages");
	return inc_opts_here(o, ret, err);
}

/**
 * inc_comm_check() - test whether this process could join
 * @opts: options of inc_comm_create(); the job's name and the ranks do not matter
 *
 * Takes all steps of inc_comm_create() without other ranks, and undoes them:
 * connects to the daemon, opens the device, makes a queue pair, registers memory.
 * Takes no place at the daemon or the switch. Any thread may call it at any time.
 *
 * Return: 0 or a negative errno value as of inc_comm_create(), the message in
 * opts->errbuf.
 */
int inc_comm_check(const struct inc_comm_opts *opts)
{
	struct inc_comm_opts o;
	struct inc_comm *c;
	int ret;

	inc_log_init();
	ret = inc_opts_take(&o, opts, true);
	if (ret)
		return ret;
	c = new_comm(NULL);
	if (!c)
		return -ENOMEM;
	ret = begin_comm(c, &o, inc_now_ms() + o.join_timeout_ms);
	if (!ret)
		ret = try_memory(c, &o);
	/* Close first: there is no job to leave. */
	inc_conn_close(&c->watchdog.conn);
	inc_comm_destroy(c);
	return ret;
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
 * * -EINVAL: wrong options, or this rank's differ from another's;
 *   -E2BIG: options that this version does not know
 * * -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH: the daemon cannot be reached, or
 *   the switch has no route to this rank
 * * -ENODEV: no verbs device suits; -EMSGSIZE: its MTU is too small
 * * -ENOSPC: no room on the switch or in the daemon: its memory, a quota, a
 *   limit of jobs, connections or their host's share. It may succeed later
 * * -ETIMEDOUT: ranks are missing; the message says which
 * * -EEXIST: the rank is taken
 * * -EACCES: the daemon does not permit this rank's address
 * * -ECONNRESET: a rank left again; -ENOTCONN: the daemon ended; -EPROTO: the
 *   answer is not a daemon's
 * * -ENOMEM: no memory, here or on the switch
 */
int inc_comm_create(struct inc_comm **comm, const struct inc_comm_opts *opts)
{
	return inc_comm_create_until(comm, opts, NULL);
}

/*
 * Join a communicator; another thread may cancel it. Returns as
 * inc_comm_create(), or -ECANCELED.
 * @stop: set to cancel; NULL: never
 */
int inc_comm_create_until(struct inc_comm **comm,
			  const struct inc_comm_opts *opts, _Atomic bool *stop)
{
	struct inc_comm_opts o;
	struct inc_comm *c;
	int ret;

	inc_log_init();
	*comm = NULL;
	/* Do not read the environment here: another thread may change it. */
	ret = inc_opts_take(&o, opts, !stop);
	if (ret)
		return ret;
	c = new_comm(stop);
	if (!c)
		return -ENOMEM;
	ret = create_comm(c, &o);
	if (ret) {
		inc_comm_destroy(c);
		return ret;
	}
	inc_info(&c->who, "%s, %s QPN 0x%x to 0x%x, %u slots of %u bytes, PMTU %u, window %u",
		 ibv_get_device_name(c->dev.ctx->device), c->uc ? "UC" : "RC",
		 c->qpn, c->tree.qpn, c->tree.slots, c->tree.msg_size,
		 c->tree.pmtu, c->window.now);
	ret = inc_rails_open(c, &o);
	if (ret) {
		inc_comm_destroy(c);
		return ret;
	}
	if (c->rails.other && !c->shared)
		share(c);
	if (c->rails.other) {
		/* Calls on other communicators may drive it by now. */
		inc_comm_lock(c);
		inc_others_add(c);
		inc_comm_unlock(c);
	}
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
	if (comm->rails.other)
		inc_comm_abort(comm->rails.other, err);
	inc_watchdog_stop(&comm->watchdog);
	inc_join_leave(comm, INC_LEAVE_MS, &answer);
	inc_conn_close(&comm->watchdog.conn);
	inc_comm_unlock(comm);
	return 0;
}

/* Free the rest once the queue pair is destroyed, perhaps later. */
static void free_comm(void *arg)
{
	struct inc_comm *comm = arg;

	destroy_device(comm);
	if (comm->watchdog.bell >= 0)
		close(comm->watchdog.bell);
	pthread_mutex_destroy(&comm->watchdog.lock);
	if (comm->shared)
		pthread_mutex_destroy(&comm->lock);
	free(comm);
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
	inc_others_leave(comm);
	inc_change_end(comm);
	inc_rails_close(comm);
	inc_fork_del(comm);
	inc_watchdog_stop(&comm->watchdog);
	inc_join_leave(comm, INC_LEAVE_MS, &answer);
	if (comm->who.has_tree)
		inc_info(&comm->who, "left: %llu operations, %llu messages",
			 (unsigned long long)comm->info.operations,
			 (unsigned long long)comm->info.messages);
	inc_comm_end_qp(comm, INC_QP_DESTROY_MS);
	inc_request_fail_all(comm, -ECANCELED);
	inc_conn_close(&comm->watchdog.conn);
	if (inc_dying_over(&comm->dying))
		free_comm(comm);
	else
		inc_dying_then(comm->dying, free_comm, comm);
	return 0;
}
