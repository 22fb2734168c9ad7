/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * State that a communicator has over UC only.
 */
#ifndef INC_LIB_COMM_UC_H
#define INC_LIB_COMM_UC_H

#include <stdint.h>

#include <infiniband/verbs.h>

#include "core/bdp.h"
#include "core/uc_rtx.h"
#include "device/landing.h"
#include "inc.h"

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

#endif /* INC_LIB_COMM_UC_H */
