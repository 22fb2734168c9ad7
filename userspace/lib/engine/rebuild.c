// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A communicator whose tree has failed goes on over another one, if the manager
 * makes one. Its queue pair is destroyed: nothing arrives any more over the old
 * tree. Each rank reports the number of operations with all results; the manager
 * takes the lowest number, and all ranks repeat later operations.
 *
 * No rank has reported the end of a repeated operation to its caller: an
 * operation ends with its last message, a Barrier that a rank sends when it has
 * all results (is_last_word() in msg.c). So once one rank is past it, all have
 * the results. The data is intact, as it is copied if the results would overwrite
 * it (call.c).
 *
 * All this is done within library calls, without waiting; if the tree fails
 * before all ranks are ready, within inc_comm_create().
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "rebuild.h"
#include "arena.h"
#include "base/log.h"
#include "device/cause.h"
#include "end.h"
#include "fail.h"
#include "msg.h"
#include "uc.h"

/* Error if the manager, or libinc-am, does not know INC_COMM_F_CM. */
static const char no_cm[] =
	"the aggregation manager does not know RDMA CM (INC_AM_CONNECT=cm): it, or libinc-am, is older than this libinc";

/* Make a communicator's queue pair, in INIT. */
int inc_comm_make_qp(struct inc_comm *comm, const char **what)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = comm->sq.cq,
		.recv_cq = comm->rq.cq,
		.qp_type = comm->uc ? IBV_QPT_UC : IBV_QPT_RC,
		.cap = {
			.max_send_wr	= inc_comm_max_sends(comm),
			.max_recv_wr	= comm->rq.depth,
			.max_send_sge	= 2,
			.max_recv_sge	= 1,
			.max_inline_data = INC_INLINE_MAX,
		},
	};
	int ret;

	*what = "ibv_create_qp";
	comm->qp = ibv_create_qp(comm->pd, &attr);
	if (!comm->qp) {
		attr.cap.max_inline_data = 0;
		comm->qp = ibv_create_qp(comm->pd, &attr);
	}
	if (!comm->qp)
		return inc_verbs_errno();
	comm->qpn = comm->qp->qp_num;
	comm->sq.inline_max = attr.cap.max_inline_data;
	*what = "queue pair to INIT";
	ret = inc_qp_to_init(comm->qp, &comm->dev);
	return ret ? ret : inc_msg_post_recvs(comm);
}

static int connect_qp(struct inc_comm *comm, uint32_t psn, char *err,
		      size_t err_len)
{
	const struct inc_rc rc = {
		.addr	= comm->tree.addr,
		.qpn	= comm->tree.qpn,
		.rq_psn	= comm->tree.psn,
		.sq_psn	= comm->tree.has_own_psn ? comm->tree.own_psn : psn,
		.pmtu	= comm->tree.pmtu,
		.timeout = comm->qp_timeout,
		.traffic_class = comm->tree.traffic_class,
	};

	return inc_qp_to_rts(comm->qp, &comm->dev, &rc, err, err_len);
}

/* Check whether operations planned for a tree fit another one. Returns true if so. */
bool inc_tree_fits(const struct inc_rdv_joined *tree,
		   const struct inc_rdv_joined *other)
{
	return other->slots == tree->slots && other->pmtu == tree->pmtu &&
	       other->msg_size == tree->msg_size;
}

/*
 * Allocate the memory that depends on the tree.
 * @comm: communicator with the settings of a tree
 * @err_len: size of @err in bytes
 */
int inc_comm_take_memory(struct inc_comm *comm, char *err, size_t err_len)
{
	int ret = inc_msg_alloc(comm);

	if (!ret && comm->uc)
		ret = inc_uc_alloc(comm);
	if (ret)
		inc_cause(-ret, err, err_len, "memory for messages of %u bytes, path MTU %u",
			  comm->tree.msg_size, comm->tree.pmtu);
	return ret;
}

/*
 * Connect the queue pair to a tree.
 * @comm: communicator with a queue pair in INIT
 * @tree: tree; the first one determines the memory for messages
 * @psn: first PSN to send, unless RDMA CM has chosen another one
 * @err_len: size of @err in bytes
 */
int inc_comm_take_tree(struct inc_comm *comm, const struct inc_rdv_joined *tree,
		       uint32_t psn, char *err, size_t err_len)
{
	bool first = !comm->msgs.ring;
	int ret;

	if (!first && !inc_tree_fits(&comm->tree, tree)) {
		snprintf(err, err_len, "another tree has other settings");
		return -EPROTO;
	}
	if (comm->cm && !tree->has_own_psn) {
		snprintf(err, err_len, "%s", no_cm);
		return -EOPNOTSUPP;
	}
	comm->tree = *tree;
	comm->who.tree_id = tree->tree_id;
	comm->who.has_tree = true;
	comm->rebuild.on = tree->rebuild;
	ret = connect_qp(comm, psn, err, err_len);
	if (ret || !first)
		return ret;
	return inc_comm_take_memory(comm, err, err_len);
}

/*
 * Count the operations of which this rank has all results. Returns their
 * number, which modulo 2^32 compares to @rebuild.finished.
 */
uint64_t inc_rebuild_count(const struct inc_comm *comm)
{
	uint64_t n = comm->info.operations;
	const struct inc_request *req;

	for (req = comm->ops.first; req && inc_request_arrived(req);
	     req = req->next)
		n++;
	return n;
}

static void rejoin_tree(struct inc_comm *comm, uint32_t round)
{
	struct inc_rdv_msg msg = {
		.type = INC_RDV_REJOIN,
		.join.round = round,
		.join.done = (uint32_t)inc_rebuild_count(comm) -
			     comm->rebuild.base,
	};
	const char *what;
	int ret;

	inc_comm_drop_qp(comm);
	if (getrandom(&comm->rebuild.psn, sizeof(comm->rebuild.psn), 0) < 0)
		comm->rebuild.psn = round;
	comm->rebuild.psn &= 0xffffff;
	ret = inc_comm_make_qp(comm, &what);
	if (ret) {
		inc_comm_fail(comm, ret, "another tree: %s: %s", what,
			      strerror(-ret));
		return;
	}
	pthread_mutex_lock(&comm->watchdog.lock);
	comm->watchdog.qp = comm->qp;
	pthread_mutex_unlock(&comm->watchdog.lock);
	msg.join.qpn = comm->qpn;
	msg.join.psn = comm->rebuild.psn;
	comm->rebuild.round = round;
	comm->rebuild.state = INC_REBUILD_REJOINED;
	inc_watchdog_say(&comm->watchdog, &msg);
}

static void connect_again(struct inc_comm *comm,
			  const struct inc_rdv_joined *tree)
{
	const struct inc_rdv_msg rts = { .type = INC_RDV_RTS };
	char err[INC_RDV_TEXT_MAX] = "";
	int ret;

	ret = inc_comm_take_tree(comm, tree, comm->rebuild.psn, err,
				 sizeof(err));
	/* The watch moves the queue pair to ERROR if this tree has failed, too. */
	if (ret && inc_fail_is_rebuilding(comm))
		return;
	if (ret) {
		inc_comm_fail(comm, ret, "another tree: %s", err);
		return;
	}
	comm->rebuild.state = INC_REBUILD_CONNECTED;
	inc_watchdog_say(&comm->watchdog, &rts);
}

static void go_on(struct inc_comm *comm)
{
	uint32_t done = comm->rebuild.base + comm->tree.resume;

	comm->msgs.next = comm->tree.first_msg_id;
	comm->msgs.head = comm->msgs.next;
	if (comm->uc)
		inc_uc_restart(comm);
	comm->rebuild.state = INC_REBUILD_NONE;
	inc_info(&comm->who, "goes on over another tree, after operation %u",
		 done);
	inc_msg_resume(comm, done);
}

/* Take the next due step towards another tree. */
void inc_rebuild_progress(struct inc_comm *comm)
{
	struct inc_watchdog *w = &comm->watchdog;
	struct inc_rdv_joined tree;
	bool joined, ready;
	uint32_t round;

	if (inc_comm_watch_failed(comm))
		return;
	pthread_mutex_lock(&w->lock);
	round = w->rebuild.round;
	joined = w->rebuild.joined;
	ready = w->rebuild.ready;
	tree = w->rebuild.tree;
	pthread_mutex_unlock(&w->lock);
	if (round != comm->rebuild.round)
		rejoin_tree(comm, round);
	else if (comm->rebuild.state == INC_REBUILD_REJOINED && joined)
		connect_again(comm, &tree);
	else if (comm->rebuild.state == INC_REBUILD_CONNECTED && ready)
		go_on(comm);
}
