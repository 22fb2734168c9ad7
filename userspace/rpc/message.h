/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The messages of a Join stream, as bytes of proto/rdma_inc.proto, to and from
 * the rendezvous's messages, whose meaning they have. No I/O. Used by the
 * manager and by libinc-am.
 */
#ifndef INC_MANAGER_MESSAGE_H
#define INC_MANAGER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/proto.h"

#define AM_PORT		"18790"		/* of the manager's gRPC server */
#define AM_JOIN		"/rdma_inc.v1.Manager/Join"
/* How errors begin after which a rank tries another manager, or later. */
#define AM_NOT_LEADER	"not the leader"
#define AM_NO_LEADER	AM_NOT_LEADER ", and it is not known who is"
#define AM_STARTING	"the manager has just started"
/* How one begins that is final, whatever its status: the group's, not the manager's. */
#define AM_GROUP	"group \""
/* A rank asks whether its silent manager is there, and waits for the answer. */
#define AM_ASK_MS	5000
#define AM_ANSWER_MS	4000
/* Where it cannot come back, as there is no store: what TCP needs after an outage. */
#define AM_ALONE_MS	10000
/* So it has noticed by then, and reached another one. */
#define AM_NOTICE_MS	(AM_ASK_MS + AM_ANSWER_MS + 2000)
#define AM_RANKS_MAX	1024U		/* of a group */
#define AM_RESERVE_MAX_S (366U * 86400)	/* that a reservation lasts */
#define AM_ID_MAX	63		/* characters of a switch's identity */

/**
 * struct am_message - a message of a stream
 * @heartbeat: it is a heartbeat, and @rdv is not set
 * @rdv: what it means in terms of the rendezvous; never INC_RDV_ERROR, which is
 *	the stream's status
 * @resume: from a rank: it resumes; @rdv is the INC_RDV_JOIN that it sent
 * @resumed: to a rank: it has resumed, and @rdv is INC_RDV_READY if all ranks
 *	are ready, else INC_RDV_ALIVE
 * @reservation: if INC_RDV_JOIN: that the rank names; empty: none
 * @tree_id: if @resume: the tree that "joined" named
 * @failure: from a rank: it cannot connect, and is gone; @rdv is
 *	INC_RDV_LOST, with the reason in its text
 * @switch_id: if INC_RDV_JOINED: switch that serves the rank
 * @cm_port: if INC_RDV_JOINED: port where the rank connects by RDMA CM; 0: its
 *	queue pair is connected already
 * @cm_member: and its place among the tree's members
 * @heartbeat_ms: if INC_RDV_JOINED or @resumed: interval of heartbeats; 0: none
 * @resume_ms: likewise: for how long it may try to resume; 0: not at all
 * @brief: likewise: heartbeats may be empty messages; if @heartbeat: it is one.
 *	gRPC answers half of those only, so they take less of the manager
 */
struct am_message {
	bool			heartbeat;
	bool			resume;
	bool			resumed;
	bool			failure;
	uint32_t		tree_id;
	char			reservation[AM_ID_MAX + 1];
	struct inc_rdv_msg	rdv;
	char			switch_id[AM_ID_MAX + 1];
	uint16_t		cm_port;
	uint16_t		cm_member;
	uint32_t		heartbeat_ms;
	uint32_t		resume_ms;
	bool			brief;
};

int am_rank_pack(const struct am_message *msg, uint8_t **data, size_t *len);
int am_rank_unpack(const uint8_t *data, size_t len, struct am_message *msg,
		   char *err, size_t err_len);
bool am_rank_is_beat(const uint8_t *data, size_t len);
int am_manager_pack(const struct am_message *msg, uint8_t **data, size_t *len);
int am_manager_unpack(const uint8_t *data, size_t len, struct am_message *msg);

int am_status_of(int err);
int am_errno_of(int status);

#endif /* INC_MANAGER_MESSAGE_H */
