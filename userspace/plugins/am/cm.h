/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connects a rank's queue pair to the switch by RDMA CM: rendezvous.rst, "RDMA
 * CM". The queue pair is libinc's, in INIT: CM exchanges its number and the PSNs.
 */
#ifndef INC_AM_CM_H
#define INC_AM_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "rendezvous/proto.h"

struct am_cm;

/**
 * struct am_cm_peers - the two ends of a connection
 * @own: address of the rank's GID
 * @own_qpn: its QPN
 * @uc: the QP is UC, else RC
 * @tree: "joined" of the manager
 * @port: port at the switch
 * @member: the rank's place among the tree's members
 */
struct am_cm_peers {
	struct inc_rdv_addr	own;
	uint32_t		own_qpn;
	bool			uc;
	struct inc_rdv_joined	tree;
	uint16_t		port;
	uint16_t		member;
};

/**
 * struct am_cm_result - outcome of a connection attempt
 * @err: 0 or a positive errno value
 * @psn: first PSN that the switch sends
 * @own_psn: first PSN that the rank has to send
 * @text: if @err: why, printable ASCII
 */
struct am_cm_result {
	int		err;
	uint32_t	psn;
	uint32_t	own_psn;
	char		text[256];
};

struct am_cm *am_cm_start(const struct am_cm_peers *peers, int wake);
bool am_cm_done(struct am_cm *cm, struct am_cm_result *result);
void am_cm_established(struct am_cm *cm);
void am_cm_stop(struct am_cm *cm);
void am_cm_forked(struct am_cm *cm);

#endif /* INC_AM_CM_H */
