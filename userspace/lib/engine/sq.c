// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The send queue of a communicator.
 */
#include <string.h>

#include "sq.h"
#include "fail.h"

/*
 * Post send requests. Returns true if they are posted.
 * @comm: communicator, which fails if they can't be posted
 */
bool inc_sq_post(struct inc_comm *comm, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(comm->qp, wr, &bad);

	if (ret)
		inc_fail_device(comm, -ret, "ibv_post_send: %s", strerror(ret));
	return !ret;
}

/* Poll the completions of send requests. */
void inc_sq_reap(struct inc_comm *comm)
{
	struct ibv_wc wc[INC_WC_BATCH];
	int i, n;

	do {
		n = ibv_poll_cq(comm->sq.cq, INC_WC_BATCH, wc);
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				inc_fail_wc(comm, &wc[i], "sending");
				return;
			}
			comm->sq.done = wc[i].wr_id;
		}
	} while (n == INC_WC_BATCH);
	if (comm->mem.zombies && !comm->dying)
		inc_mem_reap(&comm->mem, comm->sq.done);
}
