// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queries of a communicator.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "comm/comm.h"


/* How long to wait for the daemon's report on a failure. */
#define TOLD_TRIES	400	/* an aggregation manager is farther away */
#define TOLD_PAUSE_MS	1

/**
 * inc_comm_rank() - get the rank of the caller
 * @comm: communicator
 *
 * Return: 0 ... inc_comm_size() - 1.
 */
int inc_comm_rank(const struct inc_comm *comm)
{
	return comm->rank;
}

/**
 * inc_comm_size() - get the number of ranks
 * @comm: communicator
 *
 * Return: 1 or more.
 */
int inc_comm_size(const struct inc_comm *comm)
{
	return comm->nranks;
}

/**
 * inc_comm_set_timeout() - set the time limit of blocking calls
 * @comm: communicator
 * @timeout_ms: milliseconds from the beginning of a call to its end, whatever
 *	the amount of data; not 0. Accurate to a sixteenth, or to 500 ms
 *
 * Return: 0 or -EINVAL.
 */
int inc_comm_set_timeout(struct inc_comm *comm, unsigned int timeout_ms)
{
	if (!timeout_ms || timeout_ms > INT_MAX)
		return -EINVAL;
	atomic_store(&comm->watchdog.timeout_ms, timeout_ms);
	if (comm->rails.other)
		atomic_store(&comm->rails.other->watchdog.timeout_ms, timeout_ms);
	return 0;
}

/* Report the operation in progress and the size of its data. */
static void query_operations(const struct inc_comm *comm,
			     struct inc_comm_info *i)
{
	const struct inc_request *req = comm->ops.first;

	i->state = i->status ? INC_STATE_FAILED :
		   req ? INC_STATE_BUSY : INC_STATE_IDLE;
	if (!i->begun)
		i->collective = -1;
	if (!req)
		return;
	i->collective = req->plan.collective;
	i->block = req->plan.block;
	i->op_messages = req->msgs;
	i->op_results = req->msgs_done;
}

/* Add up both rails' statistics; the state is the first one's. */
static void add_second(const struct inc_comm *comm, struct inc_comm_info *i)
{
	const struct inc_comm *second = comm->rails.other;

	if (!second)
		return;
	i->devices += second->dev.hca != comm->dev.hca;
	i->messages += second->info.messages;
	i->results += second->info.results;
	i->errors += second->info.errors;
	i->tx_bytes += second->info.tx_bytes;
	i->rx_bytes += second->info.rx_bytes;
	i->resent += second->info.resent;
	i->queries += second->info.queries;
	i->mem_regs += second->mem.regs;
	i->mem_hits += second->mem.hits;
}

static void query_queue_pair(const struct inc_comm *comm,
			     struct inc_comm_info *i)
{
	i->qp_type = comm->uc ? INC_QP_UC : INC_QP_RC;
	i->qpn = comm->qpn;
	i->switch_qpn = comm->tree.qpn;
	snprintf(i->dev, sizeof(i->dev), "%s",
		 ibv_get_device_name(comm->dev.ctx->device));
	inc_rdv_addr_str(&comm->dev.addr, i->addr, sizeof(i->addr));
	inc_rdv_addr_str(&comm->tree.addr, i->switch_addr,
			 sizeof(i->switch_addr));
}

/**
 * inc_comm_query() - query the state and statistics of a communicator
 * @comm: communicator, failed or not
 * @info: result; the caller has set its @size
 *
 * This is the draft's interface for querying in-network computing task-related
 * information (section 3.3): task status, data block size, identity, task
 * identification, QP, message statistics.
 *
 * Return: 0 or -EINVAL.
 */
int inc_comm_query(struct inc_comm *comm, struct inc_comm_info *info)
{
	size_t size = info->size;
	struct inc_comm_info i;

	if (size < offsetof(struct inc_comm_info, tree_id))
		return -EINVAL;
	inc_comm_lock(comm);
	i = comm->info;
	i.size = size;
	i.rank = comm->rank;
	i.nranks = comm->nranks;
	i.status = comm->err;
	/* With two rails, one may fail without the communicator. */
	if (!i.status && !comm->rails.peer)
		i.status = inc_watchdog_error(&comm->watchdog);
	i.tree_id = comm->tree.tree_id;
	i.slots = comm->tree.slots;
	i.msg_size = comm->tree.msg_size;
	i.pmtu = comm->tree.pmtu;
	i.window = comm->window.now;
	i.timeout_ms = atomic_load(&comm->watchdog.timeout_ms);
	i.next_msg_id = comm->msgs.next;
	i.collectives = comm->tree.collectives;
	i.dtypes = comm->tree.dtypes;
	i.ops = comm->tree.ops;
	i.mem_regs = comm->mem.regs;
	i.mem_hits = comm->mem.hits;
	i.devices = 1;
	add_second(comm, &i);
	memcpy(i.job, comm->who.job, sizeof(i.job));
	query_queue_pair(comm, &i);
	query_operations(comm, &i);
	inc_comm_unlock(comm);
	memset(info, 0, size);
	memcpy(info, &i, size < sizeof(i) ? size : sizeof(i));
	return 0;
}

/* Append the rank whose request made the message fail, if known. */
static bool add_wrong(struct inc_comm *comm)
{
	struct inc_watchdog *w = &comm->watchdog;
	size_t len = strlen(comm->error.text);
	uint32_t slots = comm->tree.slots;
	bool known;

	pthread_mutex_lock(&w->lock);
	/* Of nearly simultaneous failures, the daemon reports one. */
	known = w->wrong[0] &&
		w->wrong_id - comm->error.msg_id + slots < 2 * slots;
	if (known)
		snprintf(comm->error.text + len,
			 sizeof(comm->error.text) - len, ": %s", w->wrong);
	pthread_mutex_unlock(&w->lock);
	return known;
}

/**
 * inc_comm_strerror() - describe the last error
 * @comm: communicator
 *
 * The daemon, not the switch, names the rank at fault. If its report has not
 * arrived, this waits for it, for at most 400 ms, once per error.
 *
 * Return: why the communicator failed, else why the last failed operation did,
 * else "success". The string is valid until the next call.
 */
const char *inc_comm_strerror(struct inc_comm *comm)
{
	const struct timespec pause = { .tv_nsec = TOLD_PAUSE_MS * 1000000L };
	int tries;

	inc_comm_lock(comm);
	for (tries = 0; comm->error.ask && !comm->fork.child; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		if (add_wrong(comm) || tries == TOLD_TRIES)
			comm->error.ask = false;
	}
	inc_comm_unlock(comm);
	return comm->error.text[0] ? comm->error.text : "success";
}
