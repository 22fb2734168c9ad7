/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The UC side of a communicator: retransmissions, queries and their answers.
 * uc_rtx.h decides what to send, this file sends it.
 */
#ifndef INC_LIB_UC_H
#define INC_LIB_UC_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "core/bdp.h"
#include "core/uc_rtx.h"
#include "device/landing.h"
#include "rdma_inc_proto.h"

struct inc_comm;

/**
 * struct inc_uc - additional state of a communicator over UC
 * @rtx: which messages to query when
 * @ring: its messages
 * @bdp: how many of them to keep in flight
 * @landing: where results land
 * @queries: headers of queries being sent, one per send request
 * @mr: their registration
 * @now: last reading of the clock, microseconds
 * @idle: calls since the last results
 * @retries: maximum unanswered queries of a message
 */
struct inc_uc {
	struct inc_uc_rtx		rtx;
	struct inc_uc_rtx_msg	*ring;
	struct inc_bdp		bdp;
	struct inc_landing	landing;
	struct inc_hdr		*queries;
	struct ibv_mr		*mr;
	uint64_t		now;
	unsigned int		idle;
	unsigned int		retries;
};

int inc_uc_alloc(struct inc_comm *comm);
void inc_uc_restart(struct inc_comm *comm);
void inc_uc_free(struct inc_comm *comm);
void inc_uc_sent(struct inc_comm *comm, bool first);
void inc_uc_came(struct inc_comm *comm);
bool inc_uc_heard(struct inc_comm *comm, uint32_t id, unsigned int *status);
void inc_uc_done(struct inc_comm *comm, uint32_t id, unsigned int status);
void inc_uc_progress(struct inc_comm *comm);
bool inc_uc_nap(struct inc_comm *comm);
int inc_uc_patience(const struct inc_comm *comm, int ms);
void inc_uc_woke(struct inc_comm *comm);

#endif /* INC_LIB_UC_H */
