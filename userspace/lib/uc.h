/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The UC side of a communicator: what is sent again, what is asked for, and
 * what is heard of that. rtx.h decides, this does it.
 */
#ifndef INC_LIB_UC_H
#define INC_LIB_UC_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "inc_proto.h"
#include "landing.h"
#include "rtx.h"
#include "window.h"

struct inc_comm;

/**
 * struct inc_uc - what a communicator over UC has besides
 * @rtx: which messages to ask for when
 * @ring: its messages
 * @window: how many of them to have under way
 * @landing: where results land
 * @asks: headers being sent, one for each send request
 * @mr: their registration
 * @now: microseconds, when the clock was last read
 * @idle: calls since results came
 * @retries: a message may be asked for so often in vain
 */
struct inc_uc {
	struct inc_rtx		rtx;
	struct inc_rtx_msg	*ring;
	struct inc_window	window;
	struct inc_landing	landing;
	struct inc_hdr		*asks;
	struct ibv_mr		*mr;
	uint64_t		now;
	unsigned int		idle;
	unsigned int		retries;
};

int inc_uc_alloc(struct inc_comm *comm);
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
