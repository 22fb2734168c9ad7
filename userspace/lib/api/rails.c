// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Two rails: if every rank has a second RDMA device that reaches the switch, a
 * communicator has another one below it, with a tree of its own. Each carries a part of
 * long blocks (inc_plan_share()): as elements are reduced independently, results are the
 * same to the bit. Short operations stay on the first.
 *
 * The daemon's "ready" says that all ranks have such a device, and names a second job.
 * All join it, and agree over the first tree that all have; else there is one rail.
 *
 * Both repeat operations as if a manager made other trees (rebuild.c): if a tree fails,
 * change.c makes another one over the device of the other rail. So the communicator ends
 * only if both trees fail.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "change.h"
#include "comm/comm.h"
#include "device/rails.h"
#include "engine/arena.h"
#include "opts.h"
#include "rails.h"

/*
 * All ranks join at once. After a failure they do not try again for a while, as each
 * attempt may take all this time.
 */
#define JOIN_MS		2000
#define AGAIN_MS	60000

static _Atomic int64_t not_before_ms;	/* in the time of inc_now_ms() */

/*
 * Check whether a communicator may have two rails: not if the user has chosen a
 * device. Returns true if so.
 */
bool inc_rails_able(const struct inc_comm_opts *o)
{
	return !o->am && !o->dev && !o->port && o->gid_index < 0 && !o->flags &&
	       o->nranks > 1 && inc_now_ms() >= atomic_load(&not_before_ms);
}

/* Name the daemon at an address of the switch, or @conn's if NULL. */
static void name_server(const struct inc_conn *conn,
			const struct inc_rdv_addr *addr, char *name, size_t len)
{
	const struct sockaddr *at = (const struct sockaddr *)&conn->peer;
	struct inc_rdv_addr peer;
	char text[64];
	uint16_t port;

	/* The port has the same offset for both families. */
	port = ntohs(((const struct sockaddr_in *)at)->sin_port);
	if (!addr) {
		inc_rdv_addr_from_sockaddr(at, &peer);
		addr = &peer;
	}
	inc_rdv_addr_str(addr, text, sizeof(text));
	snprintf(name, len, addr->len == 4 ? "%s:%u" : "[%s]:%u", text, port);
}

/* @which: distinguishes the jobs that replace each rail */
static void pair_with(struct inc_comm *comm, struct inc_comm *peer,
		      const struct inc_comm_opts *o, const char *job, char which)
{
	struct inc_comm_opts *other = &comm->rails.opts;

	comm->rails.peer = peer;
	comm->rebuild.on = true;
	comm->rebuild.finished = 0;
	memset(&comm->info, 0, sizeof(comm->info));
	snprintf(comm->rails.job, sizeof(comm->rails.job), "%.*s.%c",
		 INC_JOB_MAX - 2, job, which);
	*other = *o;
	other->job = comm->rails.job;
	/* Never the default: during a change to UC, ranks might differ. */
	if (o->qp_type != INC_QP_UC)
		other->qp_type = INC_QP_RC;
	/* Ranks may begin late; a waiting call has its own time limit. */
	other->join_timeout_ms = INT_MAX;
	other->errbuf = comm->rails.text;
	other->errbuf_len = sizeof(comm->rails.text);
}

/* Join the second job. Returns whether all ranks have joined, and it works. */
static bool join_second(struct inc_comm *comm, const struct inc_comm_opts *o,
			const char *server, const char *job,
			struct inc_comm **res)
{
	struct inc_comm_opts second = *o;
	unsigned int quarter = o->timeout_ms / 4;
	char err[INC_RDV_TEXT_MAX] = "";

	second.server = server;
	second.job = job;
	second.timeout_ms = quarter < JOIN_MS ? quarter + 1 : JOIN_MS;
	second.join_timeout_ms = second.timeout_ms;
	second.errbuf = err;
	second.errbuf_len = sizeof(err);
	if (inc_comm_create_until(res, &second, &comm->change.stop))
		inc_info(&comm->who, "one rail: %s", err);
	else if ((*res)->dev.hca == comm->dev.hca)
		inc_info(&comm->who, "one rail: %s is reached over the same device",
			 server);
	else if (inc_msg_bounce(comm) || inc_msg_bounce(*res))
		inc_info(&comm->who, "one rail: no memory can be registered to copy messages");
	else if (inc_barrier(*res))
		inc_info(&comm->who, "one rail: %s", inc_comm_strerror(*res));
	else
		return true;
	return false;
}

/*
 * Open a second rail, if all ranks can. Returns 0, with or without one; or a
 * negative errno value, with a message, if @comm has failed.
 */
int inc_rails_open(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	char job[sizeof(comm->rails.job)], there[sizeof(comm->rails.at)];
	struct inc_comm *second;
	struct inc_rdv_addr addr;
	uint32_t have;
	int ret;

	if (!comm->rails.chosen ||
	    !inc_rails_at(comm->tree.rails,
			  (unsigned int)__builtin_ctz(comm->rails.chosen), &addr))
		return 0;
	name_server(&comm->watchdog.conn, &addr, there, sizeof(there));
	memcpy(job, comm->rails.job, sizeof(job));
	have = htole32(join_second(comm, o, there, job, &second));
	ret = inc_allreduce(comm, INC_IN_PLACE, &have, 1, INC_DTYPE_UINT32,
			    INC_OP_MIN);
	memset(&comm->info, 0, sizeof(comm->info));
	if (ret || !have) {
		inc_comm_destroy(second);
		atomic_store(&not_before_ms, inc_now_ms() + AGAIN_MS);
		return ret ? inc_opts_error(o, ret, "%s", comm->error.text) : 0;
	}
	inc_comm_set_timeout(second, o->timeout_ms);
	name_server(&comm->watchdog.conn, NULL, comm->rails.at,
		    sizeof(comm->rails.at));
	memcpy(second->rails.at, there, sizeof(there));
	pair_with(comm, second, o, job, 'a');
	pair_with(second, comm, o, job, 'b');
	comm->rails.other = second;
	atomic_store(&comm->watchdog.spare, true);
	atomic_store(&second->watchdog.spare, true);
	inc_info(&comm->who, "two rails: %s, %s",
		 ibv_get_device_name(comm->dev.ctx->device),
		 ibv_get_device_name(second->dev.ctx->device));
	return 0;
}

/* End the second rail, if there is one. */
void inc_rails_close(struct inc_comm *comm)
{
	inc_comm_destroy(comm->rails.other);
	comm->rails.other = NULL;
	comm->rails.peer = NULL;
}
